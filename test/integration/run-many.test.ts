// Many URLs as one batch over real sockets: results, streaming, backpressure, failures, and what is left open.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SemaphoreDispatcher, Simweb, WebCrawler } from '../../src/index.js';
import { inTemporaryFolder, startNode } from './cli-process.js';
import { fixtures, until } from './http-fixtures.js';

let web: Simweb;
beforeAll(async () => {
  web = await Simweb.start({ hosts: 4, pagesPerHost: 30, pageBytes: 2000 });
});
const servers = fixtures();
afterAll(async () => {
  await servers.closeAll();
  await web.close();
});

const delayed = (ms: number, count: number, host = 0) =>
  Array.from({ length: count }, (_, i) => web.url(host, `/_/delay/${ms}?n=${i}`));

describe('a batch of URLs', () => {
  it('gives one result per entry in the order of the list, duplicates and nonsense included', async () => {
    await using crawler = await WebCrawler.open();
    const list = [
      web.url(0, 3),
      'not a url',
      web.url(1, 2),
      web.url(0, 3),
      'ftp://example.com/x',
      web.url(0, '/_/json'),
    ];
    const results = await crawler.runMany(list);
    expect(results.map(({ url }) => url)).toEqual(list);
    expect(results.map(({ success }) => success)).toEqual([true, false, true, true, false, true]);
    expect(results.map(({ errorCode }) => errorCode)).toEqual([null, 'URL_INVALID', null, null, 'URL_SCHEME', null]);
    expect(results[0]).toMatchObject({ statusCode: 200, loadedUrl: list[0], redirected: false, cacheStatus: 'miss' });
    expect(results[0]!.html).toContain('<title>');
    expect(results[0]!.text.length).toBeGreaterThan(100);
    expect(results[0]!.links.internal.length).toBeGreaterThan(3);
    expect(results[0]!.dispatch).toMatchObject({ attempts: 1, taskId: expect.any(String) });
    expect(results[5]!.text).toContain('{');
  });

  it('runs four URLs of one second each at the same time', async () => {
    await using crawler = await WebCrawler.open({ engine: 'http' });
    await crawler.run(web.url(0));
    const startedAtMs = performance.now();
    const results = await crawler.runMany(delayed(1000, 4));
    expect(performance.now() - startedAtMs).toBeLessThan(1500);
    expect(results.every(({ success }) => success)).toBe(true);
  });

  it('streams each result as it completes: the first before the slow ones are done', async () => {
    const held: (() => void)[] = [];
    const { url } = await servers.serve((request, response) => {
      if (request.url!.startsWith('/slow')) held.push(() => response.end('<p>slow</p>'));
      else response.end('<p>fast</p>');
    });
    await using crawler = await WebCrawler.open();
    const list = [`${url}/slow1`, `${url}/slow2`, `${url}/fast1`, `${url}/fast2`];
    const order: string[] = [];
    for await (const result of crawler.runMany(list)) {
      order.push(result.url);
      if (order.length === 2) await until(() => held.length === 2, 'both slow ones were asked for');
      if (order.length >= 2) held.pop()?.();
    }
    expect(order.slice(0, 2).sort()).toEqual(list.slice(2));
    expect(order.slice(2).sort()).toEqual(list.slice(0, 2));
  });

  it('with stream: true gives the stream itself when awaited', async () => {
    await using crawler = await WebCrawler.open();
    const urls: string[] = [];
    for await (const { url } of await crawler.runMany([web.url(0), web.url(1)], { stream: true })) urls.push(url);
    expect(urls.sort()).toEqual([web.url(0), web.url(1)].sort());
  });

  it('starts nothing until it is awaited or pulled', async () => {
    await using crawler = await WebCrawler.open();
    let pulled = 0;
    function* list() {
      pulled++;
      yield web.url(0);
    }
    const many = crawler.runMany(list());
    await new Promise((resume) => setImmediate(resume));
    expect(pulled).toBe(0);
    expect(await many).toHaveLength(1);
  });

  it('pulls a generator only as far as the reader reads', async () => {
    await using crawler = await WebCrawler.open();
    let pulled = 0;
    let isReturned = false;
    async function* list() {
      try {
        for (;;) yield `${web.url(pulled % 4, pulled % 30)}?n=${pulled++}`;
      } finally {
        isReturned = true;
      }
    }
    const stream = crawler.runMany(list(), {}, new SemaphoreDispatcher({ permits: 4 }))[Symbol.asyncIterator]();
    for (let read = 0; read < 10; read++) expect((await stream.next()).done).toBe(false);
    // Nobody reads: what is under way ends, and then everything rests.
    await new Promise((resume) => setTimeout(resume, 1000));
    expect(web.openRequests).toBe(0);
    expect(pulled).toBeLessThanOrEqual(10 + 2 * 4 + 2 * 4);
    await stream.return!();
    await until(() => isReturned, 'the generator was told');
  });

  it('stops all network activity when the loop is left, and leaves no connection open after close', async () => {
    let served = 0;
    const { url, open } = await servers.serve((request, response) => {
      served++;
      if (Number(new URL(request.url!, 'http://x').searchParams.get('n')) < 10) response.end('<p>fast</p>');
    });
    const crawler = await WebCrawler.open();
    function* list() {
      for (let n = 0; ; n++) yield `${url}/?n=${n}`;
    }
    let read = 0;
    for await (const result of crawler.runMany(list(), {}, new SemaphoreDispatcher({ permits: 20 }))) {
      expect(result.errorMessage).toBe(null);
      if (++read < 10) continue;
      await until(() => served >= 30, 'many requests are open');
      break;
    }
    const servedWhenLeft = served;
    const leftAtMs = performance.now();
    await crawler.close();
    await until(() => open.size === 0, 'no connection is open');
    expect(performance.now() - leftAtMs).toBeLessThan(1000);
    expect(served).toBe(servedWhenLeft);
  });

  it('leaves no handle open in the process: it ends by itself', () =>
    inTemporaryFolder(async (cwd) => {
      let served = 0;
      const { url, open } = await servers.serve((request, response) => {
        served++;
        if (request.url === '/robots.txt') return void response.writeHead(404).end();
        if (Number(new URL(request.url!, 'http://x').searchParams.get('n')) < 10) response.end('<p>fast</p>');
      });
      const worker = fileURLToPath(new URL('./many-worker.mjs', import.meta.url));
      const { code, stdout, stderr } = await startNode([worker, url, path.join(cwd, 'storage')], { cwd }).ended;
      expect([code, stderr]).toEqual([0, '']);
      const { read, closedMs, before, after } = JSON.parse(stdout) as {
        read: number;
        closedMs: number;
        before: string[];
        after: string[];
      };
      expect(read).toBe(10);
      expect(closedMs).toBeLessThan(1000);
      expect(after).toEqual(before);
      await until(() => open.size === 0, 'no connection is open');
      expect(served).toBeGreaterThan(20);
    }));

  it('goes on with other domains while a slow one holds up its own URLs', async () => {
    const held: (() => void)[] = [];
    let isOver = false;
    const { url } = await servers.serve((request, response) => {
      const answer = () => void response.end('<p>page</p>');
      if (isOver || !request.url!.startsWith('/slow')) answer();
      else held.push(answer);
    });
    const other = url.replace('127.0.0.1', 'localhost');
    const list = Array.from({ length: 80 }, (_, n) => (n % 2 === 0 ? `${url}/slow${n}` : `${other}/${n}`));
    await using crawler = await WebCrawler.open();
    const ended: string[] = [];
    for await (const result of crawler.runMany(list, {}, new SemaphoreDispatcher({ permits: 10 }))) {
      expect(result.success).toBe(true);
      ended.push(result.url);
      if (ended.length < 40) continue;
      // All of the others are through while the slow one has answered nothing.
      if (ended.length === 40) expect(ended.every((one) => one.startsWith(other))).toBe(true);
      isOver = true;
      for (const answer of held.splice(0)) answer();
    }
    expect(ended).toHaveLength(80);
  });

  it('shares the permits of a dispatcher fairly between batches', async () => {
    const order: string[] = [];
    const { url } = await servers.serve((request, response) => {
      order.push(request.url!.slice(1, 2));
      setTimeout(() => response.end('<p>page</p>'), 5);
    });
    await using crawler = await WebCrawler.open();
    const dispatcher = new SemaphoreDispatcher({ permits: 4 });
    const list = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${url}/${name}${n}`);
    const long = crawler.runMany(list('a', 200), {}, dispatcher).then((results) => results.length);
    await until(() => order.length >= 20, 'the first batch has all permits');
    const startedAt = order.length;
    await crawler.runMany(list('b', 20), {}, dispatcher);
    // Half each: the short one is through long before the other.
    expect(order.slice(startedAt).lastIndexOf('b')).toBeLessThan(80);
    expect(await long).toBe(200);
  });

  it('reports the failure of the list itself after the results of what was pulled', async () => {
    await using crawler = await WebCrawler.open();
    function* list() {
      yield web.url(0);
      yield web.url(1);
      throw new Error('the list broke');
    }
    const urls: string[] = [];
    const reading = (async () => {
      for await (const { url } of crawler.runMany(list())) urls.push(url);
    })();
    await expect(reading).rejects.toThrow('the list broke');
    expect(urls).toHaveLength(2);
  });

  it('gives each URL its own options', async () => {
    await using crawler = await WebCrawler.open();
    const echo = web.url(0, '/_/echo');
    const results = await crawler.runMany(
      [
        echo,
        { url: echo, config: { body: 'a=1', headers: { 'X-Own': 'yes' }, userAgent: 'own/1' } },
        { url: echo, config: { maxRetrys: 2 } as never },
      ],
      { headers: { 'x-all': 'all' } },
    );
    const [plain, own] = results.map(({ html }) => (html ? (JSON.parse(html) as Record<string, never>) : undefined));
    expect(plain).toMatchObject({ method: 'GET', headers: { 'x-all': 'all' } });
    expect(own).toMatchObject({ method: 'POST', body: 'a=1', headers: { 'x-own': 'yes', 'user-agent': 'own/1' } });
    expect(results[2]).toMatchObject({ success: false, errorCode: 'OPTION_INVALID' });
    expect(results[2]!.errorMessage).toContain('did you mean "maxRetries"');
  });

  it('retries a transient failure as often as asked and not more', async () => {
    await using crawler = await WebCrawler.open();
    const flaky = (times: number) => web.url(0, `/_/flaky/${times}/many-${times}`);
    const [once, twice, none] = await crawler.runMany([
      flaky(1),
      flaky(2),
      { url: web.url(0, '/_/flaky/1/many-none'), config: { maxRetries: 0 } },
    ]);
    expect(once).toMatchObject({ success: true, dispatch: { attempts: 2 } });
    expect(twice).toMatchObject({
      success: false,
      errorCode: 'HTTP_STATUS',
      statusCode: 500,
      dispatch: { attempts: 2 },
    });
    expect(twice!.html).not.toBe('');
    expect(none).toMatchObject({ success: false, dispatch: { attempts: 1 } });
  });

  it('does not retry a visit that used up its time', async () => {
    await using crawler = await WebCrawler.open();
    const result = await crawler.run(web.url(0, '/_/hang'), { pageTimeoutMs: 300, maxRetries: 3 });
    expect(result).toMatchObject({ success: false, errorCode: 'FETCH_TIMEOUT', dispatch: { attempts: 1 } });
  });

  it('keeps the cookies of one URL through its redirects and from all other URLs', async () => {
    await using crawler = await WebCrawler.open();
    const set = web.url(0, '/_/cookies/set?a=1');
    const results = await crawler.runMany([set, web.url(0, '/_/cookies'), web.url(0, '/_/redirect-self')]);
    expect(JSON.parse(results[0]!.html)).toMatchObject({ a: '1' });
    expect(results[0]!.redirected).toBe(true);
    expect(JSON.parse(results[1]!.html)).toEqual({});
    expect(results[2]!.success).toBe(true);
  });

  it('never has more connections than maxConnections, over all batches of the crawler', async () => {
    await using crawler = await WebCrawler.open({ maxConnections: 3 });
    web.reset();
    await Promise.all([crawler.runMany(delayed(60, 8)), crawler.runMany(delayed(60, 8, 1))]);
    expect(web.peakOpen(0) + web.peakOpen(1)).toBeGreaterThanOrEqual(3);
    expect(web.peakOpen()).toBeLessThanOrEqual(3);
  });

  it('calls the hooks around each attempt', async () => {
    const calls: string[] = [];
    await using crawler = await WebCrawler.open({
      hooks: {
        beforeRequest(request) {
          calls.push('before');
          request.headers['x-hook'] = 'set';
        },
        afterResponse: ({ statusCode }) => void calls.push(`after ${statusCode}`),
        onError: (_error, { attempt, willRetry }) => void calls.push(`error ${attempt} ${willRetry}`),
      },
    });
    const result = await crawler.run(web.url(0, '/_/echo'));
    expect(JSON.parse(result.html)).toMatchObject({ headers: { 'x-hook': 'set' } });
    await crawler.run(web.url(0, '/_/status/500'), { maxRetries: 1 });
    expect(calls).toEqual([
      'before',
      'after 200',
      'before',
      'after 500',
      'error 1 true',
      'before',
      'after 500',
      'error 2 false',
    ]);
  });

  it('rejects what is awaited when the crawler is closed meanwhile', async () => {
    const crawler = await WebCrawler.open();
    const many = crawler.runMany(delayed(20_000, 3)).then(
      () => 'resolved',
      (error: { code: string }) => error.code,
    );
    await until(() => web.openRequests === 3, 'the requests are open');
    await crawler.close();
    expect(await many).toBe('ABORTED');
    expect(() => crawler.runMany([])).toThrow('closed');
  });

  it('refuses options of browsers by name', async () => {
    await expect(WebCrawler.open({ engine: 'http', browser: {} })).rejects.toThrow('"browser" needs a browser');
    await expect(WebCrawler.open({ sessionTtlSecs: 1 })).rejects.toThrow('"sessionTtlSecs" needs a browser');
    await using crawler = await WebCrawler.open();
    expect(() => crawler.runMany([], { screenshot: true } as never)).toThrow('"screenshot" needs a browser');
    expect(() => crawler.runMany('https://example.com/' as never)).toThrow('needs a list of URLs');
  });
});
