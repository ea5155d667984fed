// Crawlee's MemoryStorage: its clients in memory and in a folder, and as the storage of a crawler.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BasicCrawler, Configuration, Dataset, KeyValueStore, MemoryStorage } from '../../src/crawlee/entry.js';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-memory-storage-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};

describe('the datasets of a MemoryStorage', () => {
  it('list items by page, backwards and one after the other, and find them again in the folder', async () => {
    const storage = new MemoryStorage({ localDataDirectory: folder, writeMetadata: true });
    const { id } = await storage.datasets().getOrCreate('items');
    const dataset = storage.dataset(id);
    await dataset.pushItems([{ n: 1 }, { n: 2 }]);
    await dataset.pushItems('{"n":3}');
    expect(await dataset.listItems({ offset: 1, limit: 1 })).toMatchObject({ items: [{ n: 2 }], total: 3, count: 1 });
    expect((await dataset.listItems({ desc: true })).items).toEqual([{ n: 3 }, { n: 2 }, { n: 1 }]);
    expect(await all(dataset.listItems({ offset: 1 }))).toEqual([{ n: 2 }, { n: 3 }]);
    expect(await all(dataset.listEntries!({ limit: 1 }))).toEqual([[0, { n: 1 }]]);
    expect(await readdir(path.join(folder, 'datasets/items'))).toEqual([
      '000000001.json',
      '000000002.json',
      '000000003.json',
      '__metadata__.json',
    ]);
    const again = new MemoryStorage({ localDataDirectory: folder });
    expect(await again.datasets().getOrCreate('items')).toMatchObject({ id, name: 'items', itemCount: 3 });
    expect((await again.dataset('items').listItems()).total).toBe(3);
  });

  it('say which one does not exist, and keep to their folder', async () => {
    const storage = new MemoryStorage({ localDataDirectory: folder });
    await expect(storage.dataset('nobody').pushItems({ a: 1 })).rejects.toThrow('does not exist');
    expect(await storage.dataset('nobody').get()).toBeUndefined();
    await expect(storage.datasets().getOrCreate('../out')).rejects.toThrow('not allowed');
    const { id } = await storage.keyValueStores().getOrCreate('store');
    await expect(storage.keyValueStore(id).setRecord({ key: '../out', value: 'x' })).rejects.toThrow('not allowed');
  });
});

describe('the key-value stores of a MemoryStorage', () => {
  it('keep values by their type and list keys by page', async () => {
    const storage = new MemoryStorage({ localDataDirectory: folder });
    const { id } = await storage.keyValueStores().getOrCreate('store');
    const store = storage.keyValueStore(id);
    await store.setRecord({ key: 'text', value: 'abc' });
    await store.setRecord({ key: 'object', value: { a: 1 } });
    await store.setRecord({ key: 'bytes', value: Buffer.from([1, 2]) });
    await store.setRecord({ key: 'page.html', value: '<p>', contentType: 'text/html' });
    expect((await store.getRecord('object'))?.value).toEqual({ a: 1 });
    expect((await store.getRecord('object', { buffer: true }))?.value).toBeInstanceOf(Buffer);
    expect((await store.getRecord('bytes'))?.value).toEqual(Buffer.from([1, 2]));
    expect(await store.getRecord('none')).toBeUndefined();
    expect(await store.listKeys({ limit: 2 })).toMatchObject({ isTruncated: true, nextExclusiveStartKey: 'object' });
    expect(await all(store.keys!({ prefix: 'p' }))).toEqual(['page.html']);
    expect(await readdir(path.join(folder, 'key_value_stores/store'))).toEqual([
      'bytes.bin',
      'object.json',
      'page.html',
      'text.txt',
    ]);
    await writeFile(path.join(folder, 'key_value_stores/store/broken.json'), '{');
    const again = new MemoryStorage({ localDataDirectory: folder }).keyValueStore('store');
    expect((await again.getRecord('text'))?.value).toBe('abc');
    expect(await again.recordExists('broken')).toBe(false);
    await again.deleteRecord('text');
    expect(await again.recordExists('text')).toBe(false);
  });
});

describe('the request queues of a MemoryStorage', () => {
  it('give requests in order, those in front first, and lock what was taken', async () => {
    const storage = new MemoryStorage({ localDataDirectory: folder });
    const { id } = await storage.requestQueues().getOrCreate('queue');
    const queue = storage.requestQueue(id);
    const request = (n: number) => ({ url: `http://a.test/${n}`, uniqueKey: `${n}` });
    const first = await queue.addRequest(request(1));
    expect(await queue.addRequest(request(1))).toMatchObject({ wasAlreadyPresent: true, wasAlreadyHandled: false });
    await queue.batchAddRequests([request(2), request(3)]);
    await queue.addRequest(request(4), { forefront: true });
    await queue.addRequest(request(5), { forefront: true });
    const keys = (head: { items: { uniqueKey: string }[] }) => head.items.map(({ uniqueKey }) => uniqueKey).join('');
    expect(keys(await queue.listHead())).toBe('54123');
    expect(keys(await queue.listAndLockHead({ lockSecs: 60, limit: 2 }))).toBe('54');
    expect(keys(await queue.listAndLockHead({ lockSecs: 60 }))).toBe('123');
    expect(keys(await queue.listAndLockHead({ lockSecs: 60 }))).toBe('');
    expect((await queue.listHead()).items).toHaveLength(5);
    await queue.deleteRequestLock(first.requestId);
    await expect(queue.deleteRequestLock(first.requestId)).rejects.toThrow('is not locked');
    expect(keys(await queue.listAndLockHead({ lockSecs: 60 }))).toBe('1');
    await queue.updateRequest({ id: first.requestId, ...request(1), handledAt: new Date().toISOString() });
    expect(await queue.addRequest(request(1))).toMatchObject({ wasAlreadyPresent: true, wasAlreadyHandled: true });
    expect(await queue.get()).toMatchObject({ totalRequestCount: 5, handledRequestCount: 1, pendingRequestCount: 4 });
    await expect(queue.addRequest({ id: 'own', ...request(6) })).rejects.toThrow('uniqueKey');
    const again = new MemoryStorage({ localDataDirectory: folder }).requestQueue('queue');
    expect(await again.get()).toMatchObject({ totalRequestCount: 5, handledRequestCount: 1 });
    await again.delete();
    await expect(again.listHead()).rejects.toThrow('does not exist');
  });
});

describe('a MemoryStorage', () => {
  it('is where a crawler keeps items and records, and its clients see them', async () => {
    const storage = new MemoryStorage({ localDataDirectory: folder });
    const config = new Configuration({ storageClient: storage });
    const crawler = new BasicCrawler(
      {
        async requestHandler({ request, pushData, getKeyValueStore }) {
          await pushData({ url: request.url });
          await (await getKeyValueStore()).setValue('seen', { url: request.url });
        },
      },
      config,
    );
    await crawler.run(['http://a.test/1']);
    expect((await storage.dataset('default').listItems()).items).toEqual([{ url: 'http://a.test/1' }]);
    expect((await storage.keyValueStore('default').getRecord('seen'))?.value).toEqual({ url: 'http://a.test/1' });
    await storage.dataset('default').pushItems({ by: 'client' });
    expect((await (await Dataset.open(undefined, { config })).getData()).items).toContainEqual({ by: 'client' });
    expect(await (await KeyValueStore.open(undefined, { config })).getValue('seen')).toEqual({
      url: 'http://a.test/1',
    });
    expect(JSON.parse(await readFile(path.join(folder, 'datasets/default/000000001.json'), 'utf8'))).toEqual({
      url: 'http://a.test/1',
    });
  });

  it('writes nothing when told so, and empties the default storages but the input', async () => {
    const quiet = new MemoryStorage({ localDataDirectory: path.join(folder, 'quiet'), persistStorage: false });
    await quiet.datasets().getOrCreate('a');
    await quiet.dataset('a').pushItems({ n: 1 });
    expect(await readdir(folder)).toEqual([]);
    const storage = new MemoryStorage({ localDataDirectory: folder });
    await storage.keyValueStores().getOrCreate('default');
    await storage.datasets().getOrCreate('default');
    await storage.dataset('default').pushItems({ n: 1 });
    for (const key of ['INPUT', 'other']) await storage.keyValueStore('default').setRecord({ key, value: key });
    await storage.purge();
    expect(await all(storage.keyValueStore('default').keys!())).toEqual(['INPUT']);
    expect((await storage.dataset('default').listItems()).total).toBe(0);
    expect(await readdir(path.join(folder, 'datasets'))).toEqual([]);
  });
});
