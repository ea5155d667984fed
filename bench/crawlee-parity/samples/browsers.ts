// After the guides on browsers: what a page is told to do, and what comes back.
import {
  AdaptivePlaywrightCrawler,
  createPlaywrightRouter,
  KeyValueStore,
  PlaywrightCrawler,
  type PlaywrightCrawlerOptions,
  type PlaywrightCrawlingContext,
  type PlaywrightHook,
  type PlaywrightRequestHandler,
  playwrightUtils,
} from 'crawlee';
import { writeFileSync } from 'node:fs';
import { pathOf, type Samples, type Site } from '../site.js';

/** What the machine needs: Chromium of the system, in a container. */
const machine: PlaywrightCrawlerOptions = {
  headless: true,
  launchContext: {
    launchOptions: {
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-background-networking'],
    },
  },
  browserPoolOptions: { useFingerprints: false },
};

/** One page in a browser, and what a function finds there. */
const inBrowser =
  (path: string, look: (context: PlaywrightCrawlingContext, site: Site) => Promise<unknown>) =>
  async (site: Site): Promise<unknown> => {
    let got: unknown;
    const crawler = new PlaywrightCrawler({
      ...machine,
      maxRequestRetries: 0,
      async requestHandler(context) {
        got = await look(context, site);
      },
      failedRequestHandler: (_, error) => {
        got = ['failed', error.message];
      },
    });
    await crawler.run([site.at(path)]);
    return got;
  };

export const scenarios: Samples = {
  'sample: a crawl in a browser': async ({ at }) => {
    const crawler = new PlaywrightCrawler({
      ...machine,
      maxRequestsPerCrawl: 10,
      async requestHandler({ request, page, enqueueLinks, pushData }) {
        await pushData({ path: pathOf(request.loadedUrl), title: await page.title() });
        await enqueueLinks({ globs: ['**/a', '**/b'] });
      },
    });
    await crawler.run([at('/')]);
    const { items } = await crawler.getData();
    return items.map((item) => JSON.stringify(item)).sort();
  },
  'sample: routes in a browser': async ({ at }) => {
    const found: string[] = [];
    const start: PlaywrightRequestHandler = async ({ enqueueLinks, page, response }) => {
      found.push(`start ${await page.locator('h1').textContent()} ${response?.status()}`);
      await enqueueLinks({ selector: 'a[href="/b"]', label: 'PAGE', userData: { depth: 1 } });
    };
    const router = createPlaywrightRouter();
    router.addDefaultHandler(start);
    router.addHandler<{ depth: number }>('PAGE', async ({ page, request, log }) => {
      log.debug('page');
      found.push(`page ${await page.title()} ${request.userData.depth + 1}`);
    });
    await new PlaywrightCrawler({ ...machine, requestHandler: router }).run([at('/')]);
    return found;
  },
  'sample: hooks around the navigation': async ({ at }) => {
    const seen: unknown[] = [];
    const noImages: PlaywrightHook = async ({ page, blockRequests }, gotoOptions) => {
      await blockRequests({ extraUrlPatterns: ['.none'] });
      await page.setExtraHTTPHeaders({ 'x-hook': 'yes' });
      if (gotoOptions) gotoOptions.waitUntil = 'domcontentloaded';
    };
    const crawler = new PlaywrightCrawler({
      ...machine,
      preNavigationHooks: [noImages],
      postNavigationHooks: [
        async ({ response, request }) => {
          seen.push(`after ${pathOf(request.url)} ${response?.status()}`);
        },
      ],
      navigationTimeoutSecs: 20,
      async requestHandler({ page }) {
        const told = JSON.parse((await page.textContent('body')) ?? '{}') as { custom: Record<string, string> };
        seen.push(told.custom['x-hook']);
      },
    });
    await crawler.run([at('/echo')]);
    return seen;
  },
  'sample: errors in a browser': async ({ at }) => {
    const told: unknown[] = [];
    const crawler = new PlaywrightCrawler({
      ...machine,
      maxRequestRetries: 1,
      async requestHandler({ page, request }) {
        if (request.retryCount === 0) throw new Error('at first');
        await page.waitForSelector('.none', { timeout: 200 });
      },
      async errorHandler({ page, request }, error) {
        told.push(['error', error.message, request.retryCount, await page.title()]);
      },
      async failedRequestHandler({ page }, error) {
        told.push(['failed', error.name, page.isClosed(), await page.title()]);
      },
    });
    const { requestsFailed } = await crawler.run([at('/a')]);
    return [told, requestsFailed];
  },
  'sample: a screenshot goes to a store': inBrowser('/a', async ({ page }) => {
    const store = await KeyValueStore.open();
    await store.setValue('page', await page.screenshot(), { contentType: 'image/png' });
    const stored = await store.getValue<Buffer>('page');
    return [Buffer.isBuffer(stored), stored?.subarray(1, 4).toString()];
  }),
  'sample: a snapshot of page and HTML': inBrowser('/a', async ({ saveSnapshot, page }) => {
    await saveSnapshot({ key: 'snap', saveHtml: true });
    await playwrightUtils.saveSnapshot(page, { key: 'other', saveScreenshot: false });
    const store = await KeyValueStore.open();
    const keys: string[] = [];
    await store.forEachKey(async (key) => void keys.push(key));
    return keys.filter((key) => /snap|other/.test(key)).sort();
  }),
  'sample: a form in a browser': inBrowser('/form', async ({ page }) => {
    await page.fill('input[name=q]', 'browser');
    await Promise.all([page.waitForURL('**/echo'), page.click('#go')]);
    return (JSON.parse((await page.textContent('body')) ?? '{}') as { body: string }).body;
  }),
  'sample: what a script adds, by selectors': inBrowser(
    '/dynamic',
    async ({ page, parseWithCheerio, waitForSelector }) => {
      await waitForSelector('.ready', 5_000);
      const $ = await parseWithCheerio();
      const links = await page.locator('a').count();
      const texts = await page.$$eval('a', (all) => all.map((one) => one.textContent));
      return [$('.ready').text(), links, texts];
    },
  ),
  'sample: links by clicks': async ({ at }) => {
    const seen: string[] = [];
    const crawler = new PlaywrightCrawler({
      ...machine,
      async requestHandler({ request, enqueueLinksByClickingElements }) {
        seen.push(`${request.label ?? 'start'} ${pathOf(request.url)}`);
        if (request.label) return;
        await enqueueLinksByClickingElements({ selector: 'button:first-of-type', label: 'CLICKED' });
      },
    });
    await crawler.run([at('/clicks')]);
    return seen;
  },
  'sample: cookies of a browser and its session': inBrowser('/set-cookie', async ({ page, session, request }) => {
    const cookies = await page.context().cookies();
    session?.setCookies([{ name: 'three', value: '3' }], request.url);
    return [cookies.map(({ name }) => name).sort(), session?.getCookies(request.url).length];
  }),
  'sample: scroll to the end': inBrowser('/tall', async ({ infiniteScroll, page }) => {
    await infiniteScroll({ timeoutSecs: 3, maxScrollHeight: 3_000 });
    return (await page.evaluate<number>('window.scrolls')) > 0;
  }),
  'sample: playwrightUtils on a page': inBrowser('/a', async ({ page, request }, { at }) => {
    const { compileScript, gotoExtended, injectFile } = playwrightUtils;
    const title: unknown = await compileScript('return page.title();')({ page, request });
    writeFileSync('inject.js', 'window.injected = 42;');
    await injectFile(page, 'inject.js', { surviveNavigations: true });
    const before = await page.evaluate<number>('window.injected');
    request.url = at('/echo');
    request.method = 'POST';
    request.payload = 'hello';
    const response = await gotoExtended(page, request);
    return [
      title,
      before,
      response?.status(),
      (JSON.parse((await response?.text()) ?? '{}') as { method: string }).method,
    ];
  }),
  'sample: a browser only where it is needed': async ({ at }) => {
    const { launchContext, headless, browserPoolOptions } = machine;
    const crawler = new AdaptivePlaywrightCrawler({
      ...(launchContext ? { launchContext } : {}),
      ...(headless === undefined ? {} : { headless }),
      ...(browserPoolOptions ? { browserPoolOptions } : {}),
      renderingTypeDetectionRatio: 0.1,
      maxRequestsPerCrawl: 5,
      async requestHandler({ querySelector, pushData, request }) {
        const heading = await querySelector('.ready');
        await pushData({ path: pathOf(request.url), heading: heading.text() });
      },
    });
    await crawler.run([at('/dynamic'), at('/static-for-adaptive')]);
    const { items } = await crawler.getData();
    return items.map((item) => JSON.stringify(item)).sort();
  },
};
