import { describe, expect, it } from 'vitest';
import { createHandClock } from '../../testing/conformance/bench.js';
import { anchorClock, systemClock } from './clock.js';

const now = (anchor: { offsetMs: number }, clock: { monotonicMs(): number }): number =>
  anchor.offsetMs + clock.monotonicMs();

describe('store time', () => {
  it('begins at the wall clock and then follows only the monotonic one', () => {
    const clock = createHandClock();
    const anchor = anchorClock(clock, undefined, 0);
    expect(now(anchor, clock)).toBe(clock.wallMs());
    const startMs = now(anchor, clock);
    clock.jumpWall(1e9);
    clock.advance(250);
    const again = anchorClock(clock, anchor, startMs);
    expect(now(again, clock)).toBe(startMs + 250);
  });

  it('goes on from the wall after another boot, but never back', () => {
    const first = createHandClock('boot 1');
    const anchor = anchorClock(first, undefined, 0);
    const lastMs = now(anchor, first) + 5_000;
    const second = createHandClock('boot 2');
    second.jumpWall(-1e9);
    expect(now(anchorClock(second, anchor, lastMs), second)).toBe(lastMs);
    second.jumpWall(3e9);
    expect(now(anchorClock(second, anchor, lastMs), second)).toBe(second.wallMs());
  });

  it('notices another boot by a smaller monotonic reading where boots have no name', () => {
    const stored = { bootId: '', offsetMs: 1_000_000, setAtMs: 9_000 };
    const clock = createHandClock('');
    expect(now(anchorClock(clock, stored, 2e12), clock)).toBe(2e12);
  });

  it('reads a monotonic clock in whole milliseconds', () => {
    const readings = Array.from({ length: 100 }, () => systemClock.monotonicMs());
    expect(readings.every((ms, i) => Number.isSafeInteger(ms) && ms >= (readings[i - 1] ?? 0))).toBe(true);
  });
});
