// What this process knows of store time: the least and the most that it can be now, by its own monotonic clock.
// The store corrects its time by it (sql/clock.sql), so that a clock that jumps neither ends a lease nor shortens a delay.
import type { FrontierClock } from '../index.js';

export interface StoreClock {
  /** For a call that is sent now. */
  bounds(): { readonly wallMs: number | null; readonly lowerMs: number | null; readonly upperMs: number | null };
  /** Store time, from the answer to the call whose bounds were asked for last. */
  heard(storeMs: number): void;
}

/** With a clock of the caller's own, store time follows that: for tests and simulations. */
export function createStoreClock(own: FrontierClock | undefined): StoreClock {
  const monotonicMs = own ? () => own.monotonicMs() : () => performance.now();
  let sentMs = monotonicMs();
  let known: { readonly storeMs: number; readonly sentMs: number; readonly heardMs: number } | undefined;
  return {
    bounds() {
      sentMs = monotonicMs();
      return {
        wallMs: own ? Math.floor(own.wallMs()) : null,
        lowerMs: known ? known.storeMs + Math.floor(sentMs - known.heardMs) : null,
        // The store has whole milliseconds, and may have been read a moment after it was asked.
        upperMs: known ? Math.ceil(known.storeMs + sentMs - known.sentMs) : null,
      };
    },
    heard: (storeMs) => void (known = { storeMs, sentMs, heardMs: monotonicMs() }),
  };
}
