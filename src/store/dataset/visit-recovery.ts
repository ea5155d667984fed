// After a crash: cuts what was appended to visit segments but never acknowledged.
// Promise (guarantee 2): afterwards an item is in its dataset if and only if its visit was acknowledged.
import { createReadStream } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DATASETS_FOLDER } from '../disk.js';
import { cutHalfLine } from './disk-segments.js';
import { checkStorageName } from '../names.js';
import { isVisitName } from '../segments/segment-names.js';
import { readSegmentNote, type SegmentNote } from '../segments/segment-note.js';
import { asStorageError, isMissing } from '../storage-errors.js';
import { VISIT_KEY_PREFIX } from './visit-segments.js';

/** The result for one noted segment. `short`: noted bytes are missing, as after a power cut. */
export interface RecoveredSegment {
  readonly key: string;
  readonly outcome: 'whole' | 'cut' | 'short' | 'missing';
  readonly notedBytes: number;
  readonly foundBytes: number;
  /** Acknowledged items that are gone; undefined if not counted. */
  readonly lostLines?: number;
}

/**
 * Cuts every segment named by a note to its noted length, in whichever folder it is. Call it when the writers of these
 * segments are dead, before their datasets are read. Notes with other keys are ignored, so all notes of a queue can be
 * given.
 *
 * @example
 * await recoverVisitSegments([config.localDataDirectory()], (await frontier.overview()).notes);
 */
export async function recoverVisitSegments(
  baseDirs: readonly string[],
  notes: Readonly<Record<string, string | number>>,
): Promise<readonly RecoveredSegment[]> {
  const recovered: RecoveredSegment[] = [];
  for (const [key, text] of Object.entries(notes)) {
    const place = segmentPlace(key);
    const noted = readSegmentNote(text);
    if (place === undefined || noted === undefined) continue;
    recovered.push({ key, notedBytes: noted.bytes, ...(await recoverSegment(baseDirs, place, noted)) });
  }
  return recovered;
}

async function recoverSegment(
  baseDirs: readonly string[],
  place: string,
  noted: SegmentNote,
): Promise<Omit<RecoveredSegment, 'key' | 'notedBytes'>> {
  for (const baseDir of baseDirs) {
    const path = join(baseDir, place);
    try {
      const { size } = await stat(path);
      if (size === noted.bytes) return { outcome: 'whole', foundBytes: size };
      if (size > noted.bytes) {
        await truncate(path, noted.bytes);
        return { outcome: 'cut', foundBytes: size };
      }
      await cutHalfLine(path);
      const lostLines = noted.lines === undefined ? undefined : Math.max(0, noted.lines - (await countLines(path)));
      return { outcome: 'short', foundBytes: size, lostLines };
    } catch (error) {
      if (!isMissing(error)) throw asStorageError(error, path);
    }
  }
  // Noted before its first byte, but nothing followed.
  if (noted.bytes === 0) return { outcome: 'whole', foundBytes: 0 };
  return { outcome: 'missing', foundBytes: 0, lostLines: noted.lines };
}

const NEWLINE = 0x0a;

async function countLines(path: string): Promise<number> {
  let lines = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
  }
  return lines;
}

/** The file for a key, below a base folder, or undefined if it is not a visit segment's key. */
function segmentPlace(key: string): string | undefined {
  if (!key.startsWith(VISIT_KEY_PREFIX)) return undefined;
  const [id, file, ...more] = key.slice(VISIT_KEY_PREFIX.length).split('/');
  if (id === undefined || file === undefined || more.length > 0 || !isVisitName(file)) return undefined;
  try {
    return join(DATASETS_FOLDER, checkStorageName(id), file);
  } catch {
    return undefined;
  }
}
