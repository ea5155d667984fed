// What a page of a crawl on pods asks of Redis, in small: `npm run measure -- redis-pages` has it in full.
import { describe, expect, it } from 'vitest';
import { crawlOnTwoServers } from '../support/redis-pages.js';
import { redisMissing } from '../support/redis-server.js';

describe.skipIf(redisMissing)(`a crawl on two pods${redisMissing ? `: skipped, ${redisMissing}` : ''}`, () => {
  it('asks its stores in batches: far fewer calls than pages', async () => {
    const cost = await crawlOnTwoServers({ hosts: 60, pagesPerHost: 60, maxPages: 360 });
    expect(cost.exitCode, cost.output).toBe(0);
    expect(cost.pages).toBe(360);
    // Opening and closing, scripts sent once, and polls, which go by the clock.
    const unrelated = 150 + 15 * cost.seconds;
    expect(cost.sent, JSON.stringify([...cost.commands])).toBeLessThan(0.2 * cost.pages + unrelated);
    // Of some 80 different links on a page ten are new; what a worker knows to be there it does not send again.
    expect(cost.links.offered).toBeLessThan(cost.links.distinct / 2);
    expect(cost.links.offered).toBeGreaterThanOrEqual(cost.accepted);
  });
});
