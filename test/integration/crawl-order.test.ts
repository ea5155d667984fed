// The order of a crawl, over real sockets: newest first, best first, and enough.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as library from '../../src/index.js';
import { HttpCrawler, Simweb } from '../../src/index.js';
import { memoryConfig, silent, testConfig } from '../support/crawl.js';
import { crawlInOrder, topicSite } from '../support/crawl-order.js';

const PAGES: Record<string, string> = {
  '/': '<a href="/a">a</a> <a href="/b">b</a> <a href="/c">c</a>',
  '/a': '<a href="/a/1">a1</a> <a href="/a/2">a2</a>',
  '/a/1': '<a href="/a/1/x">a1x</a>',
  '/b': '<a href="/b/1">all about the espresso grinder</a>',
  '/c': '<a href="/c/2025/01/02/old">old</a> <a href="/c/1">plain</a>',
};

let server: Server;
let origin: string;
beforeAll(async () => {
  server = createServer(({ url = '/' }, response) => {
    response.setHeader('content-type', 'text/html').end(`<title>page</title>${PAGES[url] ?? 'end'}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

async function visitsOf(options: library.HttpCrawlerOptions, config = memoryConfig()): Promise<string[]> {
  const visits: string[] = [];
  const crawler = new HttpCrawler(
    {
      maxConcurrency: 1,
      allowPrivateAddresses: true,
      log: silent,
      ...options,
      async requestHandler({ request, enqueueLinks }) {
        visits.push(request.loadedUrl.slice(origin.length));
        await enqueueLinks();
      },
    },
    config,
  );
  await crawler.run([`${origin}/`]);
  await crawler.teardown();
  return visits;
}

describe('the order of a crawl', () => {
  it('is breadth first by default', async () => {
    expect((await visitsOf({})).slice(0, 6)).toEqual(['/', '/a', '/b', '/c', '/a/1', '/a/2']);
  });

  it('follows the first link of the newest page with "dfs", in memory and on disk', async () => {
    const expected = ['/', '/a', '/a/1', '/a/1/x', '/a/2', '/b', '/b/1', '/c'];
    expect((await visitsOf({ order: 'dfs' })).slice(0, 8)).toEqual(expected);
    expect((await visitsOf({ order: 'dfs' }, await testConfig())).slice(0, 8)).toEqual(expected);
  });

  it('visits what names the query first, and a query means "best-first"', async () => {
    const visits = await visitsOf({ query: 'espresso grinders' });
    expect(visits.indexOf('/b/1')).toBe(visits.indexOf('/b') + 1);
  });

  it("asks the user's function, which sees the link and its page", async () => {
    const seen: library.ScoredLink[] = [];
    const visits = await visitsOf({
      scorers: {
        custom: (link) => {
          seen.push(link);
          return link.url.endsWith('/c') ? 1 : link.url.endsWith('/a') ? -1 : 0;
        },
      },
    });
    expect(visits.slice(0, 3)).toEqual(['/', '/c', '/b']);
    expect(visits.at(-1)).toMatch(/^\/a/);
    expect(seen).toContainEqual({
      url: `${origin}/b/1`,
      text: 'all about the espresso grinder',
      depth: 2,
      page: { url: `${origin}/b`, relevance: 0 },
    });
  });

  it('prefers recent dates and leaves deep paths for later', async () => {
    const visits = await visitsOf({ scorers: { freshness: 1, depth: 1 } });
    expect(visits.indexOf('/c/1')).toBeLessThan(visits.indexOf('/c/2025/01/02/old'));
    expect(visits.at(-1)).toBe('/c/2025/01/02/old');
  });

  it('refuses options that contradict each other', () => {
    expect(() => new HttpCrawler({ order: 'bfs', scorers: { depth: 1 } })).toThrow('"scorers" needs "order"');
    expect(() => new HttpCrawler({ enough: true })).toThrow('"enough" needs a "query"');
    expect(() => new HttpCrawler({ scorers: { keywords: 1 } })).toThrow('needs a "query"');
    expect(() => new HttpCrawler({ order: 'random' as never })).toThrow('one of "bfs", "dfs", "best-first"');
  });
});

describe('a best-first crawl with a query', () => {
  let web: Simweb;
  beforeAll(async () => {
    web = await Simweb.start(topicSite(1_500, 7));
  });
  afterAll(() => web.close());

  it('has 90 % of the relevant pages after a third of what breadth first fetches', async () => {
    const breadth = await crawlInOrder(library, web, { order: 'bfs', topic: 3 });
    const best = await crawlInOrder(library, web, { order: 'best-first', topic: 3 });
    expect(best.pagesTo90).toBeLessThanOrEqual(breadth.pagesTo90 / 3);
  });

  it('ends when new pages add nothing, with most of the relevant ones', async () => {
    const ended = await crawlInOrder(library, web, { order: 'best-first', topic: 3, enough: true });
    expect(ended.fetched).toBeLessThan(1_500 / 4);
    expect(ended.recall).toBeGreaterThanOrEqual(0.75);
  });
});
