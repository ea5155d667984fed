// Sorts the index of a finished segment, so that a page is found with a few reads in a file of any size.
// Promise: memory holds one run and a chunk of each run; it yields after every run; the old file stays until the new one is complete.
import { randomBytes } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { killPoint } from '../../base/kill-points.js';

/** Bytes sorted at once: some 12,000 lines, about 20 ms. */
const RUN_BYTES = 4 * 1024 * 1024;
/** Read from each run at a time while merging: 64 runs (an index of 256 MiB) take 4 MiB. */
const MERGE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export interface SortOptions {
  /** Lines for which it is false are left out. Text is Latin-1: one character per byte. */
  readonly keep?: (line: string) => boolean;
  readonly sync?: boolean;
  readonly runBytes?: number;
  readonly mergeBytes?: number;
}

/**
 * Writes the lines of `from` to `to` in byte order and removes `from`. Half a line at the end is dropped. Safe to
 * repeat after a crash, and to run twice at once on a file that no longer grows.
 */
export async function sortLines(from: string, to: string, options: SortOptions = {}): Promise<void> {
  const { runBytes = RUN_BYTES, mergeBytes = MERGE_BYTES } = options;
  const unique = randomBytes(6).toString('hex');
  const temporary = `${to}.${unique}.tmp`;
  const runsPath = `${to}.${unique}.runs.tmp`;
  try {
    killPoint('index-sort.before-write');
    const source = await open(from, 'r');
    // As private as it was.
    const { mode } = await source.stat();
    const runs = await open(runsPath, 'w+', mode).catch(async (error: unknown) => {
      await source.close();
      throw error;
    });
    try {
      const ends = await writeRuns(source, runs, runBytes, options.keep);
      const target = await open(temporary, 'w', mode);
      try {
        await merge(runs, ends, target, mergeBytes);
        if (options.sync) await target.datasync();
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
      await runs.close();
    }
    killPoint('index-sort.before-rename');
    await rename(temporary, to);
    killPoint('index-sort.after-rename');
    if (from !== to) await rm(from, { force: true });
    killPoint('index-sort.after-remove');
  } finally {
    await rm(runsPath, { force: true });
    await rm(temporary, { force: true });
  }
}

/** Writes sorted runs one after another; returns where each ends. */
async function writeRuns(
  source: FileHandle,
  runs: FileHandle,
  runBytes: number,
  keep: SortOptions['keep'],
): Promise<number[]> {
  const ends: number[] = [];
  let written = 0;
  for await (const lines of batchesOfLines(source, 0, Infinity, runBytes)) {
    const sorted = (keep === undefined ? lines : lines.filter(keep)).sort(byBytes);
    if (sorted.length === 0) continue;
    const bytes = Buffer.from(`${sorted.join('\n')}\n`, 'latin1');
    await writeAll(runs, bytes);
    ends.push((written += bytes.length));
  }
  return ends;
}

interface Run {
  readonly batches: AsyncGenerator<string[]>;
  lines: string[];
  at: number;
}

async function merge(runs: FileHandle, ends: readonly number[], target: FileHandle, mergeBytes: number): Promise<void> {
  const sources = ends.map((end, index) => batchesOfLines(runs, ends[index - 1] ?? 0, end, mergeBytes));
  for await (const lines of mergedLines(sources, mergeBytes)) {
    await writeAll(target, Buffer.from(`${lines.join('\n')}\n`, 'latin1'));
  }
}

/** The lines of several sorted sources in one order, in batches of about `batchBytes`. */
export async function* mergedLines(
  sources: readonly AsyncGenerator<string[]>[],
  batchBytes: number,
): AsyncGenerator<string[]> {
  const heap: Run[] = [];
  for (const batches of sources) {
    const run: Run = { batches, lines: [], at: 0 };
    if (await refill(run)) heap.push(run);
  }
  for (let index = heap.length >> 1; index >= 0; index--) sink(heap, index);
  let out: string[] = [];
  let outBytes = 0;
  while (heap.length > 0) {
    const first = heap[0]!;
    const line = first.lines[first.at++]!;
    out.push(line);
    outBytes += line.length + 1;
    if (first.at === first.lines.length && !(await refill(first))) {
      const last = heap.pop()!;
      if (heap.length > 0) heap[0] = last;
    }
    sink(heap, 0);
    if (outBytes < batchBytes && heap.length > 0) continue;
    yield out;
    out = [];
    outBytes = 0;
  }
}

async function refill(run: Run): Promise<boolean> {
  const next = await run.batches.next();
  if (next.done) return false;
  run.lines = next.value;
  run.at = 0;
  return true;
}

function sink(heap: Run[], from: number): void {
  for (let index = from; ;) {
    const left = 2 * index + 1;
    if (left >= heap.length) return;
    const right = left + 1;
    const child = right < heap.length && byBytes(head(heap[right]!), head(heap[left]!)) < 0 ? right : left;
    if (byBytes(head(heap[child]!), head(heap[index]!)) >= 0) return;
    [heap[index], heap[child]] = [heap[child]!, heap[index]!];
    index = child;
  }
}

const head = (run: Run): string => run.lines[run.at]!;
const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A longer line is damage, and is not collected. */
export const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Complete lines from `fromByte` to `toByte`, in batches of about `chunkBytes`; never an empty batch. A line longer
 * than MAX_LINE_BYTES is returned as an empty line.
 */
export async function* batchesOfLines(
  file: FileHandle,
  fromByte: number,
  toByte: number,
  chunkBytes: number,
): AsyncGenerator<string[]> {
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  for (let at = fromByte; at < toByte;) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, toByte - at));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    let bytes: Buffer = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    if (isTooLong) {
      const ends = bytes.indexOf(NEWLINE);
      // Its end becomes an empty line.
      bytes = ends < 0 ? Buffer.alloc(0) : bytes.subarray(ends);
      isTooLong = ends < 0;
    }
    const end = bytes.lastIndexOf(NEWLINE);
    rest = bytes.subarray(end + 1);
    if (rest.length > MAX_LINE_BYTES) {
      isTooLong = true;
      rest = Buffer.alloc(0);
    }
    if (end >= 0) yield bytes.toString('latin1', 0, end).split('\n');
  }
}

/** `write` may take only part of it. */
export async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length;) done += (await file.write(bytes, done)).bytesWritten;
}
