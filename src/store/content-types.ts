// Maps a record's content type to its file extension and back, and encodes its value.
// Promise: `decodeValue` returns what `encodeValue` wrote.
import type { Readable } from 'node:stream';
import { mediaTypeOf } from '../base/media-type.js';
import { CrawlError } from '../errors.js';

export const JSON_TYPE = 'application/json; charset=utf-8';
export const BINARY_TYPE = 'application/octet-stream';

// The first type of an extension is the one its files are read as.
const TYPES: readonly (readonly [extension: string, ...types: string[]])[] = [
  ['json', 'application/json'],
  ['txt', 'text/plain'],
  ['html', 'text/html'],
  ['xml', 'application/xml', 'text/xml'],
  ['xhtml', 'application/xhtml+xml'],
  ['csv', 'text/csv'],
  ['jsonl', 'application/x-ndjson', 'application/jsonl'],
  ['md', 'text/markdown'],
  ['css', 'text/css'],
  ['js', 'text/javascript', 'application/javascript'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg', 'image/jpg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['svg', 'image/svg+xml'],
  ['pdf', 'application/pdf'],
  ['zip', 'application/zip'],
  ['gz', 'application/gzip'],
  ['mp4', 'video/mp4'],
  ['bin', BINARY_TYPE],
];

const byExtension = new Map(TYPES.map(([extension, type]) => [extension, type as string]));
const byType = new Map<string, string>();
for (const [extension, ...types] of TYPES) {
  for (const type of types) if (!byType.has(type)) byType.set(type, extension);
}

/** Every extension a record's file may have. */
export const RECORD_EXTENSIONS: readonly string[] = TYPES.map(([extension]) => extension);

/** The extension for a content type; `bin` for types that have none, which then read back as bytes. */
export function extensionOf(contentType: string): string {
  const type = mediaTypeOf(contentType);
  return byType.get(type) ?? (type.endsWith('+json') ? 'json' : type.startsWith('text/') ? 'txt' : 'bin');
}

/** The content type of a file by its extension, or undefined if it is not one of ours. */
export function contentTypeOf(extension: string): string | undefined {
  const type = byExtension.get(extension);
  return type !== undefined && isText(type) ? `${type}; charset=utf-8` : type;
}

export interface EncodedValue {
  readonly body: Uint8Array | Readable;
  readonly contentType: string;
}

/** A value as it is stored: bytes and streams as they are, everything else as JSON unless a type is given. */
export function encodeValue(key: string, value: unknown, contentType: string | undefined): EncodedValue {
  if (isReadable(value) || value instanceof Uint8Array) return { body: value, contentType: contentType ?? BINARY_TYPE };
  if (value instanceof ArrayBuffer) return { body: new Uint8Array(value), contentType: contentType ?? BINARY_TYPE };
  if (contentType !== undefined) {
    if (typeof value === 'string') return { body: Buffer.from(value), contentType };
    throw invalid(key, 'must be a string, bytes or a stream when a contentType is given');
  }
  let json: string | undefined;
  try {
    json = JSON.stringify(value, null, 2);
  } catch (cause) {
    throw invalid(key, `cannot be written as JSON: ${(cause as Error).message}`, cause);
  }
  if (json === undefined) throw invalid(key, `cannot be written as JSON: it is ${typeof value}`);
  return { body: Buffer.from(json), contentType: JSON_TYPE };
}

/** A stored value as users see it: JSON parsed, text as a string, anything else as bytes. */
export function decodeValue(key: string, body: Buffer, contentType: string): unknown {
  const type = mediaTypeOf(contentType);
  if (type === 'application/json' || type.endsWith('+json')) {
    try {
      return JSON.parse(withoutMark(body));
    } catch (cause) {
      throw invalid(key, `is not valid JSON (${(cause as Error).message}): repair or remove its file`, cause);
    }
  }
  return isText(type) ? withoutMark(body) : body;
}

export function isReadable(value: unknown): value is Readable {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<Readable>).pipe === 'function' &&
    'on' in value
  );
}

function isText(type: string): boolean {
  return type.startsWith('text/') || /^application\/(?:json|xml|xhtml\+xml|x-ndjson|jsonl|javascript)$/.test(type);
}

function withoutMark(body: Buffer): string {
  return body.toString('utf8').replace(/^\uFEFF/, '');
}

function invalid(key: string, problem: string, cause?: unknown): CrawlError {
  return new CrawlError('ITEM_INVALID', `the value of record "${key}" ${problem}`, cause ? { cause } : undefined);
}
