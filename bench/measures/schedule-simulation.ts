// The product's schedule on a simulated clock, beside the closed-form optimum and uniform visits.
// The optimum is worked out here, page by page, and shares no code with the schedule.
import { createSchedule } from '../../src/fresh/schedule/schedule.js';
import { afterVisit } from '../../src/fresh/schedule/rate.js';

export interface SimulatedPage {
  /** Changes per second. */
  readonly rate: number;
  readonly importance: number;
}

export interface SimulationResult {
  /** Mean freshness, weighted by importance, once the estimates have settled. */
  readonly scheduled: number;
  readonly optimum: number;
  readonly uniform: number;
  /** Visits per second, over the budget. */
  readonly spent: number;
  readonly microsecsPerVisit: number;
}

export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Marsaglia and Tsang's method. */
export function gamma(shape: number, random: () => number): number {
  if (shape < 1) return gamma(shape + 1, random) * (random() || 1e-12) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(random() || 1e-12)) * Math.cos(2 * Math.PI * random());
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(random() || 1e-12) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

const DAY_SECS = 86_400;
const MOST_IMPORTANT = 4_096;

/** How much pages count: all alike, or as much as pages link to them. */
export type Importance = keyof typeof IMPORTANCE;

/**
 * The importance of the page of a rank (1: the most linked to) among so many; no page has fewer than one link. Ranks have
 * nothing to do with rates of change.
 */
const IMPORTANCE = {
  alike: () => 1,
  /** Zipf's law with exponent 1. */
  'Zipf 1': (rank: number, count: number) => count / rank,
  /** In-degrees of the web: a power law with exponent 2.1 (Broder et al., Graph structure in the web, 2000). */
  'in-degree 2.1': (rank: number, count: number) => (count / rank) ** (1 / 1.1),
  /** The same, where no page has more than 256 links: a site rather than the web. */
  'in-degree 2.1, at most 256': (rank: number, count: number) => Math.min(256, (count / rank) ** (1 / 1.1)),
} as const;

/** Rates with a mean of one change per day. */
export function pagesOf(
  kind: 'gamma' | 'two humps',
  count: number,
  seed: number,
  importance: Importance = 'alike',
): SimulatedPage[] {
  const random = randomFrom(seed);
  const rates = Array.from({ length: count }, () => {
    const slow = 0.05 * gamma(4, random);
    const fast = 0.75 * gamma(4, random);
    const perDay = kind === 'gamma' ? 2 * gamma(0.5, random) : random() < 0.7 ? slow / 1.03 : fast / 1.03;
    return Math.max(perDay, 1e-5) / DAY_SECS;
  });
  // Rates are drawn one by one: the order of pages has nothing to do with them.
  return rates.map((rate, page) => ({ rate, importance: IMPORTANCE[importance](page + 1, count) }));
}

/** The part of the time that a page is fresh that is visited every `gap`, with x = rate * gap. */
const freshness = (x: number): number => (x < 1e-8 ? 1 - x / 2 : -Math.expm1(-x) / x);
const marginal = (x: number): number => -Math.expm1(-x) - x * Math.exp(-x);

function uniformFreshness(pages: readonly SimulatedPage[], visitsPerSec: number): number {
  const gap = pages.length / visitsPerSec;
  return weightedMean(pages, ({ rate }) => freshness(rate * gap));
}

function weightedMean(pages: readonly SimulatedPage[], of: (page: SimulatedPage) => number): number {
  let [sum, weights] = [0, 0];
  for (const page of pages) {
    sum += page.importance * of(page);
    weights += page.importance;
  }
  return sum / weights;
}

/** The multiplier by halving, and for each page the x at which one more visit is worth it, by halving too. */
export function optimalFreshness(pages: readonly SimulatedPage[], visitsPerSec: number): number {
  const solve = (gain: number): number => {
    let [low, high] = [0, 60];
    for (let step = 0; step < 50; step++) {
      const x = (low + high) / 2;
      if (marginal(x) < gain) low = x;
      else high = x;
    }
    return (low + high) / 2;
  };
  let [low, high] = [-80, 80];
  for (let step = 0; step < 50; step++) {
    const price = 2 ** ((low + high) / 2);
    let visits = 0;
    for (const { rate, importance } of pages) {
      const gain = (price * rate) / importance;
      if (gain < 1) visits += rate / solve(gain);
    }
    if (visits > visitsPerSec) low = (low + high) / 2;
    else high = (low + high) / 2;
  }
  const price = 2 ** high;
  return weightedMean(pages, ({ rate, importance }) => {
    const gain = (price * rate) / importance;
    return gain < 1 ? freshness(solve(gain)) : 0;
  });
}

/** Visits pages as `orcrawl watch` does, until each was visited so often on average; the last third counts. */
export function simulate(
  pages: readonly SimulatedPage[],
  budget: number,
  rounds: number,
  seed: number,
): SimulationResult {
  const random = randomFrom(seed);
  const totalRate = pages.reduce((sum, { rate }) => sum + rate, 0);
  const visitsPerSec = budget * totalRate;
  const schedule = createSchedule({ visitsPerSec });
  const states = pages.map(({ importance }) => ({
    visitedAt: 0,
    nextVisitAt: 0,
    // More than this the memory of pages does not hold.
    importance: Math.min(MOST_IMPORTANT, importance),
    ...schedule.firstBelief(),
  }));
  const heap = createHeap(pages.length);
  // The first crawl found all pages, one after the other.
  for (const [page, state] of states.entries()) {
    state.visitedAt = page / visitsPerSec;
    state.nextVisitAt = schedule.nextVisitAt(state, undefined);
    heap.push(page, state.nextVisitAt);
  }
  const endSecs = (rounds * pages.length) / visitsPerSec;
  const fromSecs = (endSecs * 2) / 3;
  let nowSecs = pages.length / visitsPerSec;
  let fresh = 0;
  let visits = 0;
  let counted = 0;
  const startedAt = process.cpuUsage();
  while (nowSecs < endSecs) {
    const { item: page, key: atSecs } = heap.pop();
    const state = states[page]!;
    nowSecs = Math.max(nowSecs, atSecs);
    const review = schedule.review(state, nowSecs);
    if (review !== 'visit') {
      state.nextVisitAt = review;
      heap.push(page, review);
      continue;
    }
    const { rate, importance } = pages[page]!;
    const elapsed = nowSecs - state.visitedAt;
    const before = { ...state };
    Object.assign(state, afterVisit(state, elapsed, random() < -Math.expm1(-rate * elapsed)), { visitedAt: nowSecs });
    state.nextVisitAt = schedule.nextVisitAt(state, before);
    heap.push(page, state.nextVisitAt);
    visits++;
    // The expected time it was fresh, of the part that is counted.
    const start = Math.max(before.visitedAt, fromSecs);
    if (nowSecs > start) {
      const [a, b] = [start - before.visitedAt, nowSecs - before.visitedAt];
      fresh += (importance * (Math.exp(-rate * a) - Math.exp(-rate * b))) / rate;
      counted++;
    }
    nowSecs += 1 / visitsPerSec;
  }
  const cpu = process.cpuUsage(startedAt);
  for (const [page, { visitedAt }] of states.entries()) {
    const { rate, importance } = pages[page]!;
    const start = Math.max(visitedAt, fromSecs);
    const [a, b] = [start - visitedAt, endSecs - visitedAt];
    fresh += (importance * (Math.exp(-rate * a) - Math.exp(-rate * b))) / rate;
  }
  const weights = pages.reduce((sum, { importance }) => sum + importance, 0);
  return {
    scheduled: fresh / (weights * (endSecs - fromSecs)),
    optimum: optimalFreshness(pages, visitsPerSec),
    uniform: uniformFreshness(pages, visitsPerSec),
    spent: counted / (endSecs - fromSecs) / visitsPerSec,
    microsecsPerVisit: (cpu.user + cpu.system) / visits,
  };
}

/** A binary heap of numbers by their keys. */
function createHeap(capacity: number) {
  const items = new Uint32Array(capacity + 1);
  const keys = new Float64Array(capacity + 1);
  let size = 0;
  const swap = (a: number, b: number) => {
    [items[a], items[b]] = [items[b]!, items[a]!];
    [keys[a], keys[b]] = [keys[b]!, keys[a]!];
  };
  return {
    push(item: number, key: number): void {
      items[++size] = item;
      keys[size] = key;
      for (let at = size; at > 1 && keys[at >> 1]! > keys[at]!; at >>= 1) swap(at, at >> 1);
    },
    pop(): { item: number; key: number } {
      const first = { item: items[1]!, key: keys[1]! };
      swap(1, size--);
      for (let at = 1; ;) {
        const left = 2 * at;
        if (left > size) break;
        const child = left < size && keys[left + 1]! < keys[left]! ? left + 1 : left;
        if (keys[at]! <= keys[child]!) break;
        swap(at, child);
        at = child;
      }
      return first;
    },
  };
}
