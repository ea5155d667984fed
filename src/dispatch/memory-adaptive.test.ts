// The dispatcher that watches memory, with a reader and a clock turned by hand.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Batch } from './dispatcher.js';
import { MemoryAdaptiveDispatcher, type MemoryAdaptiveDispatcherOptions } from './memory-adaptive.js';
import { SemaphoreDispatcher } from './semaphore.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

function world(options: MemoryAdaptiveDispatcherOptions = {}) {
  let percent = 50;
  let nowMs = 0;
  const shed: number[] = [];
  const woken: number[] = [];
  let waitedMs = 0;
  const batch: Batch = {
    wake: () => void woken.push(percent),
    shed: (count) => {
      shed.push(count);
      return count;
    },
    longestWaitMs: () => waitedMs,
  };
  const dispatcher = new MemoryAdaptiveDispatcher(
    { maxSessionPermit: 4, readMemoryPercent: () => percent, ...options },
    { clock: () => nowMs },
  );
  return {
    dispatcher,
    batch,
    shed,
    woken,
    /** One check later, with this much memory in use. */
    check(use: number, waited = 0) {
      percent = use;
      waitedMs = waited;
      nowMs += 1000;
      vi.advanceTimersByTime(1000);
    },
  };
}

describe('the memory-adaptive dispatcher', () => {
  it('starts no more than its permits, over all its batches', () => {
    const { dispatcher, batch } = world();
    const first = dispatcher.join(batch);
    const second = dispatcher.join({ ...batch });
    for (let i = 0; i < 4; i++) {
      expect(first.mayStart()).toBe(true);
      (i % 2 ? first : second).started();
    }
    expect(first.mayStart()).toBe(false);
    second.ended();
    expect(first.mayStart()).toBe(true);
    first.started();
    second.leave();
    expect(first.mayStart()).toBe(true);
  });

  it('pauses at the threshold, resumes only below recovery, and wakes the batches then', () => {
    const { dispatcher, batch, check, woken } = world();
    const member = dispatcher.join(batch);
    member.started();
    check(90);
    expect([dispatcher.isPaused, member.mayStart()]).toEqual([true, false]);
    check(87);
    expect(member.mayStart()).toBe(false);
    check(84);
    expect([dispatcher.isPaused, member.mayStart()]).toEqual([false, true]);
    expect(woken.at(-1)).toBe(84);
  });

  it('always lets one task run, however full the memory is', () => {
    const { dispatcher, batch, check } = world();
    const member = dispatcher.join(batch);
    check(100);
    expect(member.mayStart()).toBe(true);
    member.started();
    expect(member.mayStart()).toBe(false);
    member.ended();
    expect(member.mayStart()).toBe(true);
  });

  it('sheds half of what runs above critical and never the last', () => {
    const { dispatcher, batch, check, shed } = world();
    const member = dispatcher.join(batch);
    for (let i = 0; i < 4; i++) member.started();
    check(96);
    expect(shed).toEqual([2]);
    for (let i = 0; i < 3; i++) member.ended();
    check(96);
    expect(shed).toEqual([2]);
  });

  it('lets one URL per check pass the pause when it has waited too long, below critical', () => {
    const { dispatcher, batch, check } = world({ fairnessTimeoutSecs: 5 });
    const member = dispatcher.join(batch);
    member.started();
    check(92, 6000);
    expect(member.mayStart()).toBe(true);
    expect(member.mayStart()).toBe(false);
    check(97, 7000);
    expect(member.mayStart()).toBe(false);
    check(92, 8000);
    expect(member.mayStart()).toBe(true);
  });

  it('ends a pause that lasts too long', () => {
    const { dispatcher, batch, check } = world({ memoryWaitTimeoutSecs: 3 });
    const member = dispatcher.join(batch);
    member.started();
    check(92);
    check(92);
    expect(member.mayStart()).toBe(false);
    check(92);
    check(92);
    expect(member.mayStart()).toBe(true);
  });

  it('reads memory only while a batch is there', () => {
    const readMemoryPercent = vi.fn(() => 10);
    const { dispatcher, batch } = world({ readMemoryPercent });
    const member = dispatcher.join(batch);
    vi.advanceTimersByTime(3000);
    expect(readMemoryPercent).toHaveBeenCalledTimes(4);
    member.leave();
    vi.advanceTimersByTime(3000);
    expect(readMemoryPercent).toHaveBeenCalledTimes(4);
  });

  it('reads a plausible share of the real memory by itself', () => {
    const seen: number[] = [];
    const monitor = { memory: (percent: number) => void seen.push(percent) };
    const dispatcher = new MemoryAdaptiveDispatcher({
      monitor: { begin: () => () => {}, queued() {}, started() {}, ended() {}, ...monitor },
    });
    dispatcher.join({ wake() {}, shed: () => 0, longestWaitMs: () => 0 }).leave();
    expect(seen[0]).toBeGreaterThan(0);
    expect(seen[0]).toBeLessThan(100);
  });

  it('names what is wrong with its options', () => {
    expect(() => new MemoryAdaptiveDispatcher({ memoryThresholdPercent: 96, criticalThresholdPercent: 90 })).toThrow(
      'must be in ascending order, got 85, 96, 90',
    );
    expect(() => new MemoryAdaptiveDispatcher({ maxPermits: 3 } as never)).toThrow('no option "maxPermits"');
    expect(() => new SemaphoreDispatcher({ permits: 0 })).toThrow('"permits" must be a whole number from 1');
  });
});
