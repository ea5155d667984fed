// One timer for all deadlines of an engine: every tick checks whether a waiter's time is up.
// A scan of a few hundred waiting exchanges is cheaper than a timer for each, and starting or ending
// a wait is one set operation. Deadlines fire at most one tick late.

/** Something that waits; `check` must not throw. */
export interface Waiting {
  check(nowMs: number): void;
}

export interface Deadlines {
  add(waiting: Waiting): void;
  delete(waiting: Waiting): void;
  close(): void;
  readonly size: number;
}

/** Fine enough for timeouts of seconds; 20 wake-ups a second while anything waits. */
export const TICK_MS = 50;

/** `onTick` runs with every tick; ticks stop when nothing waits and it returns false. */
export function createDeadlines(now: () => number, onTick: (nowMs: number) => boolean): Deadlines {
  const waiting = new Set<Waiting>();
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    const nowMs = now();
    for (const one of waiting) one.check(nowMs);
    const busy = onTick(nowMs);
    if (waiting.size === 0 && !busy) stop();
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    add(one) {
      waiting.add(one);
      // Unreferenced: sockets and lookups keep the process alive, waiting for a deadline alone does not.
      timer ??= setInterval(tick, TICK_MS).unref();
    },
    delete: (one) => void waiting.delete(one),
    close() {
      stop();
      waiting.clear();
    },
    get size() {
      return waiting.size;
    },
  };
}
