// Hosts that are slow beside healthy ones lose nothing but time. Counts, no times: it may run beside other tests.
import { describe, expect, it } from 'vitest';
import { crawlerOf, web } from '../support/slow-crawl.js';

describe('hosts that are slow and honest', () => {
  const LATE = { answersAfterMs: 1_500 };

  it('lose nothing but time: what was ended for others is fetched later, and is no retry', async () => {
    const pages = await web({ healthy: 20, pages: 12, latencyMs: 200, slow: 10, manner: LATE });
    const handled: string[] = [];
    const failed: string[] = [];
    const crawler = crawlerOf({
      maxConcurrency: 10,
      minConcurrency: 10,
      maxRequestRetries: 0,
      errorHandler: ({ request }) => void failed.push(request.url),
      failedRequestHandler: ({ request }) => void failed.push(request.url),
      requestHandler: async ({ request, enqueueLinks }) => {
        handled.push(request.url);
        expect(request.retryCount).toBe(0);
        await enqueueLinks();
      },
    });
    const stats = await crawler.run([...pages.slowSeeds, ...pages.healthySeeds]);
    expect(crawler.slowHosts.ended).toBeGreaterThan(0);
    expect(failed).toEqual([]);
    expect(stats.requestsFailed).toBe(0);
    expect(crawler.stats.state.requestsRetries).toBe(0);
    expect(new Set(handled).size).toBe(handled.length);
    expect(handled.length).toBe(20 * 12 + 10);
  });

  it('are not ended while nothing else waits', async () => {
    const pages = await web({ healthy: 0, pages: 1, latencyMs: 0, slow: 15, manner: LATE });
    const crawler = crawlerOf({ maxConcurrency: 15, minConcurrency: 15 });
    const stats = await crawler.run(pages.slowSeeds);
    expect(stats.requestsFinished).toBe(15);
    expect(crawler.slowHosts.ended).toBe(0);
    expect([...pages.slowRequests.values()]).toEqual(Array(15).fill(1));
  });

  it('keep their robots.txt: one that was ended for others is read later, and is no failure', async () => {
    const pages = await web({ healthy: 20, pages: 8, latencyMs: 100, slow: 10, manner: LATE });
    const crawler = crawlerOf({
      maxConcurrency: 8,
      minConcurrency: 8,
      maxRequestRetries: 0,
      respectRobotsTxtFile: true,
      sameDomainDelaySecs: 0.05,
    });
    const stats = await crawler.run([...pages.slowSeeds, ...pages.healthySeeds]);
    expect(crawler.slowHosts.ended).toBeGreaterThan(0);
    expect(stats.requestsFailed).toBe(0);
    expect(stats.requestsFinished).toBe(20 * 8 + 10);
  });
});
