// Turns what a handler pushes into the lines of a dataset.
// Promise: a line is exactly one JSON object; anything else is refused before writing.
import { CrawlError } from '../../errors.js';

/** The largest item, as JSON: Crawlee's limit. */
export const MAX_ITEM_BYTES = 9 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * One line per item, each ending in a newline. `data` is an object or an array of objects.
 *
 * @example
 * serializeItems([{ a: 1 }, { a: 2 }]); // '{"a":1}\n{"a":2}\n'
 */
export function serializeItems(data: unknown): string {
  if (!Array.isArray(data)) return `${serializeItem(data, undefined)}\n`;
  let lines = '';
  for (let index = 0; index < data.length; index++) lines += `${serializeItem(data[index], index)}\n`;
  return lines;
}

/**
 * The same lines as bytes, for items that wait until their visit settles: large strings would stay on the heap until a
 * full collection.
 */
export function encodeItems(data: unknown): Buffer {
  if (Array.isArray(data)) return Buffer.from(serializeItems(data));
  const json = serializeItem(data, undefined);
  // Joining it to the newline as a string would copy it again.
  const length = Buffer.byteLength(json);
  const line = Buffer.allocUnsafe(length + 1);
  line.write(json);
  line[length] = NEWLINE;
  return line;
}

function serializeItem(item: unknown, index: number | undefined): string {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    throw invalid(index, `must be an object, got ${kindOf(item)}`);
  }
  let json: string | undefined;
  try {
    json = JSON.stringify(item);
  } catch (cause) {
    throw invalid(index, `cannot be written as JSON: ${(cause as Error).message}`, cause);
  }
  // A toJSON method may turn an object into anything, or into nothing.
  if (json === undefined || json[0] !== '{') throw invalid(index, 'must be an object when written as JSON');
  // At most three bytes per UTF-16 unit: most items need no count.
  if (json.length * 3 > MAX_ITEM_BYTES && Buffer.byteLength(json) > MAX_ITEM_BYTES) {
    const bytes = Buffer.byteLength(json);
    throw invalid(index, `is too large: ${bytes} bytes as JSON, the limit is ${MAX_ITEM_BYTES}`);
  }
  return json;
}

function invalid(index: number | undefined, problem: string, cause?: unknown): CrawlError {
  const which = index === undefined ? 'a dataset item' : `the dataset item at index ${index}`;
  return new CrawlError('ITEM_INVALID', `${which} ${problem}`, cause === undefined ? undefined : { cause });
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
