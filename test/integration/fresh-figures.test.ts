// The figures of docs/fresh.md, small: the whole ones are `npm run measure -- fresh-schedule` and its sisters.
import { describe, expect, it } from 'vitest';
import { judgeChanges, type Tally } from '../../bench/measures/fresh-changes.js';
import { openFull } from '../../bench/measures/fresh-index.js';
import { judgePages } from '../../bench/measures/fresh-pages.js';
import { realPages } from '../../bench/measures/page-mutations.js';
import { excessOf, mostOverUniform, RATES } from '../../bench/measures/schedule-bound.js';
import { updateTwice } from '../../bench/measures/fresh-update.js';
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
    const { scheduled, uniform } = simulate(pagesOf('two humps', 400, 1, 'in-degree 2.1, at most 256'), 0.1, 100, 2);
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

describe('an update of pages that did not change', () => {
  // CPU time, not time: 6 to 15 % at 10,000 pages; of few pages the start of the run is a larger part.
  it('costs a quarter of the first crawl, and no body comes twice', { timeout: 300_000 }, async () => {
    const pages = 300;
    const { first, second, bodies, unchanged } = await updateTwice(pages);
    expect([first.report.update, second.report.update]).toMatchObject([
      { new: pages, same: 0 },
      { new: 0, changed: 0, same: pages, gone: 0 },
    ]);
    // Once each, and robots.txt and the sitemap's lists of the first run.
    expect(unchanged).toBe(pages);
    expect(bodies).toBeLessThan(pages * 1.02);
    expect(second.cpuMs / first.cpuMs).toBeLessThanOrEqual(0.25);
  });
});

describe('a page memory', () => {
  it('takes hardly any memory beside the mapped file', { timeout: 300_000 }, async () => {
    const { moreBytes } = await openFull(50_000);
    expect(moreBytes).toBeLessThan(30 * 2 ** 20);
  });
});

const hasPages = !realPages(1_000).next().done;

describe.skipIf(!hasPages)('changes and copies of the given pages (needs ../shared/data)', () => {
  it('tells content from furniture, and copies from strangers', { timeout: 600_000 }, () => {
    const found = judgePages(60);
    expect(found.pages).toBeGreaterThan(20);
    expect(found.missed).toBe(0);
    expect(found.falseAlarms).toBeLessThanOrEqual(1);
    expect(found.found / found.compared).toBeGreaterThanOrEqual(0.9);
    expect(found.falseMatches / found.pairs).toBeLessThanOrEqual(0.002);
    expect(found.mistaken).toBe(0);
  });

  it('tells furniture of 22 kinds in eight languages from changes of seven kinds', { timeout: 600_000 }, () => {
    const { pages, alarms, misses } = judgeChanges(131, 3);
    const sum = (kinds: ReadonlyMap<string, Tally>) =>
      [...kinds.values()].reduce((all, { tried, wrong }) => ({ tried: all.tried + tried, wrong: all.wrong + wrong }), {
        tried: 0,
        wrong: 0,
      });
    expect(pages).toBeGreaterThan(8);
    expect(sum(alarms).wrong / sum(alarms).tried).toBeLessThanOrEqual(0.02);
    expect(sum(misses).tried).toBeGreaterThan(80);
    expect(sum(misses).wrong).toBe(0);
  });
});
