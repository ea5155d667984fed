// A domain whose queue grows past its head, spills to disk and comes back in uneven waves: each page once (review D1).
// `npm run measure -- waves` does it with 50,000 links at more heads.
import { describe, expect, it } from 'vitest';
import { redisMissing } from '../support/redis-server.js';
import { runClass } from './suite/bench.js';
import { isClean } from './suite/case.js';
import { wavesClass } from './suite/waves.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`waves over Redis are skipped: ${redisMissing}`);

describe.skipIf(redisMissing)('a domain in uneven waves', () => {
  it.each([
    { head: 1, kills: 0, pages: 500 },
    { head: 2, kills: 2, pages: 500 },
    { head: 7, kills: 0, pages: 500 },
    { head: 400, kills: 1, pages: 1_001 },
  ])('gives each of $pages pages once: head $head, $kills kills', { timeout: 400_000 }, async (plan) => {
    const largest = Math.min(1_600, Math.ceil(plan.pages / 2));
    const report = await runClass(wavesClass({ ...plan, largest }), 5);
    const isGood = report.complaints.length === 0 && report.verdict !== undefined && isClean(report.verdict);
    expect(isGood, JSON.stringify(report, null, 1)).toBe(true);
    expect(report.kills).toBe(plan.kills);
  });
});
