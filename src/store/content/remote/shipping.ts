// Moves sealed segments from the data directories to an object store: segment, then index, then the local files go.
// Promise: a segment whose index is in the store is there whole, and counts from there on; until then the local files
// count. Whatever dies between two steps, the next call goes on: names are unique, so nothing is ever there twice.
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { killPoint } from '../../../base/kill-points.js';
import { isMissing } from '../../storage-errors.js';
import { CONTENT_FOLDER, indexNameOf, isIndexOnly, parseContentName, segmentOfIndex, TAIL_ENDING } from '../names.js';
import type { ObjectStore } from './objects.js';

export interface Shipping {
  /** Reads what is in the store, and removes what a death left here of segments that are there. Call it first. */
  begin(): Promise<void>;
  /** The segment is in the store. */
  isThere(segment: string): boolean;
  /** Moves all that is sealed now, one segment at a time; stops between two when told to. Throws what the store throws. */
  ship(signal?: AbortSignal): Promise<void>;
  readonly shipped: { readonly segments: number; readonly bytes: number };
}

interface Sealed {
  readonly folder: string;
  readonly segment: string;
  readonly index: string;
}

/** @param exclusively runs what removes local files, apart from whoever else changes them */
export function createShipping(
  dataDirs: readonly string[],
  objects: ObjectStore,
  exclusively: (work: () => Promise<void>) => Promise<void> = (work) => work(),
): Shipping {
  const there = new Set<string>();
  const shipped = { segments: 0, bytes: 0 };

  /** The index first: of a segment alone the next start knows that it is there. */
  async function drop({ folder, segment, index }: Sealed): Promise<void> {
    there.add(segment);
    killPoint('ship.before-drop');
    await rm(join(folder, index), { force: true });
    killPoint('ship.between-drops');
    if (segment !== index) await rm(join(folder, segment), { force: true });
    killPoint('ship.after-drop');
  }

  /** Resolves when the store has the file; to its length. */
  async function put(folder: string, name: string): Promise<number> {
    const path = join(folder, name);
    const { size } = await stat(path);
    // One that is there already is not sent again: sealed files do not change.
    await objects.upload(name, path);
    return size;
  }

  async function move(sealed: Sealed): Promise<void> {
    const { folder, segment, index } = sealed;
    let bytes = 0;
    if (segment !== index) {
      killPoint('ship.before-segment');
      bytes += await put(folder, segment);
      killPoint('ship.after-segment');
    }
    killPoint('ship.before-index');
    bytes += await put(folder, index);
    killPoint('ship.after-index');
    await exclusively(() => drop(sealed));
    shipped.segments++;
    shipped.bytes += bytes;
  }

  return {
    shipped,
    isThere: (segment) => there.has(segment),
    async begin() {
      await objects.check();
      for await (const { name } of objects.list()) {
        const segment = segmentOfIndex(name);
        if (segment !== undefined) there.add(segment);
      }
      for (const { folder, files } of await contents(dataDirs)) {
        for (const file of files) {
          const segment = segmentOfIndex(file) ?? file;
          if (there.has(segment)) await drop({ folder, segment, index: indexNameOf(segment) });
        }
      }
    },
    async ship(signal) {
      for (const sealed of await sealedIn(dataDirs)) {
        if (signal?.aborted) return;
        await move(sealed);
      }
    },
  };
}

async function contents(dataDirs: readonly string[]): Promise<{ folder: string; files: string[] }[]> {
  const found = [];
  for (const dataDir of dataDirs) {
    const folder = join(dataDir, CONTENT_FOLDER);
    const files = await readdir(folder).catch((error: unknown) => {
      // A disk that is away ships nothing; others report it.
      if (isMissing(error)) return [];
      throw error;
    });
    found.push({ folder, files });
  }
  return found;
}

/**
 * Segments that nobody will write again: their index is sorted, which happens once all of it is acknowledged. Fates stay:
 * `orcrawl retry-failed` reads and adds to them.
 */
async function sealedIn(dataDirs: readonly string[]): Promise<Sealed[]> {
  const sealed: Sealed[] = [];
  for (const { folder, files } of await contents(dataDirs)) {
    const names = new Set(files);
    for (const index of files) {
      const segment = segmentOfIndex(index);
      if (segment === undefined || index.endsWith(TAIL_ENDING) || names.has(index + TAIL_ENDING)) continue;
      const kind = parseContentName(segment)?.kind;
      if (kind === undefined || kind === 'fates' || (!isIndexOnly(kind) && !names.has(segment))) continue;
      sealed.push({ folder, segment, index });
    }
  }
  return sealed.sort((a, b) => (a.segment < b.segment ? -1 : 1));
}
