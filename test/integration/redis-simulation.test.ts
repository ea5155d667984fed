// A small version of `npm run measure -- simulation`: a crawl without a network on a simulated clock.
import { describe, expect, it } from 'vitest';
import { simulate } from '../../bench/measures/simulation.js';
import { redisMissing } from '../support/redis-server.js';

describe.skipIf(redisMissing)('a simulated crawl over the Redis frontier', () => {
  it('asks no domain before it is due, and accepts every URL exactly once', async () => {
    const found = await simulate(300, 12_000);
    expect(found).toMatchObject({ tooEarly: 0, isExact: true, domainsVisited: 300 });
    // 1,170 visits or more of 300 domains, each resting 70 s: at least three rests were waited for.
    expect(found.simulatedSeconds).toBeGreaterThanOrEqual(2 * 70);
    expect(found.visits).toBeGreaterThanOrEqual(1_170);
  });
});
