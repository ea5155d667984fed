// Made-up pages for content stores, the same for every process that is given the same number.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ContentPage } from '../../src/store/content/page.js';

export function urlOf(n: number): string {
  return `https://host-${n % 17}.example/pages/${n}`;
}

export function textOf(n: number): string {
  return `Page ${n} says: ${createHash('sha512').update(String(n)).digest('base64')} Grüße ${'tea '.repeat(n % 40)}`;
}

export function page(n: number, more: Partial<ContentPage> = {}): ContentPage {
  const url = urlOf(n);
  return {
    url,
    uniqueKey: url,
    statusCode: 200,
    fetchedAtMs: Date.UTC(2026, 0, 1) + n * 1_000,
    contentType: 'text/html',
    depth: n % 5,
    text: textOf(n),
    response: {
      statusCode: 200,
      headers: { 'content-type': 'text/html', 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' },
      body: gzipSync(`<p>${textOf(n)}</p>`),
      bodyIs: 'as-received',
      ipAddress: '192.0.2.1',
    },
    ...more,
  };
}
