// The lifecycle from seeds to stored results, over real sockets and a real queue on disk.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CrawlError } from '../../src/index.js';
import {
  BasicCrawler,
  CheerioCrawler,
  createCheerioRouter,
  CriticalError,
  Dataset,
  HttpCrawler,
  MissingRouteError,
  NonRetryableError,
  Request,
  RequestQueue,
  RetryRequestError,
  Simweb,
} from '../../src/index.js';
import { memoryConfig, silent, temporaryFolder, testConfig } from '../support/crawl.js';

let web: Simweb;
beforeAll(async () => {
  web = await Simweb.start({ hosts: 3, pagesPerHost: 40, pageBytes: 3000, crossHostLinks: 0.1 });
});
afterAll(() => web.close());

const fast = { log: silent, retryDelayMs: 5, maxRetryDelayMs: 20 };

describe('a crawl', () => {
  it('visits every page of the map once and stores one item for each', async () => {
    const config = await testConfig();
    web.reset();
    const crawler = new HttpCrawler(
      {
        ...fast,
        async requestHandler({ request, content, pushData, enqueueLinks }) {
          await pushData({ url: request.url, title: content.title });
          await enqueueLinks({ strategy: 'all' });
        },
        allowPrivateAddresses: true,
      },
      config,
    );
    const stats = await crawler.run([web.url(0)]);
    const { items } = await crawler.getData();
    // Pages are linked with fragments and tracking parameters too: those are the same page.
    const keyOf = (url: string) => new Request({ url }).uniqueKey;
    const expected = new Set(Array.from(web.allUrls(), keyOf));
    expect(new Set(items.map((item) => keyOf(item.url)))).toEqual(expected);
    expect(items).toHaveLength(expected.size);
    expect(stats.requestsFinished).toBe(expected.size);
    expect(stats.requestsFailed).toBe(0);
    expect(web.served()).toBe(expected.size);
    await crawler.teardown();
  });

  it("runs a script in Crawlee's documented style", async () => {
    const config = await testConfig();
    const router = createCheerioRouter();
    router.addDefaultHandler(async ({ enqueueLinks, log }) => {
      log.debug('enqueueing');
      await enqueueLinks({ globs: [`${web.origin(1)}/**`], label: 'detail' });
    });
    router.addHandler('detail', async ({ request, $, pushData, log }) => {
      const title = $('title').text();
      log.debug(title, { url: request.loadedUrl });
      await pushData({ url: request.loadedUrl, title });
    });
    const crawler = new CheerioCrawler({ ...fast, requestHandler: router, maxRequestsPerCrawl: 12 }, config);
    await crawler.run([web.url(1)]);
    const dataset = await Dataset.open(undefined, { config });
    const { items, total } = await dataset.getData();
    expect(total).toBe(11);
    expect(items.every((item) => typeof item.title === 'string' && item.title.length > 0)).toBe(true);
    await crawler.teardown();
  });

  it('never exceeds maxRequestsPerCrawl and reaches it when enough pages exist', async () => {
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxRequestsPerCrawl: 25,
        maxConcurrency: 20,
        requestHandler: async ({ enqueueLinks }) => void (await enqueueLinks()),
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0)]);
    expect(stats.requestsFinished).toBe(25);
  });

  it('stops at maxCrawlDepth and says what it skipped', async () => {
    const depths = new Set<number>();
    const skipped: string[] = [];
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxCrawlDepth: 1,
        onSkippedRequest: ({ reason }) => void skipped.push(reason),
        async requestHandler({ request, enqueueLinks }) {
          depths.add(request.crawlDepth);
          await enqueueLinks();
        },
      },
      memoryConfig(),
    );
    await crawler.run([web.url(0)]);
    expect([...depths].sort()).toEqual([0, 1]);
    expect(skipped).toContain('depth');
  });

  it('binds hooks by position: pre, request, post, handler', async () => {
    const order: string[] = [];
    const crawler = new HttpCrawler(
      {
        ...fast,
        preNavigationHooks: [
          (_context, options) => {
            order.push('pre 1');
            options.headers['x-test'] = 'yes';
          },
          () => void order.push('pre 2'),
        ],
        postNavigationHooks: [({ response }) => void order.push(`post ${response.statusCode}`)],
        requestHandler: ({ json }) => void order.push(`handler ${json.headers['x-test']}`),
      },
      memoryConfig(),
    );
    await crawler.run([web.url(0, '/_/echo')]);
    expect(order).toEqual(['pre 1', 'pre 2', 'post 200', 'handler yes']);
  });
});

describe('a visit is a transaction', () => {
  it('leaves no items and no links of a failed attempt', async () => {
    let attempts = 0;
    const crawler = new CheerioCrawler(
      {
        ...fast,
        async requestHandler({ request, pushData, enqueueLinks }) {
          if (request.label === 'child') return pushData({ child: request.url });
          await pushData({ attempt: attempts });
          await enqueueLinks({ label: 'child', limit: 2 });
          if (attempts++ < 2) throw new Error('not yet');
        },
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0)]);
    const { items } = await crawler.getData();
    expect(items.filter((item) => 'attempt' in item)).toEqual([{ attempt: 2 }]);
    expect(items.filter((item) => 'child' in item)).toHaveLength(2);
    expect(stats.retryHistogram[2]).toBe(1);
  });

  it('cuts off a handler that hangs; what it adds later is refused and nothing breaks', async () => {
    const late: unknown[] = [];
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxRequestRetries: 0,
        requestHandlerTimeoutSecs: 0.05,
        async requestHandler({ request, pushData }) {
          if (!request.url.includes('slow')) return pushData({ ok: true });
          await new Promise((resume) => setTimeout(resume, 200));
          await pushData({ ok: false }).catch((error: unknown) => late.push(error));
          throw new Error('rejected late');
        },
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0), web.url(0, '/_/json?slow')]);
    await expect.poll(() => late.length).toBe(1);
    expect(late[0]).toMatchObject({ code: 'HANDLER_TIMEOUT' });
    expect(stats).toMatchObject({ requestsFinished: 1, requestsFailed: 1 });
    expect((await crawler.getData()).items).toEqual([{ ok: true }]);
  });
});

describe('retries', () => {
  it('calls errorHandler before each retry and failedRequestHandler once', async () => {
    const calls: string[] = [];
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxRequestRetries: 2,
        requestHandler: () => {
          throw new Error('boom');
        },
        errorHandler: ({ request }, error) => void calls.push(`error ${request.retryCount} ${error.message}`),
        failedRequestHandler: async ({ request, pushData }, error) => {
          calls.push(`failed ${request.retryCount} ${error.message} ${request.errorMessages.length}`);
          await pushData({ failed: request.url });
        },
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0)]);
    expect(calls).toEqual(['error 0 boom', 'error 1 boom', 'failed 2 boom 3']);
    expect(stats.requestsFailed).toBe(1);
    expect((await crawler.getData()).items).toEqual([{ failed: web.url(0) }]);
  });

  it('retries 5xx until the page recovers, and passes 404 to the handler', async () => {
    const seen: [string, number][] = [];
    const crawler = new HttpCrawler(
      { ...fast, requestHandler: ({ request, response }) => void seen.push([request.url, response.statusCode]) },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0, '/_/flaky/2/a'), web.url(0, '/_/status/404')]);
    expect(stats).toMatchObject({ requestsFinished: 2, requestsFailed: 0 });
    expect(seen.map(([, status]) => status).sort()).toEqual([200, 404]);
  });

  it('never retries a NonRetryableError, and always a RetryRequestError', async () => {
    let forced = 0;
    let once = 0;
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxRequestRetries: 1,
        requestHandler({ request }) {
          if (request.url.endsWith('once')) {
            once++;
            throw new NonRetryableError('no');
          }
          if (forced++ < 5) throw new RetryRequestError('again');
        },
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0, '/_/json?once'), web.url(0, '/_/json?forced')]);
    expect(once).toBe(1);
    expect(forced).toBe(6);
    expect(stats).toMatchObject({ requestsFinished: 1, requestsFailed: 1 });
  });

  it('waits for a Retry-After and then succeeds', async () => {
    web.reset();
    const crawler = new HttpCrawler({ ...fast, requestHandler: () => undefined }, memoryConfig());
    const stats = await crawler.run([web.url(2, '/_/429?after=1')]);
    expect(stats.requestsFinished).toBe(1);
    const [first, second] = web.requests({ host: 2 });
    expect(second!.startMs - first!.startMs).toBeGreaterThanOrEqual(1000);
  });

  it('rejects run() on a CriticalError and on a missing route, leaving the request in the queue', async () => {
    const config = memoryConfig();
    const critical = new HttpCrawler(
      {
        ...fast,
        requestHandler: () => {
          throw new CriticalError('stop everything');
        },
      },
      config,
    );
    await expect(critical.run([web.url(0)])).rejects.toThrow('stop everything');
    expect((await critical.requestQueue!.getInfo()).pendingRequestCount).toBe(1);
    const unrouted = new HttpCrawler({ ...fast }, memoryConfig());
    await expect(unrouted.run([web.url(0)])).rejects.toBeInstanceOf(MissingRouteError);
  });
});

describe('bad input', () => {
  it.each([
    ['/_/endless', 'BODY_TOO_LARGE'],
    ['/_/bytes/100000000', 'BODY_TOO_LARGE'],
    ['/_/redirect-loop', 'REDIRECT_LIMIT'],
    ['/_/pdf', 'CONTENT_TYPE'],
    ['/_/gzip-bomb', 'BODY_TOO_LARGE'],
    ['/_/reset', 'CONNECT_RESET'],
  ])('%s fails with %s and the crawl goes on', async (path, code) => {
    const failed: unknown[] = [];
    let handled = 0;
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxRequestRetries: 0,
        maxBodyBytes: 1_000_000,
        requestHandler: () => void handled++,
        failedRequestHandler: (_context, error) => void failed.push((error as CrawlError).code),
      },
      memoryConfig(),
    );
    await crawler.run([web.url(0, path), web.url(0)]);
    expect(failed).toEqual([code]);
    expect(handled).toBe(1);
  });

  it('names unknown and mistyped options before anything starts', () => {
    expect(() => new HttpCrawler({ maxConcurency: 3 } as never)).toThrow(/maxConcurency.*maxConcurrency/s);
    expect(() => new HttpCrawler({ maxConcurrency: 'ten' } as never)).toThrow(/whole number/);
    expect(() => new HttpCrawler({ handlePageFunction: () => undefined } as never)).toThrow(/requestHandler/);
  });

  it('refuses bad URLs and other schemes when they are added', async () => {
    const queue = await RequestQueue.open('bad', { config: memoryConfig() });
    await expect(queue.addRequest('not a url')).rejects.toMatchObject({ code: 'URL_INVALID' });
    await expect(queue.addRequest('ftp://example.com/')).rejects.toMatchObject({ code: 'URL_SCHEME' });
  });

  it('refuses a private address that a page links to, and allows the seeded one', async () => {
    const failed: string[] = [];
    const crawler = new HttpCrawler(
      {
        ...fast,
        requestHandler: async ({ request, enqueueLinks }) => {
          if (request.crawlDepth === 0) await enqueueLinks({ urls: [web.url(1)], strategy: 'all' });
        },
        failedRequestHandler: ({ request }, error) => void failed.push(`${request.url} ${(error as CrawlError).code}`),
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0)]);
    expect(stats.requestsFinished).toBe(1);
    expect(failed).toEqual([`${web.url(1)} ADDRESS_REFUSED`]);
  });

  it('says which folder cannot be written', async () => {
    const file = `${await temporaryFolder()}/file`;
    await writeFile(file, '');
    const crawler = new HttpCrawler({ ...fast, requestHandler: () => undefined }, await testConfig(`${file}/storage`));
    await expect(crawler.run([web.url(0)])).rejects.toMatchObject({ code: 'STORAGE_UNWRITABLE' });
  });
});

describe('runs', () => {
  it('continues an interrupted run and starts fresh after a finished one', async () => {
    const folder = await temporaryFolder();
    const visits: string[] = [];
    const crawl = async (limitThenFail: number) => {
      const crawler = new HttpCrawler(
        {
          ...fast,
          maxConcurrency: 1,
          async requestHandler({ request, enqueueLinks, pushData }) {
            if (visits.length === limitThenFail) throw new CriticalError('interrupted');
            visits.push(request.url);
            await pushData({ url: request.url });
            await enqueueLinks();
          },
        },
        await testConfig(folder),
      );
      const result = await crawler.run([web.url(0)]).catch((error: Error) => error);
      const { total } = await crawler.getData();
      await crawler.teardown();
      return { result, total };
    };
    await crawl(10);
    expect(visits).toHaveLength(10);
    const second = await crawl(-1);
    expect(visits).toHaveLength(40);
    expect(new Set(visits).size).toBe(40);
    expect(second.total).toBe(40);
    expect(second.result).toMatchObject({ requestsFinished: 40 });
    const third = await crawl(-1);
    expect(visits).toHaveLength(80);
    expect(third.total).toBe(40);
    expect(existsSync(`${folder}/run.json`)).toBe(true);
  });

  it('empties the default queue for a second run of one crawler', async () => {
    let visits = 0;
    const crawler = new HttpCrawler({ ...fast, requestHandler: () => void visits++ }, memoryConfig());
    await crawler.run([web.url(0)]);
    const stats = await crawler.run([web.url(0)]);
    expect(visits).toBe(2);
    expect(stats.requestsFinished).toBe(1);
  });

  it('stops on stop() with what is under way finished', async () => {
    let visits = 0;
    const crawler: HttpCrawler = new HttpCrawler(
      {
        ...fast,
        maxConcurrency: 4,
        async requestHandler({ enqueueLinks }) {
          await enqueueLinks();
          if (++visits === 5) crawler.stop('enough');
        },
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0)]);
    expect(stats.requestsFinished).toBe(visits);
    expect(visits).toBeLessThan(12);
  });

  it('keeps alive until stopped and takes requests meanwhile', async () => {
    const handled: string[] = [];
    const crawler = new BasicCrawler(
      { ...fast, keepAlive: true, requestHandler: ({ request }) => void handled.push(request.url) },
      memoryConfig(),
    );
    const run = crawler.run();
    await crawler.addRequests(['https://example.com/1']);
    await expect.poll(() => handled.length).toBe(1);
    await crawler.addRequests(['https://example.com/2']);
    await expect.poll(() => handled.length).toBe(2);
    crawler.stop();
    expect((await run).requestsFinished).toBe(2);
  });

  it('paces a domain by sameDomainDelaySecs and requeues redirects', async () => {
    web.reset();
    const loaded: string[] = [];
    const crawler = new HttpCrawler(
      {
        ...fast,
        sameDomainDelaySecs: 0.2,
        requestHandler: ({ request }) => void loaded.push(request.url),
      },
      memoryConfig(),
    );
    await crawler.run([web.url(2), web.url(2, 1), web.url(2, '/_/redirect/2')]);
    expect(loaded).toHaveLength(3);
    expect(web.served(2)).toBe(5);
    expect(web.gaps(2).endToStartMs).toBeGreaterThanOrEqual(200);
  });
});
