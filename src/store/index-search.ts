// Finds the lines of one key in an index: by bisection where it is sorted, by one scan where it still grows.
// Promise: a sorted index of any size costs a few dozen small reads; memory holds one chunk and the lines found.

/** Bytes of the index, fewer where it ends earlier. */
export type ReadBytes = (fromByte: number, toByte: number) => Promise<Buffer>;

const PROBE_BYTES = 8 * 1024;
/** Bisection ends where one read gets the rest. */
const WINDOW_BYTES = 32 * 1024;
const SCAN_CHUNK_BYTES = 1024 * 1024;
/** Captures of one page that a look-up considers; the newest are last in a sorted index. */
const MAX_FOUND = 10_000;
const NEWLINE = 0x0a;

/** The lines that begin with `prefix`, of a file whose lines are in the order of their bytes. */
export async function searchSorted(read: ReadBytes, sizeBytes: number, prefix: Buffer): Promise<string[]> {
  // Invariant: `low` begins a line, and every line before it is smaller than the prefix; none that begins at or
  // after `high` is.
  let low = 0;
  let high = sizeBytes;
  while (high - low > WINDOW_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const line = await lineFrom(read, middle, high);
    if (line === undefined) high = middle;
    else if (line.bytes.compare(prefix) < 0) low = line.end;
    else high = line.start;
  }
  return matchesFrom(read, low, sizeBytes, prefix);
}

interface Line {
  readonly start: number;
  /** Where the next one begins. */
  readonly end: number;
  readonly bytes: Buffer;
}

/** The first line that begins at or after `at` and before `limit`. */
async function lineFrom(read: ReadBytes, at: number, limit: number): Promise<Line | undefined> {
  if (at === 0) return lineAt(read, 0, limit);
  // A line begins at `at` if the byte before is a newline.
  const before = await newlineFrom(read, at - 1, limit - 1);
  return before === undefined ? undefined : lineAt(read, before + 1, limit);
}

async function lineAt(read: ReadBytes, start: number, limit: number): Promise<Line | undefined> {
  if (start >= limit) return undefined;
  for (let size = PROBE_BYTES; ; size *= 4) {
    const bytes = await read(start, start + size);
    const end = bytes.indexOf(NEWLINE);
    if (end >= 0) return { start, end: start + end + 1, bytes: bytes.subarray(0, end) };
    if (bytes.length < size) return undefined;
  }
}

/** Where the first newline at or after `at` and before `limit` is. */
async function newlineFrom(read: ReadBytes, at: number, limit: number): Promise<number | undefined> {
  for (let from = at; from < limit;) {
    const bytes = await read(from, Math.min(from + PROBE_BYTES, limit));
    if (bytes.length === 0) return undefined;
    const found = bytes.indexOf(NEWLINE);
    if (found >= 0) return from + found;
    from += bytes.length;
  }
  return undefined;
}

/** Passes over smaller lines, gathers those that match, and ends at the first larger one. */
async function matchesFrom(read: ReadBytes, from: number, sizeBytes: number, prefix: Buffer): Promise<string[]> {
  const found: string[] = [];
  let chunkBytes = WINDOW_BYTES;
  for (let at = from; at < sizeBytes;) {
    const chunk = await read(at, Math.min(at + chunkBytes, sizeBytes));
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const order = chunk.compare(prefix, 0, prefix.length, start, Math.min(end, start + prefix.length));
      if (order > 0) return found;
      if (order === 0) found.push(chunk.toString('utf8', start, end));
      if (found.length > MAX_FOUND) found.shift();
      start = end + 1;
    }
    // A line longer than the chunk: read more at once. Nothing more to read: half a line, which is none.
    if (start === 0 && chunk.length < Math.min(chunkBytes, sizeBytes - at)) return found;
    if (start === 0 && at + chunk.length >= sizeBytes) return found;
    if (start === 0) chunkBytes *= 4;
    at += start;
  }
  return found;
}

/** The lines that begin with `prefix`, in a file of any order; half a line at its end is none yet. */
export async function scanUnsorted(
  read: ReadBytes,
  sizeBytes: number,
  prefix: Buffer,
  chunkBytes = SCAN_CHUNK_BYTES,
): Promise<string[]> {
  const found: string[] = [];
  const marked = Buffer.concat([Buffer.from('\n'), prefix]);
  // The newline before the first line makes it like all others.
  let rest: Buffer = Buffer.from('\n');
  for (let at = 0; at < sizeBytes;) {
    const chunk = await read(at, Math.min(at + chunkBytes, sizeBytes));
    if (chunk.length === 0) break;
    at += chunk.length;
    const bytes = Buffer.concat([rest, chunk]);
    const lastEnd = bytes.lastIndexOf(NEWLINE);
    for (let hit = bytes.indexOf(marked); hit >= 0 && hit < lastEnd; hit = bytes.indexOf(marked, hit + 1)) {
      found.push(bytes.toString('utf8', hit + 1, bytes.indexOf(NEWLINE, hit + 1)));
      if (found.length > MAX_FOUND) found.shift();
    }
    rest = bytes.subarray(lastEnd);
  }
  return found;
}
