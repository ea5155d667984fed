// The segments that hold the items of transactional visits, and their repair after a crash.
// Promise (guarantee 2): cut back to the length the queue noted, an item is there exactly if its visit was acknowledged.
import { stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DATASETS_FOLDER } from './disk.js';
import { cutHalfLine } from './disk-segments.js';
import { checkStorageName } from './names.js';
import { isVisitName } from './segment-names.js';
import { asStorageError, isMissing } from './storage-errors.js';
import type { SegmentWriter } from './store.js';

/** A segment that grew to this is closed and another one begun. */
export const SEGMENT_BYTES = 64 * 1024 * 1024;

const KEY_PREFIX = 'dataset/';

/**
 * Writes the items of acknowledged visits. Its owner, in this order: notes `key → 0` in the queue before
 * the first append; appends the lines of a batch; settles the batch together with the note
 * `key → length`; cuts back to the noted length if the settle was refused.
 */
export interface VisitWriter {
  /** The name of the note: one per file, never used again. */
  readonly key: string;
  /** Bytes written: what the note must say. */
  readonly length: number;
  /** Take another writer for the next batch: the segment has its size, or its dataset was emptied. */
  readonly full: boolean;
  /** Resolves when the lines are in the file; on failure nothing of them is. */
  append(lines: string | Uint8Array): Promise<void>;
  cutTo(lengthBytes: number): Promise<void>;
  close(): Promise<void>;
}

export function createVisitWriter(
  datasetId: string,
  segment: SegmentWriter,
  onCut: (name: string) => void,
  isGone: () => boolean,
  maxBytes = SEGMENT_BYTES,
): VisitWriter {
  return {
    key: `${KEY_PREFIX}${datasetId}/${segment.name}`,
    get length() {
      return segment.lengthBytes;
    },
    get full() {
      return segment.lengthBytes >= maxBytes || isGone();
    },
    append: (lines) => segment.append(lines),
    async cutTo(lengthBytes) {
      await segment.cutTo(lengthBytes);
      onCut(segment.name);
    },
    close: () => segment.close(),
  };
}

/** What became of one noted segment. `short`: bytes the note speaks of are missing, as after a power cut. */
export interface RecoveredSegment {
  readonly key: string;
  readonly outcome: 'whole' | 'cut' | 'short' | 'missing';
  readonly notedBytes: number;
  readonly foundBytes: number;
}

/**
 * Cuts every segment that a note names back to its noted length. Call it when the writers of these
 * segments are known to be dead, before their datasets are read. Notes with other keys are passed over,
 * so all notes of a queue can be given.
 *
 * @example
 * await recoverVisitSegments(config.localDataDirectory(), (await frontier.overview()).notes);
 */
export async function recoverVisitSegments(
  baseDir: string,
  notes: Readonly<Record<string, string | number>>,
): Promise<readonly RecoveredSegment[]> {
  const recovered: RecoveredSegment[] = [];
  for (const [key, noted] of Object.entries(notes)) {
    const path = segmentPath(baseDir, key);
    const notedBytes = Number(noted);
    if (path === undefined || !Number.isSafeInteger(notedBytes) || notedBytes < 0) continue;
    recovered.push({ key, notedBytes, ...(await recoverSegment(path, notedBytes)) });
  }
  return recovered;
}

async function recoverSegment(path: string, notedBytes: number): Promise<Omit<RecoveredSegment, 'key' | 'notedBytes'>> {
  try {
    const { size } = await stat(path);
    if (size === notedBytes) return { outcome: 'whole', foundBytes: size };
    if (size > notedBytes) await truncate(path, notedBytes);
    else await cutHalfLine(path);
    return { outcome: size > notedBytes ? 'cut' : 'short', foundBytes: size };
  } catch (error) {
    if (isMissing(error)) return { outcome: 'missing', foundBytes: 0 };
    throw asStorageError(error, path);
  }
}

/** The file a key names, or undefined when the key is not that of a visit segment. */
function segmentPath(baseDir: string, key: string): string | undefined {
  if (!key.startsWith(KEY_PREFIX)) return undefined;
  const [id, file, ...more] = key.slice(KEY_PREFIX.length).split('/');
  if (id === undefined || file === undefined || more.length > 0 || !isVisitName(file)) return undefined;
  try {
    return join(baseDir, DATASETS_FOLDER, checkStorageName(id), file);
  } catch {
    return undefined;
  }
}
