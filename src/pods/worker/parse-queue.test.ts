import { describe, expect, it } from 'vitest';
import { createBackpressure } from './parse-queue.js';

const LIMITS = { soft: 100, hard: 200, maxBytes: 2_000 };

describe('backpressure', () => {
  it('lets fetching go on up to the soft limit', () => {
    const pressure = createBackpressure(LIMITS);
    pressure.see({ entries: 100, bytes: 1_000 });
    expect(pressure.mayStart()).toBe(true);
    expect(pressure.events).toEqual({ soft: 0, hard: 0 });
  });

  it('sleeps in proportion between the limits, with jitter', () => {
    let nowMs = 0;
    const pressure = createBackpressure(LIMITS, { nowMs: () => nowMs, random: () => 0.5 });
    pressure.see({ entries: 150, bytes: 0 });
    nowMs = 1_249;
    expect(pressure.mayStart()).toBe(false);
    nowMs = 1_250;
    expect(pressure.mayStart()).toBe(true);
    expect(pressure.events).toEqual({ soft: 1, hard: 0 });
  });

  it('counts bytes as it counts entries', () => {
    const pressure = createBackpressure(LIMITS, { nowMs: () => 0, random: () => 0 });
    pressure.see({ entries: 0, bytes: 1_500 });
    expect(pressure.mayStart()).toBe(false);
  });

  it('above the hard limit waits until the queue is below the soft one, as one event', () => {
    const pressure = createBackpressure(LIMITS);
    pressure.see({ entries: 200, bytes: 0 });
    pressure.see({ entries: 150, bytes: 0 });
    expect(pressure.mayStart()).toBe(false);
    pressure.see({ entries: 100, bytes: 0 });
    expect(pressure.mayStart()).toBe(true);
    expect(pressure.events).toEqual({ soft: 0, hard: 1 });
  });
});
