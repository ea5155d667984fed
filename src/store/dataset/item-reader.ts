// Reads items of a dataset in batches: any range, forwards or backwards, through a view.
// Promise: every item present at the start is read once; memory holds a batch, not the dataset.
import { CrawlError } from '../../errors.js';
import type { Dictionary } from '../../request/request.js';
import { itemView } from './item-view.js';
import type { DatasetDataOptions } from './item-view.js';
import { LINES_PER_MARK, readLines } from './lines.js';
import type { LineIndex, Place } from './lines.js';
import type { ReadableSegments } from '../store.js';

/** Batches of shown items. Items a view leaves out still count for `offset` and `limit`. */
export async function* readItems(
  store: ReadableSegments,
  index: LineIndex,
  options: DatasetDataOptions,
): AsyncGenerator<Dictionary[]> {
  const { offset = 0, limit = Infinity, desc = false } = options;
  const view = itemView(options);
  for await (const items of desc ? backwards(store, index, offset, limit) : forwards(store, index, offset, limit)) {
    yield view === undefined ? items : items.map(view).filter((item) => item !== undefined);
  }
}

async function* forwards(
  store: ReadableSegments,
  index: LineIndex,
  offset: number,
  limit: number,
): AsyncGenerator<Dictionary[]> {
  if (limit === 0) return;
  // From the start nothing needs to be counted.
  const places = offset === 0 ? await allPlaces(store) : await index.locate(offset);
  let left = limit;
  for (const place of places) {
    for await (const lines of readLines(store, place)) {
      const wanted = lines.length > left ? lines.slice(0, left) : lines;
      yield wanted.map((line) => parseLine(line, place.name));
      left -= wanted.length;
      if (left <= 0) return;
    }
  }
}

async function* backwards(
  store: ReadableSegments,
  index: LineIndex,
  offset: number,
  limit: number,
): AsyncGenerator<Dictionary[]> {
  const total = await index.count();
  const first = Math.max(0, total - offset - limit);
  for (let end = total - offset; end > first;) {
    const start = Math.max(first, Math.floor((end - 1) / LINES_PER_MARK) * LINES_PER_MARK);
    const block: Dictionary[] = [];
    for await (const items of forwards(store, index, start, end - start)) block.push(...items);
    yield block.reverse();
    end = start;
  }
}

async function allPlaces(store: ReadableSegments): Promise<Place[]> {
  const segments = await store.list();
  return segments.map(({ name, lengthBytes }) => ({ name, fromByte: 0, skipLines: 0, endByte: lengthBytes }));
}

function parseLine(line: string, segment: string): Dictionary {
  try {
    return JSON.parse(line) as Dictionary;
  } catch (cause) {
    throw new CrawlError('ITEM_INVALID', `segment ${segment} has a line that is not JSON: ${line.slice(0, 80)}`, {
      cause,
    });
  }
}
