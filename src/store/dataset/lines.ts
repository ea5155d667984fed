// Reads the lines of a dataset's segments: forwards from anywhere, counted, without loading them all.
// Promise: memory holds one chunk, one line and a mark per 1,024 lines, whatever the size of the dataset.
import { CrawlError } from '../../errors.js';
import type { ReadableSegments } from '../store.js';

const NEWLINE = 0x0a;
/** Lines between two remembered positions: one number per 1,024 items, and never more lines than that to skip. */
export const LINES_PER_MARK = 1_024;
const COUNT_CHUNK_BYTES = 1024 * 1024;
const READ_CHUNK_BYTES = 256 * 1024;
/** Far above any item; a file without newlines is not read into memory. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Where to begin in a segment: at `fromByte`, then past `skipLines` lines. */
export interface Place {
  readonly name: string;
  readonly fromByte: number;
  readonly skipLines: number;
  readonly endByte: number;
}

/** Complete lines from `place` on, in batches. Half a line at the end is ignored. */
export async function* readLines(
  store: ReadableSegments,
  place: Place,
  chunkBytes = READ_CHUNK_BYTES,
): AsyncGenerator<string[]> {
  let skip = place.skipLines;
  let rest: Buffer = Buffer.alloc(0);
  for (let at = place.fromByte; at < place.endByte;) {
    const chunk = await store.read(place.name, at, Math.min(at + chunkBytes, place.endByte));
    if (chunk.length === 0) return;
    at += chunk.length;
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    rest = bytes.subarray(end);
    if (rest.length > MAX_LINE_BYTES) {
      throw new CrawlError('ITEM_INVALID', `segment ${place.name} has a line of more than ${MAX_LINE_BYTES} bytes`);
    }
    if (end === 0) continue;
    const lines = bytes.toString('utf8', 0, end - 1).split('\n');
    if (skip >= lines.length) skip -= lines.length;
    else {
      yield skip === 0 ? lines : lines.slice(skip);
      skip = 0;
    }
  }
}

interface Counted {
  scannedBytes: number;
  lines: number;
  /** Where line 0, 1,024, 2,048 … begins. */
  marks: number[];
}

/** Counts lines and knows where they begin; reads only what was added since the last call. */
export interface LineIndex {
  count(): Promise<number>;
  /** Where lines `offset` up to `offset + limit` are, segment by segment. */
  locate(offset: number): Promise<readonly Place[]>;
  /** A segment was cut: its counts are invalid. */
  forget(name?: string): void;
}

export function createLineIndex(store: ReadableSegments): LineIndex {
  const known = new Map<string, Counted>();
  let last: Promise<unknown> = Promise.resolve();

  const scan = async (name: string, lengthBytes: number): Promise<Counted> => {
    let counted = known.get(name);
    if (counted === undefined || counted.scannedBytes > lengthBytes) {
      counted = { scannedBytes: 0, lines: 0, marks: [0] };
      known.set(name, counted);
    }
    while (counted.scannedBytes < lengthBytes) {
      const to = Math.min(counted.scannedBytes + COUNT_CHUNK_BYTES, lengthBytes);
      const chunk = await store.read(name, counted.scannedBytes, to);
      if (chunk.length === 0) break;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
        counted.lines++;
        if (counted.lines % LINES_PER_MARK === 0) counted.marks.push(counted.scannedBytes + at + 1);
      }
      counted.scannedBytes += chunk.length;
    }
    return counted;
  };

  const scanAll = async (): Promise<{ name: string; counted: Counted }[]> => {
    const segments = await store.list();
    const names = new Set(segments.map(({ name }) => name));
    for (const name of known.keys()) if (!names.has(name)) known.delete(name);
    const found: { name: string; counted: Counted }[] = [];
    for (const { name, lengthBytes } of segments) found.push({ name, counted: await scan(name, lengthBytes) });
    return found;
  };

  // One scan at a time: two would count the same lines twice.
  const refreshed = (): Promise<{ name: string; counted: Counted }[]> => {
    const mine = last.then(scanAll);
    last = mine.catch(() => undefined);
    return mine;
  };

  return {
    async count() {
      return (await refreshed()).reduce((sum, { counted }) => sum + counted.lines, 0);
    },
    async locate(offset) {
      const places: Place[] = [];
      let before = 0;
      for (const { name, counted } of await refreshed()) {
        const skip = Math.max(0, offset - before);
        before += counted.lines;
        if (skip >= counted.lines) continue;
        const mark = Math.floor(skip / LINES_PER_MARK);
        const fromByte = counted.marks[mark] ?? 0;
        places.push({ name, fromByte, skipLines: skip - mark * LINES_PER_MARK, endByte: counted.scannedBytes });
      }
      return places;
    },
    forget(name) {
      if (name === undefined) known.clear();
      else known.delete(name);
    },
  };
}
