// The figures of docs/fresh.md, small: the whole ones are `npm run measure -- fresh-schedule` and its sisters.
import { describe, expect, it } from 'vitest';
import { judgePages } from '../../bench/measures/fresh-pages.js';
import { realPages } from '../../bench/measures/page-mutations.js';
import { excessOf, mostOverUniform, RATES } from '../../bench/measures/schedule-bound.js';
import { optimalFreshness, pagesOf, simulate } from '../../bench/measures/schedule-simulation.js';

describe('the schedule of visits', () => {
  it.each([
    ['gamma', 0.1, 200, 0.93],
    ['gamma', 1, 50, 0.95],
    ['gamma', 10, 30, 0.95],
    ['two humps', 0.1, 250, 0.92],
    ['two humps', 1, 50, 0.95],
    ['two humps', 10, 30, 0.95],
  ] as const)('comes close to the optimum: %s, budget %s', { timeout: 300_000 }, (kind, budget, rounds, least) => {
    const { scheduled, optimum, spent } = simulate(pagesOf(kind, 400, 1), budget, rounds, 2);
    expect(scheduled / optimum).toBeGreaterThan(least);
    expect(spent).toBeLessThanOrEqual(1.01);
  });

  it('beats uniform visits where importance differs', { timeout: 300_000 }, () => {
    const { scheduled, uniform } = simulate(pagesOf('two humps', 400, 1, true), 0.1, 100, 2);
    expect(scheduled / uniform).toBeGreaterThan(1.3);
  });

  it('could not win 1.3 times over uniform visits at budget 1: no schedule can', () => {
    const bound = mostOverUniform();
    expect(bound.ratio).toBeLessThan(1.15);
    for (const rate of RATES) expect(excessOf(rate * 1.0057, bound)).toBeLessThanOrEqual(1e-9);
    // The optimum of rates that come close to it is below the bound, and of the distributions of the measure far below.
    const pages = Array.from({ length: 100 }, (_, n) => ({ rate: n < 30 ? 20 : 1, importance: 1 }));
    const total = pages.reduce((sum, { rate }) => sum + rate, 0);
    const uniform =
      pages.reduce((sum, { rate }) => sum - (Math.expm1((-rate * 100) / total) * total) / rate / 100, 0) / 100;
    expect(optimalFreshness(pages, total) / uniform).toBeLessThan(bound.ratio);
  });

  it('is judged by an optimum that is right where it is known', () => {
    const alike = Array.from({ length: 10 }, () => ({ rate: 1, importance: 1 }));
    expect(optimalFreshness(alike, 10)).toBeCloseTo(1 - Math.exp(-1), 6);
  });
});

const hasPages = !realPages(1_000).next().done;

describe.skipIf(!hasPages)('changes and copies of the given pages (needs ../shared/data)', () => {
  it('tells content from furniture, and copies from strangers', { timeout: 600_000 }, () => {
    const found = judgePages(40);
    expect(found.pages).toBeGreaterThan(20);
    expect(found.missed).toBe(0);
    expect(found.falseAlarms).toBeLessThanOrEqual(1);
    expect(found.found / found.compared).toBeGreaterThanOrEqual(0.9);
    expect(found.falseMatches / found.pairs).toBeLessThanOrEqual(0.002);
  });
});
