// Batches under their dispatchers, seen from the server: rates, refetches, memory, and a thousand URLs of which many are broken.
import { createServer as createTlsServer } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryAdaptiveDispatcher, RateLimiter, SemaphoreDispatcher, Simweb, WebCrawler } from '../../src/index.js';
import { createCertificate } from '../../src/testing/simweb/certificate.js';
import { fixtures, until } from './http-fixtures.js';

let web: Simweb;
const servers = fixtures();
beforeAll(async () => {
  web = await Simweb.start({ hosts: 4, pagesPerHost: 60, pageBytes: 1000 });
});
afterAll(async () => {
  await servers.closeAll();
  await web.close();
});

describe('a rate limiter in a batch', () => {
  it('leaves the delay between any two requests of a domain, and other domains alone', async () => {
    web.reset();
    await using crawler = await WebCrawler.open();
    const rateLimiter = new RateLimiter({ baseDelayMs: 100 });
    const slow = Array.from({ length: 12 }, (_, page) => web.url(0, page));
    const others = [1, 2, 3].flatMap((host) => [web.url(host, 1), web.url(host, 2)]);
    const ended: string[] = [];
    const dispatcher = new SemaphoreDispatcher({ permits: 50, rateLimiter });
    for await (const { url, success } of crawler.runMany([...slow, ...others], {}, dispatcher)) {
      expect(success).toBe(true);
      ended.push(url);
    }
    const { endToStartMs, requests } = web.gaps(0);
    expect(requests).toBe(12);
    expect(endToStartMs).toBeGreaterThanOrEqual(99);
    // The other domains were done while most of the slow one still waited.
    const lastOther = Math.max(...others.map((url) => ended.indexOf(url)));
    expect(lastOther).toBeLessThan(others.length + 6);
  });

  it('keeps the delay when two batches share it', async () => {
    web.reset();
    await using crawler = await WebCrawler.open();
    const dispatcher = new SemaphoreDispatcher({ permits: 10, rateLimiter: new RateLimiter({ baseDelayMs: 80 }) });
    const pages = (from: number) => Array.from({ length: 4 }, (_, i) => web.url(1, from + i));
    await Promise.all([crawler.runMany(pages(0), {}, dispatcher), crawler.runMany(pages(10), {}, dispatcher)]);
    const { endToStartMs, requests } = web.gaps(1);
    expect(requests).toBe(8);
    expect(endToStartMs).toBeGreaterThanOrEqual(78);
  });

  it('fetches again after 429 and 503, whatever maxRetries says, and waits as long as Retry-After asks', async () => {
    await using crawler = await WebCrawler.open();
    const rateLimiter = new RateLimiter({ baseDelayMs: 10, maxDelayMs: 50 });
    const dispatcher = new SemaphoreDispatcher({ permits: 10, rateLimiter });
    const flaky = web.url(2, '/_/flaky/3/limiter?status=429');
    const busy = web.url(3, '/_/503/limiter?after=1');
    web.reset();
    const [again, later] = await crawler.runMany([flaky, busy], { maxRetries: 0 }, dispatcher);
    expect(again).toMatchObject({ success: true, dispatch: { attempts: 4 } });
    expect(later).toMatchObject({ success: true, dispatch: { attempts: 2 } });
    expect(web.gaps(3).startToStartMs).toBeGreaterThanOrEqual(990);
  });

  it('gives up after its own maxRetries with the status', async () => {
    await using crawler = await WebCrawler.open();
    const rateLimiter = new RateLimiter({ baseDelayMs: 1, maxDelayMs: 5, maxRetries: 2 });
    const dispatcher = new SemaphoreDispatcher({ rateLimiter });
    const [result] = await crawler.runMany([web.url(0, '/_/status/429')], { maxRetries: 5 }, dispatcher);
    expect(result).toMatchObject({
      success: false,
      errorCode: 'HTTP_STATUS',
      statusCode: 429,
      dispatch: { attempts: 3 },
    });
  });

  it('follows redirects to other domains by those domains’ turns, to the right result', async () => {
    web.reset();
    await using crawler = await WebCrawler.open({ allowPrivateAddresses: true });
    const dispatcher = new SemaphoreDispatcher({ permits: 10, rateLimiter: new RateLimiter({ baseDelayMs: 50 }) });
    const list = [web.url(0, '/_/redirect-host/1'), web.url(2, '/_/redirect-host/1'), web.url(1, 5)];
    const results = await crawler.runMany(list, {}, dispatcher);
    expect(results.map(({ url }) => url)).toEqual(list);
    expect(results.map(({ success, redirected }) => [success, redirected])).toEqual([
      [true, true],
      [true, true],
      [true, false],
    ]);
    expect(results[0]!.loadedUrl).toBe(results[1]!.loadedUrl);
    expect(web.gaps(1).endToStartMs).toBeGreaterThanOrEqual(49);
  });
});

describe('a batch under the memory-adaptive dispatcher', () => {
  it('pauses above the threshold, sheds above critical, resumes below recovery and loses nothing', async () => {
    let percent = 50;
    let open = 0;
    let served = 0;
    const { url } = await servers.serve((_request, response) => {
      open++;
      response.on('close', () => open--);
      setTimeout(() => {
        served++;
        response.end('<p>page</p>');
      }, 40);
    });
    await using crawler = await WebCrawler.open();
    const dispatcher = new MemoryAdaptiveDispatcher({
      maxSessionPermit: 8,
      checkIntervalMs: 10,
      readMemoryPercent: () => percent,
    });
    const list = Array.from({ length: 120 }, (_, n) => `${url}/${n}`);
    const batch = crawler.runMany(list, { maxRetries: 0 }, dispatcher);
    const results = batch.then((all) => all);
    await until(() => open === 8, 'all permits are used');
    percent = 97;
    await until(() => dispatcher.isPaused && open <= 1, 'all but one are shed or done');
    const servedWhenFull = served;
    // The last one always runs: it goes on, one at a time.
    await until(() => served >= servedWhenFull + 3, 'one at a time goes on');
    expect(open).toBeLessThanOrEqual(1);
    percent = 50;
    await until(() => open >= 6, 'all permits are used again');
    const all = await results;
    expect(all).toHaveLength(120);
    expect(all.filter(({ success }) => success)).toHaveLength(120);
    expect(Math.max(...all.map(({ dispatch }) => dispatch.attempts))).toBeGreaterThan(1);
  });
});

describe('a batch of which much is broken', () => {
  it('has a precise code for each failure and a result for every URL', async () => {
    const { key, cert } = createCertificate(['127.0.0.1']);
    const tls = await servers.listen(
      createTlsServer({ key, cert }, (_request, response) => void response.end('x')),
      'https',
    );
    const raw = await servers.serveRaw((socket) => socket.end('this is no HTTP\r\n\r\n'));
    const broken: Record<string, string> = {
      [`http://no-such-host.invalid/`]: 'DNS_NOT_FOUND',
      [`http://127.0.0.1:1/`]: 'CONNECT_REFUSED',
      [`${tls.url}/`]: 'TLS_INVALID',
      [web.url(0, '/_/status/404')]: 'HTTP_STATUS',
      [web.url(0, '/_/status/500')]: 'HTTP_STATUS',
      [web.url(0, '/_/hang')]: 'FETCH_TIMEOUT',
      [web.url(0, '/_/reset')]: 'CONNECT_RESET',
      [`${raw.url}/`]: 'HTTP_MALFORMED',
      [web.url(0, '/_/bad-gzip')]: 'BODY_DECODE',
      [web.url(0, '/_/bytes/11000000')]: 'BODY_TOO_LARGE',
      [web.url(0, '/_/redirect-to?url=http%3A%2F%2F10.0.0.1%2F')]: 'ADDRESS_REFUSED',
      'http://[broken': 'URL_INVALID',
      'mailto:me@example.com': 'URL_SCHEME',
    };
    const kinds = Object.keys(broken);
    const list = Array.from({ length: 1000 }, (_, n) =>
      n % 10 < 3 ? kinds[Math.floor(n / 10) % kinds.length]! : `${web.url(n % 4, n % 60)}?n=${n}`,
    );
    await using crawler = await WebCrawler.open();
    // Only what hangs has a short limit: the machine may be busy.
    const hangs = web.url(0, '/_/hang');
    const results = await crawler.runMany(
      list.map((url) => (url === hangs ? { url, config: { pageTimeoutMs: 1000 } } : url)),
      { maxRetries: 0 },
      new SemaphoreDispatcher({ permits: 50 }),
    );
    expect(results).toHaveLength(1000);
    const wrong = results.filter(({ url, errorCode }) => errorCode !== (broken[url] ?? null));
    expect(wrong.map(({ url, errorCode, errorMessage }) => [url, errorCode, errorMessage])).toEqual([]);
    expect(results.filter(({ success }) => success)).toHaveLength(700);
  });
});
