// What user code, pages and other crawlers may do without the crawl losing or breaking anything.
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CrawlError } from '../../src/index.js';
import { CriticalError, Dataset, HttpCrawler, RequestQueue, Simweb } from '../../src/index.js';
import { memoryConfig, silent, temporaryFolder, testConfig } from '../support/crawl.js';

let web: Simweb;
let other: Simweb;
beforeAll(async () => {
  web = await Simweb.start({ hosts: 2, pagesPerHost: 20, pageBytes: 2000 });
  other = await Simweb.start({ pagesPerHost: 3, pageBytes: 2000 });
});
afterAll(() => Promise.all([web.close(), other.close()]));

const fast = { log: silent, retryDelayMs: 5, maxRetryDelayMs: 20 };
const pages = (count: number) => Array.from({ length: count }, (_, page) => web.url(0, `/_/json?page=${page}`));

describe('requests that cannot be added', () => {
  it('fail the run when they are its seeds, in whichever batch', async () => {
    const seeds = pages(2500);
    seeds[1500] = 'javascript:void(0)';
    const crawler = new HttpCrawler({ ...fast, requestHandler: () => undefined }, memoryConfig());
    await expect(crawler.run(seeds)).rejects.toMatchObject({ code: 'URL_SCHEME' });
  });

  it('are skipped when they are links with a host longer than any name', async () => {
    const long = `http://${'a'.repeat(1100)}.example/`;
    const skipped: string[] = [];
    const crawler = new HttpCrawler(
      {
        ...fast,
        async requestHandler({ enqueueLinks }) {
          await enqueueLinks({ urls: [long], strategy: 'all' });
        },
        onSkippedRequest: ({ reason }) => void skipped.push(reason),
      },
      memoryConfig(),
    );
    expect((await crawler.run(pages(1))).requestsFinished).toBe(1);
    expect(skipped).toEqual(['invalid']);
    await expect(crawler.run([long])).rejects.toMatchObject({ code: 'URL_INVALID' });
  });

  it('fail only the call when a handler adds them', async () => {
    const links = pages(1300);
    links[1200] = 'javascript:void(0)';
    const failures: unknown[] = [];
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxRequestsPerCrawl: 5,
        allowPrivateAddresses: true,
        async requestHandler({ request, crawler: self }) {
          if (request.url !== web.url(0)) return;
          const { waitForAllRequestsToBeAdded } = await self.addRequests(links);
          await waitForAllRequestsToBeAdded.catch((error: unknown) => failures.push(error));
        },
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0)]);
    expect(stats.requestsFinished).toBe(5);
    expect(failures).toHaveLength(1);
  });
});

describe('user code', () => {
  it('may put what cannot be stored into a request, or name a bad dataset: only that visit suffers', async () => {
    const failed: string[] = [];
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxRequestRetries: 0,
        async requestHandler({ request, pushData }) {
          if (request.url.endsWith('page=1')) request.userData.big = 10n;
          if (request.url.endsWith('page=2')) await pushData({ a: 1 }, '../escape');
          await pushData({ url: request.url });
        },
        failedRequestHandler: (_context, error) => void failed.push((error as CrawlError).code),
      },
      memoryConfig(),
    );
    const stats = await crawler.run(pages(4));
    expect(stats).toMatchObject({ requestsFinished: 3, requestsFailed: 1 });
    expect(failed).toEqual(['KEY_INVALID']);
  });

  it('may throw anything and spoil its request: one settlement, and the crawl goes on', async () => {
    const spoilers: ((context: { request: Record<string, unknown> }) => unknown)[] = [
      () => {
        throw Object.create(null);
      },
      ({ request }) => {
        request.errorMessages = null;
        throw new Error('without a list of messages');
      },
      ({ request }) => {
        request.retryCount = 'a';
        throw new Error('with no number of retries');
      },
      ({ request }) => {
        Object.freeze(request);
        throw new Error('with a frozen request');
      },
    ];
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxRequestRetries: 1,
        requestHandler: (context) => void spoilers[Number(context.request.url.split('page=')[1])]?.(context as never),
      },
      memoryConfig(),
    );
    const stats = await crawler.run(pages(6));
    expect(stats.requestsFinished).toBe(2);
    const { counters } = await crawler.requestQueue!.overview();
    expect(counters).toMatchObject({ done: 2, failed: 4, leased: 0, queued: 0 });
  });

  it('may abort the pool: handlers under way end, and their items are kept', async () => {
    let ended = 0;
    const crawler = new HttpCrawler(
      {
        ...fast,
        minConcurrency: 4,
        maxConcurrency: 4,
        async requestHandler({ request, pushData, crawler: self }) {
          await pushData({ url: request.url });
          if (request.url.endsWith('page=0')) return self.autoscaledPool!.abort();
          await new Promise((resolve) => setTimeout(resolve, 100));
          ended++;
        },
      },
      memoryConfig(),
    );
    await crawler.run(pages(4));
    const { items } = await crawler.getData();
    const { counters } = await crawler.requestQueue!.overview();
    expect(items).toHaveLength(ended + 1);
    expect(counters).toMatchObject({ done: ended + 1, leased: 0 });
  });

  it('that ends the crawl in its first statement is not waited for', async () => {
    const crawler = new HttpCrawler(
      { ...fast, requestHandlerTimeoutSecs: 3600, requestHandler: ({ crawler: self }) => self.teardown() },
      memoryConfig(),
    );
    await crawler.run(pages(1));
  });

  it('that is refused an address does not repeat the visit of its seed', async () => {
    let calls = 0;
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxRequestRetries: 0,
        async requestHandler({ pushData, sendRequest }) {
          await pushData({ call: ++calls });
          await sendRequest({ url: 'http://10.0.0.1/' });
        },
      },
      memoryConfig(),
    );
    const stats = await crawler.run(pages(1));
    expect(stats.requestsFailed).toBe(1);
    expect(calls).toBe(1);
  });

  it('that outlives its attempt adds nothing to what the error handlers add', async () => {
    let failing: () => void = () => undefined;
    const failedBegan = new Promise<void>((resolve) => (failing = resolve));
    let tried: (error: unknown) => void = () => undefined;
    const latePush = new Promise<unknown>((resolve) => (tried = resolve));
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxRequestRetries: 0,
        requestHandlerTimeoutSecs: 0.5,
        async requestHandler({ pushData }) {
          await failedBegan;
          tried(await pushData({ from: 'the hung handler' }).catch((error: unknown) => error));
        },
        async failedRequestHandler({ pushData }) {
          failing();
          await latePush;
          await pushData({ from: 'failedRequestHandler' });
        },
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0)]);
    expect(stats.requestsFailed).toBe(1);
    expect(await latePush).toMatchObject({ code: 'HANDLER_TIMEOUT' });
    expect((await crawler.getData()).items).toEqual([{ from: 'failedRequestHandler' }]);
  });

  it('may change the request in a hook: headers, method and payload are sent', async () => {
    let echoed: { method: string; headers: Record<string, string>; body: string } | undefined;
    const crawler = new HttpCrawler(
      {
        ...fast,
        preNavigationHooks: [
          ({ request }, options) => {
            request.headers['x-request'] = '1';
            options.headers['x-options'] = '2';
            request.method = 'POST';
            request.payload = 'body';
          },
        ],
        requestHandler: ({ json }) => void (echoed = json),
      },
      memoryConfig(),
    );
    await crawler.run([web.url(0, '/_/echo')]);
    expect(echoed).toMatchObject({ method: 'POST', body: 'body', headers: { 'x-request': '1', 'x-options': '2' } });
  });
});

describe('the address guard', () => {
  it('holds for links that travel through another queue or a copied request', async () => {
    other.reset();
    const config = memoryConfig();
    const queue = await RequestQueue.open('elsewhere', { config });
    const collect = new HttpCrawler(
      {
        ...fast,
        async requestHandler({ request, enqueueLinks, addRequests }) {
          await enqueueLinks({ urls: [other.url(0)], strategy: 'all', requestQueue: queue });
          const { seeded } = request;
          await addRequests([{ url: other.url(0, 1), seeded }]);
        },
      },
      config,
    );
    await collect.run([web.url(0)]);
    await new HttpCrawler({ ...fast, requestQueue: queue, requestHandler: () => undefined }, config).run();
    expect(other.served()).toBe(0);
  });
});

describe('with a delay', () => {
  const gapMs = 200;
  const paced = { ...fast, sameDomainDelaySecs: gapMs / 1000 };

  it('a redirect to the same page waits too', async () => {
    web.reset();
    web.serve('/slash', { status: 301, headers: { location: '/slash/' } });
    web.serve('/slash/', { body: '<p>here</p>', headers: { 'content-type': 'text/html' } });
    let loadedUrl: string | undefined;
    const crawler = new HttpCrawler(
      { ...paced, requestHandler: ({ request }) => void (loadedUrl = request.loadedUrl) },
      memoryConfig(),
    );
    await crawler.run([web.url(1, '/slash')]);
    expect(loadedUrl).toBe(web.url(1, '/slash/'));
    expect(web.gaps(1).endToStartMs).toBeGreaterThanOrEqual(gapMs);
  });

  it('a 307 keeps method, payload and session across its hop', async () => {
    web.serve('/move', { status: 307, headers: { location: '/_/echo', 'set-cookie': 'sid=9' } });
    let echoed: unknown;
    const crawler = new HttpCrawler({ ...paced, requestHandler: ({ json }) => void (echoed = json) }, memoryConfig());
    await crawler.run([{ url: web.url(1, '/move'), method: 'POST', payload: 'x=1' }]);
    expect(echoed).toMatchObject({ method: 'POST', body: 'x=1', headers: { cookie: 'sid=9' } });
  });
});

describe('several runs', () => {
  it('of one crawler at once are refused, and a stop right after run() is heard', async () => {
    const crawler = new HttpCrawler({ ...fast, requestHandler: () => undefined }, memoryConfig());
    const first = crawler.run(pages(50));
    await expect(crawler.run([])).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    crawler.stop();
    expect((await first).requestsFinished).toBeLessThan(50);
  });

  it('of several crawlers in one process have limits of their own and no leftovers of each other', async () => {
    const config = memoryConfig();
    const visited: string[] = [];
    const make = (maxRequestsPerCrawl?: number) =>
      new HttpCrawler(
        {
          ...fast,
          maxRequestsPerCrawl,
          async requestHandler({ request, enqueueLinks }) {
            visited.push(request.url);
            if (maxRequestsPerCrawl) await enqueueLinks();
          },
        },
        config,
      );
    await make(3).run([web.url(0)]);
    expect(visited).toHaveLength(3);
    const second = await make(2).run([web.url(1)]);
    expect(second.requestsFinished).toBe(2);
    const third = await make().run([other.url(0)]);
    expect(third.requestsFinished).toBe(1);
  });

  it('on the default queue start afresh while a named queue waits to be continued, whose items stay', async () => {
    const folder = await temporaryFolder();
    const config = await testConfig(folder);
    const named = new HttpCrawler(
      {
        ...fast,
        maxConcurrency: 1,
        requestQueue: await RequestQueue.open('named', { config }),
        async requestHandler({ request, pushData }) {
          if (request.url.endsWith('page=1')) throw new CriticalError('crash');
          await pushData({ url: request.url });
        },
      },
      config,
    );
    await named.run(pages(2)).catch(() => undefined);
    await named.teardown();
    for (const round of [1, 2]) {
      const record = JSON.parse(await readFile(`${folder}/run.json`, 'utf8')) as { preparedBy?: number };
      await writeFile(`${folder}/run.json`, JSON.stringify({ ...record, preparedBy: 2 ** 30 }));
      const crawler = new HttpCrawler({ ...fast, requestHandler: () => undefined }, await testConfig(folder));
      expect((await crawler.run(pages(3))).requestsFinished, `round ${round}`).toBe(3);
      expect((await crawler.getData()).items).toHaveLength(1);
      await crawler.teardown();
    }
  });

  it('leave the items of a named queue that is done, until the queue is dropped', async () => {
    const folder = await temporaryFolder();
    /** What a process finds that starts now: nobody alive prepared the folder. */
    const found = async (): Promise<number> => {
      const record = JSON.parse(await readFile(`${folder}/run.json`, 'utf8')) as { preparedBy?: number };
      await writeFile(`${folder}/run.json`, JSON.stringify({ ...record, preparedBy: 2 ** 30 }));
      return (await (await Dataset.open(undefined, { config: await testConfig(folder) })).getData()).total;
    };
    const config = await testConfig(folder);
    const queue = await RequestQueue.open('done', { config });
    const crawler = new HttpCrawler(
      { ...fast, requestQueue: queue, requestHandler: ({ request, pushData }) => pushData({ url: request.url }) },
      config,
    );
    await crawler.run(pages(2));
    expect(await found()).toBe(2);
    await queue.drop();
    await crawler.teardown();
    expect(await found()).toBe(0);
  });

  it('keep requests that were added and never run, and a run whose record is damaged', async () => {
    const folder = await temporaryFolder();
    const adding = new HttpCrawler({ ...fast, requestHandler: () => undefined }, await testConfig(folder));
    await adding.addRequests(pages(5));
    await adding.teardown();
    // As another process would find it: nobody alive prepared the folder.
    const record = JSON.parse(await readFile(`${folder}/run.json`, 'utf8')) as { preparedBy?: number };
    await writeFile(`${folder}/run.json`, JSON.stringify({ ...record, preparedBy: 2 ** 30 }));
    let handled = 0;
    const stopping = new HttpCrawler(
      {
        ...fast,
        maxConcurrency: 1,
        requestHandler: () => {
          if (++handled === 3) throw new CriticalError('crash');
        },
      },
      await testConfig(folder),
    );
    await stopping.run().catch(() => undefined);
    await stopping.teardown();
    await writeFile(`${folder}/run.json`, '');
    const resumed = new HttpCrawler({ ...fast, requestHandler: () => undefined }, await testConfig(folder));
    const stats = await resumed.run();
    expect(stats.requestsFinished).toBe(5);
    await resumed.teardown();
  });
});
