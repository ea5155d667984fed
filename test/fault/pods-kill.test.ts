// A crawl on pods whose processes and servers are killed: nothing lost, nothing twice, no request too early.
// `npm run measure -- pods-kill` does it at length.
import { describe, expect, it } from 'vitest';
import { crawlOnPods } from '../support/pods-crawl.js';
import { redisMissing } from '../support/redis-server.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`kills of a crawl on pods are skipped: ${redisMissing}`);

describe.skipIf(redisMissing)('a crawl on pods under fire', () => {
  it(
    'loses nothing and stays polite when workers, servers and the orchestrator are killed',
    { timeout: 240_000 },
    async () => {
      const report = await crawlOnPods({
        pods: 2,
        parsers: 1,
        hosts: 12,
        pagesPerHost: 8,
        delaySecs: 0.2,
        kills: ['fetcher', 'redis', 'parser', 'orchestrator'],
        patienceMs: 200_000,
      });
      expect(report).toMatchObject({ exitCode: 0, missing: 0, duplicates: 0, misplaced: 0, stored: report.expected });
      expect(report.kills).toMatchObject({ orchestrator: 1, redis: 1 });
      expect(report.smallestGapMs).toBeGreaterThanOrEqual(200);
    },
  );
});
