// Unit tests of the mean use of the pool.
import { describe, expect, it } from 'vitest';
import { createUsage } from './usage.js';

describe('usage', () => {
  it('gives the mean over time since the last look', () => {
    let now = 100;
    const usage = createUsage(() => now);
    const mean = usage.meter();
    now = 200;
    usage.advance(0);
    now = 300;
    expect(mean(4)).toBe(2);
    now = 400;
    expect(mean(4)).toBe(4);
  });

  it('keeps several meters apart', () => {
    let now = 0;
    const usage = createUsage(() => now);
    const often = usage.meter();
    const seldom = usage.meter();
    now = 10;
    expect(often(1)).toBe(1);
    now = 20;
    expect(often(3)).toBe(3);
    expect(seldom(3)).toBe(2);
  });

  it('gives the number of now when no time has passed', () => {
    const usage = createUsage(() => 5);
    expect(usage.meter()(7)).toBe(7);
  });
});
