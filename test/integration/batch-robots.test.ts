// Batches that respect robots.txt, seen from the server: what is forbidden is never requested, delays are kept.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { RateLimiter, type RunConfig, SemaphoreDispatcher, WebCrawler } from '../../src/index.js';
import { fixtures } from './http-fixtures.js';

const servers = fixtures();
afterAll(() => servers.closeAll());

/** A server with a robots.txt; what it was asked for, in order, and when. */
async function site(robots: string | ((request: IncomingMessage, response: ServerResponse) => void)) {
  const asked: { path: string; atMs: number; agent: string }[] = [];
  const { url } = await servers.serve((request, response) => {
    const path = request.url!;
    asked.push({ path, atMs: performance.now(), agent: request.headers['user-agent']! });
    if (path.startsWith('/to?')) response.writeHead(302, { location: decodeURIComponent(path.slice(4)) }).end();
    else if (path !== '/robots.txt') response.setHeader('content-type', 'text/html').end(`<p>${path}</p>`);
    else if (typeof robots === 'string') response.setHeader('content-type', 'text/plain').end(robots);
    else robots(request, response);
  });
  const paths = () => asked.map(({ path }) => path);
  return { url, asked, paths };
}

const polite = { respectRobots: true } satisfies RunConfig;

describe('respectRobots', () => {
  it('asks for nothing that is forbidden, and reads the rules once for all batches of a crawler', async () => {
    const { url, paths } = await site('User-agent: *\nDisallow: /private');
    await using crawler = await WebCrawler.open();
    const list = [`${url}/private/1`, `${url}/a`, `${url}/private/2`, `${url}/b`];
    const results = await crawler.runMany(list, polite);
    expect(results.map(({ errorCode }) => errorCode)).toEqual(['ROBOTS_DENIED', null, 'ROBOTS_DENIED', null]);
    expect(results[0]).toMatchObject({ success: false, statusCode: null, dispatch: { attempts: 0 } });
    expect(results[1]).toMatchObject({ success: true, dispatch: { attempts: 1 } });
    expect(await crawler.run(`${url}/private/3`, polite)).toMatchObject({ errorCode: 'ROBOTS_DENIED' });
    expect(paths().sort()).toEqual(['/a', '/b', '/robots.txt']);
  });

  it('is the choice of each URL', async () => {
    const { url, paths } = await site('User-agent: *\nDisallow: /');
    await using crawler = await WebCrawler.open();
    const results = await crawler.runMany([`${url}/1`, { url: `${url}/2`, config: polite }]);
    expect(results.map(({ errorCode }) => errorCode)).toEqual([null, 'ROBOTS_DENIED']);
    expect(paths().sort()).toEqual(['/1', '/robots.txt']);
  });

  it('follows the rules for the user agent that the URL is asked for under', async () => {
    const { url, asked } = await site('User-agent: goodbot\nAllow: /\n\nUser-agent: *\nDisallow: /');
    await using crawler = await WebCrawler.open();
    const results = await crawler.runMany(
      [{ url: `${url}/1`, config: { userAgent: 'goodbot/1.0' } }, `${url}/2`],
      polite,
    );
    expect(results.map(({ errorCode }) => errorCode)).toEqual([null, 'ROBOTS_DENIED']);
    const readers = asked.filter(({ path }) => path === '/robots.txt').map(({ agent }) => agent);
    expect(readers.some((agent) => agent === 'goodbot/1.0')).toBe(true);
    expect(readers).toHaveLength(2);
  });

  it('keeps the crawl-delay of the host between any two requests, its robots.txt included', async () => {
    const { url, asked } = await site('User-agent: *\nCrawl-delay: 0.15');
    await using crawler = await WebCrawler.open();
    const results = await crawler.runMany(
      [1, 2, 3, 4].map((n) => `${url}/${n}`),
      polite,
    );
    expect(results.every(({ success }) => success)).toBe(true);
    const gaps = asked.slice(1).map(({ atMs }, index) => atMs - asked[index]!.atMs);
    expect(gaps).toHaveLength(4);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(148);
  });

  it('asks the robots.txt of the host to which a redirect leads', async () => {
    const target = await site('User-agent: *\nDisallow: /secret');
    const from = await site('User-agent: *\nDisallow:');
    await using crawler = await WebCrawler.open({ allowPrivateAddresses: true });
    const via = (path: string) => `${from.url}/to?${encodeURIComponent(target.url + path)}`;
    const [denied, allowed] = await crawler.runMany([via('/secret/1'), via('/open')], polite);
    expect(denied).toMatchObject({ success: false, errorCode: 'ROBOTS_DENIED' });
    expect(allowed).toMatchObject({ success: true, redirected: true, loadedUrl: `${target.url}/open` });
    expect(target.paths().sort()).toEqual(['/open', '/robots.txt']);
  });

  it('asks for nothing while robots.txt cannot be read, and says so', async () => {
    const { url, paths } = await site((_request, response) => response.writeHead(500, { 'retry-after': '0' }).end());
    await using crawler = await WebCrawler.open();
    const results = await crawler.runMany([`${url}/1`, `${url}/2`], polite);
    expect(results.map(({ errorCode }) => errorCode)).toEqual(['ROBOTS_UNREACHABLE', 'ROBOTS_UNREACHABLE']);
    expect(results[0]!.errorMessage).toContain('500');
    expect(new Set(paths())).toEqual(new Set(['/robots.txt']));
  });

  it('reads a robots.txt that was moved to another domain on that domain’s turn', async () => {
    const rules = await site('User-agent: *\nDisallow: /private');
    const moved = rules.url.replace('127.0.0.1', 'localhost');
    const { url, paths } = await site((_request, response) =>
      response.writeHead(301, { location: `${moved}/robots.txt` }).end(),
    );
    await using crawler = await WebCrawler.open({ allowPrivateAddresses: true });
    const dispatcher = new SemaphoreDispatcher({ permits: 4, rateLimiter: new RateLimiter({ baseDelayMs: 20 }) });
    const results = await crawler.runMany([`${url}/private`, `${url}/open`], polite, dispatcher);
    expect(results.map(({ errorCode }) => errorCode)).toEqual(['ROBOTS_DENIED', null]);
    expect(paths()).not.toContain('/private');
  });
});
