// `crawler.browserPool` of Crawlee's PlaywrightCrawler: hooks, events and controllers over the crawler's own browsers.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BROWSER_POOL_EVENTS, BrowserController, Configuration, PlaywrightCrawler } from '../../src/crawlee/entry.js';

describe('crawler.browserPool', () => {
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<title>here</title>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

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
