// Moves finished segments of items from the data directories to an object store, each under its own name.
// Promise: only what is acknowledged to the last byte and never written again is moved; a segment that is in the store
// counts from there. Whatever dies between two steps, the next start goes on: no item is there twice.
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { killPoint } from '../../base/kill-points.js';
import type { ObjectStore } from '../content/remote/objects.js';
import type { Shipping } from '../content/remote/shipping.js';
import { DATASETS_FOLDER } from '../disk.js';
import { isVisitName, isVisitWriterGone } from '../segments/segment-names.js';
import { readSegmentNote } from '../segments/segment-note.js';
import { isMissing } from '../storage-errors.js';
import { SEGMENT_BYTES, VISIT_KEY_PREFIX } from './visit-segments.js';

export interface ItemShippingParts {
  readonly dataDirs: readonly string[];
  readonly objects: ObjectStore;
  /** How long each segment is, as its queue knows. */
  readonly notes: () => Promise<Readonly<Record<string, string>>>;
  /** Runs what removes local files, apart from whoever else changes them. */
  readonly exclusively?: (work: () => Promise<void>) => Promise<void>;
  readonly segmentBytes?: number;
}

interface Segment {
  readonly path: string;
  /** `dataset/file`. */
  readonly place: string;
}

/** The name of a segment in the store. */
export function objectOfItems(place: string): string {
  return `${DATASETS_FOLDER}/${place}`;
}

/** `isThere` is asked for the key of a segment's note. */
export function createItemShipping(parts: ItemShippingParts): Shipping {
  const { dataDirs, objects, notes, segmentBytes = SEGMENT_BYTES } = parts;
  const { exclusively = (work: () => Promise<void>) => work() } = parts;
  const there = new Set<string>();
  const shipped = { segments: 0, bytes: 0 };

  async function drop({ path, place }: Segment): Promise<void> {
    there.add(place);
    killPoint('ship-items.before-drop');
    await rm(path, { force: true });
    killPoint('ship-items.after-drop');
  }

  /** Those that nobody will write again, if all of them is acknowledged. */
  async function finished(): Promise<(Segment & { readonly bytes: number })[]> {
    const found = [];
    for (const segment of await segmentsIn(dataDirs)) {
      const bytes = await sizeOf(segment.path);
      if (bytes !== undefined && (bytes >= segmentBytes || isVisitWriterGone(segment.place)))
        found.push({ ...segment, bytes });
    }
    if (found.length === 0) return [];
    // Read after the sizes: a file that grew meanwhile is longer than it was.
    const noted = await notes();
    return found.filter(
      ({ place, bytes }) => readSegmentNote(noted[`${VISIT_KEY_PREFIX}${place}`] ?? '')?.bytes === bytes,
    );
  }

  return {
    shipped,
    isThere: (key) => there.has(key.slice(VISIT_KEY_PREFIX.length)),
    async begin() {
      await objects.check();
      const prefix = objectOfItems('');
      for await (const { name } of objects.list()) if (name.startsWith(prefix)) there.add(name.slice(prefix.length));
      for (const segment of await segmentsIn(dataDirs)) if (there.has(segment.place)) await drop(segment);
    },
    async ship(signal) {
      for (const segment of await finished()) {
        if (signal?.aborted) return;
        killPoint('ship-items.before-upload');
        await objects.upload(objectOfItems(segment.place), segment.path);
        killPoint('ship-items.after-upload');
        await exclusively(() => drop(segment));
        shipped.segments++;
        shipped.bytes += segment.bytes;
      }
    },
  };
}

async function segmentsIn(dataDirs: readonly string[]): Promise<Segment[]> {
  const found: Segment[] = [];
  for (const dataDir of dataDirs) {
    const folder = join(dataDir, DATASETS_FOLDER);
    for (const dataset of await namesIn(folder)) {
      for (const file of await namesIn(join(folder, dataset))) {
        if (isVisitName(file)) found.push({ path: join(folder, dataset, file), place: `${dataset}/${file}` });
      }
    }
  }
  return found.sort((a, b) => (a.place < b.place ? -1 : 1));
}

/** A disk that is away ships nothing; others report it. */
async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (isMissing(error) || error.code === 'ENOTDIR') return [];
    throw error;
  });
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    (error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    },
  );
}
