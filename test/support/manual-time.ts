// A Time that a test moves by hand, for crawl/ and as the clock of a frontier: nothing sleeps, nothing is by chance.
import type { Time } from '../../src/crawl/time.js';
import type { FrontierClock } from '../../src/frontier/embedded/clock.js';

export interface ManualTime extends Time, FrontierClock {
  /** Timers that have not fired yet. */
  readonly timers: number;
  /** Lets so much time pass: what falls due is called in its order, and what it started gets its turn. */
  advance(ms: number): Promise<void>;
}

interface Timer {
  dueMs: number;
  readonly everyMs: number | undefined;
  readonly call: () => void;
}

/** As many turns of the event loop as the longest chain of promises in a run needs. */
const TURNS = 40;

export async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export function createManualTime(random = () => 0.5): ManualTime {
  const timers = new Set<Timer>();
  let nowMs = 0;

  function add(ms: number, everyMs: number | undefined, call: () => void): () => void {
    const timer: Timer = { dueMs: nowMs + ms, everyMs, call };
    timers.add(timer);
    return () => void timers.delete(timer);
  }

  function nextDue(limitMs: number): Timer | undefined {
    const due = [...timers].filter(({ dueMs }) => dueMs <= limitMs);
    return due.sort((a, b) => a.dueMs - b.dueMs)[0];
  }

  return {
    bootId: 'test',
    wallMs: () => 1e12 + nowMs,
    monotonicMs: () => nowMs,
    random,
    wait: (ms, signal) =>
      new Promise((resolve, reject) => {
        const cancel = add(ms, undefined, resolve);
        signal?.addEventListener('abort', () => {
          cancel();
          reject(signal.reason as Error);
        });
      }),
    after: (ms, call) => add(ms, undefined, call),
    every: (ms, call) => add(ms, ms, call),
    get timers() {
      return timers.size;
    },
    async advance(ms) {
      const endMs = nowMs + ms;
      await settled();
      for (let timer = nextDue(endMs); timer; timer = nextDue(endMs)) {
        nowMs = timer.dueMs;
        if (timer.everyMs === undefined) timers.delete(timer);
        else timer.dueMs += timer.everyMs;
        timer.call();
        await settled();
      }
      nowMs = endMs;
      await settled();
    },
  };
}
