// Polite mode against a server that logs everything: robots.txt first, nothing forbidden, no gap under the delay,
// rests that hosts ask for, hosts that are down. The server's log is the witness.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpCrawler, type HttpCrawlerOptions, RequestQueue } from '../../src/index.js';
import { auditVisits } from '../../src/politeness/audit.js';
import { Simweb } from '../../src/testing/index.js';
import { memoryConfig, silent, temporaryFolder, testConfig } from '../support/crawl.js';

async function simweb(...args: Parameters<typeof Simweb.start>): Promise<Simweb> {
  const web = await Simweb.start(...args);
  onTestFinished(() => web.close());
  return web;
}

/** A server of the test's own; its log tells path and time of each request. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const log: { path: string; host: string; startMs: number }[] = [];
  const server = createServer((request, response) => {
    log.push({ path: request.url!, host: request.headers.host!, startMs: performance.now() });
    answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => new Promise<void>((closed) => (server.close(() => closed()), server.closeAllConnections())));
  const { port } = server.address() as AddressInfo;
  return { log, port, origin: `http://127.0.0.1:${port}`, paths: () => log.map((one) => one.path) };
}

function politeCrawler(options: HttpCrawlerOptions, config = memoryConfig()) {
  const visited: string[] = [];
  const skipped: { url: string; reason: string }[] = [];
  const failed: { url: string; code: string }[] = [];
  const crawler = new HttpCrawler(
    {
      log: silent,
      allowPrivateAddresses: true,
      retryDelayMs: 20,
      requestHandler: async ({ request, enqueueLinks }) => {
        visited.push(request.loadedUrl);
        await enqueueLinks({ strategy: 'all' });
      },
      failedRequestHandler: ({ request }, error) => {
        failed.push({ url: request.url, code: (error as { code?: string }).code ?? 'none' });
      },
      onSkippedRequest: (one) => void skipped.push(one),
      ...options,
    },
    config,
  );
  return { crawler, visited, skipped, failed };
}

describe('robots.txt', () => {
  it('is read once a host, before anything else, and what it forbids is never asked for', async () => {
    const web = await simweb({ hosts: 3, pagesPerHost: 20, privatePages: 0.5, crossHostLinks: 0.3, pageBytes: 1000 });
    const { crawler, visited, skipped } = politeCrawler({ respectRobotsTxtFile: true });
    await crawler.run([...web.seeds(), web.url(0, '/private/not-linked')]);
    for (let host = 0; host < 3; host++) {
      const [first, ...others] = web.requests({ host });
      expect(first!.path).toBe('/robots.txt');
      expect(others.some(({ path: asked }) => asked === '/robots.txt' || asked.startsWith('/private/'))).toBe(false);
    }
    expect(new Set(visited).size).toBe([...web.allUrls()].length);
    expect(new Set(skipped.map(({ reason }) => reason))).toEqual(new Set(['robotsTxt']));
    expect(skipped.some(({ url }) => url.endsWith('/private/not-linked'))).toBe(true);
  });

  it('skips thousands of forbidden requests of a paced domain without waiting for turns', async () => {
    const web = await serve((request, response) => {
      if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /no/');
      else response.setHeader('content-type', 'text/html').end('<p>page');
    });
    const { crawler, visited, skipped } = politeCrawler({ respectRobotsTxtFile: true, sameDomainDelaySecs: 0.3 });
    const forbidden = Array.from({ length: 2_000 }, (_, i) => `${web.origin}/no/${i}`);
    await crawler.run([...forbidden.slice(0, 1_000), `${web.origin}/yes`, ...forbidden.slice(1_000)]);
    expect(visited).toEqual([`${web.origin}/yes`]);
    expect(skipped.length).toBe(2_000);
    expect(web.paths()).toEqual(['/robots.txt', '/yes']);
    const { counters } = await (await crawler.getRequestQueue()).getInfo();
    expect(counters).toMatchObject({ done: 1, skipped: 2_000, queued: 0, leased: 0 });
  });

  it('allows everything when it answers 4xx', async () => {
    const web = await simweb({ pagesPerHost: 3, pageBytes: 500, robots: { status: 403 } });
    const { crawler, visited } = politeCrawler({ respectRobotsTxtFile: true });
    await crawler.run(web.seeds());
    expect(visited.length).toBe(3);
  });

  it('fails its host’s requests after three tries that get a 5xx, pausing in between', async () => {
    const web = await simweb({ pagesPerHost: 5, pageBytes: 500, robots: { status: 500 } });
    const { crawler, failed, visited } = politeCrawler({ respectRobotsTxtFile: true, sameDomainDelaySecs: 0.01 });
    await crawler.run([1, 2, 3, 4].map((page) => web.url(0, page)));
    expect(visited).toEqual([]);
    expect(failed.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => 'ROBOTS_UNREACHABLE'));
    expect(web.requests({}).map(({ path: asked }) => asked)).toEqual(['/robots.txt', '/robots.txt', '/robots.txt']);
    const [first, second, third] = web.requests({});
    // 5 × and 25 × retryDelayMs.
    expect(second!.startMs - first!.endMs!).toBeGreaterThanOrEqual(100);
    expect(third!.startMs - second!.endMs!).toBeGreaterThanOrEqual(500);
  });

  it('is looked for where redirects lead, each hop on a turn of its own', async () => {
    const web = await serve((request, response) => {
      if (request.url === '/robots.txt') response.writeHead(301, { location: '/a' }).end();
      else if (request.url === '/a') response.writeHead(302, { location: '/b' }).end();
      else if (request.url === '/b') response.end('User-agent: *\nDisallow: /no');
      else response.setHeader('content-type', 'text/html').end('<p>page');
    });
    const { crawler, visited, skipped } = politeCrawler({ respectRobotsTxtFile: true, sameDomainDelaySecs: 0.1 });
    await crawler.run([`${web.origin}/no`, `${web.origin}/yes`]);
    expect(web.paths()).toEqual(['/robots.txt', '/a', '/b', '/yes']);
    expect(visited).toEqual([`${web.origin}/yes`]);
    expect(skipped).toEqual([{ url: `${web.origin}/no`, reason: 'robotsTxt' }]);
    const starts = web.log.map(({ startMs }) => startMs);
    for (let i = 1; i < starts.length; i++) expect(starts[i]! - starts[i - 1]!).toBeGreaterThanOrEqual(100);
  });

  it('is fetched on the turn of the domain it was moved to', async () => {
    const web = await simweb({ hosts: 2, pagesPerHost: 3, pageBytes: 500, linksPerPage: 3 });
    web.serve('/robots.txt', { status: 301, headers: { location: web.url(1, '/moved.txt') } }, 0);
    web.serve('/moved.txt', { body: `User-agent: *\nDisallow: ${new URL(web.url(0, 1)).pathname}\n` }, 1);
    const { crawler, visited } = politeCrawler({ respectRobotsTxtFile: true, sameDomainDelaySecs: 0.1 });
    await crawler.run([web.url(0, 1), web.url(0, 2), web.url(1, 1), web.url(1, 2)]);
    expect(visited).not.toContain(web.url(0, 1));
    expect(visited).toContain(web.url(0, 2));
    for (const host of [0, 1]) expect(web.gaps(host).endToStartMs).toBeGreaterThanOrEqual(100);
  });

  it('is unreachable where it leads to a private address, which is never asked', async () => {
    const victim = await serve((_request, response) => response.end('User-agent: *\nAllow: /'));
    const web = await serve((_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.3:${victim.port}/robots.txt` }).end();
    });
    for (const sameDomainDelaySecs of [0, 0.01]) {
      const errors: string[] = [];
      const { crawler, failed } = politeCrawler({
        respectRobotsTxtFile: true,
        sameDomainDelaySecs,
        allowPrivateAddresses: false,
        errorHandler: undefined,
        failedRequestHandler: (_context, error) => void errors.push(error.message),
      });
      await crawler.run([`${web.origin}/page`]);
      expect(failed).toEqual([]);
      expect(errors).toEqual([expect.stringContaining('ADDRESS_REFUSED')]);
    }
    expect(new Set(web.paths())).toEqual(new Set(['/robots.txt']));
    expect(victim.log).toEqual([]);
  });

  it('is cut at 500 KiB, and a body that never ends does not hold the crawl', async () => {
    const web = await serve((request, response) => {
      if (request.url !== '/robots.txt') return void response.setHeader('content-type', 'text/html').end('<p>page');
      response.write('User-agent: *\nDisallow: /no\n');
      const more = () => {
        while (response.write('# padding padding padding\n'.repeat(1_000)));
      };
      response.on('drain', more);
      more();
    });
    const { crawler, visited, skipped } = politeCrawler({ respectRobotsTxtFile: true });
    await crawler.run([`${web.origin}/no`, `${web.origin}/yes`]);
    expect(visited).toEqual([`${web.origin}/yes`]);
    expect(skipped.length).toBe(1);
  });

  it('paces its domain by a Crawl-delay, however many requests were leased before it was known', async () => {
    const web = await simweb({ pagesPerHost: 12, pageBytes: 500, robots: { crawlDelaySecs: 0.2 } });
    const { crawler, visited } = politeCrawler({ respectRobotsTxtFile: true });
    await crawler.run([0, 1, 2, 3, 4, 5].map((page) => web.url(0, page)));
    expect(visited.length).toBeGreaterThanOrEqual(6);
    expect(web.gaps(0).endToStartMs).toBeGreaterThanOrEqual(200);
  }, 30_000);

  it('skips a host whose Crawl-delay is longer than anybody waits', async () => {
    const web = await simweb({ pagesPerHost: 3, pageBytes: 500, robots: { crawlDelaySecs: 7_200 } });
    const { crawler, skipped, visited } = politeCrawler({ respectRobotsTxtFile: true });
    await crawler.run(web.seeds());
    expect(visited).toEqual([]);
    expect(skipped.map(({ reason }) => reason)).toEqual(['crawlDelay']);
  });

  it('is kept for the next run over the queue', async () => {
    const web = await simweb({ pagesPerHost: 6, pageBytes: 500 });
    const config = await testConfig();
    for (const page of [1, 2]) {
      const requestQueue = await RequestQueue.open('kept', { config });
      const { crawler } = politeCrawler({ respectRobotsTxtFile: true, requestQueue, maxCrawlDepth: 0 }, config);
      await crawler.run([web.url(0, page)]);
      await crawler.teardown();
    }
    expect(web.requests({ path: '/robots.txt' }).length).toBe(1);
  });
});

describe('pacing', () => {
  it('shows the server no gap under the delay, robots.txt and redirects included', async () => {
    const web = await simweb({
      hosts: 4,
      pagesPerHost: 6,
      crossHostLinks: 0.3,
      pageBytes: 500,
      latencyMs: [0, 40],
      redirects: { share: 0.3, maxHops: 2 },
    });
    const folder = await temporaryFolder();
    const { crawler, visited } = politeCrawler(
      { respectRobotsTxtFile: true, sameDomainDelaySecs: 0.12, maxConcurrency: 20 },
      await testConfig(folder),
    );
    await crawler.run(web.seeds());
    await crawler.teardown();
    expect(visited.length).toBe([...web.allUrls()].length);
    for (let host = 0; host < 4; host++) {
      expect(web.gaps(host).endToStartMs).toBeGreaterThanOrEqual(120);
    }
    const audit = await auditVisits(path.join(folder, 'visits'));
    expect(audit.violationCount).toBe(0);
    expect(audit.requests).toBe(web.served());
    expect(audit.domains.length).toBe(4);
    expect(audit.domains.every(({ robotsRequests, requiredMs }) => robotsRequests === 1 && requiredMs === 120)).toBe(
      true,
    );
  }, 60_000);

  it('has a line in the log for what handlers send themselves, which nothing paces', async () => {
    const web = await simweb({ hosts: 1, pagesPerHost: 2 });
    const folder = await temporaryFolder();
    const { crawler } = politeCrawler(
      {
        respectRobotsTxtFile: true,
        sameDomainDelaySecs: 0.05,
        requestHandler: async ({ sendRequest }) => {
          for (let call = 0; call < 2; call++) await sendRequest({ url: web.url(0, 1) });
        },
      },
      await testConfig(folder),
    );
    await crawler.run([web.url(0)]);
    await crawler.teardown();
    const audit = await auditVisits(path.join(folder, 'visits'));
    expect(audit).toMatchObject({ sentRequests: 2, violationCount: 0 });
    expect(audit.requests).toBe(web.served());
  });

  it('waits as long as Retry-After says, then succeeds, in polite mode and without', async () => {
    const modes = [{}, { sameDomainDelaySecs: 0.05 }, { respectRobotsTxtFile: true, useSessionPool: false }];
    const check = async (mode: HttpCrawlerOptions) => {
      const web = await simweb({ pagesPerHost: 1 });
      const { crawler, visited, failed } = politeCrawler({ ...mode, maxRequestRetries: 0, maxCrawlDepth: 0 });
      await crawler.run([web.url(0, '/_/429/a?after=3'), web.url(0, '/_/429/b?after=3')]);
      expect(failed).toEqual([]);
      expect(visited.length).toBe(2);
      for (const key of ['a', 'b']) {
        const asked = web.requests({}).filter(({ path: one }) => one.startsWith(`/_/429/${key}`));
        const last = asked[asked.length - 1]!;
        for (let i = 1; i < asked.length; i++) {
          const gap = asked[i]!.startMs - asked[i - 1]!.endMs!;
          expect(gap).toBeGreaterThanOrEqual(3_000);
        }
        expect(asked.length).toBeLessThanOrEqual(2);
        expect(last.status).toBe(200);
      }
    };
    await Promise.all(modes.map(check));
  }, 60_000);

  it('fails a request whose Retry-After is longer than maxDelaySecs', async () => {
    const web = await simweb({ pagesPerHost: 1 });
    for (const polite of [{}, { sameDomainDelaySecs: 0.01 }]) {
      const { crawler, failed } = politeCrawler({ ...polite, maxDelaySecs: 2 });
      await crawler.run([web.url(0, '/_/503/late?after=9')]);
      expect(failed.map(({ code }) => code)).toEqual(['RETRY_AFTER_TOO_LONG']);
    }
  });

  it('rests an overloaded domain longer each time, and recovers', async () => {
    let left = 3;
    const web = await serve((_request, response) => {
      response.statusCode = left-- > 0 ? 503 : 200;
      response.setHeader('content-type', 'text/html').end('<p>page');
    });
    const { crawler, visited } = politeCrawler({ sameDomainDelaySecs: 0.05, retryDelayMs: 100 });
    await crawler.run([1, 2, 3, 4, 5, 6].map((page) => `${web.origin}/${page}`));
    expect(visited.length).toBe(6);
    const gaps = web.log.slice(1).map(({ startMs }, i) => startMs - web.log[i]!.startMs);
    expect(gaps[0]).toBeGreaterThanOrEqual(100);
    expect(gaps[1]).toBeGreaterThanOrEqual(200);
    expect(gaps[2]).toBeGreaterThanOrEqual(400);
    expect(gaps[gaps.length - 1]).toBeLessThan(gaps[2]!);
  });

  it('gives up a host that cannot be reached five times in a row, with all its requests', async () => {
    const web = await serve(() => undefined);
    const dead = `http://127.0.0.2:${web.port}`;
    const { crawler, failed } = politeCrawler({ sameDomainDelaySecs: 0.01, maxRequestRetries: 3 });
    await crawler.run(Array.from({ length: 300 }, (_, page) => `${dead}/${page}`));
    const codes = failed.map(({ code }) => code);
    expect(codes.filter((code) => code === 'HOST_DOWN').length).toBe(299);
    expect(codes.filter((code) => code === 'CONNECT_REFUSED').length).toBe(1);
  });

  it('keeps within its connections to one address, whatever the names', async () => {
    const web = await simweb({ addressing: 'ports', hosts: 30, pagesPerHost: 2, pageBytes: 500, latencyMs: 50 });
    const { crawler, visited } = politeCrawler({
      respectRobotsTxtFile: true,
      maxConnectionsPerAddress: 3,
      minConcurrency: 30,
    });
    await crawler.run(Array.from({ length: 30 }, (_, host) => web.url(host)));
    expect(visited.length).toBe(60);
    expect(web.peakOpen()).toBeLessThanOrEqual(3);
  });
});

describe('links in polite mode', () => {
  it('are not followed where the page or the link asks so', async () => {
    const web = await simweb({ pagesPerHost: 1 });
    const html = (body: string) => web.url(0, `/_/html?body=${encodeURIComponent(body)}`);
    const seeds = [
      html('<a href="/ok">x</a><a href="/rel" rel="external nofollow">x</a>'),
      html('<meta name=robots content="noindex,nofollow"><a href="/meta">x</a>'),
      web.url(0, '/_/meta-robots/none'),
      web.url(0, '/_/headers?X-Robots-Tag=otherbot%3A%20nofollow'),
    ];
    web.serve('/tagged', {
      headers: { 'x-robots-tag': 'nofollow', 'content-type': 'text/html' },
      body: '<a href=/tag>',
    });
    const { crawler, visited, skipped } = politeCrawler({ sameDomainDelaySecs: 0.001, maxCrawlDepth: 1 });
    await crawler.run([...seeds, web.url(0, '/tagged')]);
    const asked = web.requests({}).map((one) => one.path);
    expect(asked).toContain('/ok');
    for (const path of ['/rel', '/meta', '/tag']) expect(asked).not.toContain(path);
    expect(visited.length).toBeGreaterThanOrEqual(5);
    expect(
      skipped
        .filter(({ reason }) => reason === 'nofollow')
        .map(({ url }) => new URL(url).pathname)
        .sort(),
    ).toEqual(expect.arrayContaining(['/meta', '/rel', '/tag']));
  });
});
