// The public queue and list: Crawlee's methods over the frontier, in memory and on disk.
import { describe, expect, it } from 'vitest';
import { type Configuration, Request, RequestList, RequestQueue } from '../../src/index.js';
import { memoryConfig, temporaryFolder, testConfig } from '../support/crawl.js';

describe.each([
  ['in memory', async () => memoryConfig()],
  ['on disk', () => testConfig()],
])('a request queue %s', (_name, makeConfig: () => Promise<Configuration>) => {
  it('takes each request once and tells what it knew', async () => {
    const queue = await RequestQueue.open('q', { config: await makeConfig() });
    const first = await queue.addRequest({ url: 'https://example.com/a?b=1&a=2#x' });
    expect(first).toMatchObject({
      uniqueKey: 'https://example.com/a?a=2&b=1',
      wasAlreadyPresent: false,
      wasAlreadyHandled: false,
    });
    const again = await queue.addRequest('https://example.com/a?a=2&b=1');
    expect(again).toEqual({ ...first, wasAlreadyPresent: true });
    const request = (await queue.fetchNextRequest())!;
    expect(request.id).toBe(first.requestId);
    await queue.markRequestHandled(request);
    expect(await queue.addRequest('https://example.com/a?a=2&b=1')).toMatchObject({ wasAlreadyHandled: true });
    expect(await queue.handledCount()).toBe(1);
    expect(await queue.isFinished()).toBe(true);
    await queue.drop();
  });

  it('gives requests out in order: priority, forefront, age; and a reclaimed one last or first', async () => {
    const queue = await RequestQueue.open('q', { config: await makeConfig() });
    const url = (name: string) => `https://example.com/${name}`;
    await queue.addRequests([
      url('old'),
      url('older'),
      { url: url('urgent'), priority: 2 },
      { url: url('late'), priority: -1 },
    ]);
    await queue.addRequest(url('front'), { forefront: true });
    const next = async () => (await queue.fetchNextRequest())!;
    const urgent = await next();
    expect(urgent.url).toBe(url('urgent'));
    const front = await next();
    expect(front.url).toBe(url('front'));
    const old = await next();
    expect(old.url).toBe(url('old'));
    await queue.reclaimRequest(old);
    const older = await next();
    expect(older.url).toBe(url('older'));
    await queue.reclaimRequest(older, { forefront: true });
    expect((await next()).url).toBe(url('older'));
    expect((await next()).url).toBe(url('old'));
    expect((await next()).url).toBe(url('late'));
    expect(await queue.fetchNextRequest()).toBeNull();
    expect(await queue.isEmpty()).toBe(true);
    expect(await queue.isFinished()).toBe(false);
    await queue.drop();
  });

  it('finds requests by id, with what was stored of them', async () => {
    const queue = await RequestQueue.open('q', { config: await makeConfig() });
    const { requestId } = await queue.addRequest({ url: 'https://example.com/', label: 'HOME', userData: { n: 1 } });
    const request = (await queue.fetchNextRequest())!;
    request.loadedUrl = 'https://example.com/home';
    await queue.markRequestHandled(request);
    const found = (await queue.getRequest(requestId))!;
    expect(found).toMatchObject({ label: 'HOME', loadedUrl: 'https://example.com/home', userData: { n: 1 } });
    expect(found.handledAt).toBeTruthy();
    expect(await queue.getRequest('0123456789abcdef')).toBeNull();
    expect(await queue.getRequest('no id')).toBeNull();
    await queue.drop();
  });

  it('adds long lists in batches, from generators too, and answers for each', async () => {
    const queue = await RequestQueue.open('q', { config: await makeConfig() });
    async function* urls() {
      for (let i = 0; i < 2500; i++) yield `https://example.com/${i}`;
    }
    const first = await queue.addRequestsBatched(urls(), { batchSize: 1000 });
    expect(first.addedRequests.length).toBeLessThanOrEqual(1000);
    const rest = await first.waitForAllRequestsToBeAdded;
    expect(first.addedRequests.length + rest.length).toBe(2500);
    expect(queue.getTotalCount()).toBe(2500);
    expect(rest.at(-1)).toMatchObject({ uniqueKey: 'https://example.com/2499', wasAlreadyPresent: false });
    const all = await queue.addRequestsBatched(['https://example.com/7'], { waitForAllRequestsToBeAdded: true });
    expect(all.addedRequests).toEqual([
      {
        requestId: new Request({ url: 'https://example.com/7' }).id,
        uniqueKey: 'https://example.com/7',
        wasAlreadyPresent: true,
        wasAlreadyHandled: false,
      },
    ]);
    await queue.drop();
  });

  it('refuses to settle what it did not give out', async () => {
    const queue = await RequestQueue.open('q', { config: await makeConfig() });
    const stranger = new Request({ url: 'https://example.com/' });
    await expect(queue.markRequestHandled(stranger)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await queue.drop();
  });
});

describe('a queue on disk', () => {
  it('is the same object for everybody in the process, and continues when opened again', async () => {
    const folder = await temporaryFolder();
    const config = await testConfig(folder);
    const queue = await RequestQueue.open('shop', { config });
    expect(await RequestQueue.open('shop', { config: await testConfig(folder) })).toBe(queue);
    await queue.addRequest({ url: 'https://example.com/', userData: { page: 3 } });
    await queue.fetchNextRequest();
    await queue.close();
    const again = await RequestQueue.open('shop', { config });
    expect(again).not.toBe(queue);
    expect((await again.fetchNextRequest())!.userData).toEqual({ page: 3 });
    await again.drop();
  });

  it('refuses names that would leave the folder', async () => {
    const config = await testConfig();
    for (const name of ['../x', 'a/b', '..', '']) {
      await expect(RequestQueue.open(name, { config })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    }
  });
});

describe('a request list', () => {
  it('gives each source once, and again what was reclaimed', async () => {
    const list = await RequestList.open('name', [
      'https://example.com/1',
      { url: 'https://example.com/2' },
      'https://example.com/1',
    ]);
    expect(list.length()).toBe(2);
    const one = (await list.fetchNextRequest())!;
    const two = (await list.fetchNextRequest())!;
    expect(await list.isEmpty()).toBe(true);
    expect(await list.isFinished()).toBe(false);
    await list.markRequestHandled(one);
    await list.reclaimRequest(two);
    expect(await list.fetchNextRequest()).toBe(two);
    await list.markRequestHandled(two);
    expect(await list.isFinished()).toBe(true);
    expect(list.handledCount()).toBe(2);
  });
});
