// The public queue in Redis: opened by an option or the environment, crawled with, dropped without touching others.
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Configuration, HttpCrawler, Request, RequestQueue, Simweb } from '../../src/index.js';
import { silent, temporaryFolder, testConfig } from '../support/crawl.js';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';

describe.skipIf(redisMissing)(`a request queue in Redis${redisMissing ? `: skipped, ${redisMissing}` : ''}`, () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
    client = new Redis(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server.dispose();
  });
  afterEach(() => delete process.env.ORCRAWL_REDIS_URL);

  it('takes each request once, hands it out, finds it, and is gone when dropped', async () => {
    const config = await testConfig();
    await client.set('orcrawl:q', 'not ours');
    const queue = await RequestQueue.open('q', { config, redisUrl: server.url });
    const first = await queue.addRequest({ url: 'https://example.com/a?b=1&a=2', userData: { n: 1 } });
    expect(await queue.addRequest('https://example.com/a?a=2&b=1')).toEqual({ ...first, wasAlreadyPresent: true });
    const request = (await queue.fetchNextRequest())!;
    expect(request.userData).toEqual({ n: 1 });
    expect(await queue.isFinished()).toBe(false);
    await queue.reclaimRequest(request);
    await queue.markRequestHandled((await queue.fetchNextRequest())!);
    expect(await queue.addRequest('https://example.com/a?a=2&b=1')).toMatchObject({ wasAlreadyHandled: true });
    expect((await queue.getRequest(first.requestId))!.handledAt).toBeTruthy();
    expect(await queue.isFinished()).toBe(true);
    await queue.close();
    const again = await RequestQueue.open('q', { config, redisUrl: server.url });
    expect(await again.handledCount()).toBe(1);
    await again.drop();
    expect(await client.keys('*')).toEqual(['orcrawl:q']);
    await client.del('orcrawl:q');
  });

  it('refuses locks that end while a request waits for its connection', async () => {
    const config = await testConfig();
    const open = RequestQueue.open('short', { config, redisUrl: server.url, requestLockSecs: 10 });
    await expect(open).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringMatching(
        /requestLockSecs.* above 10, which a request may wait for its connection/,
      ) as string,
    });
  });

  it('finishes a removal that was interrupted before it lets the queue be used', async () => {
    const config = await testConfig();
    const queue = await RequestQueue.open('half', { config, redisUrl: server.url });
    await queue.addRequest('https://example.com/');
    await queue.close();
    await client.hset('orcrawl:half:state', 'store', 'DROPPING');
    const again = await RequestQueue.open('half', { config, redisUrl: server.url });
    expect(await again.addRequest('https://example.com/')).toMatchObject({ wasAlreadyPresent: false });
    await again.drop();
  });

  it('serves a crawl that ORCRAWL_REDIS_URL sends to it, to the end and again after an interruption', async () => {
    process.env.ORCRAWL_REDIS_URL = server.url;
    const web = await Simweb.start({ hosts: 3, pagesPerHost: 30, pageBytes: 2_000, crossHostLinks: 0.1 });
    const folder = await temporaryFolder();
    const visited: string[] = [];
    const config = () =>
      new Configuration({ storageClientOptions: { localDataDirectory: folder }, purgeOnStart: false });
    const crawlUpTo = async (pages: number): Promise<void> => {
      const crawler = new HttpCrawler(
        {
          log: silent,
          maxConcurrency: 5,
          allowPrivateAddresses: true,
          async requestHandler({ request, enqueueLinks, pushData }) {
            visited.push(request.uniqueKey);
            await pushData({ url: request.url });
            await enqueueLinks({ strategy: 'all' });
            if (visited.length >= pages) crawler.stop();
          },
        },
        config(),
      );
      await crawler.run([web.url(0)]);
      await crawler.teardown();
    };
    await crawlUpTo(20);
    const before = visited.length;
    expect(before).toBeGreaterThanOrEqual(20);
    const queue = await RequestQueue.open(undefined, { config: config() });
    const { counters } = await queue.getInfo();
    expect(counters).toMatchObject({ done: before, leased: 0 });
    expect(counters.queued).toBeGreaterThan(0);
    await queue.close();
    await crawlUpTo(Infinity);
    const expected = new Set(Array.from(web.allUrls(), (url) => new Request({ url }).uniqueKey));
    expect(new Set(visited)).toEqual(expected);
    expect(visited.length).toBe(expected.size);
    await web.close();
  });
});
