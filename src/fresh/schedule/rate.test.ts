import { describe, expect, it } from 'vitest';
import { afterVisit, priorBelief, type RateBelief, rateOf } from './rate.js';

/** A generator of our own: the same numbers everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}

/** Visits at unequal distances, `spacing` mean changes apart; returns the belief and the naive count. */
function watch(rate: number, spacing: number, visits: number, random: () => number, prior: number) {
  let belief: RateBelief = priorBelief(prior);
  let elapsed = 0;
  let seen = 0;
  for (let visit = 0; visit < visits; visit++) {
    const gap = (spacing / rate) * (0.2 + 1.6 * random());
    const hasChanged = random() < 1 - Math.exp(-rate * gap);
    belief = afterVisit(belief, gap, hasChanged);
    elapsed += gap;
    if (hasChanged) seen++;
  }
  return { belief, naive: seen / elapsed };
}

describe('the rate of change', () => {
  it.each([0.1, 0.5, 1, 2])('is not biased by changes that no visit saw, %s changes apart', (spacing) => {
    const random = randomFrom(1);
    const rate = 1 / 3_600;
    const runs = Array.from({ length: 300 }, () => watch(rate, spacing, 200, random, rate * 5));
    const mean = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
    const estimated = mean(runs.map(({ belief }) => rateOf(belief))) / rate;
    expect(estimated).toBeGreaterThan(0.94);
    expect(estimated).toBeLessThan(1.06);
    // What a plain count says, for comparison: far too little where visits are rare.
    if (spacing >= 1) expect(mean(runs.map(({ naive }) => naive)) / rate).toBeLessThan(0.75);
  });

  it('follows a page that begins to change', () => {
    const random = randomFrom(2);
    let { belief } = watch(1e-6, 1, 300, random, 1e-5);
    expect(rateOf(belief)).toBeLessThan(2e-6);
    for (let visit = 0; visit < 300; visit++) belief = afterVisit(belief, 3_600, random() < 0.6);
    expect(rateOf(belief)).toBeGreaterThan(1e-4);
  });

  it('stays a number whatever it is told', () => {
    let belief = priorBelief(1e-9);
    for (const gap of [1e-9, 1, 1e9, 0, -5, NaN, 1e-300, 1e15]) {
      for (const hasChanged of [true, false, true]) belief = afterVisit(belief, gap, hasChanged);
    }
    expect(rateOf(belief)).toBeGreaterThan(0);
    expect(Number.isFinite(rateOf(belief))).toBe(true);
  });
});
