// After a crash: brings the content segments of dead writers back to what the queue knows, and sorts their indexes.
// Promise (guarantee 2): afterwards a page is in a segment and in its index exactly if its visit was acknowledged.
import { open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { killPoint } from '../base/kill-points.js';
import { recordEnd } from './cdxj.js';
import { CONTENT_FOLDER, CONTENT_KEY_PREFIX, indexNameOf, parseContentName, TAIL_ENDING } from './content-names.js';
import { segmentOfIndex } from './content-names.js';
import { batchesOfLines, sortLines } from './index-sorting.js';
import { asStorageError, isMissing } from './storage-errors.js';

/**
 * What became of one segment. `short`: acknowledged pages or their index lines are missing, as after a power cut;
 * `missing`: all of it, as when a disk is not mounted.
 */
export interface RecoveredContent {
  readonly key: string;
  readonly outcome: 'whole' | 'cut' | 'short' | 'missing';
  /** Undefined without a queue. */
  readonly notedBytes?: number;
  readonly foundBytes: number;
  readonly keptBytes: number;
}

export interface RecoveryOptions {
  readonly notes?: Readonly<Record<string, string>>;
  readonly isWriterGone: (writerId: string) => boolean;
  readonly warn: (message: string) => void;
}

/** A sort takes seconds; a temporary file this old has nobody who will rename it. */
const ABANDONED_AFTER_MS = 600_000;
const SCAN_BYTES = 1024 * 1024;

/**
 * Cuts the segments of dead writers: those that notes name to the noted length, or, without notes, all of them
 * after their last whole record. Segments that no note names belong to another queue and are left alone.
 */
export async function recoverContent(
  dataDirs: readonly string[],
  options: RecoveryOptions,
): Promise<readonly RecoveredContent[]> {
  const found = await findSegments(dataDirs);
  const recovered: RecoveredContent[] = [];
  for (const name of options.notes ? notedNames(options.notes) : found.keys()) {
    const writerId = parseContentName(name)?.writerId;
    if (writerId === undefined || !options.isWriterGone(writerId)) continue;
    const key = CONTENT_KEY_PREFIX + name;
    const noted = options.notes && Number(options.notes[key]);
    const folder = found.get(name);
    if (folder !== undefined) recovered.push({ key, ...(await recoverSegment(folder, name, noted, options.warn)) });
    else if (noted) recovered.push({ key, outcome: 'missing', notedBytes: noted, foundBytes: 0, keptBytes: 0 });
  }
  return recovered;
}

function notedNames(notes: Readonly<Record<string, string>>): string[] {
  return Object.keys(notes).flatMap((key) => {
    const noted = Number(notes[key]);
    const isNamed = key.startsWith(CONTENT_KEY_PREFIX) && Number.isSafeInteger(noted) && noted >= 0;
    return isNamed ? [key.slice(CONTENT_KEY_PREFIX.length)] : [];
  });
}

/** Every segment, or index of one, with its folder; clears away what a sort that died left. */
async function findSegments(dataDirs: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const dataDir of dataDirs) {
    const folder = join(dataDir, CONTENT_FOLDER);
    // A directory that cannot be read was reported by whoever opened it.
    for (const file of await readdir(folder).catch(() => [])) {
      const segment = parseContentName(file) ? file : segmentOfIndex(file);
      if (segment !== undefined) found.set(segment, folder);
      else if (file.endsWith('.tmp')) await removeAbandoned(join(folder, file));
    }
  }
  return found;
}

async function removeAbandoned(path: string): Promise<void> {
  const info = await stat(path).catch(() => undefined);
  if (info && Date.now() - info.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true }).catch(() => undefined);
}

type Outcome = Omit<RecoveredContent, 'key'>;

async function recoverSegment(
  folder: string,
  name: string,
  notedBytes: number | undefined,
  warn: RecoveryOptions['warn'],
): Promise<Outcome> {
  const sorted = join(folder, indexNameOf(name));
  const isPages = indexNameOf(name) === name;
  try {
    killPoint('recovery.before-cut');
    const cut = isPages ? await cutPages(sorted, notedBytes) : await cutRecords(join(folder, name), sorted, notedBytes);
    killPoint('recovery.after-cut');
    const { indexedBytes } = await sortIndex(sorted, isPages ? Infinity : cut.keptBytes, warn);
    killPoint('recovery.after-index');
    const isIndexShort = !isPages && indexedBytes !== undefined && indexedBytes !== cut.keptBytes;
    return { notedBytes, ...cut, outcome: isIndexShort ? 'short' : cut.outcome };
  } catch (error) {
    throw asStorageError(error, join(folder, name));
  }
}

/** An index without a segment is cut to its length; half a line at its end is left out by the sort. */
async function cutPages(sorted: string, notedBytes: number | undefined): Promise<Outcome> {
  const tail = sorted + TAIL_ENDING;
  const tailBytes = await sizeOf(tail);
  const foundBytes = tailBytes ?? (await sizeOf(sorted)) ?? 0;
  if (notedBytes === undefined || foundBytes === notedBytes)
    return { outcome: 'whole', foundBytes, keptBytes: foundBytes };
  if (foundBytes < notedBytes) return { outcome: 'short', foundBytes, keptBytes: foundBytes };
  // Only what was wholly acknowledged gets sorted; a sorted one that is longer was noted by a later call.
  if (tailBytes === undefined) return { outcome: 'whole', foundBytes, keptBytes: foundBytes };
  await cutOrRemove(tail, notedBytes);
  return { outcome: 'cut', foundBytes, keptBytes: notedBytes };
}

async function cutRecords(path: string, sorted: string, notedBytes: number | undefined): Promise<Outcome> {
  const foundBytes = (await sizeOf(path)) ?? 0;
  // Nothing of it counts, and perhaps nothing was written: an empty file is no archive.
  if (notedBytes === 0 || foundBytes === 0) await rm(path, { force: true });
  // Without notes a sorted index says as much: its segment was closed in good order.
  const isFinished = notedBytes === undefined && (await isSorted(sorted));
  if (foundBytes === notedBytes || isFinished) return { outcome: 'whole', foundBytes, keptBytes: foundBytes };
  const isLongEnough = notedBytes !== undefined && foundBytes > notedBytes;
  const keptBytes = isLongEnough ? notedBytes : await lastWholeRecord(sorted, foundBytes);
  if (keptBytes < foundBytes && notedBytes !== 0) await cutOrRemove(path, keptBytes);
  const isShort = notedBytes !== undefined && foundBytes < notedBytes;
  return { outcome: isShort ? 'short' : keptBytes < foundBytes ? 'cut' : 'whole', foundBytes, keptBytes };
}

/** Where the last record ends that the index knows and that is there. */
async function lastWholeRecord(sorted: string, foundBytes: number): Promise<number> {
  let last = 0;
  for (const path of [sorted + TAIL_ENDING, sorted]) {
    const file = await open(path, 'r').catch(ignoreMissing);
    if (file === undefined) continue;
    try {
      for await (const lines of batchesOfLines(file, 0, Infinity, SCAN_BYTES)) {
        for (const line of lines) {
          const end = recordEnd(line);
          if (end !== undefined && end <= foundBytes) last = Math.max(last, end);
        }
      }
    } finally {
      await file.close();
    }
  }
  return last;
}

/** Sorts an index that is not yet, leaving out lines of records that are not kept; gives how far its lines reach. */
async function sortIndex(
  sorted: string,
  keptBytes: number,
  warn: RecoveryOptions['warn'],
): Promise<{ indexedBytes?: number }> {
  const tail = sorted + TAIL_ENDING;
  let indexedBytes = 0;
  if ((await sizeOf(tail)) === undefined) return {};
  const keep = (line: string): boolean => {
    const end = recordEnd(line) ?? (keptBytes === Infinity ? 0 : Infinity);
    if (end > keptBytes) return false;
    indexedBytes = Math.max(indexedBytes, end);
    return true;
  };
  try {
    if (keptBytes === 0) await rm(tail, { force: true });
    else await sortLines(tail, sorted, { keep });
    return { indexedBytes };
  } catch (error) {
    // Another process was faster, or there is no room: readers scan what is not sorted.
    if (!isMissing(error)) warn(`${sorted} stays unsorted: ${(error as Error).message}`);
    return {};
  }
}

async function isSorted(sorted: string): Promise<boolean> {
  return (await sizeOf(sorted + TAIL_ENDING)) === undefined && (await sizeOf(sorted)) !== undefined;
}

async function cutOrRemove(path: string, lengthBytes: number): Promise<void> {
  if (lengthBytes > 0) await truncate(path, lengthBytes);
  else await rm(path, { force: true });
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(ignoreMissing))?.size;
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
  return undefined;
}
