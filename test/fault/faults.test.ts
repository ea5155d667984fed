// A sample of the fault classes, others with every FAULTS_SEED; FAULTS=all takes each once, FAULTS=REGEXP those it names.
// The verdict is that of web/checker.mjs. `npm run measure -- faults` takes each five times.
import { describe, expect, it } from 'vitest';
import { missingFor, runClass } from './suite/bench.js';
import { isClean } from './suite/case.js';
import { FAULT_CLASSES, sampleOf } from './suite/classes.js';

const wanted = process.env.FAULTS;
const seed = Number(process.env.FAULTS_SEED ?? 1);
/** The measure takes 22. */
const PAGES_PER_HOST = 14;

function chosen() {
  if (wanted === 'all') return [...FAULT_CLASSES];
  if (wanted !== undefined) return FAULT_CLASSES.filter(({ name }) => new RegExp(wanted).test(name));
  const sampled = FAULT_CLASSES.filter(({ inCi }) => inCi === 'sample');
  return [...FAULT_CLASSES.filter(({ inCi }) => inCi === 'always'), ...sampleOf(sampled, seed)];
}

describe('a crawl under faults', () => {
  it('has at least 33 classes of faults, each with a name of its own', () => {
    const names = FAULT_CLASSES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(33);
  });

  it.for(chosen())(
    'loses, doubles and hastens nothing, and ends: $name',
    { timeout: 400_000 },
    async (one, context) => {
      const missing = missingFor(one);
      if (missing !== undefined) return context.skip(missing);
      const report = await runClass(one, seed, { pagesPerHost: PAGES_PER_HOST });
      const isGood = report.complaints.length === 0 && report.verdict !== undefined && isClean(report.verdict);
      expect(isGood, JSON.stringify(report, null, 1)).toBe(true);
    },
  );
});
