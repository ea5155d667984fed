// The memory backend (`persistStorage: false`): the same behaviour as on disk, gone with the process.
// Promise: passes the suite the disk backend passes; what it keeps is copied in and copied out.
import { buffer } from 'node:stream/consumers';
import { CrawlError } from '../errors.js';
import type { RecordStore, SegmentStore, SegmentWriter, StorageBackend, StoredRecord } from './store.js';

export function createMemoryBackend(now: () => number = Date.now): StorageBackend {
  const datasets = new Map<string, SegmentStore>();
  const stores = new Map<string, RecordStore>();
  return {
    segments: (id) => getOrMake(datasets, id, () => createMemorySegments(now)),
    records: (id) => getOrMake(stores, id, createMemoryRecords),
  };
}

function getOrMake<T>(map: Map<string, T>, id: string, make: () => T): T {
  const known = map.get(id);
  if (known !== undefined) return known;
  const made = make();
  map.set(id, made);
  return made;
}

interface MemorySegment {
  readonly name: string;
  /** Grows by doubling; only the first `lengthBytes` count. */
  bytes: Buffer;
  lengthBytes: number;
  readonly createdAtMs: number;
  modifiedAtMs: number;
  /** Something was appended: before that nobody sees it. */
  written: boolean;
  gone: boolean;
}

const FIRST_BYTES = 4 * 1024;

function createMemorySegments(now: () => number): SegmentStore {
  let segments: MemorySegment[] = [];
  let begun = 0;

  const begin = (name: string): SegmentWriter => {
    const time = now();
    const bytes = Buffer.alloc(0);
    const segment = { name, bytes, lengthBytes: 0, createdAtMs: time, modifiedAtMs: time, written: false, gone: false };
    segments.push(segment);
    return createMemoryWriter(segment, now);
  };

  const clear = async (): Promise<void> => {
    for (const segment of segments) segment.gone = true;
    segments = [];
  };

  return {
    prepare: async () => undefined,
    list: async () =>
      segments
        .filter(({ written }) => written)
        .map(({ name, lengthBytes, createdAtMs, modifiedAtMs }) => ({ name, lengthBytes, createdAtMs, modifiedAtMs }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    read: async (name, fromByte, toByte) => {
      const segment = segments.find((candidate) => candidate.name === name);
      if (segment === undefined) return Buffer.alloc(0);
      return Buffer.from(segment.bytes.subarray(fromByte, Math.min(toByte, segment.lengthBytes)));
    },
    openDirect: async () => begin(`${String(++begun).padStart(6, '0')}-direct.jsonl`),
    async openVisit(name) {
      const known = segments.find((segment) => segment.name === name);
      return known === undefined ? begin(name) : createMemoryWriter(known, now);
    },
    clear,
    remove: clear,
  };
}

function createMemoryWriter(segment: MemorySegment, now: () => number): SegmentWriter {
  let closed = false;
  const mustBeOpen = (): void => {
    if (!closed && !segment.gone) return;
    const why = segment.gone ? 'its dataset was emptied or dropped' : 'it was closed';
    throw new CrawlError('STORAGE_UNWRITABLE', `segment ${segment.name} takes no more items: ${why}`);
  };
  return {
    name: segment.name,
    get lengthBytes() {
      return segment.lengthBytes;
    },
    async append(lines) {
      mustBeOpen();
      const added = typeof lines === 'string' ? Buffer.from(lines) : lines;
      if (added.length === 0) return;
      if (added[added.length - 1] !== 0x0a) throw new CrawlError('ITEM_INVALID', 'a line must end in a newline');
      const needed = segment.lengthBytes + added.length;
      if (needed > segment.bytes.length) {
        const larger = Buffer.alloc(Math.max(needed, segment.bytes.length * 2, FIRST_BYTES));
        segment.bytes.copy(larger, 0, 0, segment.lengthBytes);
        segment.bytes = larger;
      }
      segment.bytes.set(added, segment.lengthBytes);
      segment.lengthBytes = needed;
      segment.modifiedAtMs = now();
      segment.written = true;
    },
    async cutTo(lengthBytes) {
      mustBeOpen();
      segment.lengthBytes = Math.min(segment.lengthBytes, lengthBytes);
    },
    async close() {
      closed = true;
    },
  };
}

function createMemoryRecords(): RecordStore {
  const records = new Map<string, StoredRecord>();
  return {
    prepare: async () => undefined,
    read: async (key) => {
      const record = records.get(key);
      return record === undefined ? undefined : { ...record, body: Buffer.from(record.body) };
    },
    write: async (key, body, contentType) => {
      const copy = body instanceof Uint8Array ? Buffer.from(body) : await buffer(body);
      records.set(key, { body: copy, contentType });
    },
    delete: async (key) => void records.delete(key),
    has: async (key) => records.has(key),
    list: async () =>
      [...records].map(([key, { body }]) => ({ key, sizeBytes: body.length })).sort((a, b) => (a.key < b.key ? -1 : 1)),
    remove: async () => records.clear(),
  };
}
