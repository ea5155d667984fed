import { describe, expect, it } from 'vitest';
import { gainOf, intervalOfGain, shapeClassOf } from './gain.js';
import { createPriceBook } from './price.js';
import { createSchedule } from './schedule.js';

const sure = (rate: number, importance = 1) => ({ shape: 16, scaleSecs: 16 / rate, importance });

describe('the price of a visit', () => {
  it.each([0.25, 0.5, 1, 2, 4, 16])('finds the interval of a gain again, shape %s', (shape) => {
    for (const u of [1e-6, 1e-3, 0.01, 0.1, 0.3, 1]) {
      expect(intervalOfGain(shapeClassOf(shape), gainOf(shape, u)) / u).toBeCloseTo(1, 1);
    }
  });

  it('is that of a known rate when the belief is sure', () => {
    const shape = 2_000;
    for (const x of [0.5, 1, 3]) {
      const known = -Math.expm1(-x) - x * Math.exp(-x);
      expect((gainOf(shape, x / shape) * shape) / known).toBeCloseTo(1, 1);
    }
  });

  it('spends the budget, and not more', () => {
    const book = createPriceBook(10);
    const rates = Array.from({ length: 2_000 }, (_, n) => 10 ** (-4 + (n % 40) / 10));
    for (const rate of rates) book.replace(undefined, sure(rate));
    const visits = rates.reduce((sum, rate) => sum + 1 / book.intervalSecs(sure(rate)), 0);
    expect(visits).toBeGreaterThan(9.3);
    expect(visits).toBeLessThan(10.7);
  });

  it('gives the hopeless fewer visits, not more, and the important more', () => {
    const book = createPriceBook(1);
    for (let n = 0; n < 100; n++) book.replace(undefined, sure(n < 50 ? 0.01 : 10));
    const interval = (rate: number, importance = 1) => book.intervalSecs(sure(rate, importance));
    expect(interval(10)).toBeGreaterThan(5 * interval(0.01));
    expect(interval(10, 5_000)).toBeLessThan(interval(10) / 5);
    expect(interval(0.01, 4)).toBeLessThan(interval(0.01));
  });

  it('knows after a restart what it knew before', () => {
    const book = createPriceBook(2);
    for (let n = 1; n < 300; n++) book.replace(undefined, sure(n / 1_000));
    const again = createPriceBook(2, JSON.parse(JSON.stringify(book)));
    expect(again.intervalSecs(sure(0.1))).toBeCloseTo(book.intervalSecs(sure(0.1)), 6);
    expect(again.pages).toBe(299);
  });
});

describe('a schedule', () => {
  it('never plans a visit before the last one, and looks at long waits in between', () => {
    const schedule = createSchedule({ visitsPerSec: 1 });
    const page = { visitedAt: 1_000, nextVisitAt: 0, importance: 1, ...schedule.firstBelief() };
    for (let n = 0; n < 50; n++) expect(schedule.nextVisitAt(page, undefined)).toBeGreaterThan(1_000);
    const slow = { visitedAt: 1_000, nextVisitAt: 0, importance: 1, shape: 1, scaleSecs: 1e9 };
    const at = schedule.nextVisitAt(slow, undefined);
    expect(at).toBeLessThanOrEqual(1_000 + 2 * 51 + 1);
    const review = schedule.review({ ...slow, nextVisitAt: at }, at);
    expect(review).not.toBe('visit');
    expect(review).toBeGreaterThan(at);
  });
});
