// Guarantee 3 between processes: two crawls on one queue, robots.txt included, and no gap under the delay at any host.
// The large version, with its rates, is `npm run measure -- polite`.
import { describe, expect, it } from 'vitest';
import { runPolite } from '../../bench/measures/polite.js';

describe('two processes on one queue', () => {
  it('show no server a gap under its delay, and their log proves it', async () => {
    const plan = { hosts: 60, delaySecs: 0.5, seconds: 8, warmUpSecs: 3, concurrency: 20, latencyMs: [5, 30] } as const;
    const run = await runPolite(plan);
    expect(run.robotsRequests).toBe(60);
    expect(run.requests).toBeGreaterThan(180);
    expect(run.smallestGapMs).toBeGreaterThanOrEqual(500);
    expect(run.violations).toBe(0);
    expect(run.auditedRequests).toBe(run.requests);
  });
});
