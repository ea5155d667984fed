// The bytes of one sitemap file → its text: gunzipped if needed, decoded by BOM, declaration or header.
// Promise: holds one chunk at a time; reading ends at the byte limit, counted after decompression.
import { pipeline } from 'node:stream/promises';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import { CrawlError } from '../../errors.js';

export interface SitemapTextOptions {
  /** The response's Content-Type, for its charset. */
  readonly contentType?: string;
  /** Decompressed bytes that are read; what was read before it counts. */
  readonly maxBytes: number;
}

export async function* sitemapText(
  source: AsyncIterable<Uint8Array>,
  { contentType, maxBytes }: SitemapTextOptions,
): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  for await (const chunk of capped(inflated(capped(source, maxBytes)), maxBytes)) {
    decoder ??= new TextDecoder(encodingOf(chunk, contentType));
    const text = decoder.decode(chunk, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder?.decode() ?? '';
  if (rest !== '') yield rest;
}

/** On the wire and after decompression: uncompressed data must not pass the limit either. */
async function* capped(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let passed = 0;
  for await (const chunk of source) {
    const room = maxBytes - passed;
    passed += chunk.length;
    if (room > 0) yield chunk.length > room ? chunk.subarray(0, room) : chunk;
    if (passed > maxBytes) throw new CrawlError('BODY_TOO_LARGE', `the sitemap is larger than ${maxBytes} bytes`);
  }
}

/** By its bytes, not name or header: both are often wrong. The first chunk is long enough to detect the encoding. */
async function* inflated(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  try {
    const head = await firstBytes(chunks);
    const whole = rejoined(head, chunks);
    yield* head[0] === 0x1f && head[1] === 0x8b ? gunzipped(whole) : whole;
  } finally {
    await chunks.return?.();
  }
}

const SNIFFED_BYTES = 512;
const END_OF_TAG = 0x3e;

async function firstBytes(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0);
  // A whole declaration is enough: what a slow server has sent is read at once.
  while (head.length < SNIFFED_BYTES && !head.includes(END_OF_TAG)) {
    const next = await chunks.next();
    if (next.done) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return head;
}

async function* rejoined(head: Uint8Array, chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
}

async function* gunzipped(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  let failure: unknown;
  const feeding = pipeline(source, gunzip).catch((error: unknown) => (failure = error));
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (error) {
    await feeding;
    // The source's error is the cause; zlib only repeats it.
    if (failure instanceof CrawlError) throw failure;
    throw new CrawlError('BODY_DECODE', 'the sitemap is not valid gzip', { cause: error });
  } finally {
    gunzip.destroy();
    await feeding;
  }
}

function encodingOf(start: Uint8Array, contentType: string | undefined): string {
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xef && second === 0xbb) return 'utf-8';
  const head = Buffer.from(start.buffer, start.byteOffset, Math.min(start.length, SNIFFED_BYTES)).toString('latin1');
  const declared = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(head)?.[1];
  const label = declared ?? /charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType ?? '')?.[1];
  // A declaration readable as ASCII is not UTF-16, whatever it says.
  return label === undefined || /^utf-?16/i.test(label) || !isKnown(label) ? 'utf-8' : label;
}

function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}
