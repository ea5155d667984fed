// What a visit must add to be made, so that all visits together just fit the budget.
// Promise: no pass over the pages: one that is known better moves from one of a few hundred bins in use to another.
//
// At the best use of a budget one more visit adds the same wherever visits are made: the price. Given the price each
// page finds its own interval (gain.ts), and one of which no visit adds so much (it surely changes too fast for the
// budget) is only visited to learn whether that is still so.
import { intervalOfGain, likelihoodBelow, shapeClassOf, shapeOfClass } from './gain.js';
import type { RateBelief } from './rate.js';

/** A page as the schedule sees it. */
export interface Weighted extends RateBelief {
  /** What its freshness counts, compared with 1. */
  readonly importance: number;
}

/** Bins by the shape's class and by the logarithm of scale times importance. */
const BINS_PER_DOUBLING = 8;
const LOWEST = -30;
const HIGHEST = 60;
const BINS = (HIGHEST - LOWEST) * BINS_PER_DOUBLING;

/**
 * Pages that are not worth a visit are visited to learn whether that is so: this part of their share of the budget, and
 * more the likelier it is that they are worth more.
 */
const EXPLORED = 0.01;
const EXPLORED_IF_LIKELY = 0.8;
/** Two visits: one after the long interval, one after the short. */
const PAIR = 2;
/** The price is worked out again after so many changes, or this part of the pages. */
const CHANGES = 64;
const CHANGED_PART = 1 / 64;

export interface PriceBook {
  readonly pages: number;
  /** A page came (no `before`), went (no `after`) or changed. */
  replace(before: Weighted | undefined, after: Weighted | undefined): void;
  /** How long after its last visit a page is to be visited again. */
  intervalSecs(page: Weighted): number;
  /**
   * Of a page that is only visited to learn: after its long interval it has changed in any case, so a second visit
   * follows after this short one, at which a page that deserves more visits would often be found unchanged.
   */
  testSecs(page: Weighted): number | undefined;
  /** The mean rate of change of all pages, for those of which nothing is known. */
  readonly meanRate: number | undefined;
  setBudget(visitsPerSec: number): void;
  /** All it knows, to go on with after a restart. */
  toJSON(): PriceState;
}

/** Of each bin in use: its number, how many pages, their worth, the inverses of their scales, their rates. */
export type PriceState = readonly (readonly [number, number, number, number, number])[];

interface Bin {
  pages: number;
  worth: number;
  inverses: number;
  rates: number;
}

export function createPriceBook(visitsPerSec: number, state: PriceState = []): PriceBook {
  const bins = new Map<number, Bin>();
  let budget = visitsPerSec;
  let pages = 0;
  let totalRate = 0;
  let changes = 0;
  let price: number | undefined;
  for (const [number, count, worth, inverses, rates] of state) {
    bins.set(number, { pages: count, worth, inverses, rates });
    pages += count;
    totalRate += rates;
  }

  /** Visits per second that a page gets in any case, at this price; more if it is not worth any. */
  function leastPerSec(shapeClass: number, worth: number, at: number, isWorthIt: boolean): number {
    const share = budget / Math.max(1, pages);
    if (isWorthIt) return share * EXPLORED;
    return share * (EXPLORED + EXPLORED_IF_LIKELY * likelihoodBelow(shapeOfClass(shapeClass), worth / at));
  }

  /** By halving, in logarithms: the higher the price, the fewer visits. */
  function solved(): number {
    let low = -100;
    let high = 100;
    for (let step = 0; step < 40; step++) {
      const middle = (low + high) / 2;
      if (visitsAt(2 ** middle) > budget) low = middle;
      else high = middle;
    }
    return 2 ** high;
  }

  function visitsAt(at: number): number {
    let visits = 0;
    for (const [number, bin] of bins) {
      const shapeClass = Math.floor(number / BINS);
      const worth = bin.worth / bin.pages;
      const scales = intervalOfGain(shapeClass, at / worth);
      const least = leastPerSec(shapeClass, worth, at, scales < Infinity);
      visits += Math.max(least * bin.pages, bin.inverses / scales);
    }
    return visits;
  }

  function planOf({ shape, scaleSecs, importance }: Weighted): { intervalSecs: number; testSecs?: number | undefined } {
    price ??= solved();
    const shapeClass = shapeClassOf(shape);
    const worth = scaleSecs * importance;
    const intervalSecs = scaleSecs * intervalOfGain(shapeClass, price / worth);
    const isWorthIt = intervalSecs < Infinity;
    const least = leastPerSec(shapeClass, worth, price, isWorthIt);
    if (isWorthIt) return { intervalSecs: Math.min(intervalSecs, 1 / least) };
    return { intervalSecs: PAIR / least, testSecs: price / importance };
  }

  function add(page: Weighted, sign: 1 | -1): void {
    const worth = page.scaleSecs * page.importance;
    const number = binOf(page.shape, worth);
    const bin = bins.get(number) ?? { pages: 0, worth: 0, inverses: 0, rates: 0 };
    const rate = page.shape / page.scaleSecs;
    bin.pages += sign;
    bin.worth += sign * worth;
    bin.inverses += sign / page.scaleSecs;
    bin.rates += sign * rate;
    if (bin.pages < 0.5) bins.delete(number);
    else bins.set(number, bin);
    pages = Math.max(0, pages + sign);
    totalRate = Math.max(0, totalRate + sign * rate);
  }

  return {
    get pages() {
      return pages;
    },
    get meanRate() {
      return pages > 0 && totalRate > 0 ? totalRate / pages : undefined;
    },
    replace(before, after) {
      if (before) add(before, -1);
      if (after) add(after, 1);
      if (++changes < Math.max(CHANGES, pages * CHANGED_PART)) return;
      changes = 0;
      price = undefined;
    },
    intervalSecs: (page) => planOf(page).intervalSecs,
    testSecs: (page) => planOf(page).testSecs,
    setBudget(perSec) {
      if (perSec === budget) return;
      budget = perSec;
      price = undefined;
    },
    toJSON: () => [...bins].map(([number, bin]) => [number, bin.pages, bin.worth, bin.inverses, bin.rates] as const),
  };
}

function binOf(shape: number, worth: number): number {
  const at = Math.floor((Math.log2(worth) - LOWEST) * BINS_PER_DOUBLING);
  return shapeClassOf(shape) * BINS + Math.min(BINS - 1, Math.max(0, Number.isNaN(at) ? 0 : at));
}
