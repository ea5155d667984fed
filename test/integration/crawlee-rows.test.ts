// What a review found missing for scripts of Crawlee: state of sitemap lists, limits of new requests, robots.txt per call,
// signals of load, and the parts of Crawlee 4 that live beside 3.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CookieJar } from 'tough-cookie';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  BasicCrawler,
  type BasicCrawlingContext,
  CheerioCrawler,
  Configuration,
  createCheerioRouter,
  EventType,
  HttpCrawler,
  KeyValueStore,
  MemoryStorage,
  RequestList,
  RequestManagerTandem,
  RequestQueue,
  RobotsTxtFile,
  Session,
  SessionPool,
  SitemapRequestList,
} from '../../src/crawlee/entry.js';

let server: Server;
let origin: string;
let config: Configuration;
const seen: string[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(request.url!);
    const urls = ['a', 'b', 'c'].map((name) => `<url><loc>${origin}/${name}</loc></url>`).join('');
    if (request.url === '/sitemap.xml')
      response.setHeader('content-type', 'application/xml').end(`<urlset>${urls}</urlset>`);
    else
      response.setHeader('content-type', 'text/html').end('<title>T</title><a href="/a">a</a><a href="/b.pdf">b</a>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  seen.length = 0;
  config = new Configuration({ persistStorage: false });
});

async function rest(list: SitemapRequestList): Promise<string[]> {
  const urls: string[] = [];
  for await (const request of list) {
    urls.push(new URL(request.url).pathname);
    await list.markRequestHandled(request);
  }
  return urls;
}

describe('crawler.addRequests', () => {
  it('takes seeds right after run(), which is not awaited', async () => {
    const crawler = new BasicCrawler({ requestHandler: async ({ sendRequest }) => void (await sendRequest()) }, config);
    const running = crawler.run([`${origin}/first`]);
    await crawler.addRequests([`${origin.replace('127.0.0.1', 'localhost')}/second`]);
    expect(await running).toMatchObject({ requestsFinished: 2, requestsFailed: 0 });
    expect(seen.sort()).toEqual(['/first', '/second']);
  });
});

describe('SitemapRequestList', () => {
  const open = (persistStateKey?: string) =>
    SitemapRequestList.open({
      sitemapUrls: [`${origin}/sitemap.xml`],
      config,
      ...(persistStateKey ? { persistStateKey } : {}),
    });

  it('goes on from its saved state: what ended does not come again, what was under way does', async () => {
    const first = await open('mine');
    const done = await first.fetchNextRequest();
    await first.markRequestHandled(done!);
    await first.fetchNextRequest();
    await first.persistState();
    expect(await rest(await open('mine'))).toEqual(['/b', '/c']);
    expect(await rest(await open('other'))).toEqual(['/a', '/b', '/c']);
  });

  it('has what was under way at hand at once, as handlers changed it, also under another URL than in the sitemap', async () => {
    const again = () =>
      SitemapRequestList.open({
        sitemapUrls: [`${origin}/sitemap.xml`],
        config,
        persistStateKey: 'changed',
        transformRequestFunction: (request) => ({ ...request, url: `${request.url}?v=1` }),
      });
    const first = await again();
    await first.markRequestHandled((await first.fetchNextRequest())!);
    (await first.fetchNextRequest())!.userData['seen'] = true;
    await first.persistState();
    const second = await again();
    expect(await second.isEmpty()).toBe(false);
    expect((await second.fetchNextRequest())!.userData).toEqual({ seen: true });
    expect(await rest(second)).toEqual(['/c']);
  });

  it('saves itself with the event, and a finished one stays finished', async () => {
    const list = await open('by-event');
    await rest(list);
    config.getEventManager().emit(EventType.PERSIST_STATE, { isMigrating: false });
    const store = await KeyValueStore.open(null, { config });
    await expect.poll(() => store.getValue('by-event')).toMatchObject({ isFinished: true });
    const again = await open('by-event');
    expect(await rest(again)).toEqual([]);
    expect(await again.isFinished()).toBe(true);
  });

  it('that was torn down in the middle is not a finished one', async () => {
    const list = await open('cut');
    await list.fetchNextRequest();
    await list.teardown();
    expect(await rest(await open('cut'))).toEqual(['/a', '/b', '/c']);
  });
});

it('a list before a queue, as one request manager, is crawled to its end', async () => {
  const list = await SitemapRequestList.open({ sitemapUrls: [`${origin}/sitemap.xml`], config });
  const requestManager = new RequestManagerTandem(list, await RequestQueue.open(null, { config }));
  const paths: string[] = [];
  const requestHandler = ({ request }: { request: { url: string } }) => void paths.push(new URL(request.url).pathname);
  await new BasicCrawler({ requestManager, requestHandler }, config).run();
  expect(paths.sort()).toEqual(['/a', '/b', '/c']);
});

it('requests of a list come before those of its queue', async () => {
  const requestQueue = await RequestQueue.open(null, { config });
  await requestQueue.addRequest(`${origin}/queued`);
  const list = await RequestList.open(null, [`${origin}/1`, `${origin}/2`]);
  const paths: string[] = [];
  for await (const request of new RequestManagerTandem(list, requestQueue)) paths.push(new URL(request.url).pathname);
  expect(paths).toEqual(['/1', '/2', '/queued']);
});

describe('maxNewRequests', () => {
  it.each(['a queue of ours', 'a queue over a client'])('counts only what is new, in %s', async (kind) => {
    const client = new MemoryStorage({ persistStorage: false });
    const { id } = await client.requestQueues().getOrCreate('mine');
    const queue = kind.endsWith('ours') ? await RequestQueue.open(null, { config }) : new RequestQueue({ id, client });
    await queue.addRequest({ url: `${origin}/known` });
    const requests = ['known', '1', '2', '3'].map((name) => ({ url: `${origin}/${name}` }));
    const options = { maxNewRequests: 2 } as object;
    const { addedRequests, requestsOverLimit } = (await queue.addRequestsBatched(requests, options)) as {
      addedRequests: { wasAlreadyPresent: boolean }[];
      requestsOverLimit?: unknown[];
    };
    expect(addedRequests.map(({ wasAlreadyPresent }) => wasAlreadyPresent)).toEqual([true, false, false]);
    expect(requestsOverLimit).toEqual([{ url: `${origin}/3` }]);
  });
});

describe('enqueueLinks', () => {
  const crawl = async (options: object, more: object = {}) => {
    const skipped: string[] = [];
    seen.length = 0;
    config = new Configuration({ persistStorage: false });
    const crawler = new CheerioCrawler(
      {
        maxRequestRetries: 0,
        ...more,
        async requestHandler({ request, enqueueLinks }) {
          if (request.label !== 'START') return;
          await enqueueLinks({
            ...options,
            onSkippedRequest: ({ url, reason }) => void skipped.push(`${new URL(url).pathname} ${reason}`),
          });
        },
      },
      config,
    );
    await crawler.run([{ url: `${origin}/start`, label: 'START' }]);
    return { skipped };
  };
  const robots = (text: string) => RobotsTxtFile.from(`${origin}/robots.txt`, text);

  it('obeys the rules of the call for the agent of the call, and not when told so', async () => {
    const robotsTxtFile = robots('User-agent: mine\nDisallow: /a\n');
    expect((await crawl({ robotsTxtFile })).skipped).toEqual([]);
    expect((await crawl({ robotsTxtFile, respectRobotsTxtFile: { userAgent: 'mine' } })).skipped).toEqual([
      '/a robotsTxt',
    ]);
    const all = robots('User-agent: *\nDisallow: /\n');
    expect((await crawl({ robotsTxtFile: all, respectRobotsTxtFile: false })).skipped).toEqual([]);
  });

  it('does not promise to obey rules that nobody reads', async () => {
    await expect(crawl({ respectRobotsTxtFile: true })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining('docs/from-crawlee.md') as string,
    });
    expect((await crawl({ respectRobotsTxtFile: true }, { respectRobotsTxtFile: true })).skipped).toEqual([]);
  });

  it('takes patterns in one list, as Crawlee 4 does', async () => {
    await crawl({ include: [/\.pdf$/] });
    expect(seen).toEqual(['/start', '/b.pdf']);
    await crawl({ include: [`${origin}/a`, { glob: '**/none' }] });
    expect(seen).toEqual(['/start', '/a']);
  });
});

it('a session uses the jar that it was given', async () => {
  const cookieJar = new CookieJar();
  cookieJar.setCookieSync('a=1', 'https://example.com');
  const session = new Session({ sessionPool: await SessionPool.open({}, config), cookieJar });
  expect(session.getCookieString('https://example.com')).toBe('a=1');
  session.setCookies([{ name: 'b', value: '2' }], 'https://example.com');
  expect(cookieJar.getCookieStringSync('https://example.com')).toContain('b=2');
  expect(session.getState().cookieJar).toMatchObject({ cookies: [{ key: 'a' }, { key: 'b' }] });
});

it('a signal of load of the user holds tasks back while it is overloaded', async () => {
  let isOverloaded = true;
  let most = 0;
  let now = 0;
  const told: string[] = [];
  const signal = {
    name: 'mine',
    overloadedRatio: 0.5,
    start: async () => void told.push('start'),
    stop: async () => void told.push('stop'),
    getSample: () => [
      { createdAt: new Date(0), isOverloaded },
      { createdAt: new Date(1), isOverloaded },
    ],
  };
  const run = async () => {
    most = 0;
    const crawler = new BasicCrawler(
      {
        maxConcurrency: 5,
        autoscaledPoolOptions: { desiredConcurrency: 5, systemStatusOptions: { loadSignals: [signal] } as object },
        async requestHandler() {
          most = Math.max(most, ++now);
          await new Promise((resolve) => setTimeout(resolve, 30));
          now--;
        },
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run(['1', '2', '3', '4', '5'].map((name) => `${origin}/${name}`));
    return most;
  };
  expect(await run()).toBe(1);
  isOverloaded = false;
  expect(await run()).toBeGreaterThan(1);
  expect(told).toEqual(['start', 'stop', 'start', 'stop']);
});

describe('of Crawlee 4', () => {
  it('extendContext adds to the context before hooks and handlers, also of routers', async () => {
    const got: unknown[] = [];
    const router = createCheerioRouter();
    router.addDefaultHandler((context) => void got.push((context as unknown as { own: number }).own));
    const crawler = new CheerioCrawler(
      {
        requestHandler: router,
        extendContext: async ({ request }) => ({ own: new URL(request.url).pathname.length }),
        preNavigationHooks: [(context) => void got.push((context as unknown as { own: number }).own)],
      },
      config,
    );
    await crawler.run([`${origin}/four`]);
    await new BasicCrawler(
      {
        extendContext: () => ({ own: 'basic' }),
        requestHandler: (context) => void got.push((context as unknown as { own: string }).own),
      },
      config,
    ).run([`${origin}/basic`]);
    expect(got).toEqual([5, 5, 'basic']);
    expect(() => new CheerioCrawler({ extendContext: 1 as never })).toThrow('extendContext must be a function');
  });

  it('a route has a time limit of its own', async () => {
    const failed: string[] = [];
    const router = createCheerioRouter();
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 400));
    router.addHandler('SHORT', slow, { requestHandlerTimeoutSecs: 0.1 });
    router.addDefaultHandler(slow);
    const failedRequestHandler = ({ request }: { request: { label?: string } }, { message }: Error) =>
      void failed.push(`${request.label} ${message}`);
    const crawler = new CheerioCrawler({ requestHandler: router, failedRequestHandler, maxRequestRetries: 0 }, config);
    await crawler.run([{ url: `${origin}/s`, label: 'SHORT' }, { url: `${origin}/l` }]);
    expect(failed).toEqual([expect.stringMatching(/^SHORT .*timed out after 0\.1 seconds/)]);
    expect(() => router.addHandler('X', slow, { requestHandlerTimeoutSecs: 0 })).toThrow('above 0');
  });

  it('an HTTP client with fetch sends pages and requests, and redirects are followed by the crawl', async () => {
    const asked: string[] = [];
    const httpClient = {
      async fetch(request: Request) {
        asked.push(`${request.method} ${new URL(request.url).pathname} ${request.redirect}`);
        if (request.url.endsWith('/from')) {
          const headers = new Headers({ location: '/to' });
          headers.append('set-cookie', 'a=1');
          headers.append('set-cookie', 'b=2');
          return new Response(null, { status: 302, headers });
        }
        const { cookie = '' } = Object.fromEntries(request.headers);
        return new Response(`<title>${cookie}${await request.text()}</title>`, {
          headers: { 'content-type': 'text/html' },
        });
      },
    };
    const got: unknown[] = [];
    const crawler = new HttpCrawler(
      {
        httpClient,
        maxRequestRetries: 0,
        async requestHandler({ body, request, sendRequest }) {
          const sent = await sendRequest({ url: `${origin}/sent`, method: 'POST', body: 'x' });
          got.push(String(body), new URL(request.loadedUrl!).pathname, sent.body);
        },
      },
      config,
    );
    await crawler.run([`${origin}/from`]);
    expect(got).toEqual(['<title>a=1; b=2</title>', '/to', '<title>a=1; b=2x</title>']);
    expect(asked).toEqual(['GET /from manual', 'GET /to manual', 'POST /sent manual']);
    expect(seen).toEqual([]);
  });
});

it('RobotsTxtFile.find gives up after its time, and when it is told to', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const late = await RobotsTxtFile.find(url, undefined, { timeoutMillis: 50 });
    expect(late.isAllowed(url)).toBe(false);
    const aborted = { signal: AbortSignal.abort() };
    await expect(RobotsTxtFile.find(url, undefined, aborted)).rejects.toThrow();
    const misspelt = { timeout: 50 } as never;
    await expect(RobotsTxtFile.find(url, undefined, misspelt)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});

it('sendRequest sends the cookies of the jar it was given, and keeps new ones there', async () => {
  const echo = createServer((request, response) => {
    response.setHeader('set-cookie', 'new=2').end(request.headers.cookie);
  });
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(echo.address() as AddressInfo).port}/`;
    const cookieJar = new CookieJar();
    cookieJar.setCookieSync('mine=1', url);
    const bodies: unknown[] = [];
    const requestHandler = async ({ sendRequest }: BasicCrawlingContext) =>
      void bodies.push((await sendRequest({ url, cookieJar })).body);
    await new BasicCrawler({ requestHandler, maxRequestRetries: 0 }, config).run([url]);
    expect(bodies).toEqual(['mine=1']);
    expect(cookieJar.getCookieStringSync(url)).toBe('mine=1; new=2');
  } finally {
    echo.closeAllConnections();
    echo.close();
  }
});
