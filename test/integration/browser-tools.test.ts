// playwrightUtils and launchPlaywright on their own, on pages of the user's own browser.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Configuration, KeyValueStore, launchPlaywright, playwrightUtils, RequestQueue } from '../../src/index.js';
import { playwrightClickElements } from '../../src/crawlee/entry.js';
import { CLICKS, LIST } from '../support/browser-pages.js';
import {
  browserFolders,
  browserPath,
  browserProcesses,
  echo,
  serveSite,
  shellPath,
  type Site,
} from '../support/browser.js';
import { temporaryFolder } from '../support/crawl.js';
import { until } from './http-fixtures.js';

describe.skipIf(browserPath === undefined)('playwrightUtils', () => {
  let site: Site;
  let folders: string[];
  let browser: Awaited<ReturnType<typeof launchPlaywright>>;
  const config = new Configuration({ persistStorage: false });

  beforeAll(async () => {
    folders = browserFolders();
    site = await serveSite({
      '/list': LIST,
      '/clicks': CLICKS,
      '/picture': '<title>picture</title><img src="/a.png"><div style="position:fixed" role="dialog">cookies</div>',
      '/echo': echo,
      '/hidden': `<title>hidden</title><script>clicked = []; onclick = (event) => clicked.push(event.target.tagName)</script>
        <p style="display: none">p</p><b></b><i>i</i><div style="position: absolute; inset: 0">cover</div>
        <button id="back" onclick="history.back()">back</button><u style="display: block; height: 9000px">long</u>
        <button id="again" onclick="location.reload()">again</button>`,
    });
    const launchOptions = { executablePath: shellPath };
    browser = await launchPlaywright({ launchOptions, userAgent: 'mine/1.0' }, config);
  });
  afterAll(async () => {
    await browser.close();
    await until(() => browserProcesses().length === 0, 'the browser has ended');
    await until(() => browserFolders().length === folders.length, 'its temporary files are gone');
    await site.close();
  });

  it('blocks, goes with method and headers, scrolls, clears, reads and stores', async () => {
    const page = await browser.newPage();
    await playwrightUtils.blockRequests(page);
    const request = { url: `${site.url}/echo`, method: 'POST', payload: 'a=1', headers: { 'X-Own': 'x' } } as const;
    expect((await playwrightUtils.gotoExtended(page, request))?.status()).toBe(200);
    expect([await page.title(), await page.evaluate('navigator.userAgent')]).toEqual(['POST a=1 x', 'mine/1.0']);
    await page.goto(`${site.url}/picture`);
    await playwrightUtils.closeCookieModals(page);
    expect(await page.locator('div').count()).toBe(0);
    expect(site.asked).not.toContain('/a.png');
    await page.goto(`${site.url}/list`);
    await playwrightUtils.infiniteScroll(page, { waitForSecs: 1 });
    expect((await playwrightUtils.parseWithCheerio(page))('li').length).toBe(30);
    await playwrightUtils.saveSnapshot(page, { key: 'LIST', saveScreenshot: false, config });
    expect(await (await KeyValueStore.open(undefined, { config })).getValue('LIST.html')).toContain('item 30');
    const titled = playwrightUtils.compileScript('return page.title()');
    expect(await titled({ page })).toBe('list');
    await page.close();
  });

  it('clicks what is hidden, empty or covered, and puts its style back; the page does not go back in its history', async () => {
    const page = await browser.newPage();
    await page.goto(`${site.url}/list`);
    await page.goto(`${site.url}/hidden`);
    const { clickElements, clickElementsAndInterceptNavigationRequests } = playwrightClickElements;
    await clickElements(page, 'p, b, i');
    expect(await page.evaluate('clicked')).toEqual(['P', 'B', 'I']);
    expect(await page.locator('p').getAttribute('style')).toBe('display: none');
    expect(await page.locator('b').getAttribute('style')).toBe(null);
    const found = { page, waitForPageIdleMillis: 50, maxWaitForPageIdleMillis: 500 };
    expect(await clickElementsAndInterceptNavigationRequests({ ...found, selector: '#back' })).toEqual([]);
    expect(await clickElementsAndInterceptNavigationRequests({ ...found, selector: '#again' })).toEqual([
      { url: `${site.url}/hidden` },
    ]);
    expect(await page.title()).toBe('hidden');
    await page.close();
  });

  it('scrolls as far as it may', async () => {
    const page = await browser.newPage();
    await page.goto(`${site.url}/hidden`);
    await playwrightUtils.infiniteScroll(page, { maxScrollHeight: 2_000 });
    const scrolled = await page.evaluate('Math.round(scrollY)');
    expect(scrolled).toBeGreaterThanOrEqual(2_000);
    expect(scrolled).toBeLessThan(3_500);
    await page.close();
  });

  it('gives pages of one context, unless they are to be apart', async () => {
    const [one, other] = [await browser.newPage(), await browser.newPage()];
    expect(one.context()).toBe(other.context());
    const third = await browser.newPage({ locale: 'de-DE' });
    expect(third.context()).not.toBe(one.context());
    const launchOptions = { executablePath: browserPath };
    const apart = await launchPlaywright({ launchOptions, useIncognitoPages: true }, config);
    expect((await apart.newPage()).context()).not.toBe((await apart.newPage()).context());
    await apart.close();
    for (const page of [one, other, third]) await page.close();
  });

  it('queues where clicks would lead, and leaves the page and its pop-ups alone', async () => {
    const page = await browser.newPage();
    await page.goto(`${site.url}/clicks`);
    const requestQueue = await RequestQueue.open('clicks', { config });
    const { processedRequests } = await playwrightUtils.enqueueLinksByClickingElements({
      page,
      requestQueue,
      selector: 'button',
      waitForPageIdleSecs: 0.5,
    });
    expect(processedRequests.map(({ uniqueKey }) => new URL(uniqueKey).pathname).sort()).toEqual(['/a', '/b', '/c']);
    const popup = page.waitForEvent('popup');
    await page.evaluate("window.open('/list')");
    expect(await (await popup).title()).toBe('list');
    await page.context().close();
  });

  it('injects files for one document, and the jQuery of the project for all unless told otherwise', async () => {
    const folder = await temporaryFolder();
    const jquery = path.join(folder, 'node_modules', 'jquery');
    await mkdir(jquery, { recursive: true });
    // What the package looks like from outside, with little in it.
    await writeFile(
      path.join(jquery, 'package.json'),
      '{"name":"jquery","main":"main.js","exports":{".":"./main.js"}}',
    );
    await writeFile(path.join(jquery, 'main.js'), '/* jQuery */ window.$ = (one) => document.querySelectorAll(one);');
    await writeFile(path.join(folder, 'own.js'), 'window.own = (window.own ?? 0) + 1;');
    const page = await browser.newPage();
    await page.goto(`${site.url}/picture`);
    await playwrightUtils.injectFile(page, path.join(folder, 'own.js'));
    expect(await page.evaluate('own')).toBe(1);
    const before = process.cwd();
    await expect(playwrightUtils.injectJQuery(page)).rejects.toThrow('npm install jquery');
    process.chdir(folder);
    try {
      await playwrightUtils.injectJQuery(page, { surviveNavigations: false });
      expect(await page.evaluate("$('img').length")).toBe(1);
      await page.reload();
      expect(await page.evaluate('typeof $')).toBe('undefined');
      await playwrightUtils.injectJQuery(page);
    } finally {
      process.chdir(before);
    }
    expect(await page.evaluate("$('img').length")).toBe(1);
    await page.goto(`${site.url}/list`);
    expect(await page.evaluate("[typeof own, $('ul').length]")).toEqual(['undefined', 1]);
    await page.context().close();
  });
});
