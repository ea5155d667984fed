// What this process knows about pod time: the least and most that the next call may advance it.
// Pod time follows the server's clock within these bounds, so a clock jump neither ends a lease nor shortens a delay.
import type { FrontierClock } from '../embedded/clock.js';

export interface ClockBounds {
  /** At least this much time has passed since call `heardSeq`, the last this process knows of. */
  readonly passedMs: number;
  readonly heardSeq: number;
  /** At most this much time has passed since this process last saw pod time. */
  readonly upperMs: number;
  /** Replaces the server's clock; −1 for the server's own. */
  readonly wallMs: number;
  readonly sentMs: number;
}

export interface PodClock {
  bounds(): ClockBounds;
  /** Pod time from the answer to a call sent at `sentMs`. */
  heard(podMs: number, sentMs: number, seq: number): void;
  /** The server may reuse sequence numbers for other calls. */
  forgetCalls(): void;
}

/** With the caller's own clock, pod time follows that: for tests and simulations. */
export function createPodClock(own: FrontierClock | undefined): PodClock {
  const monotonicMs = own ? () => own.monotonicMs() : () => performance.now();
  // A new process has no measure of time: it does not advance it.
  let newest = { seq: -1, atMs: 0 };
  let latest: { podMs: number; sentMs: number } | undefined;
  return {
    bounds() {
      const sentMs = monotonicMs();
      return {
        passedMs: Math.max(0, Math.floor(sentMs - newest.atMs)),
        heardSeq: newest.seq,
        upperMs: latest ? Math.ceil(latest.podMs + sentMs - latest.sentMs) : 0,
        wallMs: own ? own.wallMs() : -1,
        sentMs,
      };
    },
    heard(podMs, sentMs, seq) {
      if (seq >= newest.seq) newest = { seq, atMs: monotonicMs() };
      // Replies may overtake each other; the call sent last is the most accurate.
      if (!latest || sentMs >= latest.sentMs) latest = { podMs, sentMs };
    },
    forgetCalls: () => void (newest = { seq: -1, atMs: 0 }),
  };
}
