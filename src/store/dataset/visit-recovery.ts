// After a crash: cuts what was appended to visit segments but never acknowledged, in whichever backend they are.
// Guarantee 2: afterwards an item stands in its dataset exactly if its visit was acknowledged.
import { checkStorageName } from '../names.js';
import { isVisitName } from '../segments/segment-names.js';
import { readSegmentNote, type SegmentNote } from '../segments/segment-note.js';
import type { SegmentStore, SegmentWriter, StorageBackend } from '../store.js';
import { VISIT_KEY_PREFIX } from './visit-segments.js';

/** What became of one noted segment. `short`: bytes the note speaks of are missing, as after a power cut. */
export interface RecoveredSegment {
  readonly key: string;
  readonly outcome: 'whole' | 'cut' | 'short' | 'missing';
  readonly notedBytes: number;
  readonly foundBytes: number;
  /** Acknowledged items that are gone; undefined where nobody counted. */
  readonly lostLines?: number;
}

/**
 * Cuts every segment that a note names back to its noted length, in whichever of the backends it is. Call it when the
 * writers of these segments are known to be dead, before their datasets are read. Notes with other keys are passed
 * over, so all notes of a queue can be given.
 *
 * @example
 * await recoverVisitSegments([createDiskBackend(folder)], (await frontier.overview()).notes);
 */
export async function recoverVisitSegments(
  backends: readonly Pick<StorageBackend, 'segments'>[],
  notes: Readonly<Record<string, string | number>>,
): Promise<readonly RecoveredSegment[]> {
  const recovered: RecoveredSegment[] = [];
  for (const [key, text] of Object.entries(notes)) {
    const place = segmentPlace(key);
    const noted = readSegmentNote(text);
    if (place === undefined || noted === undefined) continue;
    const stores = backends.map((backend) => backend.segments(place.datasetId));
    recovered.push({ key, notedBytes: noted.bytes, ...(await recoverSegment(stores, place.name, noted)) });
  }
  return recovered;
}

type Recovered = Omit<RecoveredSegment, 'key' | 'notedBytes'>;

async function recoverSegment(stores: readonly SegmentStore[], name: string, noted: SegmentNote): Promise<Recovered> {
  for (const store of stores) {
    const segment = await store.openVisit(name);
    try {
      if (segment.lengthBytes > 0) return await recoverIn(store, segment, noted);
    } finally {
      await segment.close();
    }
  }
  // Noted before its first byte, and nothing followed.
  if (noted.bytes === 0) return { outcome: 'whole', foundBytes: 0 };
  return { outcome: 'missing', foundBytes: 0, lostLines: noted.lines };
}

async function recoverIn(store: SegmentStore, segment: SegmentWriter, noted: SegmentNote): Promise<Recovered> {
  const foundBytes = segment.lengthBytes;
  if (foundBytes === noted.bytes) return { outcome: 'whole', foundBytes };
  if (foundBytes > noted.bytes) {
    await segment.cutTo(noted.bytes);
    return { outcome: 'cut', foundBytes };
  }
  const { lines, endBytes } = await wholeLines(store, segment);
  if (endBytes < foundBytes) await segment.cutTo(endBytes);
  const lostLines = noted.lines === undefined ? undefined : Math.max(0, noted.lines - lines);
  return { outcome: 'short', foundBytes, lostLines };
}

const NEWLINE = 0x0a;
const PORTION_BYTES = 1024 * 1024;

/** How many whole lines a segment has, and where the last of them ends. */
async function wholeLines(store: SegmentStore, { name, lengthBytes }: SegmentWriter) {
  let lines = 0;
  let endBytes = 0;
  for (let from = 0; from < lengthBytes;) {
    const portion = await store.read(name, from, Math.min(lengthBytes, from + PORTION_BYTES));
    if (portion.length === 0) break;
    for (let at = portion.indexOf(NEWLINE); at >= 0; at = portion.indexOf(NEWLINE, at + 1)) {
      lines++;
      endBytes = from + at + 1;
    }
    from += portion.length;
  }
  return { lines, endBytes };
}

/** The segment a key names, or undefined when the key is not that of a visit segment. */
function segmentPlace(key: string): { datasetId: string; name: string } | undefined {
  if (!key.startsWith(VISIT_KEY_PREFIX)) return undefined;
  const [id, name, ...more] = key.slice(VISIT_KEY_PREFIX.length).split('/');
  if (id === undefined || name === undefined || more.length > 0 || !isVisitName(name)) return undefined;
  try {
    return { datasetId: checkStorageName(id), name };
  } catch {
    return undefined;
  }
}
