// After a crash: cuts the content segments of dead writers to what the queue acknowledged, and sorts their indexes.
// Promise (guarantee 2): afterwards a page is in a segment and its index if and only if its visit was acknowledged,
// whether the index was unsorted, sorted, being sorted or torn; a recovery that dies halfway is repeated by the next.
import { readdir, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { killPoint } from '../../base/kill-points.js';
import { CONTENT_FOLDER, CONTENT_KEY_PREFIX, indexNameOf, parseContentName } from './names.js';
import { segmentOfIndex, TAIL_ENDING } from './names.js';
import { createIndexCheck, checkIndex } from './index-check.js';
import { createIndexRecovery, type IndexChecks, type RecoveredIndex } from './index-recovery.js';
import { compactedIn, removeCompacted } from './compact/list.js';
import { readSegmentNote, type SegmentNote } from '../segments/segment-note.js';
import { asStorageError, ignoreMissing } from '../storage-errors.js';

/**
 * The result for one segment. `short`: acknowledged pages or their index lines are missing, as after a power cut;
 * `missing`: all of it, as when a disk is not mounted or a folder was deleted.
 */
export interface RecoveredContent {
  readonly key: string;
  readonly outcome: 'whole' | 'cut' | 'short' | 'missing';
  /** Undefined without a queue. */
  readonly notedBytes?: number;
  readonly foundBytes: number;
  readonly keptBytes: number;
  /** Acknowledged pages that are gone or cannot be found; undefined if not counted. */
  readonly lostLines?: number;
}

export interface RecoveryOptions {
  readonly notes?: Readonly<Record<string, string>>;
  readonly isWriterGone: (writerId: string) => boolean;
  readonly warn: (message: string) => void;
  /** Segments that were moved to an object store: they are whole, whatever is left of them here. */
  readonly isElsewhere?: (segment: string) => boolean;
  /** Which unchanged indexes are also checked for damage; default none. */
  readonly checks?: IndexChecks;
}

/** A sort takes seconds; an older temporary file is orphaned. */
const ABANDONED_AFTER_MS = 600_000;

/**
 * Cuts the segments of dead writers: those named by notes to the noted length, or, without notes, all of them after
 * their last complete record. Segments without a note belong to another queue and are left alone.
 */
export async function recoverContent(
  dataDirs: readonly string[],
  options: RecoveryOptions,
): Promise<readonly RecoveredContent[]> {
  const found = await findSegments(dataDirs);
  const replaced = await finishCompactions(dataDirs, found);
  const recovered: RecoveredContent[] = [];
  // The newest first: a crash can only damage those, and reading is bounded.
  const names = [...(options.notes ? notedNames(options.notes) : found.keys())].sort().reverse();
  for (const name of names) {
    const writerId = parseContentName(name)?.writerId;
    if (writerId === undefined || replaced.has(name) || !options.isWriterGone(writerId)) continue;
    if (options.isElsewhere?.(name)) continue;
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

/** Every segment or index with its folder; removes what a dead sort left. */
async function findSegments(dataDirs: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const dataDir of dataDirs) {
    const folder = join(dataDir, CONTENT_FOLDER);
    // An unreadable directory was reported when it was opened.
    for (const file of await readdir(folder).catch(() => [])) {
      const segment = parseContentName(file) ? file : segmentOfIndex(file);
      if (segment !== undefined) found.set(segment, folder);
      else if (file.endsWith('.tmp')) await removeAbandoned(join(folder, file));
    }
  }
  return found;
}

/** Segments that a compaction replaced are not missed; what one that died left of them goes. */
async function finishCompactions(
  dataDirs: readonly string[],
  found: ReadonlyMap<string, string>,
): Promise<ReadonlySet<string>> {
  const replaced = new Set<string>();
  for (const dataDir of dataDirs) {
    const folder = join(dataDir, CONTENT_FOLDER);
    for (const name of await compactedIn(folder).catch(() => [])) {
      replaced.add(name);
      if (found.get(name) === folder) await removeCompacted(folder, name).catch(() => undefined);
    }
  }
  return replaced;
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
  // With a queue the index is cut first: if this process dies in between, the segment is still too long, and the next
  // one notices. Without a queue it notices the unsorted index, so that stays until the segment is cut.
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

/** How much of a segment counts: the noted length, or if it is shorter, its complete records. */
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

/** An index without a segment: while unsorted it is cut to the noted length. */
async function recoverPages(
  sorted: string,
  noted: SegmentNote | undefined,
  options: RecoveryOptions,
): Promise<Outcome> {
  const tail = sorted + TAIL_ENDING;
  const tailBytes = await sizeOf(tail);
  const foundBytes = tailBytes ?? (await sizeOf(sorted)) ?? 0;
  // Only fully acknowledged indexes are sorted: this one is not longer than its note.
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
