// The schedule of `orcrawl watch` on a simulated clock, beside the closed-form optimum and uniform visits.
import type { Figure } from '../measure.js';
import { type Importance, pagesOf, simulate, type SimulationResult } from './schedule-simulation.js';
import { mostOverUniform } from './schedule-bound.js';

/** FRESH_PAGES for a smaller run. */
const PAGES = Number(process.env.FRESH_PAGES ?? 100_000);
/** Visits per page until the estimates have settled: where the budget is small, most visits teach little. */
const ROUNDS = { 0.1: 300, 1: 60, 10: 40 } as const;
/** Seeds of the sites whose pages differ in importance. */
const SITES = [1, 2, 3, 4, 5];

/** FRESH_PARTS=importance: only what differs between pages; the rows of pages that count alike stay. */
export const isPart = process.env.FRESH_PARTS === 'importance';

export async function measure(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const kind of ['gamma', 'two humps'] as const) {
    for (const budget of isPart ? [] : ([0.1, 1, 10] as const)) {
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
        goal: '≥ 1.3 × (where all pages count alike, beyond any schedule: see below)',
      });
    }
    for (const importance of ['in-degree 2.1', 'Zipf 1'] as const) figures.push(...weighed(kind, importance));
  }
  const { ratio, price, slope } = mostOverUniform();
  figures.push({
    what: 'pages that count alike: the most that any schedule wins over uniform visits at budget 1, whatever the rates (a bound with its proof)',
    measured: `${ratio.toFixed(3)} × (price ${price.toFixed(3)}, slope ${slope.toFixed(3)})`,
    goal: 'below 1.3 ×: that goal cannot be met',
  });
  return figures;
}

/**
 * A few pages have much of the weight, and whether those change often decides how much can be won: one draw of rates says
 * little, so there are several.
 */
function weighed(kind: 'gamma' | 'two humps', importance: Importance): Figure[] {
  const count = Math.max(1, Math.round(PAGES / 5));
  const sites = SITES.map((seed) => simulate(pagesOf(kind, count, seed, importance), 1, ROUNDS[1], 2));
  const over = (of: (site: SimulationResult) => number): string => {
    const ratios = sites.map(of);
    const mean = ratios.reduce((sum, one) => sum + one, 0) / ratios.length;
    return `${mean.toFixed(3)} × (${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)})`;
  };
  const what = `${kind}, budget 1, importance by links (${importance}), ${sites.length} sites of ${count} pages`;
  return [
    {
      what: `${what}: mean freshness over the optimum, the lowest of them`,
      measured: percent(Math.min(...sites.map(({ scheduled, optimum }) => scheduled / optimum))),
      goal: '≥ 95 %',
    },
    {
      what: `${what}: mean freshness over that of uniform visits`,
      measured: `${over(({ scheduled, uniform }) => scheduled / uniform)}; the optimum itself ${over(({ optimum, uniform }) => optimum / uniform)}`,
      goal: '≥ 1.3 ×',
    },
  ];
}

const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;
