// Traps, budgets and domain lists in a crawl: an endless site ends, and other sites are not affected.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpCrawler, type HttpCrawlerOptions } from '../../src/index.js';
import { Simweb } from '../../src/testing/index.js';
import { memoryConfig, silent } from '../support/crawl.js';

async function simweb(...args: Parameters<typeof Simweb.start>): Promise<Simweb> {
  const web = await Simweb.start(...args);
  onTestFinished(() => web.close());
  return web;
}

/** A server of the test's own, which tells what it was asked. */
async function serve(pageAt: (path: string) => string) {
  const log: { path: string; userAgent: string | undefined; atMs: number }[] = [];
  const server = createServer((request, response) => {
    log.push({ path: request.url!, userAgent: request.headers['user-agent'], atMs: performance.now() });
    response.setHeader('content-type', 'text/html').end(pageAt(request.url!));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => new Promise<void>((closed) => (server.close(() => closed()), server.closeAllConnections())));
  return { log, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function crawlerWith(options: HttpCrawlerOptions) {
  const visited: string[] = [];
  const reasons = new Map<string, number>();
  const crawler = new HttpCrawler(
    {
      log: silent,
      allowPrivateAddresses: true,
      requestHandler: async ({ request, enqueueLinks }) => {
        visited.push(request.url);
        await enqueueLinks({ strategy: 'all' });
      },
      onSkippedRequest: ({ reason }) => void reasons.set(reason, (reasons.get(reason) ?? 0) + 1),
      ...options,
    },
    memoryConfig(),
  );
  return { crawler, visited, reasons };
}

const hostOf = (url: string): string => new URL(url).host;

describe('a site of endless links', () => {
  it('ends by its budget, and every page of the other hosts is visited', async () => {
    const web = await simweb({
      hosts: 4,
      pagesPerHost: 15,
      pageBytes: 800,
      crossHostLinks: 0.3,
      traps: 0,
      overrides: { 2: { trap: true } },
    });
    const trapped = hostOf(web.url(2));
    const { crawler, visited, reasons } = crawlerWith({ maxRequestsPerHost: 40, traps: false });
    await crawler.run(web.seeds());

    const ofTrap = visited.filter((url) => hostOf(url) === trapped);
    expect(ofTrap.length).toBeLessThanOrEqual(41);
    expect(ofTrap.some((url) => url.includes('/trap/'))).toBe(true);
    expect(reasons.get('BUDGET_HOST')).toBeGreaterThan(0);
    for (const host of [0, 1, 3]) {
      const pages = visited.filter((url) => hostOf(url) === hostOf(web.url(host)));
      expect(new Set(pages).size).toBe(15);
    }
  });

  it('has its whole budget for links that are queued, though visits failed or found the same', async () => {
    const links = [1, 2, 3, 4, 5].map((page) => `<a href="/${page}">x</a>`).join('');
    const { origin } = await serve((path) => (path.startsWith('/start') ? links : 'leaf'));
    const handled: string[] = [];
    let failures = 0;
    const { crawler, reasons } = crawlerWith({
      maxRequestsPerHost: 5,
      maxRequestRetries: 2,
      retryDelayMs: 1,
      requestHandler: async ({ request, enqueueLinks }) => {
        await enqueueLinks();
        if (request.url.endsWith('/start') && failures++ < 2) throw new Error('flaky');
        handled.push(new URL(request.url).pathname);
      },
    });
    await crawler.run([`${origin}/start`]);
    expect(handled.sort()).toEqual(['/1', '/2', '/3', '/4', '/5', '/start']);
    expect(reasons.size).toBe(0);
  });

  it('is recognised by its URLs, with a code for each refusal', async () => {
    const web = await simweb({ hosts: 1, pagesPerHost: 3, pageBytes: 500, traps: 1 });
    const { crawler, visited, reasons } = crawlerWith({
      traps: { maxQueryVariants: 20, maxPathDepth: 6, refuseSessionIds: true },
      maxRequestsPerHost: 600,
    });
    await crawler.run(web.seeds());
    expect(reasons.get('TRAP_CALENDAR')).toBeGreaterThan(0);
    expect([...reasons.keys()].filter((reason) => reason.startsWith('TRAP_')).length).toBeGreaterThan(1);
    // Its words in any order are not a pattern: only the budget ends those.
    expect(visited.length).toBeLessThanOrEqual(601);
  });
});

describe('a page whose base would be repeated by thousands of links', () => {
  it('gives as many URLs as fit, and no base that is too long, with a selector and without', async () => {
    const links = Array.from({ length: 2_000 }, (_, page) => `<a class="x" href="${page}">x</a>`).join('');
    const { origin } = await serve((path) => (path === '/base/' ? `<base href="/${'b'.repeat(5_000)}/">` : '') + links);
    const found = new Map<string, string[]>();
    const { crawler } = crawlerWith({
      traps: false,
      requestHandler: async ({ request, enqueueLinks }) => {
        for (const selector of ['a', 'a.x']) {
          const urls: string[] = [];
          // Nothing is queued: the crawl is of these pages.
          await enqueueLinks({ selector, transformRequestFunction: ({ url }) => (urls.push(url), false) });
          found.set(`${request.url.endsWith('/base/') ? 'base' : 'long'} ${selector}`, urls);
        }
      },
    });
    await crawler.run([`${origin}/base/`, `${origin}/${'a'.repeat(10_000)}/`]);
    for (const selector of ['a', 'a.x']) {
      expect(found.get(`base ${selector}`)!.at(-1)).toBe(`${origin}/base/1999`);
      const ofLong = found.get(`long ${selector}`)!.length;
      expect(ofLong).toBeGreaterThan(500);
      expect(ofLong).toBeLessThan(1_000);
    }
  });
});

describe('domain rules of a crawl', () => {
  it.each([{}, { respectRobotsTxtFile: true }])('keep redirects out of excluded domains (%j)', async (manners) => {
    const web = await simweb({ hosts: 2, pagesPerHost: 2 });
    web.serve('/away', { status: 302, headers: { location: web.url(1) } });
    const { crawler, visited } = crawlerWith({ ...manners, domains: { exclude: [new URL(web.url(1)).hostname] } });
    await crawler.run([web.url(0, '/away')]);
    expect(visited).toEqual([]);
    expect(web.served(0)).toBeGreaterThan(0);
    expect(web.served(1)).toBe(0);
  });

  it('keep excluded hosts out, also those that were seeded', async () => {
    const web = await simweb({ hosts: 3, pagesPerHost: 8, pageBytes: 500, crossHostLinks: 0.5 });
    const excluded = new URL(web.url(1)).hostname;
    for (const polite of [false, true]) {
      const { crawler, visited, reasons } = crawlerWith({
        domains: { exclude: [excluded] },
        respectRobotsTxtFile: polite,
      });
      const before = web.requests({ host: 1 }).length;
      await crawler.run(web.seeds());
      expect(visited.some((url) => new URL(url).hostname === excluded)).toBe(false);
      expect(reasons.get('DOMAIN_EXCLUDED')).toBeGreaterThan(0);
      expect(web.requests({ host: 1 }).length).toBe(before);
    }
  });

  it('give single domains their own delay, name and rules', async () => {
    const own = await serve(() => 'User-agent: *\nDisallow: /');
    const { crawler, visited } = crawlerWith({
      respectRobotsTxtFile: true,
      domains: { overrides: { '127.0.0.1': { delaySecs: 0.2, ignoreRobots: true, userAgent: 'Guest/1.0' } } },
    });
    await crawler.run([1, 2, 3].map((page) => `${own.origin}/${page}`));
    expect(visited.length).toBe(3);
    expect(own.log.map(({ path }) => path).sort()).toEqual(['/1', '/2', '/3']);
    expect(new Set(own.log.map(({ userAgent }) => userAgent))).toEqual(new Set(['Guest/1.0']));
    expect(own.log[2]!.atMs - own.log[1]!.atMs).toBeGreaterThanOrEqual(200);
  });

  it('leave a host that says the same on every page', async () => {
    const same = await serve((path) => {
      const links = Array.from({ length: 5 }, (_, i) => `<a href="${path}${i}/">${i}</a>`).join(' ');
      return `<p>Nothing here</p>${links}`;
    });
    const { crawler, visited, reasons } = crawlerWith({ maxSameContent: 10, maxConcurrency: 2 });
    await crawler.run([`${same.origin}/`]);
    expect(reasons.get('SAME_CONTENT')).toBeGreaterThan(0);
    expect(visited.length).toBeLessThan(100);
    expect(same.log.length).toBe(visited.length);
  });
});
