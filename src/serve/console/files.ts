// The console's page: a few files of the build, held in memory, whose names change with what is in them.
// Promise: nothing of them is secret and none needs a token; only names of the build are served; no script but ours runs,
// and nothing is loaded from another host.
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { pageFolder } from './place.js';

export interface PageFiles {
  /** Answers a request for a file of the page; false when it is for none. */
  serve(request: IncomingMessage, response: ServerResponse, path: string): boolean;
}

interface PageFile {
  readonly bytes: Buffer;
  readonly type: string;
  packed?: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const SAFE = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

export function createPageFiles(folder: URL = pageFolder): PageFiles {
  let files: Map<string, PageFile> | undefined;

  function read(): Map<string, PageFile> {
    const found = new Map<string, PageFile>();
    for (const name of readdirSync(folder)) {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
      if (type === undefined) continue;
      const path = name === 'index.html' ? '/' : `/console/${name}`;
      found.set(path, { bytes: readFileSync(new URL(name, folder)), type });
    }
    return found;
  }

  return {
    serve(request, response, path) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return false;
      files ??= read();
      const file = files.get(path);
      if (!file) return false;
      const isPage = path === '/';
      const isPacked = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
      if (isPacked) file.packed ??= gzipSync(file.bytes);
      const body = isPacked ? file.packed! : file.bytes;
      response.writeHead(200, {
        ...SAFE,
        'content-type': file.type,
        'content-length': body.length,
        vary: 'accept-encoding',
        'cache-control': isPage ? 'no-cache' : 'public, max-age=31536000, immutable',
        ...(isPacked && { 'content-encoding': 'gzip' }),
        ...(isPage && { 'content-security-policy': PAGE_POLICY, 'x-frame-options': 'DENY' }),
      });
      response.end(request.method === 'HEAD' ? undefined : body);
      return true;
    },
  };
}
