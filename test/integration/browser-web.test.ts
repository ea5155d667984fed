// WebCrawler in a browser: sessions, scripts, waits, artifacts, profiles and the automatic engine, with a real Chromium.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CacheMode, type RunConfig, WebCrawler, type WebCrawlerOptions } from '../../src/index.js';
import { browserFolders, browserPath, browserProcesses, serveSite, type Site } from '../support/browser.js';
import { APP, ARTICLE, COMMITS, STATE } from '../support/browser-pages.js';
import { temporaryFolder } from '../support/crawl.js';

const LONG = `<title>long</title><div id="cookie-banner" style="position:fixed;inset:0;z-index:99">Accept cookies</div>
  <div style="height:5000px">top</div><p id="end"></p><script>
  console.log('hello', 1); console.error('bad');
  new IntersectionObserver(([seen]) => { if (seen.isIntersecting) end.textContent = 'loaded at the end'; }).observe(end);
  fetch('/data.json'); </script><img src="/picture.png">`;

describe.skipIf(browserPath === undefined)('WebCrawler in a browser', () => {
  let site: Site;
  let folders: string[];
  let crawler: WebCrawler;

  beforeAll(async () => {
    folders = browserFolders();
    site = await serveSite(
      {
        '/commits': COMMITS,
        '/app': APP,
        '/article': ARTICLE,
        '/state': STATE,
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
  afterEach(async () => {
    await crawler?.close();
    expect(browserProcesses()).toEqual([]);
    expect(browserFolders()).toEqual(folders);
  });
  afterAll(() => site.close());

  const open = async (options: WebCrawlerOptions = {}) =>
    (crawler = await WebCrawler.open({ ...options, browser: { executablePath: browserPath, ...options.browser } }));
  const run = (route: string, config?: RunConfig) => crawler.run(site.url + route, config);

  it('walks through pages in one session without reloading, two sessions side by side', async () => {
    await open();
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
    await open();
    const state = async (query: string, sessionId?: string) =>
      /<p id="state">(who=.*?)<\/p>/.exec((await run(`/state${query}`, { sessionId })).html)?.[1];
    expect(await Promise.all([state('?who=ann', 'a'), state('?who=ben', 'b')])).toEqual(['who=ann 1', 'who=ben 1']);
    expect(await Promise.all([state('', 'a'), state('', 'b')])).toEqual(['who=ann 2', 'who=ben 2']);
    expect(await state('')).toBe('who= 1');
    expect(await state('')).toBe('who= 1');
  });

  it('serialises 50 calls of one session in a batch, each with its own data, and others go on beside it', async () => {
    await open();
    const urls = Array.from({ length: 50 }, (_, n) => ({ url: `${site.url}/n/${n}`, config: { sessionId: 'one' } }));
    const results = await crawler.runMany([...urls, `${site.url}/other`], { delayBeforeReturnMs: 0 });
    expect(results.map(({ html }) => /<p id="at">(.*?)<\/p>/.exec(html)?.[1])).toEqual([
      ...urls.map((_, n) => `/n/${n}`),
      '/other',
    ]);
    expect(crawler.browserCounts.pages).toBeLessThanOrEqual(2);
  });

  it('scans, clears, waits and takes pictures, documents, console and network', async () => {
    await open();
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
    await open();
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
      await code('/csp', { pageTimeoutMs, jsCode: 'eval("document.title = 1")', waitFor: 'js:document.title === "1"' }),
    ]).toEqual(['SCRIPT_FAILED', null, null]);
    expect(crawler.browserCounts.lent).toBe(0);
  });

  it('uses HTTP for pages that show themselves and the browser for those that need scripts', async () => {
    await open({ engine: 'auto' });
    const results = await crawler.runMany(
      ['/article', '/app', '/data.json', '/nowhere/404'].map((one) => site.url + one),
    );
    expect(results.map(({ engine }) => engine)).toEqual(['http', 'browser', 'http', 'http']);
    expect(results[1]!.text).toContain('Rendered by script');
    expect((await run('/article', { screenshot: true })).engine).toBe('browser');
  });

  it('caches what a browser rendered apart from what HTTP fetched, and never parts of a conversation', async () => {
    await open({ storageDir: await temporaryFolder() });
    const cacheMode = CacheMode.ENABLED;
    const statuses = [];
    for (const config of [{}, {}, { jsCode: '1' }, { sessionId: 's' }, { screenshot: true }]) {
      statuses.push((await run('/app', { cacheMode, ...config })).cacheStatus);
    }
    expect(statuses).toEqual(['miss', 'hit', 'miss', 'miss', 'miss']);
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
    expect(performance.now() - startMs).toBeLessThan(5_000);
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
