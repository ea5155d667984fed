// Crawlee's functions on what storages take: items as JSON, in pieces of a size; arrays in compressed form.
import { Readable } from 'node:stream';
import { createGunzip, gunzipSync, gzipSync } from 'node:zlib';
import { CrawlError } from '../../errors.js';
import { LIMITS } from '../../limits.js';
import type { RecordOptions } from '../../store/records/key-value.js';

/**
 * How many items iterators of a dataset read at once.
 *
 * @example
 * const pages = Math.ceil(itemCount / DATASET_ITERATORS_DEFAULT_LIMIT);
 */
export const DATASET_ITERATORS_DEFAULT_LIMIT = 10_000;

/**
 * An item as JSON; an error when it is no object, no JSON, or too long.
 *
 * @example
 * checkAndSerialize({ price: 3 }, 1_000); // '{"price":3}'
 */
export function checkAndSerialize<T>(item: T, limitBytes: number, index?: number): string {
  const which = `Data item${index === undefined ? ' ' : ` at index ${index} `}`;
  const refuse = (why: string, cause?: unknown): never => {
    throw new CrawlError('OPTION_INVALID', which + why, cause === undefined ? undefined : { cause });
  };
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return refuse('is not an object. You can push only objects into a dataset.');
  }
  let text: string;
  try {
    text = JSON.stringify(item);
  } catch (cause) {
    return refuse(`is not serializable to JSON.\nCause: ${(cause as Error).message}`, cause);
  }
  const bytes = Buffer.byteLength(text);
  return bytes > limitBytes ? refuse(`is too large (size: ${bytes} bytes, limit: ${limitBytes} bytes)`) : text;
}

/**
 * JSON items as arrays of JSON, each below a number of bytes. An item stays as it is when it is the only one, or leaves
 * no room for brackets.
 *
 * @example
 * chunkBySize(['{"a":1}', '{"b":2}', '{"c":3}'], 20); // ['[{"a":1},{"b":2}]', '[{"c":3}]']
 */
export function chunkBySize(items: readonly string[], limitBytes: number): string[] {
  if (items.length < 2) return [...items];
  const pieces: string[][] = [];
  let left = 0;
  for (const item of items) {
    const bytes = Buffer.byteLength(item);
    // A comma before it, or brackets around it.
    if (pieces.length > 0 && bytes + 1 <= left) {
      pieces.at(-1)!.push(item);
      left -= bytes + 1;
      continue;
    }
    pieces.push([item]);
    left = limitBytes - bytes - 2;
  }
  return pieces.map((piece) => {
    const [first = ''] = piece;
    return Buffer.byteLength(first) + 2 > limitBytes ? first : `[${piece.join(',')}]`;
  });
}

/**
 * A value as a key-value store takes it: JSON unless a content type is given, which is set on `options`.
 *
 * @example
 * const options = {};
 * maybeStringify({ a: 1 }, options); // JSON; options.contentType is 'application/json; charset=utf-8'
 */
export function maybeStringify<T>(value: T, options: Pick<RecordOptions, 'contentType'>): T | string {
  if (options.contentType !== undefined && options.contentType !== null) return value;
  options.contentType = 'application/json; charset=utf-8';
  try {
    const text = JSON.stringify(value, (_, part: unknown) => (typeof part === 'function' ? part.toString() : part), 2);
    if (text !== undefined) return text;
  } catch (cause) {
    const { message } = cause as Error;
    throw new CrawlError('OPTION_INVALID', `The "value" parameter cannot be stringified to JSON: ${message}`, { cause });
  }
  throw new CrawlError(
    'OPTION_INVALID',
    'The "value" parameter was stringified to JSON and returned undefined. ' +
      "Make sure you're not trying to stringify an undefined value.",
  );
}

/**
 * An array as gzipped lines of JSON.
 *
 * @example
 * const bytes = await serializeArray([{ a: 1 }]);
 */
export async function serializeArray<T>(data: readonly T[]): Promise<Buffer> {
  return gzipSync(data.map((item) => `${JSON.stringify(item)}\n`).join(''));
}

/**
 * What `serializeArray` made, as an array.
 *
 * @example
 * const items = await deserializeArray(bytes);
 */
export async function deserializeArray<T>(compressedData: Uint8Array): Promise<T[]> {
  const text = gunzipSync(compressedData, { maxOutputLength: LIMITS.listBytes.max }).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/**
 * What `serializeArray` made, item by item.
 *
 * @example
 * for await (const item of createDeserialize(bytes)) log.info('item', { item });
 */
export function createDeserialize(compressedData: Uint8Array): Readable {
  const lines = Readable.from([compressedData]).pipe(createGunzip());
  return Readable.from(itemsOf(lines));
}

async function* itemsOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const part of bytes) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line !== '') yield JSON.parse(line);
  }
  if (rest !== '') yield JSON.parse(rest);
}
