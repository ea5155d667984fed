// After a crash: brings the segments of transactional visits back to what the queue knows.
// Promise (guarantee 2): cut back to the length the queue noted, an item is there exactly if its visit was acknowledged.
import { stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DATASETS_FOLDER } from './disk.js';
import { cutHalfLine } from './disk-segments.js';
import { checkStorageName } from './names.js';
import { isVisitName } from './segment-names.js';
import { asStorageError, isMissing } from './storage-errors.js';
import { VISIT_KEY_PREFIX } from './visit-segments.js';

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
  if (!key.startsWith(VISIT_KEY_PREFIX)) return undefined;
  const [id, file, ...more] = key.slice(VISIT_KEY_PREFIX.length).split('/');
  if (id === undefined || file === undefined || more.length > 0 || !isVisitName(file)) return undefined;
  try {
    return join(baseDir, DATASETS_FOLDER, checkStorageName(id), file);
  } catch {
    return undefined;
  }
}
