// A slot that frees and a task at hand: taken over at once, and the event loop still has its turns.
import { describe, expect, it } from 'vitest';
import { Configuration } from '../configuration.js';
import { AutoscaledPool } from './autoscaled-pool.js';

const turn = () => new Promise<void>((resume) => setImmediate(resume));

function poolOf(runTask: () => Promise<void>, isTaskAtHand: () => boolean, permits: number): AutoscaledPool {
  return new AutoscaledPool(
    {
      minConcurrency: permits,
      maxConcurrency: permits,
      desiredConcurrency: permits,
      runTaskFunction: runTask,
      isTaskReadyFunction: isTaskAtHand,
      isFinishedFunction: async () => true,
      loggingIntervalSecs: 0,
    },
    new Configuration(),
    { isTaskAtHand },
  );
}

describe('a slot that frees', () => {
  it('is taken over by the task at hand before the event loop turns', async () => {
    const ends: (() => void)[] = [];
    let left = 6;
    const pool = poolOf(
      () => {
        left--;
        return new Promise((end) => ends.push(end));
      },
      () => left > 0,
      2,
    );
    const ended = pool.run();
    while (ends.length < 2) await turn();
    ends[0]!();
    // Microtasks only.
    for (let step = 0; step < 10; step++) await Promise.resolve();
    expect(ends).toHaveLength(3);
    expect(pool.currentConcurrency).toBe(2);
    for (let next = 1; next < 6; next++) {
      while (ends.length <= next) await turn();
      ends[next]!();
    }
    await ended;
    expect(left).toBe(0);
  });

  it('lets the event loop have its turns, however soon tasks end', async () => {
    let started = 0;
    let isOver = false;
    const pool = poolOf(
      async () => void started++,
      () => !isOver,
      5,
    );
    const ended = pool.run();
    const counts: number[] = [];
    for (let turns = 0; turns < 20; turns++) {
      await turn();
      counts.push(started);
    }
    isOver = true;
    await ended;
    const perTurn = counts.slice(1).map((count, index) => count - counts[index]!);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(20);
    expect(started).toBeGreaterThan(20);
  });
});
