// Finds the lines of one key in an index: by bisection if it is sorted, by one scan while it grows.
// Promise: a sorted index of any size costs a few dozen small reads; memory holds one chunk and the lines found. Damage
// is skipped and reported, and does not mislead the search.

/** Bytes of the index, fewer where it ends earlier. */
export type ReadBytes = (fromByte: number, toByte: number) => Promise<Buffer>;

/** A line and its offset in the file. */
export interface FoundLine {
  readonly text: string;
  readonly atByte: number;
}

export interface SearchOptions {
  /** Whether bytes look like an index line; default all do. */
  readonly isLine?: (bytes: Buffer) => boolean;
  /** A line that does not, by its offset. */
  readonly onDamage?: (atByte: number) => void;
}

const PROBE_BYTES = 8 * 1024;
/** Bisection ends when one read gets the rest. */
const WINDOW_BYTES = 32 * 1024;
const SCAN_CHUNK_BYTES = 1024 * 1024;
/** Most captures of one page in a lookup; the newest are last in a sorted index. */
const MAX_FOUND = 10_000;
/** A longer line is damage. */
const MAX_LINE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** The lines that begin with `prefix`, of a file whose lines are in the order of their bytes. */
export async function searchSorted(
  read: ReadBytes,
  sizeBytes: number,
  prefix: Buffer,
  options: SearchOptions = {},
): Promise<FoundLine[]> {
  // Invariant: `low` begins a line, and every line before it is smaller than the prefix; none that begins at or
  // after `high` is.
  let low = 0;
  let high = sizeBytes;
  while (high - low > WINDOW_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const line = await goodLineFrom(read, middle, high, options);
    if (line !== undefined && line.bytes.compare(prefix) < 0) low = line.end;
    else high = middle;
  }
  return matchesFrom(read, low, sizeBytes, prefix, options);
}

interface Line {
  readonly start: number;
  /** Where the next one begins. */
  readonly end: number;
  readonly bytes: Buffer;
}

/** The first line that begins at or after `at` and before `limit` and is not damaged. */
async function goodLineFrom(
  read: ReadBytes,
  at: number,
  limit: number,
  { isLine = () => true, onDamage }: SearchOptions,
): Promise<Line | undefined> {
  // A line begins at `at` if the byte before is a newline.
  const before = at === 0 ? -1 : await newlineFrom(read, at - 1, limit - 1);
  if (before === undefined) return undefined;
  for (let start = before + 1; start < limit;) {
    const line = await lineAt(read, start, limit);
    if (line === undefined || isLine(line.bytes)) return line;
    onDamage?.(start);
    start = line.end;
  }
  return undefined;
}

/** The line that begins at `start`; of one that is too long its beginning. Undefined for half a line. */
async function lineAt(read: ReadBytes, start: number, limit: number): Promise<Line | undefined> {
  if (start >= limit) return undefined;
  for (let size = PROBE_BYTES; ; size *= 4) {
    const bytes = await read(start, start + size);
    const end = bytes.indexOf(NEWLINE);
    if (end >= 0) return { start, end: start + end + 1, bytes: bytes.subarray(0, end) };
    if (bytes.length < size) return undefined;
    if (size < MAX_LINE_BYTES) continue;
    const newline = await newlineFrom(read, start + size, Infinity);
    return newline === undefined ? undefined : { start, end: newline + 1, bytes: bytes.subarray(0, PROBE_BYTES) };
  }
}

/** Where the first newline at or after `at` and before `limit` is. */
async function newlineFrom(read: ReadBytes, at: number, limit: number): Promise<number | undefined> {
  let chunkBytes = PROBE_BYTES;
  for (let from = at; from < limit;) {
    const bytes = await read(from, Math.min(from + chunkBytes, limit));
    if (bytes.length === 0) return undefined;
    const found = bytes.indexOf(NEWLINE);
    if (found >= 0) return from + found;
    from += bytes.length;
    chunkBytes = Math.min(SCAN_CHUNK_BYTES, chunkBytes * 4);
  }
  return undefined;
}

/** Skips smaller lines, collects matching ones, and ends at the first larger one. */
async function matchesFrom(
  read: ReadBytes,
  from: number,
  sizeBytes: number,
  prefix: Buffer,
  { isLine = () => true, onDamage }: SearchOptions,
): Promise<FoundLine[]> {
  const found: FoundLine[] = [];
  let chunkBytes = WINDOW_BYTES;
  for (let at = from; at < sizeBytes;) {
    const chunk = await read(at, Math.min(at + chunkBytes, sizeBytes));
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const order = chunk.compare(prefix, 0, prefix.length, start, Math.min(end, start + prefix.length));
      if (isLine(chunk.subarray(start, end))) {
        if (order > 0) return found;
        if (order === 0) found.push({ text: chunk.toString('utf8', start, end), atByte: at + start });
        if (found.length > MAX_FOUND) found.shift();
      } else onDamage?.(at + start);
      start = end + 1;
    }
    // A line longer than the chunk: read more at once. Nothing more to read: half a line, which is ignored.
    if (start === 0 && chunk.length < Math.min(chunkBytes, sizeBytes - at)) return found;
    if (start === 0 && at + chunk.length >= sizeBytes) return found;
    if (start === 0 && chunkBytes >= MAX_LINE_BYTES) {
      onDamage?.(at);
      const newline = await newlineFrom(read, at + chunk.length, sizeBytes);
      if (newline === undefined) return found;
      start = newline + 1 - at;
    } else if (start === 0) chunkBytes *= 4;
    at += start;
  }
  return found;
}

/** The lines that begin with `prefix`, in a file of any order; half a line at its end is ignored. */
export async function scanUnsorted(
  read: ReadBytes,
  sizeBytes: number,
  prefix: Buffer,
  { chunkBytes = SCAN_CHUNK_BYTES }: SearchOptions & { readonly chunkBytes?: number } = {},
): Promise<FoundLine[]> {
  const found: FoundLine[] = [];
  const marked = Buffer.concat([Buffer.from('\n'), prefix]);
  // The newline before the first line makes it like all others.
  let rest: Buffer = Buffer.from('\n');
  for (let at = 0; at < sizeBytes;) {
    const chunk = await read(at, Math.min(at + chunkBytes, sizeBytes));
    if (chunk.length === 0) break;
    const bytes = Buffer.concat([rest, chunk]);
    const base = at - rest.length;
    at += chunk.length;
    const lastEnd = bytes.lastIndexOf(NEWLINE);
    for (let hit = bytes.indexOf(marked); hit >= 0 && hit < lastEnd; hit = bytes.indexOf(marked, hit + 1)) {
      const text = bytes.toString('utf8', hit + 1, bytes.indexOf(NEWLINE, hit + 1));
      found.push({ text, atByte: base + hit + 1 });
      if (found.length > MAX_FOUND) found.shift();
    }
    // Of a line that is too long no more is gathered: it cannot match any more.
    const isTooLong = lastEnd < 0 || bytes.length - lastEnd > MAX_LINE_BYTES;
    rest = isTooLong ? Buffer.alloc(0) : bytes.subarray(lastEnd);
  }
  return found;
}

/** The number of the line that begins at a byte, from 1. */
export async function lineNumberAt(read: ReadBytes, atByte: number): Promise<number> {
  let number = 1;
  for (let from = 0; from < atByte;) {
    const bytes = await read(from, Math.min(from + SCAN_CHUNK_BYTES, atByte));
    if (bytes.length === 0) break;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) number++;
    from += bytes.length;
  }
  return number;
}
