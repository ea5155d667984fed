// Sitemaps and robots.txt by URL, from the synthetic web and from servers that mean harm.
import { gzipSync } from 'node:zlib';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import {
  BasicCrawler,
  downloadListOfUrls,
  HttpCrawler,
  parseSitemap,
  RequestList,
  RobotsTxtFile,
  Simweb,
  Sitemap,
  SitemapRequestList,
  WebCrawler,
} from '../../src/index.js';
import { memoryConfig, silent } from '../support/crawl.js';
import { fixtures, type Listening } from './http-fixtures.js';

const { serve, closeAll } = fixtures();
afterEach(closeAll);

type Files = Record<string, string | Buffer | ((request: IncomingMessage, response: ServerResponse) => void)>;

/** Serves files by path; 404 for others. */
function serveFiles(files: (origin: string) => Files): Promise<Listening> {
  return serve((request, response) => {
    const file = files(`http://${request.headers.host!}`)[request.url!];
    if (file === undefined) response.writeHead(404).end('nothing here');
    else if (typeof file === 'function') file(request, response);
    else response.end(file);
  });
}

const urlset = (...urls: string[]): string =>
  `<?xml version="1.0"?><urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`;
const index = (...urls: string[]): string =>
  `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;
const codes = (list: { problems: Sitemap['problems'] }): string[] => list.problems.map(({ error }) => error.code);
const QUICK = { retryDelayMs: 1 };

describe('nestedSitemapFilter', () => {
  it('leaves out sitemaps of an index before they are asked for', async () => {
    const asked: string[] = [];
    const web = await serveFiles((from) => ({
      '/index.xml': index(`${from}/a.xml`, `${from}/b.xml`),
      '/a.xml': urlset(`${from}/1`),
      '/b.xml': (_request, response) => {
        asked.push('b.xml');
        response.end(urlset(`${from}/2`));
      },
    }));
    const { origin } = new URL(web.url);
    const nestedSitemapFilter = (url: string): boolean => url.endsWith('/a.xml');
    const { urls } = await Sitemap.load(`${origin}/index.xml`, { nestedSitemapFilter });
    const list = await SitemapRequestList.open({ sitemapUrls: [`${origin}/index.xml`], nestedSitemapFilter });
    const parsed: string[] = [];
    const sources = [{ type: 'url' as const, url: `${origin}/index.xml` }];
    for await (const { loc } of parseSitemap(sources, undefined, { nestedSitemapFilter })) parsed.push(loc);
    expect([urls, (await list.fetchNextRequest())?.url, parsed]).toEqual([[`${origin}/1`], `${origin}/1`, urls]);
    expect(asked).toEqual([]);
    await list.teardown();
  });
});

describe('on the synthetic web', () => {
  it.each([false, true])('finds every page from robots.txt through the index (gzip: %j)', async (gzip) => {
    await using web = await Simweb.start({ hosts: 1, pagesPerHost: 120, sitemaps: { perFile: 50, gzip } });
    const robots = await RobotsTxtFile.find(web.url(0, 7));
    expect(robots.getSitemaps()).toEqual([web.url(0, '/sitemap.xml')]);
    expect((await robots.parseUrlsFromSitemaps()).sort()).toEqual([...web.allUrls()].sort());
    expect(robots.isAllowed(web.url(0, '/private/1'))).toBe(false);
  });

  it('reads lists, feeds and common names, and keeps lastmod', async () => {
    await using web = await Simweb.start({ hosts: 1, pagesPerHost: 30 });
    const pages = [...web.allUrls()].sort();
    const list = await Sitemap.load(web.url(0, '/sitemap.txt'));
    expect(list.urls.sort()).toEqual(pages);
    expect((await Sitemap.load([web.url(0, '/feed.xml')])).urls).toHaveLength(20);
    const common = await Sitemap.tryCommonNames(web.url(0, 3));
    expect([...new Set(common.urls)].sort()).toEqual(pages);
    expect(common.entries.filter(({ lastmod }) => lastmod)).toHaveLength(pages.length);
  });

  it('feeds a crawl while it is read', async () => {
    await using web = await Simweb.start({ hosts: 1, pagesPerHost: 300, sitemaps: { perFile: 100 } });
    const requestList = await SitemapRequestList.open({ sitemapUrls: [web.url(0, '/sitemap.xml')], maxBufferSize: 7 });
    const seen: string[] = [];
    const crawler = new BasicCrawler(
      { requestList, log: silent, requestHandler: async ({ request }) => void seen.push(request.url) },
      memoryConfig(),
    );
    await crawler.run();
    expect(seen.sort()).toEqual([...web.allUrls()].sort());
    expect([await requestList.isFinished(), requestList.handledCount()]).toEqual([true, seen.length]);
  });
});

describe('files that are not as they should be', () => {
  it('are told, and the others are read', async () => {
    const { url } = await serveFiles((origin) => ({
      '/': index(...['gone', 'page', 'torn', 'broken', 'good'].map((name) => `${origin}/${name}`)),
      '/page': '<html><p>Soft 404</p></html>',
      '/torn': gzipSync(urlset(...Array.from({ length: 5_000 }, (_, i) => `${origin}/${i}`))).subarray(0, 5_000),
      '/broken': (_, response) => response.writeHead(500).end(),
      '/good': urlset(`${origin}/1`),
    }));
    const sitemap = await Sitemap.load(url, { ...QUICK, maxRetries: 1 });
    expect(codes(sitemap)).toEqual(['SITEMAP_INVALID', 'SITEMAP_INVALID', 'BODY_DECODE', 'HTTP_STATUS']);
    expect(sitemap.urls.at(-1)).toBe(`${url}/1`);
  });

  it('are read again from where they broke off', async () => {
    let asked = 0;
    const { url } = await serveFiles((origin) => {
      const text = urlset(...Array.from({ length: 3_000 }, (_, i) => `${origin}/${i}`));
      return {
        '/': (_, response) => {
          response.writeHead(200, { 'content-length': text.length });
          if (++asked < 3) response.write(text.slice(0, asked * 40_000), () => response.destroy());
          else response.end(text);
        },
      };
    });
    const { urls, problems } = await Sitemap.load(url, QUICK);
    expect(problems).toEqual([]);
    expect(urls).toEqual(Array.from({ length: 3_000 }, (_, i) => `${url}/${i}`));
    expect(asked).toBe(3);
  });

  it('end when they name each other in circles or go down for ever', async () => {
    const { url } = await serve((request, response) => {
      const origin = `http://${request.headers.host!}`;
      const level = Number(request.url!.slice(1));
      if (request.url === '/a') response.end(index(`${origin}/b`, `${origin}/a`));
      else if (request.url === '/b') response.end(index(`${origin}/a#again`));
      else response.end(index(`${origin}/${level + 1}`));
    });
    expect(await Sitemap.load(`${url}/a`)).toMatchObject({ urls: [], problems: [] });
    expect(codes(await Sitemap.load(`${url}/1`, { maxDepth: 4 }))).toEqual(['SITEMAP_LIMIT']);
    expect(codes(await Sitemap.load(`${url}/1`, { maxDepth: Infinity, maxFiles: 20 }))).toEqual(['SITEMAP_LIMIT']);
  });

  it('are cut at the limits, keeping what was read', async () => {
    const { url } = await serveFiles((origin) => ({
      '/many': urlset(...Array.from({ length: 100 }, (_, i) => `${origin}/${i}`)),
      '/bomb': gzipSync(`${urlset(`${origin}/1`).replace('</urlset>', '')}${' '.repeat(50_000_000)}`),
    }));
    const many = await Sitemap.load(`${url}/many`, { maxUrls: 10 });
    expect([many.urls.length, codes(many)]).toEqual([10, ['SITEMAP_LIMIT']]);
    const wide = await Sitemap.load(`${url}/many`, { maxCharacters: 10 * `${url}/0`.length });
    expect([wide.urls.length, codes(wide)]).toEqual([10, ['SITEMAP_LIMIT']]);
    const bomb = await Sitemap.load(`${url}/bomb`, { maxFileBytes: 1_000_000 });
    expect([bomb.urls, codes(bomb)]).toEqual([[`${url}/1`], ['BODY_TOO_LARGE']]);
  });

  it('pass as a stream when they are larger than the protocol allows', async () => {
    const blanks = ' '.repeat(64_000);
    const { url } = await serveFiles((origin) => ({
      '/': async (_, response) => {
        response.write('<urlset>');
        for (let i = 0; i < 3_000; i++) {
          if (!response.write(`<url>${blanks}<loc>${origin}/${i}</loc></url>`)) {
            await new Promise((resume) => response.once('drain', resume));
          }
        }
        response.end('</urlset>');
      },
    }));
    const before = process.memoryUsage().rss;
    const { urls, problems } = await Sitemap.load(url);
    expect([urls.length, problems]).toEqual([3_000, []]);
    // 192 MB went by in both directions of one process; keeping it would need at least that.
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });
});

describe('addresses', () => {
  it('that a sitemap, an index or a robots.txt names are no seeds: private ones are refused', async () => {
    const inside = await serveFiles((origin) => ({ '/secret.xml': urlset(`${origin}/secret`) }));
    const outside = await serveFiles((origin) => ({
      '/index': index(`${inside.url}/secret.xml`),
      '/redirect': (_, response) => response.writeHead(302, { location: `${inside.url}/secret.xml` }).end(),
      '/robots.txt': `Sitemap: ${inside.url}/secret.xml\nSitemap: ${origin}/own`,
      '/own': urlset(`${origin}/1`),
    }));
    for (const path of ['/index', '/redirect']) {
      const sitemap = await Sitemap.load(outside.url + path);
      expect([sitemap.urls, codes(sitemap)]).toEqual([[], ['ADDRESS_REFUSED']]);
    }
    const robots = await RobotsTxtFile.find(outside.url);
    const found = await robots.parseSitemaps();
    expect([found.urls, codes(found)]).toEqual([[`${outside.url}/1`], ['ADDRESS_REFUSED']]);
    expect((await robots.parseSitemaps({ allowPrivateAddresses: true })).urls).toHaveLength(2);
    expect(inside.accepted()).toBe(1);
  });

  it('of a request list may be private only on the hosts of its sitemaps', async () => {
    const inside = await serveFiles(() => ({ '/': 'secret' }));
    const outside = await serveFiles((origin) => ({
      '/sitemap.xml': urlset(`${origin}/own`, `${inside.url}/`),
      '/own': '<p>own</p>',
    }));
    const requestList = await SitemapRequestList.open({
      sitemapUrls: [`${outside.url}/sitemap.xml`],
      enqueueStrategy: 'all',
    });
    const { HttpCrawler } = await import('../../src/index.js');
    const done: string[] = [];
    const failed: unknown[] = [];
    await new HttpCrawler(
      {
        requestList,
        log: silent,
        additionalMimeTypes: ['*/*'],
        requestHandler: async ({ request }) => void done.push(request.url),
        failedRequestHandler: async ({ request }, error) =>
          void failed.push([request.url, (error as { code?: string }).code]),
      },
      memoryConfig(),
    ).run();
    expect(done).toEqual([`${outside.url}/own`]);
    expect(failed).toEqual([[`${inside.url}/`, 'ADDRESS_REFUSED']]);
    expect(inside.accepted()).toBe(0);
  });
});

describe('a request list', () => {
  const many = () =>
    serveFiles((origin) => ({
      '/sitemap.xml': urlset(...Array.from({ length: 20_000 }, (_, i) => `${origin}/${i % 2 ? 'odd' : 'even'}/${i}`)),
    }));

  it('takes what its patterns and its function let through', async () => {
    const { url } = await many();
    const list = await SitemapRequestList.open({
      sitemapUrls: [`${url}/sitemap.xml`],
      globs: ['**/odd/**'],
      exclude: [/9$/],
      label: 'ODD',
      transformRequestFunction: (request) => (request.url.endsWith('7') ? false : request),
    });
    let count = 0;
    for await (const request of list) {
      expect(request).toMatchObject({ label: 'ODD', url: expect.stringMatching(/\/odd\/\d*[135]$/) });
      await list.markRequestHandled(request);
      count++;
    }
    expect([count, list.length(), list.handledCount(), await list.isFinished()]).toEqual([6_000, 6_000, 6_000, true]);
  });

  it('reads no further ahead than its buffer, and ends when told to', async () => {
    const { url } = await many();
    const list = await SitemapRequestList.open({ sitemapUrls: [`${url}/sitemap.xml`], maxBufferSize: 10 });
    const first = await list.fetchNextRequest();
    expect(list.isSitemapFullyLoaded()).toBe(false);
    expect(list.length()).toBeLessThanOrEqual(11);
    await list.reclaimRequest(first!);
    expect((await list.fetchNextRequest())?.url).toBe(first!.url);
    await list.teardown();
    expect(list.isSitemapFullyLoaded()).toBe(false);
    expect(list.problems).toEqual([]);
  });

  it('has what a slow server sent so far; a list that ran out of time is over, and not whole', async () => {
    const { url } = await serve((request, response) => {
      response.write(`<urlset><url><loc>http://${request.headers.host!}/1</loc></url>`);
    });
    const list = await SitemapRequestList.open({ sitemapUrls: [`${url}/sitemap.xml`], timeoutMillis: 2_000 });
    const first = await list.fetchNextRequest();
    expect([first?.url, list.isSitemapFullyLoaded()]).toEqual([`${url}/1`, false]);
    await list.markRequestHandled(first!);
    expect(await list.fetchNextRequest()).toBeNull();
    expect([await list.isFinished(), list.isSitemapFullyLoaded()]).toEqual([true, false]);
  });

  it('is whole when every sitemap was read to its end', async () => {
    const { url } = await serveFiles((origin) => ({ '/sitemap.xml': urlset(`${origin}/1`) }));
    const list = await SitemapRequestList.open({ sitemapUrls: [`${url}/sitemap.xml`] });
    await list.fetchNextRequest();
    await expect.poll(() => list.isSitemapFullyLoaded()).toBe(true);
  });

  it('does not outlive a crawl that has enough, even when its sitemap never ends', async () => {
    let isLeft = false;
    const { url } = await serve(async (request, response) => {
      response.on('close', () => (isLeft = true));
      const some = Array.from({ length: 500 }, (_, i) => `<url><loc>http://${request.headers.host!}/${i}</loc></url>`);
      response.write('<urlset>');
      while (!isLeft) {
        const isTaken = response.write(some.join(''));
        await new Promise((resume) => (isTaken ? setImmediate(resume) : response.once('drain', resume)));
      }
    });
    const requestList = await SitemapRequestList.open({ sitemapUrls: [url], maxBufferSize: 10 });
    const crawler = new BasicCrawler(
      { requestList, log: silent, maxRequestsPerCrawl: 5, requestHandler: async () => {} },
      memoryConfig(),
    );
    expect((await crawler.run()).requestsFinished).toBe(5);
    await expect.poll(() => [isLeft, requestList.isSitemapFullyLoaded()]).toEqual([true, false]);
  });

  it('names every option that is wrong', async () => {
    await expect(
      SitemapRequestList.open({ sitemapUrls: ['https://a.example/'], maxBufferSize: 0, glob: [] } as never),
    ).rejects.toThrow(/maxBufferSize.*glob/s);
    await expect(SitemapRequestList.open({} as never)).rejects.toThrow(/sitemapUrls/);
    await expect(Sitemap.load('nonsense')).rejects.toMatchObject({ code: 'URL_INVALID' });
  });
});

describe('robots.txt by URL', () => {
  it.each([
    [404, true, undefined],
    [403, true, undefined],
    [429, true, undefined],
    [500, false, 'HTTP_STATUS'],
    [503, false, 'HTTP_STATUS'],
  ])('status %j: allowed %j', async (status, allowed, code) => {
    const { url } = await serveFiles(() => ({
      '/robots.txt': (_, response) => response.writeHead(status).end('Disallow: /'),
    }));
    const robots = await RobotsTxtFile.find(`${url}/page`);
    expect([robots.isAllowed(`${url}/page`), robots.unreachable?.code]).toEqual([allowed, code]);
  });

  it('forbids all when the host cannot be reached', async () => {
    const { url } = await serveFiles(() => ({}));
    await closeAll();
    const robots = await RobotsTxtFile.find(url);
    expect([robots.isAllowed(`${url}/`), robots.unreachable?.code]).toEqual([false, 'CONNECT_REFUSED']);
  });

  it('follows five redirects and takes a sixth for a missing file; reads no more than it needs', async () => {
    const { url } = await serve((request, response) => {
      const hop = Number(/hop=(\d+)/.exec(request.url!)?.[1] ?? 0);
      const hops = request.headers['user-agent'] === 'five' ? 5 : 6;
      if (hop < hops) response.writeHead(302, { location: `/robots.txt?hop=${hop + 1}` }).end();
      else response.end(`User-agent: *\nDisallow: /\n${'#'.repeat(5_000_000)}`);
    });
    expect((await RobotsTxtFile.find(url, { userAgent: 'five' })).isAllowed(`${url}/`)).toBe(false);
    expect((await RobotsTxtFile.find(url, { userAgent: 'six' })).isAllowed(`${url}/`)).toBe(true);
  });

  it('reads a file at hand, for its own site', () => {
    const robots = RobotsTxtFile.from(
      'https://a.example/robots.txt',
      'User-agent: *\nDisallow: /x\nSitemap: /s.xml\nCrawl-delay: 4',
    );
    expect(robots.isAllowed('https://a.example/x', 'MyBot')).toBe(false);
    expect(robots.isAllowed('https://b.example/x')).toBe(true);
    expect(robots.getSitemaps()).toEqual(['https://a.example/s.xml']);
    expect(robots.getCrawlDelay()).toBe(4);
  });
});

describe('lists that a file on the web named, given to a crawl', () => {
  it('reach private hosts only where the user named them', async () => {
    const inner = await serve((_request, response) => response.end('<p>internal'));
    const outer = await serveFiles((origin) => ({
      '/list': urlset(`${origin}/page`, `${inner.url}/secret`),
      '/page': '<p>page',
    }));
    const list = `${outer.url}/list`;
    const codesOf = async (run: (crawler: HttpCrawler) => Promise<unknown>, options = {}): Promise<string[]> => {
      const ends: string[] = [];
      const crawler = new HttpCrawler(
        {
          ...options,
          log: silent,
          maxRequestRetries: 0,
          additionalMimeTypes: ['*/*'],
          requestHandler: ({ request }) => void ends.push(new URL(request.url).pathname),
          failedRequestHandler: (_context, error) => void ends.push((error as { code?: string }).code ?? error.message),
        },
        memoryConfig(),
      );
      await run(crawler);
      return ends.sort();
    };
    const { urls } = await Sitemap.load(list, { enqueueStrategy: 'all' });
    const refused = ['/page', 'ADDRESS_REFUSED'];
    expect(await codesOf((crawler) => crawler.run(urls))).toEqual(refused);
    expect(await codesOf((crawler) => crawler.run([{ requestsFromUrl: list } as never]))).toEqual(refused);
    const downloaded = await downloadListOfUrls({ url: list });
    expect(await codesOf((crawler) => crawler.run(downloaded))).toEqual(refused);
    const requestList = await RequestList.open(null, downloaded);
    expect(await codesOf((crawler) => crawler.run(), { requestList })).toEqual(refused);
    expect(await codesOf((crawler) => crawler.run([...urls]))).toEqual(['/page', '/secret']);

    const web = await WebCrawler.open({ engine: 'http' });
    try {
      const results = await web.runMany(urls, { cacheMode: 'disabled' });
      expect(results.map(({ errorCode }) => errorCode)).toEqual([null, 'ADDRESS_REFUSED']);
    } finally {
      await web.close();
    }
  });
});
