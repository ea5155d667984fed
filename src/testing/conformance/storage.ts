// The promises of the stores' ports (segments of datasets, records of key-value stores), as tests over one backend.
// The test runner comes as an argument; a storage client of your own runs this suite beside `frontierSuite`.
import { Readable } from 'node:stream';
import type { RecordStore, SegmentStore, SegmentWriter, StorageBackend } from '../../store/store.js';
import type { TestRunner } from './conformance.js';

/** One set of data of the stores under test. */
export interface StorageUnderTest {
  /** The stores: the first time, or again as another process would open them. */
  open(): Promise<Pick<StorageBackend, 'segments' | 'records'>>;
  /** Removes the data and frees everything. */
  dispose(): Promise<void>;
}

/** Stores that end with their process cannot be opened by another. */
export interface StorageTraits {
  /** What was stored outlives the process that stored it. Default true. */
  readonly isPersistent?: boolean;
}

const VISIT = '000001-visit-writer-0123456789ab.jsonl';

/**
 * The promises of `SegmentStore` and `RecordStore`, run against one backend.
 *
 * @example
 * storageSuite('memory', { describe, it, expect }, async () => {
 *   const client = createMemoryStorage();
 *   return { open: async () => client, dispose: async () => undefined };
 * });
 */
export function storageSuite(
  name: string,
  runner: TestRunner,
  make: () => Promise<StorageUnderTest>,
  { isPersistent = true }: StorageTraits = {},
): void {
  const { describe, it, expect } = runner;
  type Use = (stores: StorageBackend, again: () => Promise<StorageBackend>) => Promise<void>;
  const test = (sentence: string, use: Use): void =>
    it(sentence, async () => {
      const storage = await make();
      try {
        await use(await storage.open(), () => storage.open());
      } finally {
        await storage.dispose();
      }
    });
  const withSegments = (sentence: string, use: (store: SegmentStore) => Promise<void>): void =>
    test(sentence, async (stores) => {
      const store = stores.segments('items');
      await store.prepare();
      await use(store);
    });
  const withRecords = (sentence: string, use: (store: RecordStore) => Promise<void>): void =>
    test(sentence, async (stores) => {
      const store = stores.records('things');
      await store.prepare();
      await use(store);
    });

  describe(`stores on ${name}`, () => {
    withSegments('show nothing of a segment before its first append', async (store) => {
      const writer = await store.openVisit(VISIT);
      expect(await store.list()).toEqual([]);
      await writer.append('{"n":1}\n');
      expect((await store.list()).map(nameAndLength)).toEqual([[VISIT, 8]]);
      expect(writer.lengthBytes).toBe(8);
      await writer.close();
    });

    withSegments('read any range, fewer bytes where the segment ends, none where it is missing', async (store) => {
      const writer = await written(store, '{"n":1}\n{"n":2}\n');
      expect(String(await store.read(VISIT, 8, 16))).toBe('{"n":2}\n');
      expect(String(await store.read(VISIT, 12, 1_000))).toBe(':2}\n');
      expect(await store.read(VISIT, 16, 32)).toHaveLength(0);
      expect(await store.read('000009-visit-none-0123456789ab.jsonl', 0, 9)).toHaveLength(0);
      await writer.close();
    });

    withSegments('append calls made together in their order, strings and bytes alike', async (store) => {
      const writer = await store.openVisit(VISIT);
      const lines = Array.from({ length: 50 }, (_, n) => `{"n":${n}}\n`);
      await Promise.all(lines.map((line, n) => writer.append(n % 2 === 0 ? line : Buffer.from(line))));
      expect(await textOf(store, writer)).toBe(lines.join(''));
      await writer.close();
    });

    withSegments('refuse a line that does not end, and are as before', async (store) => {
      const writer = await written(store, '{"n":1}\n');
      await fails(expect, writer.append('{"n":'), 'ITEM_INVALID');
      await writer.append('{"n":2}\n');
      expect(await textOf(store, writer)).toBe('{"n":1}\n{"n":2}\n');
      await writer.close();
    });

    withSegments('cut a segment, and append behind the cut', async (store) => {
      const writer = await written(store, '{"n":1}\n{"n":2}\n');
      await writer.cutTo(8);
      await writer.append('{"n":3}\n');
      expect(await textOf(store, writer)).toBe('{"n":1}\n{"n":3}\n');
      await writer.close();
    });

    withSegments('open a visit segment again, so that what nobody acknowledged can be cut', async (store) => {
      await (await written(store, '{"n":1}\n{"n":2}\n')).close();
      const again = await store.openVisit(VISIT);
      expect(again.lengthBytes).toBe(16);
      await again.cutTo(8);
      expect(await textOf(store, again)).toBe('{"n":1}\n');
      await again.close();
    });

    withSegments('refuse lines after the writer was closed', async (store) => {
      const writer = await written(store, '{"n":1}\n');
      await writer.close();
      await fails(expect, writer.append('{"n":2}\n'), 'STORAGE_UNWRITABLE');
    });

    withSegments('list segments in the order of their names, direct and visit segments alike', async (store) => {
      for (const name of ['000003-visit-c-0123456789ab.jsonl', '000002-visit-b-0123456789ab.jsonl']) {
        const writer = await store.openVisit(name);
        await writer.append('{}\n');
        await writer.close();
      }
      const direct = await store.openDirect(1_000);
      await direct.append('{}\n');
      await direct.close();
      const names = (await store.list()).map(({ name }) => name);
      expect(names).toEqual([...names].sort());
      expect(names).toHaveLength(3);
    });

    withSegments('give two direct writers segments of their own', async (store) => {
      const [a, b] = [await store.openDirect(1_000), await store.openDirect(1_000)];
      await Promise.all([a.append('{"a":1}\n'), b.append('{"b":1}\n')]);
      expect(a.name).not.toBe(b.name);
      expect(await textOf(store, a)).toBe('{"a":1}\n');
      for (const writer of [a, b]) await writer.close();
    });

    withSegments('remove everything when cleared, refuse older writers and take new ones', async (store) => {
      const writer = await written(store, '{"n":1}\n');
      await store.clear();
      expect(await store.list()).toEqual([]);
      await fails(expect, writer.append('{"n":2}\n'), 'STORAGE_UNWRITABLE');
      const next = await store.openVisit('000002-visit-writer-0123456789ab.jsonl');
      await next.append('{"n":3}\n');
      expect(await store.list()).toHaveLength(1);
      await next.close();
    });

    test('keep datasets and key-value stores of other names apart', async (stores) => {
      const [a, b] = [stores.segments('a'), stores.segments('b')];
      const [x, y] = [stores.records('a'), stores.records('b')];
      for (const store of [a, b, x, y]) await store.prepare();
      await (await written(a, '{"n":1}\n')).close();
      await x.write('key', Buffer.from('1'), 'text/plain');
      expect(await b.list()).toEqual([]);
      expect(await y.has('key')).toBe(false);
      await b.remove();
      await y.remove();
      expect(await a.list()).toHaveLength(1);
      expect(await x.has('key')).toBe(true);
    });

    withRecords('give back bytes and content type as they were written', async (store) => {
      const bytes = Buffer.from([0, 1, 255, 10, 13]);
      await store.write('key', bytes, 'application/octet-stream');
      bytes[0] = 9;
      expect(await store.read('key')).toEqual({
        body: Buffer.from([0, 1, 255, 10, 13]),
        contentType: 'application/octet-stream',
      });
      expect(await store.read('none')).toBeUndefined();
    });

    withRecords('replace a record as a whole, also one of another type', async (store) => {
      await store.write('key', Buffer.from('{}'), 'application/json; charset=utf-8');
      await store.write('key', Buffer.from('text'), 'text/plain; charset=utf-8');
      expect(String((await store.read('key'))?.body)).toBe('text');
      expect(await store.list()).toEqual([{ key: 'key', sizeBytes: 4 }]);
    });

    withRecords('take streams, and keep the old record when one fails', async (store) => {
      await store.write('key', Readable.from([Buffer.from('a'), Buffer.from('b')]), 'text/plain; charset=utf-8');
      const broken = Readable.from(brokenPieces());
      await fails(expect, store.write('key', broken, 'text/plain; charset=utf-8'));
      expect(String((await store.read('key'))?.body)).toBe('ab');
    });

    withRecords('list keys in their order, with sizes', async (store) => {
      for (const [key, text] of [
        ['b', '22'],
        ['a', '1'],
        ["it's(1).x", '333'],
      ] as const) {
        await store.write(key, Buffer.from(text), 'text/plain; charset=utf-8');
      }
      expect(await store.list()).toEqual([
        { key: 'a', sizeBytes: 1 },
        { key: 'b', sizeBytes: 2 },
        { key: "it's(1).x", sizeBytes: 3 },
      ]);
    });

    withRecords('delete a record, and one that is missing', async (store) => {
      await store.write('key', Buffer.from('1'), 'text/plain; charset=utf-8');
      await store.delete('key');
      await store.delete('key');
      expect(await store.has('key')).toBe(false);
      expect(await store.list()).toEqual([]);
    });

    if (!isPersistent) return;
    test('show what is stored to another process', async (stores, again) => {
      const [segments, records] = [stores.segments('items'), stores.records('things')];
      await segments.prepare();
      await records.prepare();
      // Not closed: its process may have died.
      await written(segments, '{"n":1}\n');
      await records.write('key', Buffer.from('1'), 'text/plain; charset=utf-8');
      const other = await again();
      expect(String(await other.segments('items').read(VISIT, 0, 8))).toBe('{"n":1}\n');
      expect((await other.segments('items').list()).map(nameAndLength)).toEqual([[VISIT, 8]]);
      expect(String((await other.records('things').read('key'))?.body)).toBe('1');
    });
  });
}

const nameAndLength = ({ name, lengthBytes }: { name: string; lengthBytes: number }) => [name, lengthBytes];

async function written(store: SegmentStore, lines: string): Promise<SegmentWriter> {
  const writer = await store.openVisit(VISIT);
  await writer.append(lines);
  return writer;
}

async function textOf(store: SegmentStore, { name, lengthBytes }: SegmentWriter): Promise<string> {
  return String(await store.read(name, 0, lengthBytes));
}

async function fails(expect: TestRunner['expect'], promise: Promise<unknown>, code?: string): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error, 'must fail').toBeInstanceOf(Error);
  if (code !== undefined) expect((error as { code?: string }).code).toBe(code);
}

async function* brokenPieces(): AsyncGenerator<Buffer> {
  yield Buffer.from('half');
  throw new Error('the source broke');
}
