import { describe, expect, it } from 'vitest';
import { createRates } from './status-file.js';

describe('rates', () => {
  it('are over the last ten seconds, and survive a reading that did not come', () => {
    let now = 0;
    const rate = createRates(() => now);
    expect(rate('a', 100)).toBe(0);
    now = 1_000;
    expect(rate('a', 110)).toBe(10);
    now = 2_000;
    expect(rate('a', undefined)).toBe(10);
    for (now = 3_000; now <= 30_000; now += 1_000) rate('a', 110);
    expect(rate('a', 110)).toBe(0);
    expect(rate('b', 5)).toBe(0);
  });
});
