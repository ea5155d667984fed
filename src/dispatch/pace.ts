// Spaces task starts for `maxTasksPerMinute`; the pool asks it before every start.
// Promise: at most floor((W + 10) / spacing) + 1 starts in any window of W ms,
// so 600 per minute is never more than 11 in a sliding second, even after idle time.

/**
 * How late a start may be without shifting the schedule. Covers the lateness of
 * timers (1–2 ms) and short turns of the event loop, so that the mean rate reaches the limit; small enough
 * that nothing piles up while idle.
 */
const LATENESS_MS = 10;

/** A schedule of starts. */
export interface Pace {
  /** Milliseconds until the next start is allowed; 0 when it is allowed now. */
  waitMs(): number;
  /** Records a start at this moment. */
  started(): void;
}

/**
 * Paces starts evenly. `Infinity` means no limit.
 *
 * @example
 * const pace = createPace(600, () => performance.now());
 * if (pace.waitMs() === 0) { pace.started(); begin(); }
 */
export function createPace(maxPerMinute: number, clock: () => number): Pace {
  if (maxPerMinute === Infinity) return { waitMs: () => 0, started: () => {} };
  const spacingMs = 60_000 / maxPerMinute;
  let nextMs = -Infinity;
  return {
    waitMs: () => Math.max(0, nextMs - clock()),
    started: () => {
      const nowMs = clock();
      nextMs = nextMs === -Infinity ? nowMs + spacingMs : Math.max(nextMs, nowMs - LATENESS_MS) + spacingMs;
    },
  };
}
