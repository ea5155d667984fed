// What is kept of a page beside its row, as bytes: its names, and the version that the next one is compared with.
// Promise: what cannot be read is nothing; a field that a release does not know is ignored.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { LIMITS } from '../../limits.js';
import type { PageNames, PageVersion } from './memory.js';

const MAX_VERSION_BYTES = LIMITS.bodyBytes.max;
/** Longer validators are not worth their place; no header has a line break. */
const MAX_VALIDATOR = 1_024;

export function packNames({ url, etag = '', lastModified = '', original, freshUntil }: PageNames): string {
  const kept = [etag, lastModified].map((text) => (text.length > MAX_VALIDATOR || text.includes('\n') ? '' : text));
  const stored = original ? `${original.digest} ${original.fetchedAtMs}` : '';
  const fields = [url, ...kept, stored, freshUntil === undefined ? '' : String(freshUntil)];
  // Most pages need none of the last.
  while (fields.length > 3 && fields.at(-1) === '') fields.pop();
  return fields.join('\n');
}

export function unpackNames(bytes: Buffer | undefined): PageNames {
  const [url = '', etag, lastModified, stored, until] = bytes?.toString('utf8').split('\n') ?? [];
  const freshUntil = Number(until) > 0 ? { freshUntil: Number(until) } : {};
  const names = { url, etag: etag || undefined, lastModified: lastModified || undefined, ...freshUntil };
  const [digest = '', time] = stored?.split(' ') ?? [];
  const fetchedAtMs = Number(time);
  return digest !== '' && fetchedAtMs > 0 ? { ...names, original: { digest, fetchedAtMs } } : names;
}

export function packVersion(version: PageVersion): Buffer | undefined {
  const text = Buffer.from(JSON.stringify(version));
  return text.length > MAX_VERSION_BYTES ? undefined : deflateRawSync(text, { level: 3 });
}

export function unpackVersion(bytes: Buffer | undefined): PageVersion | undefined {
  if (!bytes) return undefined;
  try {
    const text = inflateRawSync(bytes, { maxOutputLength: MAX_VERSION_BYTES }).toString('utf8');
    return JSON.parse(text) as PageVersion;
  } catch {
    return undefined;
  }
}
