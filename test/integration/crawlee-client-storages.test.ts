// Crawlee's storages over a storage client, its StorageManager, and the client that a Configuration shows.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  BasicCrawler,
  chunkBySize,
  Configuration,
  Dataset,
  EventType,
  KeyValueStore,
  MemoryStorage,
  RequestQueue,
  RequestQueueV1,
  RequestQueueV2,
  StorageManager,
} from '../../src/crawlee/entry.js';

let folder: string;
let storage: MemoryStorage;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-clients-'));
  storage = new MemoryStorage({ localDataDirectory: folder, persistStorage: false });
  Configuration.getGlobalConfig().useStorageClient(storage);
});
afterEach(async () => {
  StorageManager.clearCache();
  Configuration.resetGlobalState();
  await rm(folder, { recursive: true, force: true });
});

describe('a dataset over a client', () => {
  it('pushes JSON text, an array as one piece', async () => {
    const dataset = new Dataset({ id: 'some', client: storage });
    const push = vi.spyOn(dataset.client, 'pushItems').mockResolvedValue(undefined);
    await dataset.pushData({ a: 1 });
    await dataset.pushData([{ a: 1 }, { b: 2 }]);
    expect(push.mock.calls).toEqual([['{"a":1}'], ['[{"a":1},{"b":2}]']]);
    await expect(dataset.pushData('text' as never)).rejects.toThrow('Expected `data` to be of type `object`');
  });

  it('reads page by page, and is an instance of Dataset as an opened one is', async () => {
    const { id } = await storage.datasets().getOrCreate('items');
    const dataset = new Dataset({ id, client: storage });
    await dataset.pushData([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const list = vi.spyOn(dataset.client, 'listItems');
    expect(await dataset.map(({ n }, index) => [n, index], { limit: 2 })).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
    expect(list.mock.calls).toEqual([[{ limit: 2, offset: 0 }], [{ limit: 2, offset: 2 }]]);
    expect(await dataset.reduce((sum, { n }) => sum + (n as number), 0)).toBe(6);
    expect(await dataset.export()).toHaveLength(3);
    await dataset.exportToCSV('OUT');
    expect(await KeyValueStore.getValue('OUT')).toBe('n\n1\n2\n3\n');
    expect(dataset).toBeInstanceOf(Dataset);
    expect(await Dataset.open()).toBeInstanceOf(Dataset);
    expect({}).not.toBeInstanceOf(Dataset);
  });
});

describe('a key-value store over a client', () => {
  it('stores JSON, text by its type, and deletes null', async () => {
    const { id } = await storage.keyValueStores().getOrCreate('store');
    const store = new KeyValueStore({ id, client: storage });
    const set = vi.spyOn(store.client, 'setRecord');
    await store.setValue('a', { b: 1 });
    await store.setValue('text', 'x', { contentType: 'text/plain' });
    expect(set.mock.calls[0]![0]).toEqual({
      key: 'a',
      value: '{\n  "b": 1\n}',
      contentType: 'application/json; charset=utf-8',
    });
    expect(await store.getValue('a')).toEqual({ b: 1 });
    const keys: string[] = [];
    await store.forEachKey((key) => void keys.push(key));
    expect(keys).toEqual(['a', 'text']);
    await store.setValue('a', null);
    expect(await store.getValue('a', 'none')).toBe('none');
    await expect(store.setValue('a b', 1)).rejects.toThrow('must be at most 256 characters');
    await expect(store.setValue('a', 5, { contentType: 'text/plain' })).rejects.toThrow('String, Buffer or Stream');
    await expect(store.setValue('a', undefined)).rejects.toThrow('returned undefined');
  });
});

describe.each([
  ['first', RequestQueueV1],
  ['second', RequestQueueV2],
])('a request queue of the %s kind over a client', (_kind, Queue) => {
  it('takes a request once, hands out what is in front first and what was reclaimed again', async () => {
    const { id } = await storage.requestQueues().getOrCreate('queue');
    const queue = new Queue({ id, client: storage });
    const url = (name: string) => `http://example.com/${name}`;
    const added = await queue.addRequest(url('a'));
    expect(added).toMatchObject({ wasAlreadyPresent: false, uniqueKey: url('a'), forefront: false });
    const again = vi.spyOn(queue.client, 'addRequest');
    expect(await queue.addRequest(url('a'))).toMatchObject({ wasAlreadyPresent: true, requestId: added.requestId });
    expect(again).not.toHaveBeenCalled();
    const { processedRequests } = await queue.addRequests([url('a'), url('b'), url('c')]);
    expect(processedRequests.map((one) => one.wasAlreadyPresent)).toEqual([true, false, false]);
    const first = (await queue.fetchNextRequest())!;
    expect([first.url, first.id]).toEqual([url('a'), added.requestId]);
    await queue.addRequest(url('front'), { forefront: true });
    expect((await queue.fetchNextRequest())?.url).toBe(url('front'));
    await queue.reclaimRequest(first, { forefront: true });
    const order: string[] = [];
    for await (const request of queue) {
      order.push(request.url);
      await queue.markRequestHandled(request);
    }
    expect(order).toEqual([url('a'), url('b'), url('c')]);
    expect(await queue.isEmpty()).toBe(true);
    expect(await queue.isFinished()).toBe(false);
    expect([await queue.handledCount(), queue.assumedTotalCount, queue.assumedHandledCount]).toEqual([3, 4, 3]);
  });

  it('gives the client what it could not take once more', async () => {
    const { id } = await storage.requestQueues().getOrCreate('queue');
    const queue = new Queue({ id, client: storage });
    const refuse = vi.spyOn(queue.client, 'batchAddRequests').mockImplementationOnce(async ([one]) => ({
      processedRequests: [],
      unprocessedRequests: [{ uniqueKey: one!.uniqueKey, url: one!.url }],
    }));
    const { addedRequests } = await queue.addRequestsBatched(['http://example.com/'], { waitBetweenBatchesMillis: 1 });
    expect(addedRequests).toHaveLength(1);
    expect(refuse).toHaveBeenCalledTimes(2);
  });

  it('is a source of requests for a crawler', async () => {
    const { id } = await storage.requestQueues().getOrCreate('queue');
    const requestQueue = new Queue({ id, client: storage });
    await requestQueue.addRequests(['http://example.com/1', 'http://example.com/2']);
    const seen: string[] = [];
    const crawler = new BasicCrawler({
      requestQueue: requestQueue as never,
      requestHandler: ({ request }) => void seen.push(request.url),
    });
    await crawler.run();
    expect(seen.sort()).toEqual(['http://example.com/1', 'http://example.com/2']);
    expect(await requestQueue.isFinished()).toBe(true);
  });
});

describe('StorageManager', () => {
  it('opens by class and forgets what is open, with values that were not saved', async () => {
    const store = await StorageManager.openStorage(KeyValueStore, 'state');
    expect(await StorageManager.openStorage(KeyValueStore, 'state')).toBe(store);
    const value = await store.getAutoSavedValue('counter', { n: 1 });
    value.n = 2;
    StorageManager.clearCache();
    const opened = await KeyValueStore.open('state');
    expect(opened).not.toBe(store);
    expect(await opened.getAutoSavedValue('counter', { n: 5 })).toEqual({ n: 5 });
    const elsewhere = new MemoryStorage({ persistStorage: false });
    const dataset = await StorageManager.openStorage(Dataset, 'far', elsewhere);
    await dataset.pushData({ a: 1 });
    expect((await elsewhere.dataset('far').listItems()).items).toEqual([{ a: 1 }]);
  });
});

describe('auto-saved values', () => {
  it.each(['an opened store', 'a store over a client'])('of %s are saved with the event', async (kind) => {
    const { id } = await storage.keyValueStores().getOrCreate('values');
    const store = kind === 'an opened store' ? await KeyValueStore.open() : new KeyValueStore({ id, client: storage });
    const value = await store.getAutoSavedValue('counter', { n: 1 });
    value['n'] = 2;
    const events = Configuration.getEventManager();
    events.emit(EventType.PERSIST_STATE);
    await events.waitForAllListenersToComplete();
    expect(await store.getValue('counter')).toEqual({ n: 2 });
  });
});

describe('chunkBySize', () => {
  it('leaves items as they are that leave no room for brackets', () => {
    const item = '{"a":1}';
    expect(chunkBySize([item, item], item.length)).toEqual([item, item]);
    expect(chunkBySize([item, item], item.length + 2)).toEqual([`[${item}]`, `[${item}]`]);
    expect(chunkBySize([item, item, item], 2 * item.length + 3)).toEqual([`[${item},${item}]`, `[${item}]`]);
  });
});

describe('a Configuration without a storage client', () => {
  it('shows a MemoryStorage, in which its storages live from then on', async () => {
    const config = new Configuration({ persistStorage: false });
    const client = config.getStorageClient() as MemoryStorage;
    expect(client).toBeInstanceOf(MemoryStorage);
    expect(config.getStorageClient()).toBe(client);
    await (await Dataset.open('items', { config })).pushData({ a: 1 });
    expect((await client.dataset('items').listItems()).items).toEqual([{ a: 1 }]);
    expect(await RequestQueue.open('q', { config })).toBeInstanceOf(RequestQueue);
  });
});
