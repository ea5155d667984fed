// The schedule of `orcrawl watch` on a simulated clock, beside the closed-form optimum and uniform visits.
import type { Figure } from '../measure.js';
import { pagesOf, simulate } from './schedule-simulation.js';
import { mostOverUniform } from './schedule-bound.js';

/** FRESH_PAGES for a smaller run. */
const PAGES = Number(process.env.FRESH_PAGES ?? 100_000);
/** Visits per page until the estimates have settled: where the budget is small, most visits teach little. */
const ROUNDS = { 0.1: 300, 1: 60, 10: 40 } as const;

export async function measure(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const kind of ['gamma', 'two humps'] as const) {
    for (const budget of [0.1, 1, 10] as const) {
      const result = simulate(pagesOf(kind, PAGES, 1), budget, ROUNDS[budget], 2);
      const { scheduled, optimum, uniform } = result;
      figures.push({
        what: `${kind}, budget ${budget} × the total rate: mean freshness over the optimum (${optimum.toFixed(3)})`,
        measured: `${percent(scheduled / optimum)} (${scheduled.toFixed(3)}; uniform ${uniform.toFixed(3)}; ${result.microsecsPerVisit.toFixed(1)} µs per visit)`,
        goal: '≥ 95 %',
      });
      if (budget !== 1) continue;
      figures.push({
        what: `${kind}, budget 1: mean freshness over that of uniform visits`,
        measured: `${(scheduled / uniform).toFixed(3)} × (the optimum itself: ${(optimum / uniform).toFixed(3)} ×)`,
        goal: '≥ 1.3 × (beyond any schedule: see below)',
      });
    }
    const important = simulate(pagesOf(kind, PAGES, 1, true), 1, ROUNDS[1], 2);
    figures.push({
      what: `${kind}, budget 1, weighted by importance: over the optimum, and over uniform visits`,
      measured: `${percent(important.scheduled / important.optimum)}, ${(important.scheduled / important.uniform).toFixed(3)} ×`,
      goal: '≥ 95 %',
    });
  }
  const { ratio, price, slope } = mostOverUniform();
  figures.push({
    what: 'the most that any schedule wins over uniform visits at budget 1, whatever the rates (a bound with its proof)',
    measured: `${ratio.toFixed(3)} × (price ${price.toFixed(3)}, slope ${slope.toFixed(3)})`,
    goal: 'below 1.3 ×: that goal cannot be met',
  });
  return figures;
}

const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;
