// WebCrawler in a browser: sessions, scripts, waits, artifacts, profiles and the automatic engine, with a real Chromium.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CacheMode, RateLimiter, SemaphoreDispatcher, WebCrawler } from '../../src/index.js';
import type { RunConfig, WebCrawlerOptions } from '../../src/index.js';
import {
  browserFolders,
  browserPath,
  browserProcesses,
  serveSite,
  shellPath,
  shortestRestMs,
} from '../support/browser.js';
import type { Site } from '../support/browser.js';
import { APP, ARTICLE, COMMITS, STATE } from '../support/browser-pages.js';
import { temporaryFolder } from '../support/crawl.js';
import { until } from './http-fixtures.js';

const LONG = `<title>long</title><div id="cookie-banner" style="position:fixed;inset:0;z-index:99">Accept cookies</div>
  <div style="height:5000px">top</div><p id="end"></p><script>
  console.log('hello', 1); console.error('bad');
  new IntersectionObserver(([seen]) => { if (seen.isIntersecting) end.textContent = 'loaded at the end'; }).observe(end);
  fetch('/data.json'); </script><img src="/picture.png">`;

describe.skipIf(browserPath === undefined)('WebCrawler in a browser', () => {
  let site: Site;
  let folders: string[];
  let crawler: WebCrawler;

  const reached: string[] = [];
  const insider = createServer((socket) => {
    reached.push('reached');
    socket.destroy();
  });
  let inside: string;

  beforeAll(async () => {
    folders = browserFolders();
    await new Promise<void>((resolve) => insider.listen(0, '127.0.0.1', resolve));
    inside = `127.0.0.1:${(insider.address() as AddressInfo).port}`;
    site = await serveSite(
      {
        '/commits': COMMITS,
        '/app': APP,
        '/article': ARTICLE,
        '/state': STATE,
        '/person': `<title>person</title><p id="person"></p><div style="height:5000px"></div><script>
          const seen = new Set();
          for (const name of ['mousemove', 'wheel'])
            addEventListener(name, () => { seen.add(name); person.textContent = [...seen].sort().join(' '); });
        </script>`,
        '/styled': '<title>styled</title><link rel="stylesheet" href="/a.css"><img src="/text-mode.png">',
        '/guard': `<title>guard</title><iframe src="/to-inside?frame"></iframe><img src="/to-inside?image"><script>
          const to = new URLSearchParams(location.search).get('to');
          const socket = new Promise((done, fail) => { const one = new WebSocket('ws://' + to); one.onopen = done; one.onerror = one.onclose = fail; });
          Promise.allSettled([fetch('http://' + to, { mode: 'no-cors' }), fetch('/to-inside?fetch', { mode: 'no-cors' }), socket])
            .then((all) => document.title = all.map(({ status }) => status).join());
        </script>`,
        '/to-inside': (_, response) => response.writeHead(302, { location: `http://${inside}/` }).end(),
        '/long': LONG,
        '/csp': (_, response) =>
          response
            .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': "default-src 'self'" })
            .end('<title>csp</title><p>strict</p>'),
        '/data.json': (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'),
        '/endless': (_, response) => {
          response.writeHead(200, { 'content-type': 'text/html' });
          response.write('<title>endless</title><p>never ends');
        },
        '/login': (_, response) =>
          response
            .writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'login=ann; Max-Age=86400' })
            .end('<title>welcome</title>'),
        '/me': (request, response) =>
          response
            .writeHead(200, { 'content-type': 'text/html' })
            .end(`<title>${request.headers.cookie ?? 'nobody'}</title><p>${request.headers['x-own'] ?? ''}</p>`),
      },
      (request, response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end(`<p id="at">${request.url}</p>`),
    );
  });
  afterAll(async () => {
    insider.close();
    await site.close();
  });

  const closeAll = async () => {
    await crawler?.close();
    expect(browserProcesses()).toEqual([]);
    expect(browserFolders()).toEqual(folders);
  };

  const open = async (options: WebCrawlerOptions = {}) =>
    (crawler = await WebCrawler.open({ ...options, browser: { executablePath: browserPath, ...options.browser } }));
  const run = (route: string, config?: RunConfig) => crawler.run(site.url + route, config);

  describe('with one browser for all', () => {
    beforeAll(() => open({ storageDir: path.join(tmpdir(), 'storage'), browser: { executablePath: shellPath } }));
    afterEach(async () => {
      for (const sessionId of crawler.listSessions()) await crawler.killSession(sessionId);
      expect(crawler.browserCounts.lent).toBe(0);
    });
    afterAll(closeAll);

    it('walks through pages in one session without reloading, two sessions side by side', async () => {
      const walk = async (sessionId: string, steps: number) => {
        const seen: string[] = [];
        seen.push((await run('/commits', { sessionId, waitFor: 'css:li.commit' })).text);
        for (let step = 2; step <= steps; step++) {
          const { text, success, loadedUrl } = await run('/commits', {
            sessionId,
            jsOnly: true,
            jsCode: "document.querySelector('#next').click()",
            waitFor: `js:() => document.querySelector('#list').dataset.page === '${step}' && document.querySelector('li')`,
          });
          expect([success, loadedUrl]).toEqual([true, `${site.url}/commits`]);
          seen.push(text);
        }
        return seen.map((text) => /commit (\d+)\.1/.exec(text)?.[1]);
      };
      const loads = () => site.asked.filter((asked) => asked === '/commits').length;
      const before = loads();
      expect(await Promise.all([walk('a', 4), walk('b', 2)])).toEqual([
        ['1', '2', '3', '4'],
        ['1', '2'],
      ]);
      expect(loads() - before).toBe(2);
      expect(crawler.listSessions().sort()).toEqual(['a', 'b']);
      expect(crawler.browserCounts).toMatchObject({ browsers: 1, contexts: 2, pages: 2 });
      expect(await crawler.killSession('a')).toBe(true);
      expect(await run('/', { sessionId: 'a', jsOnly: true })).toMatchObject({ errorCode: 'SESSION_UNKNOWN' });
      expect(crawler.browserCounts).toMatchObject({ contexts: 1, pages: 1 });
    });

    it('keeps the state of a session to itself, and strangers share nothing', async () => {
      const state = async (query: string, sessionId?: string) =>
        /<p id="state">(who=.*?)<\/p>/.exec((await run(`/state${query}`, { sessionId })).html)?.[1];
      expect(await Promise.all([state('?who=ann', 'a'), state('?who=ben', 'b')])).toEqual(['who=ann 1', 'who=ben 1']);
      expect(await Promise.all([state('', 'a'), state('', 'b')])).toEqual(['who=ann 2', 'who=ben 2']);
      expect(await state('')).toBe('who= 1');
      expect(await state('')).toBe('who= 1');
    });

    it('serialises 50 calls of one session in a batch, each with its own data, and others go on beside it', async () => {
      const urls = Array.from({ length: 50 }, (_, n) => ({ url: `${site.url}/n/${n}`, config: { sessionId: 'one' } }));
      const results = await crawler.runMany([...urls, `${site.url}/other`], { delayBeforeReturnMs: 0 });
      expect(results.map(({ html }) => /<p id="at">(.*?)<\/p>/.exec(html)?.[1])).toEqual([
        ...urls.map((_, n) => `/n/${n}`),
        '/other',
      ]);
      expect(crawler.browserCounts.pages).toBeLessThanOrEqual(2);
    });

    it('scans, clears, waits and takes pictures, documents, console and network', async () => {
      const result = await run('/long', {
        scanFullPage: true,
        scrollDelayMs: 20,
        removeOverlays: true,
        captureConsole: true,
        captureNetwork: true,
        screenshot: true,
        pdf: true,
        mhtml: true,
        blockResources: ['image'],
      });
      expect(result.text).toContain('loaded at the end');
      expect(result.text).not.toContain('Accept cookies');
      expect(result.screenshot!.subarray(1, 4).toString()).toBe('PNG');
      expect(result.pdf!.subarray(0, 4).toString()).toBe('%PDF');
      expect(result.mhtml).toMatch(/^From: /);
      expect(result.consoleMessages!.map(({ type, text }) => [type, text])).toEqual(
        expect.arrayContaining([
          ['log', 'hello 1'],
          ['error', 'bad'],
        ]),
      );
      expect(result.networkRequests).toContainEqual(
        expect.objectContaining({ url: `${site.url}/data.json`, status: 200, failure: null }),
      );
      expect(result.networkRequests).toContainEqual(
        expect.objectContaining({ url: `${site.url}/picture.png`, failure: expect.stringContaining('BLOCKED') }),
      );
      expect(site.asked).not.toContain('/picture.png');
      expect(result).toMatchObject({ engine: 'browser', success: true, statusCode: 200, sessionId: null });
    });

    it('covers every phase with its time limit, and names what went wrong', async () => {
      const code = async (route: string, config: RunConfig) =>
        (await run(route, { pageTimeoutMs: 3000, maxRetries: 0, ...config })).errorCode;
      expect(
        await Promise.all([
          code('/endless', {}),
          code('/article', { waitFor: 'css:#never' }),
          code('/article', { waitFor: 'js:false' }),
          code('/article', { jsCode: 'for (;;);' }),
          code('/article', { jsCode: 'await new Promise(() => {})' }),
        ]),
      ).toEqual(['FETCH_TIMEOUT', 'WAIT_TIMEOUT', 'WAIT_TIMEOUT', 'FETCH_TIMEOUT', 'FETCH_TIMEOUT']);
      const pageTimeoutMs = 20_000;
      expect([
        await code('/article', { pageTimeoutMs, jsCode: 'throw new Error("no")' }),
        await code('/article', { pageTimeoutMs, jsCode: "location.href = '/app'", waitFor: 'css:h1' }),
        await code('/csp', {
          pageTimeoutMs,
          jsCode: 'eval("document.title = 1")',
          waitFor: 'js:document.title === "1"',
        }),
      ]).toEqual(['SCRIPT_FAILED', null, null]);
      expect(crawler.browserCounts.lent).toBe(0);
    });

    it('caches what a browser rendered apart from what HTTP fetched, and never parts of a conversation', async () => {
      const cacheMode = CacheMode.ENABLED;
      const statuses = [];
      for (const config of [{}, {}, { jsCode: '1' }, { sessionId: 's' }, { screenshot: true }]) {
        statuses.push((await run('/app', { cacheMode, ...config })).cacheStatus);
      }
      expect(statuses).toEqual(['miss', 'hit', 'miss', 'miss', 'miss']);
    });
  });

  describe('with a browser of its own', () => {
    afterEach(closeAll);

    it('moves the mouse and scrolls like a person with simulateUser', async () => {
      // Not the headless shell: in it, a page used again sees the mouse move.
      await open();
      const { html } = await run('/person', { simulateUser: true, waitFor: 'js:seen.size === 2' });
      expect(html).toContain('<p id="person">mousemove wheel</p>');
      expect((await run('/person')).html).toContain('<p id="person"></p>');
    });

    it('uses HTTP for pages that show themselves and the browser for those that need scripts', async () => {
      await open({ engine: 'auto', sessionTtlSecs: 1, browser: { textMode: true } });
      const results = await crawler.runMany(
        ['/article', '/app', '/data.json', '/nowhere/404'].map((one) => site.url + one),
      );
      expect(results.map(({ engine }) => engine)).toEqual(['http', 'browser', 'http', 'http']);
      expect(results[1]!.text).toContain('Rendered by script');
      expect((await run('/article', { screenshot: true })).engine).toBe('browser');
      // textMode: styles are loaded, pictures are not.
      await run('/styled', { sessionId: 'short', waitUntil: 'load' });
      expect(site.asked).toContain('/a.css');
      expect(site.asked).not.toContain('/text-mode.png');
      await until(() => crawler.listSessions().length === 0, 'the idle session is over');
      await until(() => crawler.browserCounts.lent === 0, 'its page is given back');
      expect(await run('/', { sessionId: 'short', jsOnly: true })).toMatchObject({ errorCode: 'SESSION_UNKNOWN' });
      // Between the two requests of a page that needs scripts its domain rests as between any two.
      const paced = await serveSite({ '/app': APP, '/article': ARTICLE });
      const dispatcher = new SemaphoreDispatcher({ rateLimiter: new RateLimiter({ baseDelayMs: 300 }) });
      const twice = await crawler.runMany([`${paced.url}/app`, `${paced.url}/article`], {}, dispatcher);
      await paced.close();
      expect(twice.map(({ engine, success }) => [engine, success])).toEqual([
        ['browser', true],
        ['http', true],
      ]);
      expect(paced.asked).toEqual(['/app', '/app', '/article']);
      expect(shortestRestMs(paced)).toBeGreaterThanOrEqual(299);
    });

    it('sends headers of the config to the page only, and begins with a stored state', async () => {
      const cookie = { name: 'login', value: 'ben', domain: '127.0.0.1', path: '/', expires: -1 };
      await open({
        browser: {
          storageState: { cookies: [{ ...cookie, httpOnly: false, secure: false, sameSite: 'Lax' }], origins: [] },
        },
      });
      for (let visit = 0; visit < 2; visit++) {
        expect((await run('/me', { headers: { 'X-Own': 'mine' } })).html).toContain(
          '<title>login=ben</title></head><body><p>mine',
        );
      }
    });

    it('keeps a log-in in a profile for the next process, and says when the profile is in use', async () => {
      const userDataDir = path.join(await temporaryFolder(), 'profile');
      await open({ browser: { userDataDir } });
      expect((await run('/login')).metadata?.title).toBe('welcome');
      const startMs = performance.now();
      await expect(WebCrawler.open({ browser: { userDataDir, executablePath: browserPath } })).rejects.toMatchObject({
        code: 'PROFILE_IN_USE',
      });
      expect(performance.now() - startMs).toBeLessThan(20_000);
      await crawler.close();
      await open({ browser: { userDataDir } });
      expect((await run('/me')).metadata?.title).toBe('login=ann');
    });

    it('drives a browser that runs already, and leaves it running', async () => {
      const profile = await temporaryFolder();
      const flags = [
        '--headless=new',
        '--no-sandbox',
        '--remote-debugging-port=0',
        `--user-data-dir=${profile}`,
        'about:blank',
      ];
      const running = spawn(browserPath!, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
      try {
        const cdpUrl = await new Promise<string>((resolve) => {
          running.stderr.on('data', (chunk: Buffer) => {
            const found = /ws:\/\/[^\s]+/.exec(chunk.toString());
            if (found) resolve(found[0]);
          });
        });
        await open({ browser: { executablePath: undefined, cdpUrl } });
        expect((await run('/app', { waitFor: 'css:h1' })).text).toContain('Rendered by script');
        await crawler.close();
        // Not named as loopback it counts as another machine's, where no relay of ours can be reached.
        await open({ browser: { executablePath: undefined, cdpUrl: cdpUrl.replace('127.0.0.1', '0.0.0.0') } });
        const guarded = await run(`/guard?to=${inside}`, { waitFor: 'js:document.title.includes(",")' });
        expect(guarded.metadata?.title).toBe('rejected,rejected,rejected');
        expect(reached).toEqual([]);
        await crawler.close();
        expect(running.exitCode).toBeNull();
      } finally {
        running.kill('SIGKILL');
        await new Promise((resolve) => running.once('exit', resolve));
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    });

    it('refuses wrong options by name', async () => {
      await expect(open({ browser: { headles: true } as never })).rejects.toThrow('did you mean "headless"');
      await expect(open({ browser: { useManagedBrowser: true } })).rejects.toThrow('needs "userDataDir"');
      await expect(open({ browser: { executablePath: '/none' } })).rejects.toMatchObject({ code: 'BROWSER_MISSING' });
      await open();
      expect(() => crawler.runMany([], { jsOnly: true })).toThrow('"jsOnly" needs a "sessionId"');
      expect(() => crawler.runMany([], { waitFor: '#a' })).toThrow('css:SELECTOR');
    });
  });
});
