// After a crash: brings the content segments of dead writers back to what the queue knows, and sorts their indexes.
// Promise (guarantee 2): afterwards a page is in a segment and in its index exactly if its visit was acknowledged,
// whether the index was unsorted, sorted, being sorted or torn; a recovery that dies half-way is repeated by the next.
import { readdir, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { killPoint } from '../../base/kill-points.js';
import { CONTENT_FOLDER, CONTENT_KEY_PREFIX, indexNameOf, parseContentName } from './names.js';
import { segmentOfIndex, TAIL_ENDING } from './names.js';
import { createIndexCheck, checkIndex } from './index-check.js';
import { createIndexRecovery, type IndexChecks, type RecoveredIndex } from './index-recovery.js';
import { readSegmentNote, type SegmentNote } from '../segments/segment-note.js';
import { asStorageError, isMissing } from '../storage-errors.js';

/**
 * What became of one segment. `short`: acknowledged pages or their index lines are missing, as after a power cut;
 * `missing`: all of it, as when a disk is not mounted or a folder was deleted.
 */
export interface RecoveredContent {
  readonly key: string;
  readonly outcome: 'whole' | 'cut' | 'short' | 'missing';
  /** Undefined without a queue. */
  readonly notedBytes?: number;
  readonly foundBytes: number;
  readonly keptBytes: number;
  /** Acknowledged pages that are gone or cannot be found any more; undefined where nobody counted. */
  readonly lostLines?: number;
}

export interface RecoveryOptions {
  readonly notes?: Readonly<Record<string, string>>;
  readonly isWriterGone: (writerId: string) => boolean;
  readonly warn: (message: string) => void;
  /** Which indexes that need no work are read all the same, to find damage; none unless given. */
  readonly checks?: IndexChecks;
}

/** A sort takes seconds; a temporary file this old has nobody who will rename it. */
const ABANDONED_AFTER_MS = 600_000;

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
  // The newest first: they are what a crash can have hurt, and what the bound on reading should be spent on.
  const names = [...(options.notes ? notedNames(options.notes) : found.keys())].sort().reverse();
  for (const name of names) {
    const writerId = parseContentName(name)?.writerId;
    if (writerId === undefined || !options.isWriterGone(writerId)) continue;
    const key = CONTENT_KEY_PREFIX + name;
    const noted = readSegmentNote(options.notes?.[key]);
    const folder = found.get(name);
    if (folder !== undefined) recovered.push({ key, ...(await recoverSegment(folder, name, noted, options)) });
    else if (noted && noted.bytes > 0) {
      const { bytes: notedBytes, lines: lostLines } = noted;
      recovered.push({ key, outcome: 'missing', notedBytes, foundBytes: 0, keptBytes: 0, lostLines });
    }
  }
  return recovered;
}

function notedNames(notes: Readonly<Record<string, string>>): string[] {
  return Object.keys(notes).flatMap((key) => {
    const isNamed = key.startsWith(CONTENT_KEY_PREFIX) && readSegmentNote(notes[key]) !== undefined;
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
  noted: SegmentNote | undefined,
  options: RecoveryOptions,
): Promise<Outcome> {
  const sorted = join(folder, indexNameOf(name));
  const isPages = indexNameOf(name) === name;
  try {
    return isPages ? await recoverPages(sorted, noted, options) : await recoverRecords(folder, name, noted, options);
  } catch (error) {
    throw asStorageError(error, join(folder, name));
  }
}

/** A segment and its index. */
async function recoverRecords(
  folder: string,
  name: string,
  noted: SegmentNote | undefined,
  options: RecoveryOptions,
): Promise<Outcome> {
  const path = join(folder, name);
  const index = createIndexRecovery(join(folder, indexNameOf(name)), options);
  const foundBytes = (await sizeOf(path)) ?? 0;
  const keptBytes = await keptOf(noted, foundBytes, index.lastWholeRecord, name);
  // With a queue the index is cut first: if this process dies in between, the segment is still too long, and tells the
  // next one. Without, the unsorted index tells it, so that stays until the segment is cut.
  const cut = async (): Promise<void> => {
    killPoint('recovery.before-cut');
    if (keptBytes === 0) await rm(path, { force: true });
    else if (keptBytes < foundBytes) await truncate(path, keptBytes);
    killPoint('recovery.after-cut');
  };
  if (!noted) await cut();
  const isShort = noted !== undefined && foundBytes < noted.bytes;
  const found = await index.recover({ name, keptBytes }, { mustRead: isShort || foundBytes !== keptBytes, isShort });
  killPoint('recovery.after-index');
  if (noted) await cut();
  return { notedBytes: noted?.bytes, foundBytes, keptBytes, ...verdict(noted, foundBytes, keptBytes, found) };
}

/** How much of a segment counts: what was noted, or if that is not all there, its whole records. */
async function keptOf(
  noted: SegmentNote | undefined,
  foundBytes: number,
  lastWholeRecord: (name: string, foundBytes: number) => Promise<number | undefined>,
  name: string,
): Promise<number> {
  if (noted && foundBytes >= noted.bytes) return noted.bytes;
  return (await lastWholeRecord(name, foundBytes)) ?? foundBytes;
}

function verdict(
  noted: SegmentNote | undefined,
  foundBytes: number,
  keptBytes: number,
  index: RecoveredIndex,
): Pick<Outcome, 'outcome' | 'lostLines'> {
  const isRecordShort = noted !== undefined && keptBytes < noted.bytes;
  const isIndexShort = keptBytes > 0 && index.coveredBytes !== undefined && index.coveredBytes !== keptBytes;
  if (!isRecordShort && !isIndexShort) return { outcome: keptBytes < foundBytes ? 'cut' : 'whole' };
  const lost = noted?.lines === undefined || index.lines === undefined ? undefined : noted.lines - index.lines;
  return { outcome: 'short', lostLines: lost === undefined ? undefined : Math.max(0, lost) };
}

/** An index without a segment: in the order of writing it is cut to the noted length. */
async function recoverPages(
  sorted: string,
  noted: SegmentNote | undefined,
  options: RecoveryOptions,
): Promise<Outcome> {
  const tail = sorted + TAIL_ENDING;
  const tailBytes = await sizeOf(tail);
  const foundBytes = tailBytes ?? (await sizeOf(sorted)) ?? 0;
  // Sorted is only what was wholly acknowledged: it is not longer than its note.
  const isLong = noted !== undefined && tailBytes !== undefined && tailBytes > noted.bytes;
  killPoint('recovery.before-pages-cut');
  if (isLong) await truncate(tail, noted.bytes);
  const keptBytes = isLong ? noted.bytes : foundBytes;
  const { lines } = await createIndexRecovery(sorted, options).recover(undefined, { isEmpty: keptBytes === 0 });
  const isShort = noted !== undefined && keptBytes < noted.bytes;
  const lost = isShort && noted.lines !== undefined ? noted.lines - (lines ?? (await countLines(sorted))) : undefined;
  const outcome = isShort ? 'short' : isLong ? 'cut' : 'whole';
  return { notedBytes: noted?.bytes, outcome, foundBytes, keptBytes, lostLines: lost && Math.max(0, lost) };
}

async function countLines(path: string): Promise<number> {
  if ((await sizeOf(path)) === undefined) return 0;
  return (await checkIndex(path, createIndexCheck(undefined))).kept;
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(ignoreMissing))?.size;
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
  return undefined;
}
