// Response bytes → decoded body: one concat, one inflate per coding. Never holds more than the caps allow;
// small bodies are inflated at once, large ones on the thread pool so that the loop stays responsive.
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { constants as bufferConstants } from 'node:buffer';
import { CrawlError } from '../../../errors.js';
import { limitReached, LIMITS } from '../../../limits.js';
import { decodeError } from '../errors.js';
import { type LentBody, lendGunzipped } from './lent.js';

export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

interface InflateOptions {
  readonly maxOutputLength: number;
  readonly chunkSize?: number;
}
type InflateSync = (body: Buffer, options: InflateOptions) => Buffer;
type InflateAsync = (body: Buffer, options: InflateOptions) => Promise<Buffer>;

/** Node gained zstd in 22.15; older ones neither offer nor accept it. */
const withZstd = zlib as typeof zlib & {
  zstdDecompressSync?: InflateSync;
  zstdDecompress?: (body: Buffer, options: InflateOptions, done: (error: Error | null, body: Buffer) => void) => void;
};
export const ZSTD_AVAILABLE = typeof withZstd.zstdDecompressSync === 'function';

/** What requests say they accept. */
export const ACCEPT_ENCODING = ZSTD_AVAILABLE ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br';

/** More codings than this on one body is an attack or an accident. */
const MAX_CODINGS = LIMITS.contentCodings.max;
/** Above this many bytes on the wire inflating would hold the loop for more than about a millisecond or two. */
const ASYNC_WIRE_BYTES = 256 * 1024;
/** A small body that inflates beyond this leaves the loop as well. */
const SYNC_OUTPUT_BYTES = 16 * 1024 * 1024;

/**
 * The codings of a Content-Encoding header, outermost last. A token we do not know (`utf-8`, `none`) means
 * that the server mislabels: like browsers, we take the body as it is.
 */
export function contentCodings(header: string | undefined, host: string): readonly Coding[] {
  if (header === undefined || header === '') return [];
  if (header === 'gzip') return GZIP_ONLY;
  const codings: Coding[] = [];
  for (const part of header.toLowerCase().split(',')) {
    const token = part.trim();
    if (token === '' || token === 'identity') continue;
    const coding = token === 'x-gzip' ? 'gzip' : token;
    if (coding !== 'gzip' && coding !== 'deflate' && coding !== 'br' && coding !== 'zstd') return [];
    if (coding === 'zstd' && !ZSTD_AVAILABLE) {
      throw new CrawlError('BODY_DECODE', `${host}: sent zstd, which this version of Node cannot decode`);
    }
    codings.push(coding);
    if (codings.length > MAX_CODINGS) {
      limitReached('contentCodings');
      throw new CrawlError('BODY_DECODE', `${host}: more than ${MAX_CODINGS} content codings on one body`);
    }
  }
  return codings;
}

const GZIP_ONLY: readonly Coding[] = ['gzip'];

/**
 * Decodes a body: a buffer when it could be done at once, else a promise.
 * Throws or rejects with BODY_TOO_LARGE, BODY_INCOMPLETE or BODY_DECODE.
 */
export function decodeBody(
  wire: Buffer,
  codings: readonly Coding[],
  maxBytes: number,
  host: string,
): Buffer | Promise<Buffer> {
  // A response without content may still name the coding its content would have had.
  if (codings.length === 0 || wire.length === 0) return wire;
  if (wire.length > ASYNC_WIRE_BYTES) return decodeLater(wire, codings, maxBytes, host);
  let body = wire;
  for (let index = codings.length - 1; index >= 0; index--) {
    const coding = codings[index]!;
    try {
      body = inflateNow(body, coding, Math.min(maxBytes, SYNC_OUTPUT_BYTES));
    } catch (error) {
      const tooLargeForNow = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE';
      if (tooLargeForNow && maxBytes > SYNC_OUTPUT_BYTES) return decodeLater(wire, codings, maxBytes, host);
      throw decodeError(host, coding, maxBytes, error);
    }
  }
  return body;
}

/** Like {@link decodeBody}, for callers that return the memory; undefined where only `decodeBody` can do it. */
export function lendBody(wire: Buffer, codings: readonly Coding[], maxBytes: number): LentBody | undefined {
  if (codings.length !== 1 || codings[0] !== 'gzip' || wire.length > ASYNC_WIRE_BYTES) return undefined;
  const length = hintedLength(wire, maxBytes);
  return length === undefined
    ? undefined
    : lendGunzipped(wire, length, () => inflateNow(wire, 'gzip', Math.min(maxBytes, SYNC_OUTPUT_BYTES)));
}

async function decodeLater(wire: Buffer, codings: readonly Coding[], maxBytes: number, host: string): Promise<Buffer> {
  let body = wire;
  for (const coding of [...codings].reverse()) {
    try {
      body = await inflateLater(body, coding, maxBytes);
    } catch (error) {
      throw decodeError(host, coding, maxBytes, error);
    }
  }
  return body;
}

function inflateNow(body: Buffer, coding: Coding, maxBytes: number): Buffer {
  switch (coding) {
    case 'gzip':
      return zlib.gunzipSync(body, { maxOutputLength: maxBytes, chunkSize: gzipChunkSize(body, maxBytes) });
    case 'deflate':
      return (hasZlibHeader(body) ? zlib.inflateSync : zlib.inflateRawSync)(body, { maxOutputLength: maxBytes });
    case 'br':
      return zlib.brotliDecompressSync(body, { maxOutputLength: maxBytes });
    case 'zstd':
      return withZstd.zstdDecompressSync!(body, { maxOutputLength: maxBytes });
    default:
      return coding satisfies never;
  }
}

function inflateLater(body: Buffer, coding: Coding, maxBytes: number): Promise<Buffer> {
  const options = { maxOutputLength: Math.min(maxBytes, bufferConstants.MAX_LENGTH) };
  switch (coding) {
    case 'gzip':
      return gunzip(body, options);
    case 'deflate':
      return (hasZlibHeader(body) ? inflate : inflateRaw)(body, options);
    case 'br':
      return brotliDecompress(body, options);
    case 'zstd':
      return promisify(withZstd.zstdDecompress!)(body, options);
    default:
      return coding satisfies never;
  }
}

const gunzip = promisify(zlib.gunzip) as InflateAsync;
const inflate = promisify(zlib.inflate) as InflateAsync;
const inflateRaw = promisify(zlib.inflateRaw) as InflateAsync;
const brotliDecompress = promisify(zlib.brotliDecompress) as InflateAsync;

/** "deflate" means the zlib format; many servers send bare deflate data instead. */
export function hasZlibHeader(body: Uint8Array): boolean {
  return body.length >= 2 && (body[0]! & 0x0f) === 8 && ((body[0]! << 8) | body[1]!) % 31 === 0;
}

/** zlib's default output chunk, and the most that a hint may ask for at once. */
const DEFAULT_CHUNK_BYTES = 16 * 1024;
const MAX_HINTED_BYTES = 4 * 1024 * 1024;

/**
 * gzip ends with the length of what it holds: believed, within bounds, it gives the output in one piece.
 * A false length costs one bounded allocation.
 */
function gzipChunkSize(body: Buffer, maxBytes: number): number {
  const hinted = hintedLength(body, maxBytes);
  return hinted === undefined ? DEFAULT_CHUNK_BYTES : Math.max(hinted + 1, 64);
}

function hintedLength(body: Buffer, maxBytes: number): number | undefined {
  if (body.length < 18) return undefined;
  const hinted = body.readUInt32LE(body.length - 4);
  // Deflate cannot shrink by more than a factor of about 1,032.
  return hinted > MAX_HINTED_BYTES || hinted > maxBytes || hinted > body.length * 1032 ? undefined : hinted;
}
