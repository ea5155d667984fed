// What this process knows of a pod's time: how far the next call may move it, at least and at most.
// Pod time follows the server's clock between the two, so a clock that jumps neither ends a lease nor shortens a delay.
import type { FrontierClock } from '../embedded/clock.js';

export interface ClockBounds {
  /** So much time has surely passed since this process heard of the call `heardSeq`, the last it knows of. */
  readonly passedMs: number;
  readonly heardSeq: number;
  /** More cannot have passed since this process last heard of pod time. */
  readonly upperMs: number;
  /** Stands in for the server's clock; −1 for the server's own. */
  readonly wallMs: number;
  readonly sentMs: number;
}

export interface PodClock {
  bounds(): ClockBounds;
  /** The answer to a call that was sent at `sentMs` told pod time. */
  heard(podMs: number, sentMs: number, seq: number): void;
  /** The server may number other calls as it numbered those heard of. */
  forgetCalls(): void;
}

/** With a clock of the caller's own, pod time follows that: for tests and simulations. */
export function createPodClock(own: FrontierClock | undefined): PodClock {
  const monotonicMs = own ? () => own.monotonicMs() : () => performance.now();
  // A process that has heard nothing yet has no measure of time: it moves none.
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
      // Replies may overtake each other; the call sent last knows best.
      if (!latest || sentMs >= latest.sentMs) latest = { podMs, sentMs };
    },
    forgetCalls: () => void (newest = { seq: -1, atMs: 0 }),
  };
}
