// The browser pool with a real Chromium: what is lent comes back, what breaks is replaced, and nothing is left behind.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBrowserPool, type BrowserPool, type BrowserPoolOptions } from '../../src/fetch/browser/pool.js';
import { browserFolders, browserPath, browserProcesses, launchPlan, serveSite, type Site } from '../support/browser.js';
import { until } from './http-fixtures.js';

describe.skipIf(browserPath === undefined)('the browser pool', () => {
  let pool: BrowserPool;
  let site: Site;
  let folders: string[];
  const open = (rest: Partial<BrowserPoolOptions> = {}) =>
    (pool = createBrowserPool({ launch: launchPlan(), guard: { allowPrivateAddresses: ['127.0.0.0/8'] }, ...rest }));

  beforeEach(async () => {
    folders = browserFolders();
    site = await serveSite({
      '/': '<title>home</title><h1>home</h1>',
      '/hang': '<title>hang</title><script>setTimeout(() => { console.log("hangs"); for (;;); }, 50)</script>',
      '/popups': '<title>pop</title><script>for (let i = 0; i < 9; i++) open("/")</script>',
      '/keeps':
        '<script>localStorage.a = "1"; sessionStorage.b = "1"; document.cookie = "c=1"; window.name = "d"</script>',
      '/reads':
        '<script>document.title = [localStorage.a, sessionStorage.b, document.cookie, window.name].join("|")</script>',
    });
  });
  afterEach(async () => {
    await pool.close();
    await site.close();
    expect(browserProcesses()).toEqual([]);
    expect(browserFolders()).toEqual(folders);
  });

  const titleOf = (path: string, identity?: string) =>
    pool.lend({ identity }, async ({ page }) => {
      await page.goto(site.url + path);
      return page.title();
    });

  it('lends one page after another from one browser; strangers share nothing, identities only with themselves', async () => {
    open();
    const pages = new Set<unknown>();
    await pool.lend({}, async ({ page }) => pages.add(page));
    expect(await titleOf('/keeps')).toBe('');
    expect(await titleOf('/reads')).toBe('|||');
    await pool.lend({}, async ({ page }) => pages.add(page));
    expect(pages.size).toBe(1);
    expect(pool.counts).toMatchObject({ browsers: 1, contexts: 1, pages: 1, lent: 0, launches: 1 });
    await titleOf('/keeps', 'ann');
    expect(await titleOf('/reads', 'ann')).toMatch(/^1\|1\|c=1\|/);
    expect(await titleOf('/reads', 'ben')).toBe('|||');
    expect(pool.counts).toMatchObject({ browsers: 1, contexts: 3, lent: 0, launches: 1 });
    let heard = 0;
    await pool.lend({ identity: 'ann' }, async ({ page }) => void page.on('request', () => heard++));
    await titleOf('/', 'ann');
    expect(heard).toBe(0);
  });

  it('has no pages but those of the crawl', async () => {
    open();
    const kinds = await pool.lend({}, async ({ page }) => {
      const session = await page.context().browser()!.newBrowserCDPSession();
      const { targetInfos } = await session.send('Target.getTargets', { filter: [{}] });
      return targetInfos.map(({ type }) => type).sort();
    });
    expect(kinds).toEqual(['page', 'tab']);
  });

  it('closes pop-ups, hung pages and pages that were changed for good', async () => {
    open();
    await titleOf('/popups');
    const hung = await pool.take({});
    const isHung = hung.page.waitForEvent('console');
    await hung.page.goto(`${site.url}/hang`);
    await isHung;
    const late = hung.page.evaluate('new Promise((done) => setTimeout(done, 60))').catch(() => 'closed');
    await pool.giveBack(hung, true);
    expect(hung.page.isClosed()).toBe(true);
    expect(await late).toBe('closed');
    const changed = await pool.lend({ identity: 'ann' }, async ({ page }) => {
      await page.addInitScript('window.left = 1');
      return page;
    });
    expect(changed.isClosed()).toBe(true);
    await until(() => pool.counts.pages <= 1, 'pages are closed');
    expect(pool.counts.lent).toBe(0);
    expect(await titleOf('/')).toBe('home');
  });

  it('replaces a browser that was killed, and one that served its pages', async () => {
    const pids: number[] = [];
    open({ retireAfterPages: 2, onLaunch: ({ pid }) => pids.push(pid!) });
    const broken = pool.lend({}, async ({ page }) => {
      process.kill(pids[0]!, 'SIGKILL');
      await page.goto(`${site.url}/`);
    });
    await expect(broken).rejects.toThrow();
    for (let visit = 0; visit < 4; visit++) expect(await titleOf('/')).toBe('home');
    expect(pids.length).toBe(3);
  });

  it('starts another browser when one is full, and closes those that idle', async () => {
    open({ maxOpenPagesPerBrowser: 2, closeIdleBrowserMs: 1, closeIdleContextMs: 1 });
    const lent = await Promise.all([1, 2, 3].map(() => pool.take({})));
    expect(pool.counts).toMatchObject({ browsers: 2, lent: 3 });
    await Promise.all(lent.map((one) => pool.giveBack(one, true)));
    await until(() => pool.counts.browsers === 0, 'idle browsers are closed');
  });

  it.skipIf(process.platform !== 'linux')('refuses a name whose second answer is a private address', async () => {
    let nowMs = 0;
    const answers = ['127.0.0.2', '127.0.0.1'];
    open({
      guard: {
        // Stands for the public address: the only one that may be reached here.
        allowPrivateAddresses: ['127.0.0.2/32'],
        resolve: async (name) => {
          // Chromium has errands of its own.
          if (name !== 'rebind.test') throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
          return { addresses: [answers.length > 1 ? answers.shift()! : answers[0]!] };
        },
        now: () => nowMs,
      },
    });
    const reached: string[] = [];
    const server = createServer((request, response) => {
      if (request.url !== '/favicon.ico') reached.push(`${request.socket.localAddress} ${request.url}`);
      response.writeHead(200, { 'content-type': 'text/html', connection: 'close' }).end('<title>mine</title>');
    });
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    const { port } = server.address() as AddressInfo;
    const ask = (path: string) => `fetch('${path}').then(() => 'answered', () => 'refused')`;
    await pool.lend({}, async ({ page }) => {
      await page.goto(`http://rebind.test:${port}/`);
      expect(await page.evaluate(ask('/first'))).toBe('answered');
      // Longer than any answer is kept.
      nowMs += 3_600_000;
      expect(await page.evaluate(ask('/second'))).toBe('refused');
    });
    expect(reached).toEqual(['127.0.0.2 /', '127.0.0.2 /first']);
    expect(pool.relay!.failureOf(`http://rebind.test:${port}/`)?.code).toBe('ADDRESS_REFUSED');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('names what is wrong when no browser can be started', async () => {
    open({ launch: launchPlan({ executablePath: '/nowhere/chromium' }) });
    await expect(pool.take({})).rejects.toMatchObject({ code: 'BROWSER_MISSING' });
  });
});
