// Unit tests of the overload decision, with given readings and fake timers.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSystemLoad } from './system-load.js';
import type { SnapshotterOptions, SystemStatusOptions } from './system-load.js';

/** Readings a test can turn: the CPU load from now on, the memory in use, and the lateness of the clock. */
function createMachine() {
  const machine = { cpuRatio: 0, usedBytes: 0, lateMs: 0, readings: 0 };
  let busyMs = 0;
  let lastMs = 0;
  const clock = () => performance.now() + machine.lateMs;
  const readers = {
    cpu: () => {
      machine.readings++;
      const now = performance.now();
      busyMs += (now - lastMs) * machine.cpuRatio;
      lastMs = now;
      return { busyMs, availableMs: now };
    },
    memory: () => ({ usedBytes: machine.usedBytes, limitBytes: 1000 }),
  };
  return { machine, readers, clock };
}

function watch(snapshotter: SnapshotterOptions = {}, status: SystemStatusOptions = {}) {
  const { machine, readers, clock } = createMachine();
  const load = createSystemLoad(snapshotter, status, { readers, clock });
  load.start();
  return { machine, load };
}

describe('system load', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is idle before the first samples and on a quiet machine', () => {
    const { load } = watch();
    expect(load.current().isOverloaded).toBe(false);
    vi.advanceTimersByTime(30_000);
    expect(load.historical()).toMatchObject({ isOverloaded: false, cpu: { actualRatio: 0 } });
    load.stop();
  });

  it('is overloaded when the CPU is above 0.95 in more than 40 % of the samples', () => {
    const { machine, load } = watch();
    vi.advanceTimersByTime(6_000);
    machine.cpuRatio = 0.96;
    vi.advanceTimersByTime(4_000);
    expect(load.historical().cpu).toMatchObject({ isOverloaded: false, actualRatio: 0.4, limitRatio: 0.4 });
    vi.advanceTimersByTime(1_000);
    expect(load.historical().cpu.isOverloaded).toBe(true);
    expect(load.historical().isOverloaded).toBe(true);
    load.stop();
  });

  it('does not count a CPU at 0.95', () => {
    const { machine, load } = watch();
    machine.cpuRatio = 0.95;
    vi.advanceTimersByTime(30_000);
    expect(load.current().cpu.actualRatio).toBe(0);
    load.stop();
  });

  it('is overloaded when memory is above 0.9 of its limit in more than 20 % of the samples', () => {
    const { machine, load } = watch();
    machine.usedBytes = 900;
    vi.advanceTimersByTime(10_000);
    expect(load.current().memory.isOverloaded).toBe(false);
    machine.usedBytes = 901;
    vi.advanceTimersByTime(2_000);
    expect(load.current().memory.isOverloaded).toBe(true);
    expect(load.historical().memory.isOverloaded).toBe(false);
    load.stop();
  });

  it('sees memory that is over its limit at the start', () => {
    const { machine, readers, clock } = createMachine();
    machine.usedBytes = 950;
    const load = createSystemLoad({}, {}, { readers, clock });
    load.start();
    expect(load.current().memory.isOverloaded).toBe(true);
    load.stop();
  });

  it('is overloaded when the event loop is late by more than 50 ms in more than 60 % of the time', () => {
    const { machine, load } = watch();
    for (let turn = 0; turn < 10; turn++) {
      machine.lateMs += 51;
      vi.advanceTimersByTime(500);
    }
    expect(load.current().eventLoop).toMatchObject({ isOverloaded: true, actualRatio: 1 });
    expect(load.latest().eventLoopLateMs).toBeCloseTo(51);
    load.stop();
  });

  it('takes the limits it is given', () => {
    const { machine, load } = watch({ maxBlockedMillis: 100, maxUsedCpuRatio: 0.5 }, { maxCpuOverloadedRatio: 0.9 });
    machine.cpuRatio = 0.6;
    for (let turn = 0; turn < 20; turn++) {
      machine.lateMs += 51;
      vi.advanceTimersByTime(500);
    }
    expect(load.current()).toMatchObject({
      eventLoop: { actualRatio: 0 },
      cpu: { actualRatio: 1, isOverloaded: true },
    });
    load.stop();
  });

  it('forgets what is older than its history', () => {
    const { machine, load } = watch();
    machine.cpuRatio = 1;
    vi.advanceTimersByTime(30_000);
    machine.cpuRatio = 0;
    vi.advanceTimersByTime(6_000);
    expect(load.current().cpu.actualRatio).toBe(0);
    expect(load.historical().cpu.actualRatio).toBeCloseTo(0.8);
    vi.advanceTimersByTime(26_000);
    expect(load.historical().cpu.actualRatio).toBe(0);
    load.stop();
  });

  it('samples no more after stop() and goes on after a second start()', () => {
    const { machine, load } = watch();
    load.start();
    expect(machine.readings).toBe(1);
    load.stop();
    vi.advanceTimersByTime(10_000);
    expect(machine.readings).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
    load.start();
    vi.advanceTimersByTime(1_000);
    expect(machine.readings).toBe(3);
    load.stop();
  });

  it.each([
    [{ maxBlockedMillis: '50' }, {}, /"maxBlockedMillis"/],
    [{ blocked: 50 }, {}, /no option "blocked"/],
    [{ eventLoopSnapshotIntervalSecs: 0.001 }, {}, /at least 0.01 s/],
    [{}, { maxCpuOverloadedRatio: 2 }, /"maxCpuOverloadedRatio" must be a number from 0 to 1/],
  ])('refuses %j, %j by name', (snapshotter, status, message) => {
    const make = () => createSystemLoad(snapshotter as SnapshotterOptions, status as SystemStatusOptions);
    expect(make).toThrow(expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringMatching(message) }));
  });
});
