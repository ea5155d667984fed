// The browser pool with a real Chromium: what is lent comes back, what breaks is replaced, and nothing is left behind.
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

  it('lends one page after another from one browser, and strangers share nothing', async () => {
    open();
    const pages = new Set<unknown>();
    await pool.lend({}, async ({ page }) => pages.add(page));
    expect(await titleOf('/keeps')).toBe('');
    expect(await titleOf('/reads')).toBe('|||');
    await pool.lend({}, async ({ page }) => pages.add(page));
    expect(pages.size).toBe(1);
    expect(pool.counts).toMatchObject({ browsers: 1, contexts: 1, pages: 1, lent: 0, launches: 1 });
  });

  it('keeps what an identity stored for that identity alone', async () => {
    open();
    await titleOf('/keeps', 'ann');
    expect(await titleOf('/reads', 'ann')).toMatch(/^1\|1\|c=1\|/);
    expect(await titleOf('/reads', 'ben')).toBe('|||');
    expect(pool.counts).toMatchObject({ browsers: 1, contexts: 2, lent: 0 });
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

  it('removes the listeners of a borrower', async () => {
    open();
    let heard = 0;
    await pool.lend({ identity: 'ann' }, async ({ page }) => void page.on('request', () => heard++));
    await titleOf('/', 'ann');
    expect(heard).toBe(0);
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

  it('names what is wrong when no browser can be started', async () => {
    open({ launch: launchPlan({ executablePath: '/nowhere/chromium' }) });
    await expect(pool.take({})).rejects.toMatchObject({ code: 'BROWSER_MISSING' });
  });
});
