// `crawler.browserPool` of Crawlee's PlaywrightCrawler: hooks, events and controllers over the crawler's own browsers.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BROWSER_POOL_EVENTS,
  BrowserController,
  BrowserCrawler,
  Configuration,
  PlaywrightCrawler,
  type PlaywrightCrawlingContext,
  PuppeteerPlugin,
} from '../../src/crawlee/entry.js';

describe('crawler.browserPool', () => {
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/never') return;
      if (request.url === '/cookies') response.setHeader('set-cookie', 'mine=1');
      response.statusCode = request.url === '/blocked' ? 403 : 200;
      response.setHeader('content-type', 'text/html').end('<title>here</title>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('loads pages as a derived class does, and leaves pages to handlers as they are', async () => {
    const said: unknown[] = [];
    class Loading extends BrowserCrawler {
      protected override async _applyCookies(...[, before, after]: Parameters<BrowserCrawler['_applyCookies']>) {
        said.push([before, after]);
      }

      protected override async _navigationHandler(...given: Parameters<BrowserCrawler['_navigationHandler']>) {
        const [context, gotoOptions] = given;
        said.push(gotoOptions.waitUntil);
        if (!context.request.url.endsWith('/made')) return super._navigationHandler(context, gotoOptions);
        await context.page.setContent('<title>made</title>');
        return null;
      }
    }
    const crawler = new Loading(
      {
        maxRequestRetries: 0,
        maxConcurrency: 1,
        browserPoolOptions: { browserPlugins: [new PuppeteerPlugin({ launch: async () => undefined })] },
        preNavigationHooks: [
          ({ request }, gotoOptions) => {
            request.headers['cookie'] += '; b=2';
            gotoOptions.waitUntil = 'commit';
          },
        ],
        async requestHandler({ page, response }) {
          said.push([await page.title(), response?.status(), Object.hasOwn(page, 'goto')]);
        },
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run([{ url: `${origin}/`, headers: { cookie: 'a=1' } }]);
    expect(said.splice(0)).toEqual([['a=1', 'a=1; b=2'], 'commit', ['here', 200, false]]);
    await crawler.run([{ url: `${origin}/made`, headers: { cookie: 'a=1' } }]);
    expect(said).toEqual([['a=1', 'a=1; b=2'], 'commit', ['made', undefined, false]]);
  });

  it('leaves the page open for the handlers when it could not be loaded or a hook before that failed', async () => {
    const said: unknown[] = [];
    const crawler = new PlaywrightCrawler(
      {
        maxRequestRetries: 1,
        navigationTimeoutSecs: 3,
        preNavigationHooks: [
          async ({ page, request }) => {
            await page.setContent('<title>before</title>');
            if (request.label === 'HOOK') throw new Error('of the hook');
          },
        ],
        requestHandler: async () => undefined,
        errorHandler: ({ page }, error) => void said.push([page.isClosed(), error.message.includes('hook')]),
        failedRequestHandler: async ({ page }) => void said.push(await page.evaluate('1 + 1')),
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run([{ url: `${origin}/`, label: 'HOOK' }]);
    await crawler.run([{ url: `${origin}/never`, maxRetries: 0 }]);
    expect(said).toEqual([[false, true], 2, 2]);
  });

  it('gives the session the cookies of the page before its handler begins', async () => {
    const cookies: unknown[] = [];
    const crawler = new PlaywrightCrawler(
      {
        maxRequestRetries: 0,
        async requestHandler({ session, request }) {
          cookies.push(session?.getCookieString(request.url));
        },
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run([`${origin}/cookies`]);
    expect(cookies).toEqual(['mine=1']);
  });

  it('leaves the page open for the handlers of a failure', async () => {
    const said: unknown[] = [];
    const look = async ({ page, request, pushData }: PlaywrightCrawlingContext) => {
      await pushData({ retryCount: request.retryCount });
      said.push([await page.title(), await page.evaluate('window.mine')]);
    };
    const crawler = new PlaywrightCrawler(
      {
        maxRequestRetries: 1,
        async requestHandler({ page, request }) {
          await page.evaluate(`window.mine = ${request.retryCount}`);
          throw new Error('of the handler');
        },
        errorHandler: look,
        failedRequestHandler: look,
      },
      new Configuration({ persistStorage: false }),
    );
    const { requestsFailed, retryHistogram } = await crawler.run([`${origin}/`]);
    expect(said).toEqual([
      ['here', 0],
      ['here', 1],
    ]);
    expect([requestsFailed, retryHistogram]).toEqual([1, [0, 1]]);
    expect((await crawler.getData()).items).toEqual([{ retryCount: 0 }, { retryCount: 1 }]);
    await crawler.run([`${origin}/blocked`]);
    expect(said.slice(2)).toEqual([
      ['here', undefined],
      ['here', undefined],
    ]);
  });

  it('says what a handler met that closed its page', async () => {
    const messages: string[] = [];
    const crawler = new PlaywrightCrawler(
      {
        maxRequestRetries: 0,
        async requestHandler({ page }) {
          await page.close();
          await page.title();
        },
        failedRequestHandler: ({ request }) => void messages.push(...request.errorMessages),
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run([`${origin}/`]);
    expect(messages.join()).toMatch(/crashed \(page\.title: .* has been closed/);
  });

  it('calls hooks in order, tells of events, and shows the controller of a page', async () => {
    const said: string[] = [];
    const say = (what: string) => () => void said.push(what);
    const crawler = new PlaywrightCrawler(
      {
        maxRequestRetries: 0,
        browserPoolOptions: {
          preLaunchHooks: [(_id, launchContext) => void said.push(`launch ${typeof launchContext.launchOptions}`)],
          postLaunchHooks: [(_id, controller) => void said.push(String(controller instanceof BrowserController))],
          prePageCreateHooks: [say('page')],
          postPageCreateHooks: [say('opened')],
          prePageCloseHooks: [say('closing')],
          postPageCloseHooks: [say('closed')],
        },
        async requestHandler({ page, browserController }) {
          const pool = crawler.browserPool;
          said.push(`handler ${pool.getBrowserControllerByPage(page as never) === (browserController as unknown)}`);
          const other = await pool.newPage();
          said.push(await other.evaluate('1 + 1').then(String));
          await other.close();
        },
      },
      new Configuration({ persistStorage: false }),
    );
    crawler.browserPool.on(BROWSER_POOL_EVENTS.BROWSER_LAUNCHED, say('event launched'));
    crawler.browserPool.on(BROWSER_POOL_EVENTS.PAGE_CREATED, say('event page'));
    crawler.browserPool.on(BROWSER_POOL_EVENTS.PAGE_CLOSED, say('event closed'));
    await crawler.run([origin]);
    expect(said).toEqual([
      'launch object',
      'true',
      'event launched',
      'page',
      'opened',
      'event page',
      'handler true',
      'page',
      'opened',
      'event page',
      '2',
      'closing',
      'closed',
      'event closed',
      'closing',
      'closed',
      'event closed',
    ]);
    await crawler.teardown();
    expect(crawler.browserPool.activeBrowserControllers.size).toBe(0);
  });

  it('a browser that is retired gets no more pages', async () => {
    let launches = 0;
    const retired: string[] = [];
    const crawler = new PlaywrightCrawler(
      {
        maxRequestRetries: 0,
        maxConcurrency: 1,
        requestHandler({ page, request }) {
          if (request.url.endsWith('/1')) crawler.browserPool.retireBrowserByPage(page as never);
        },
      },
      new Configuration({ persistStorage: false }),
    );
    crawler.browserPool.on(BROWSER_POOL_EVENTS.BROWSER_LAUNCHED, () => void launches++);
    crawler.browserPool.on(BROWSER_POOL_EVENTS.BROWSER_RETIRED, ({ id }: BrowserController) => void retired.push(id));
    await crawler.run([`${origin}/1`, `${origin}/2`]);
    expect([launches, retired.length]).toEqual([2, 1]);
    await crawler.teardown();
  });
});

describe('the context of a page', () => {
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/file.bin') {
        response.setHeader('content-disposition', 'attachment; filename="file.bin"').end(Buffer.alloc(300));
        return;
      }
      const there = 'http://other.example/x';
      const buttons = `<button onclick="location.href='/b'">b</button><button onclick="location.href='${there}'">c</button>`;
      response.setHeader('content-type', 'text/html').end(`<a href="/file.bin">file</a>${buttons}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it.each([true, false])('lists the downloads of its visit; with acceptDownloads: %s', async (acceptDownloads) => {
    const said: unknown[] = [];
    const crawler = new PlaywrightCrawler(
      {
        maxRequestRetries: 0,
        maxConcurrency: 1,
        launchContext: { launchOptions: { acceptDownloads } as object },
        async requestHandler({ page, request, listDownloads }) {
          said.push((await listDownloads()).length);
          if (request.url.endsWith('/2')) return;
          await page.click('a');
          await expect.poll(async () => (await listDownloads()).length).toBe(1);
          const [download] = await listDownloads();
          said.push(download!.suggestedFilename(), (await download!.failure()) === null);
        },
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run([`${origin}/1`, `${origin}/2`]);
    expect(said).toEqual([0, 'file.bin', acceptDownloads, 0]);
  });

  it('clicks may lead to any host, unless a strategy is given', async () => {
    const found: string[][] = [];
    const crawler = new PlaywrightCrawler(
      {
        maxRequestRetries: 0,
        maxRequestsPerCrawl: 2,
        async requestHandler({ request, enqueueLinksByClickingElements }) {
          const strategy = request.url.endsWith('/same') ? { strategy: 'same-hostname' as const } : {};
          const options = { selector: 'button', waitForPageIdleSecs: 0.3, ...strategy };
          const { processedRequests } = await enqueueLinksByClickingElements(options);
          found.push(processedRequests.map(({ uniqueKey }) => uniqueKey).sort());
        },
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run([`${origin}/any`, `${origin}/same`]);
    expect(found.sort((a, b) => a.length - b.length)).toEqual([
      [`${origin}/b`],
      [`${origin}/b`, 'http://other.example/x'],
    ]);
  });
});
