// Unit tests of the schedule behind maxTasksPerMinute.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPace } from './pace.js';

/** Starts as often as allowed at the given moments (ascending), returns the moments of the starts. */
function startsAt(maxPerMinute: number, momentsMs: readonly number[]): number[] {
  let now = 0;
  const pace = createPace(maxPerMinute, () => now);
  const starts: number[] = [];
  for (const moment of momentsMs) {
    now = moment;
    while (pace.waitMs() === 0) {
      pace.started();
      starts.push(now);
    }
  }
  return starts;
}

function mostInWindow(starts: readonly number[], windowMs: number): number {
  let most = 0;
  for (let first = 0, last = 0; last < starts.length; last++) {
    while (starts[last]! - starts[first]! > windowMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

const everyMs = (count: number, stepMs = 1) => Array.from({ length: count }, (_, index) => index * stepMs);

describe('pace', () => {
  it('lets everything start without a limit', () => {
    const pace = createPace(Infinity, () => 5);
    pace.started();
    expect(pace.waitMs()).toBe(0);
  });

  it('spaces starts evenly and reaches the rate', () => {
    const starts = startsAt(600, everyMs(60_001));
    expect(starts).toHaveLength(601);
    expect(starts.slice(0, 3)).toEqual([0, 100, 200]);
  });

  it('starts one task, not a burst, after a long idle time', () => {
    expect(startsAt(600, [0, 3_600_000, 3_600_001, 3_600_050])).toEqual([0, 3_600_000]);
  });

  it('keeps the rate when timers are a little late', () => {
    const late = everyMs(600, 100).map((moment, index) => moment + (index % 3) * 3);
    expect(startsAt(600, late)).toHaveLength(600);
  });

  it('reaches high rates although the event loop turns only every few milliseconds', () => {
    const starts = startsAt(60_000, everyMs(2_000, 5));
    expect(starts.length).toBeGreaterThan(9_900);
    expect(mostInWindow(starts, 1000)).toBeLessThanOrEqual(1011);
  });

  it('says how long to wait', () => {
    let now = 1000;
    const pace = createPace(120, () => now);
    pace.started();
    expect(pace.waitMs()).toBe(500);
    now = 1499;
    expect(pace.waitMs()).toBe(1);
  });

  it('never allows more than 11 starts in a sliding second at 600 per minute, whatever the moments', () => {
    const gaps = fc.array(fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 2000 })), {
      minLength: 1,
      maxLength: 400,
    });
    fc.assert(
      fc.property(gaps, (steps) => {
        let now = 0;
        const moments = steps.map((step) => (now += step));
        expect(mostInWindow(startsAt(600, moments), 1000)).toBeLessThanOrEqual(11);
      }),
    );
  });

  it('keeps the bound of its promise at any rate and window', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 200 }),
        (rate, windowMs, steps) => {
          let now = 0;
          const starts = startsAt(
            rate,
            steps.map((step) => (now += step)),
          );
          // The hundredth forgives the rounding of many additions.
          const bound = Math.floor((windowMs + 10) / (60_000 / rate) + 0.01) + 1;
          expect(mostInWindow(starts, windowMs)).toBeLessThanOrEqual(bound);
        },
      ),
    );
  });
});
