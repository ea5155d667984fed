// The items of one dataset that lies in several places, as pods leave it: data directories and object stores.
// Promise: every item once, place by place; nothing is written, claimed or cut there.
import type { Dictionary } from '../../request/request.js';
import type { ObjectStore } from '../content/remote/objects.js';
import type { ReadableSegments, Segment } from '../store.js';
import { objectOfItems } from './item-shipping.js';
import { readItems } from './item-reader.js';
import type { ItemViewOptions } from './item-view.js';
import { createLineIndex } from './lines.js';
import { isVisitName } from '../segments/segment-names.js';

/** Batches of items. A segment that was moved and not yet removed is read where it comes first. */
export async function* itemsIn(
  places: readonly ReadableSegments[],
  view: ItemViewOptions,
): AsyncGenerator<readonly Dictionary[]> {
  const seen = new Set<string>();
  for (const place of places) {
    const segments = (await place.list()).filter(({ name }) => !seen.has(name));
    for (const { name } of segments) if (isVisitName(name)) seen.add(name);
    const store: ReadableSegments = { read: place.read, list: async () => segments };
    yield* readItems(store, createLineIndex(store), view);
  }
}

/** The segments of a dataset in an object store, to be read. */
export function objectSegments(objects: ObjectStore, dataset: string): ReadableSegments {
  const prefix = objectOfItems(`${dataset}/`);
  return {
    async list() {
      const found: Segment[] = [];
      for await (const { name, bytes } of objects.list()) {
        const file = name.slice(prefix.length);
        if (!name.startsWith(prefix) || !isVisitName(file)) continue;
        found.push({ name: file, lengthBytes: bytes, createdAtMs: 0, modifiedAtMs: 0 });
      }
      return found.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    read: (name, fromByte, toByte) => objects.read(prefix + name, fromByte, toByte),
  };
}
