// Crawlee's RequestList: made and initialized, saved on the event, and refused where it does not fit.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  BasicCrawler,
  Configuration,
  EventType,
  KeyValueStore,
  MemoryStorage,
  Request,
  RequestList,
  RequestQueue,
} from '../../src/crawlee/entry.js';

const sources = ['1', '2', '3'].map((name) => ({ url: `https://example.com/${name}` }));
let config: Configuration;
beforeEach(() => void (config = new Configuration({ persistStorage: false })));

describe('RequestList', () => {
  it('must be initialized, once', async () => {
    const list = new RequestList({ sources, config });
    await expect(list.fetchNextRequest()).rejects.toThrow('not initialized');
    await list.initialize();
    expect(list.length()).toBe(3);
    await expect(list.initialize()).rejects.toThrow('already loading or were loaded');
    expect(() => new RequestList({ config })).toThrow('At least one of "sources"');
  });

  it('saves its state on the event and its requests at once, and goes on from both', async () => {
    const list = await RequestList.open('my', sources, { config });
    const [first, second] = [await list.fetchNextRequest(), await list.fetchNextRequest()];
    await list.markRequestHandled(first!);
    expect([list.isStatePersisted, list.areRequestsPersisted]).toEqual([false, true]);
    config.getEventManager().emit(EventType.PERSIST_STATE, { isMigrating: false });
    await expect.poll(() => list.isStatePersisted).toBe(true);
    const store = await KeyValueStore.open(null, { config });
    expect(await store.getValue('SDK_my-REQUEST_LIST_STATE')).toEqual(list.getState());
    await list.teardown();
    const again = await RequestList.open('my', [], { config });
    expect([again.length(), again.handledCount()]).toEqual([3, 1]);
    expect((await again.fetchNextRequest())!.url).toBe(second!.url);
  });

  it('refuses what is not in progress, and a state of other sources', async () => {
    const list = await RequestList.open(null, sources, { config });
    await expect(list.reclaimRequest(new Request({ url: 'https://x.com' }))).rejects.toThrow('not being processed');
    const state = { nextIndex: 1, nextUniqueKey: 'other', inProgress: [] };
    await expect(RequestList.open(null, sources, { config, state })).rejects.toThrow('order of URLs');
  });

  it('drops doubles of keys that the user gave, even where doubles of URLs are kept', async () => {
    const url = 'https://example.com/';
    const doubles = [{ url }, { url }, { url, uniqueKey: 'k' }, { url, uniqueKey: 'k' }];
    const list = await RequestList.open(null, doubles, { config, keepDuplicateUrls: true });
    expect(list.length()).toBe(3);
  });
});

describe('a crawler', () => {
  const many = Array.from({ length: 400 }, (_, index) => ({ url: `https://example.com/${index}` }));

  it('reads a list as it goes, tells it what ended, and leaves the rest to the next run', async () => {
    const list = await RequestList.open(null, many, { config });
    const handled: string[] = [];
    const requestHandler = ({ request }: { request: Request }) => void handled.push(request.url);
    const options = { requestList: list, maxConcurrency: 5, requestHandler };
    await new BasicCrawler({ ...options, maxRequestsPerCrawl: 50 }, config).run();
    expect(handled).toHaveLength(50);
    expect([list.handledCount() >= 50, list.nextIndex < 400, await list.isFinished()]).toEqual([true, true, false]);
    const second = new BasicCrawler(options, new Configuration({ persistStorage: false }));
    await second.run();
    expect(new Set(handled).size).toBe(400);
    expect([list.handledCount(), await list.isFinished()]).toEqual([400, true]);
  });

  it('rests before the process is moved, with the state of its list saved', async () => {
    const list = await RequestList.open('moved', many, { config });
    let handled = 0;
    const requestHandler = async () => {
      if (++handled === 100) config.getEventManager().emit(EventType.MIGRATING);
    };
    const crawler = new BasicCrawler({ requestList: list, maxConcurrency: 5, requestHandler }, config);
    const run = crawler.run();
    const store = await KeyValueStore.open(null, { config });
    await expect.poll(() => store.getValue('SDK_moved-REQUEST_LIST_STATE'), { timeout: 20_000 }).not.toBeNull();
    expect(handled).toBeLessThan(200);
    expect(await list.isFinished()).toBe(false);
    crawler.autoscaledPool!.resume();
    await run;
    expect(handled).toBe(400);
  });

  it('takes a list through a queue over the client of the user, which is told of the ends', async () => {
    const client = new MemoryStorage({ persistStorage: false });
    const { id } = await client.requestQueues().getOrCreate('theirs');
    const requestQueue = new RequestQueue({ id, client });
    await requestQueue.addRequest({ url: 'https://example.com/of-the-queue' });
    const requestList = await RequestList.open(null, sources, { config });
    const handled: string[] = [];
    const requestHandler = ({ request }: { request: Request }) => void handled.push(request.url);
    await new BasicCrawler({ requestList, requestQueue: requestQueue as never, requestHandler }, config).run();
    expect(handled).toHaveLength(4);
    expect(await client.requestQueue(id).get()).toMatchObject({ handledRequestCount: 4, pendingRequestCount: 0 });
    expect(await requestList.isFinished()).toBe(true);
  });

  it('saves its state with the event', async () => {
    const crawler = new BasicCrawler({ requestHandler: () => undefined }, config);
    const state = await crawler.useState({ pages: 1 });
    state.pages++;
    config.getEventManager().emit(EventType.PERSIST_STATE, { isMigrating: false });
    const store = await KeyValueStore.open(null, { config });
    await expect.poll(() => store.getValue('CRAWLEE_STATE')).toEqual({ pages: 2 });
  });
});
