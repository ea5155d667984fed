// Unit tests of the pool, with fake timers and a load the test decides.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AutoscaledPool } from './autoscaled-pool.js';
import { HTTP_POOL_OPTIONS } from './pool-options.js';
import type { AutoscaledPoolOptions } from './pool-options.js';
import type { LoadStatus, SystemLoad } from './system-load.js';

const signal = { isOverloaded: false, limitRatio: 0.5, actualRatio: 0 };

function createLoad() {
  const over = { cpu: false, memory: false, eventLoop: false };
  const status = (): LoadStatus => ({
    isOverloaded: over.cpu || over.memory || over.eventLoop,
    cpu: { ...signal, isOverloaded: over.cpu },
    memory: { ...signal, isOverloaded: over.memory },
    eventLoop: { ...signal, isOverloaded: over.eventLoop },
  });
  const latest = () => ({ cpuRatio: 0, eventLoopLateMs: 0, usedBytes: 0, limitBytes: 1 });
  const load: SystemLoad = { start: () => {}, stop: () => {}, current: status, historical: status, latest };
  return { over, load };
}

interface WorkOptions extends Partial<AutoscaledPoolOptions> {
  taskMs?: number;
  followsLoad?: boolean;
}

/** A pool over a number of tasks, each of which lasts until the test ends it (or `taskMs`). */
function createWork(count: number, options: WorkOptions = {}) {
  const { taskMs, followsLoad, ...poolOptions } = options;
  const { over, load } = createLoad();
  const work = { left: count, started: 0, questions: 0, startsMs: [] as number[], ends: [] as (() => void)[], over };
  const pool = new AutoscaledPool(
    {
      runTaskFunction: () => {
        work.left--;
        work.started++;
        work.startsMs.push(performance.now());
        return new Promise<void>((resolve) => {
          if (taskMs === undefined) work.ends.push(resolve);
          else setTimeout(resolve, taskMs);
        });
      },
      isTaskReadyFunction: async () => {
        work.questions++;
        return work.left > 0;
      },
      isFinishedFunction: async () => work.left === 0,
      ...poolOptions,
    },
    undefined,
    { load, followsLoad },
  );
  return { pool, work };
}

/** Enough turns of the event loop for an answer and what follows from it. */
const turn = async () => {
  for (let times = 0; times < 5; times++) await vi.advanceTimersByTimeAsync(1);
};

describe('AutoscaledPool', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('runs all tasks and resolves when they are finished, leaving no timer', async () => {
    const { pool, work } = createWork(100, { taskMs: 10, minConcurrency: 7 });
    const run = pool.run();
    await vi.advanceTimersByTimeAsync(200);
    await run;
    expect(work.started).toBe(100);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('resolves at once when there is nothing to do', async () => {
    const { pool } = createWork(0);
    const run = pool.run();
    await turn();
    await run;
    expect(pool.currentConcurrency).toBe(0);
  });

  it('never runs more than desiredConcurrency tasks and refills as they end', async () => {
    const { pool, work } = createWork(100, { minConcurrency: 5, maxConcurrency: 5 });
    const run = pool.run();
    await turn();
    expect([work.started, pool.currentConcurrency]).toEqual([5, 5]);
    work.ends[0]!();
    work.ends[1]!();
    await turn();
    expect([work.started, pool.currentConcurrency]).toEqual([7, 5]);
    await pool.abort();
    await run;
  });

  it('takes a synchronous answer too, and tells how many tasks could start', async () => {
    const asked: number[] = [];
    const { pool, work } = createWork(100, {
      minConcurrency: 3,
      isTaskReadyFunction: (freeSlots) => {
        asked.push(freeSlots);
        return true;
      },
    });
    void pool.run();
    await turn();
    expect(work.started).toBe(3);
    expect(asked).toEqual([3, 2, 1]);
    await pool.abort();
  });

  it('waits without being finished, asks once per interval, and starts at once when notified', async () => {
    const { pool, work } = createWork(0, { isFinishedFunction: async () => false });
    void pool.run();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(work.questions).toBeLessThanOrEqual(21);
    expect(work.questions).toBeGreaterThanOrEqual(20);
    work.left = 1;
    pool.notify();
    pool.notify();
    await turn();
    expect(work.started).toBe(1);
    await pool.abort();
  });

  it('finds work by itself after maybeRunIntervalSecs', async () => {
    const { pool, work } = createWork(0, { isFinishedFunction: async () => false, maybeRunIntervalSecs: 2 });
    void pool.run();
    await turn();
    work.left = 1;
    await vi.advanceTimersByTimeAsync(1_900);
    expect(work.started).toBe(0);
    await vi.advanceTimersByTimeAsync(100);
    expect(work.started).toBe(1);
    await pool.abort();
  });

  it('does not lose a notification that comes while it is asking', async () => {
    let answer: (ready: boolean) => void = () => {};
    let questions = 0;
    const { pool, work } = createWork(5, {
      isFinishedFunction: async () => true,
      isTaskReadyFunction: () => {
        questions++;
        return questions === 1 ? new Promise<boolean>((resolve) => (answer = resolve)) : true;
      },
    });
    void pool.run();
    await turn();
    pool.notify();
    answer(false);
    await turn();
    expect(work.started).toBe(1);
    await pool.abort();
  });

  it('lets the event loop turn although tasks end at once', async () => {
    vi.useRealTimers();
    let turned = false;
    setImmediate(() => setImmediate(() => setImmediate(() => (turned = true))));
    const pool = new AutoscaledPool(
      {
        runTaskFunction: async () => {},
        isTaskReadyFunction: async () => true,
        isFinishedFunction: async () => false,
        minConcurrency: 3,
      },
      undefined,
      { load: createLoad().load },
    );
    const run = pool.run();
    await vi.waitFor(() => expect(turned).toBe(true));
    await pool.abort();
    await run;
  });

  it('rejects with the error of a task, thrown or rejected, and starts no more', async () => {
    for (const runTaskFunction of [
      async () => Promise.reject(new Error('no luck')),
      () => {
        throw new Error('no luck');
      },
    ]) {
      const { pool, work } = createWork(10, { runTaskFunction, minConcurrency: 2 });
      const failed = expect(pool.run()).rejects.toThrow('no luck');
      await turn();
      await failed;
      const asked = work.questions;
      await vi.advanceTimersByTimeAsync(5_000);
      expect(work.questions).toBe(asked);
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  it.each(['isTaskReadyFunction', 'isFinishedFunction'] as const)('rejects with the error of %s', async (name) => {
    const { pool } = createWork(0, { [name]: async () => Promise.reject(new Error('store is gone')) });
    const failed = expect(pool.run()).rejects.toThrow('store is gone');
    await turn();
    await failed;
  });

  it('rejects when a task takes longer than taskTimeoutSecs', async () => {
    const { pool } = createWork(1, { taskTimeoutSecs: 3 });
    const failed = expect(pool.run()).rejects.toMatchObject({ code: 'HANDLER_TIMEOUT' });
    await vi.advanceTimersByTimeAsync(3_000);
    await failed;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('pauses when the running tasks have ended, and resumes', async () => {
    const { pool, work } = createWork(10, { minConcurrency: 2 });
    void pool.run();
    await turn();
    let paused = false;
    const pause = pool.pause().then(() => (paused = true));
    work.ends[0]!();
    await vi.advanceTimersByTimeAsync(5_000);
    expect([paused, work.started]).toEqual([false, 2]);
    work.ends[1]!();
    await pause;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(work.started).toBe(2);
    pool.resume();
    await turn();
    expect(work.started).toBe(4);
    await pool.abort();
  });

  it('rejects pause() when the tasks do not end in time', async () => {
    const { pool } = createWork(10);
    void pool.run();
    await turn();
    const late = expect(pool.pause(2)).rejects.toMatchObject({ code: 'HANDLER_TIMEOUT' });
    await vi.advanceTimersByTimeAsync(2_000);
    await late;
    await pool.abort();
  });

  it('resolves run() and pause() at once on abort() and leaves running tasks to themselves', async () => {
    const { pool, work } = createWork(10);
    const run = pool.run();
    await turn();
    const pause = pool.pause();
    await pool.abort();
    await Promise.all([run, pause]);
    expect(pool.currentConcurrency).toBe(1);
    work.ends[0]!();
    await turn();
    expect([pool.currentConcurrency, work.started]).toEqual([0, 1]);
  });

  it('resolves run() of a pool that was aborted before', async () => {
    const { pool, work } = createWork(10);
    await pool.abort();
    await pool.run();
    expect(work.started).toBe(0);
  });

  it('grows and shrinks every autoscaleIntervalSecs', async () => {
    const { pool, work } = createWork(1_000, { minConcurrency: 1, desiredConcurrency: 40 });
    void pool.run();
    await vi.advanceTimersByTimeAsync(10_010);
    expect([pool.desiredConcurrency, pool.currentConcurrency]).toEqual([42, 42]);
    work.over.cpu = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(pool.desiredConcurrency).toBe(39);
    expect(pool.currentConcurrency).toBe(42);
    await pool.abort();
  });

  it('does not grow when there is not enough work', async () => {
    const { pool } = createWork(5, { desiredConcurrency: 40 });
    void pool.run();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(pool.desiredConcurrency).toBe(40);
    await pool.abort();
  });

  it('begins an HTTP crawl at 10 and doubles every second', async () => {
    const { pool } = createWork(10_000, { ...HTTP_POOL_OPTIONS });
    void pool.run();
    await turn();
    const widths = [pool.currentConcurrency];
    for (let second = 0; second < 5; second++) {
      await vi.advanceTimersByTimeAsync(1_001);
      widths.push(pool.currentConcurrency);
    }
    expect(widths).toEqual([10, 20, 40, 80, 160, 200]);
    await pool.abort();
  });

  it('begins a slow start at minConcurrency when that is higher, and never above maxConcurrency', () => {
    const { load } = createLoad();
    const make = (options: Partial<AutoscaledPoolOptions>) =>
      new AutoscaledPool({ ...createTasks(), ...HTTP_POOL_OPTIONS, ...options }, undefined, { load })
        .desiredConcurrency;
    expect(make({ minConcurrency: 25 })).toBe(25);
    expect(make({ maxConcurrency: 4 })).toBe(4);
    expect(make({ desiredConcurrency: 15 })).toBe(15);
  });

  it('starts nothing beyond minConcurrency while memory is overloaded', async () => {
    const { pool, work } = createWork(100, { minConcurrency: 2, desiredConcurrency: 10 });
    work.over.memory = true;
    void pool.run();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(pool.currentConcurrency).toBe(2);
    work.over.memory = false;
    await vi.advanceTimersByTimeAsync(500);
    expect(pool.currentConcurrency).toBe(10);
    await pool.abort();
  });

  it('keeps the concurrency it was given, whatever the load, where it does not follow it', async () => {
    const { pool, work } = createWork(10, { desiredConcurrency: 3, maxConcurrency: 20, followsLoad: false });
    Object.assign(work.over, { memory: true, cpu: true });
    const ended = pool.run();
    await turn();
    expect(pool.currentConcurrency).toBe(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(pool.desiredConcurrency).toBe(3);
    pool.abort();
    await ended;
  });

  it('goes on starting tasks when only the CPU is overloaded', async () => {
    const { pool, work } = createWork(100, { desiredConcurrency: 10 });
    work.over.cpu = true;
    void pool.run();
    await turn();
    expect(pool.currentConcurrency).toBe(10);
    await pool.abort();
  });

  it('spreads maxTasksPerMinute evenly, with no burst after idle time', async () => {
    const { pool, work } = createWork(10, {
      taskMs: 1,
      minConcurrency: 50,
      maxTasksPerMinute: 600,
      isFinishedFunction: async () => false,
    });
    void pool.run();
    await vi.advanceTimersByTimeAsync(20_000);
    work.left = 100;
    pool.notify();
    await vi.advanceTimersByTimeAsync(3_000);
    const gaps = work.startsMs.slice(1).map((at, index) => at - work.startsMs[index]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(90);
    expect(work.started).toBeGreaterThanOrEqual(10 + 30);
    await pool.abort();
  });

  it('takes new limits while it runs', async () => {
    const { pool } = createWork(100, { minConcurrency: 1, maxConcurrency: 20 });
    void pool.run();
    await turn();
    pool.minConcurrency = 8;
    await turn();
    expect(pool.currentConcurrency).toBe(8);
    pool.desiredConcurrency = 12;
    await turn();
    expect(pool.currentConcurrency).toBe(12);
    pool.maxConcurrency = 5;
    expect([pool.minConcurrency, pool.desiredConcurrency]).toEqual([5, 5]);
    expect(() => (pool.maxConcurrency = 0)).toThrow(/"maxConcurrency" must be/);
    await pool.abort();
  });

  it('logs its state every loggingIntervalSecs', async () => {
    const lines: unknown[] = [];
    const log = { debug: () => {}, info: (_: string, data?: object) => lines.push(data) };
    const { pool } = createWork(100, { log, loggingIntervalSecs: 5 });
    void pool.run();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({ currentConcurrency: 1, desiredConcurrency: 1, system: { isOverloaded: false } });
    await pool.abort();
  });

  it.each([
    [{ maxConcurrency: '5' }, /"maxConcurrency" must be a whole number from 1, got "5"/],
    [{ minConcurrency: 0 }, /"minConcurrency"/],
    [{ minConcurrency: 10, maxConcurrency: 5 }, /minConcurrency 10 is above maxConcurrency 5/],
    [{ maxTasksPerMinute: -1 }, /"maxTasksPerMinute"/],
    [{ runTaskFunction: undefined }, /"runTaskFunction" is required/],
    [{ slowStart: true }, /"slowStart"/],
    [{ log: {} }, /"log"/],
    [{ concurrency: 5 }, /no option "concurrency"/],
    [{ snapshotterOptions: { memoryMbytes: 0.5 } }, /"memoryMbytes"/],
  ])('refuses %j by name', (options, message) => {
    const make = () => new AutoscaledPool({ ...createTasks(), ...(options as object) });
    expect(make).toThrow(expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringMatching(message) }));
  });
});

function createTasks() {
  return {
    runTaskFunction: async () => {},
    isTaskReadyFunction: async () => false,
    isFinishedFunction: async () => true,
  };
}
