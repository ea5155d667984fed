// Finished page bodies, compressed as asked, kept in a cache bounded in bytes (least recently used goes first).
// A page's version is part of its key, so a touched page is never served stale.
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { PageMaker } from './pages.js';

export type Encoding = 'none' | 'gzip' | 'br' | 'deflate';

export interface Bodies {
  body(host: number, page: number, version: number, encoding: Encoding): Buffer;
  readonly keptBytes: number;
}

/** Fast levels: this is a server under test, not a link to be saved. */
export function compress(body: Buffer, encoding: Encoding): Buffer {
  switch (encoding) {
    case 'none':
      return body;
    case 'gzip':
      return gzipSync(body, { level: 1 });
    case 'deflate':
      return deflateSync(body, { level: 1 });
    case 'br':
      return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
    default:
      return encoding satisfies never;
  }
}

/** The wanted encoding if the client says it accepts it, else none. */
export function negotiate(wanted: Encoding, acceptEncoding: string | undefined): Encoding {
  if (wanted === 'none' || acceptEncoding === undefined) return 'none';
  const offered = new RegExp(`(?:^|[\\s,])(?:${wanted}|\\*)\\s*(?:;\\s*q=([\\d.]+))?\\s*(?:,|$)`, 'i').exec(
    acceptEncoding,
  );
  return offered && Number(offered[1] ?? 1) > 0 ? wanted : 'none';
}

export function createBodies(pages: Pick<PageMaker, 'html'>, maxBytes: number): Bodies {
  const kept = new Map<string, Buffer>();
  let keptBytes = 0;
  return {
    body(host, page, version, encoding) {
      const key = `${host}/${page}/${version}/${encoding}`;
      const known = kept.get(key);
      if (known) {
        kept.delete(key);
        kept.set(key, known);
        return known;
      }
      const made = compress(pages.html(host, page, version), encoding);
      if (made.length > maxBytes) return made;
      kept.set(key, made);
      keptBytes += made.length;
      for (const [oldest, body] of kept) {
        if (keptBytes <= maxBytes) break;
        kept.delete(oldest);
        keptBytes -= body.length;
      }
      return made;
    },
    get keptBytes() {
      return keptBytes;
    },
  };
}
