// What this process knows of a pod's time: a bound below and above which the next call may move it.
// Pod time follows the server's clock between the two, so a clock that jumps neither ends a lease nor shortens a delay.
import type { FrontierClock } from '../clock.js';

export interface ClockBounds {
  /** So much time has surely passed. */
  readonly lowerMs: number;
  /** More cannot have passed since this process last heard of pod time. */
  readonly upperMs: number;
  /** Stands in for the server's clock; −1 for the server's own. */
  readonly wallMs: number;
  readonly sentMs: number;
}

export interface PodClock {
  bounds(): ClockBounds;
  /** The answer to a call that was sent at `sentMs` told pod time. */
  heard(podMs: number, sentMs: number): void;
}

/** With a clock of the caller's own, pod time follows that: for tests and simulations. */
export function createPodClock(own: FrontierClock | undefined): PodClock {
  const monotonicMs = own ? () => own.monotonicMs() : () => performance.now();
  // A process that has heard nothing yet has no measure of time: it moves none.
  let surely = Number.NEGATIVE_INFINITY;
  let latest: { podMs: number; sentMs: number } | undefined;
  return {
    bounds() {
      const sentMs = monotonicMs();
      return {
        lowerMs: Math.max(0, Math.floor(surely + sentMs)),
        upperMs: latest ? Math.ceil(latest.podMs + sentMs - latest.sentMs) : 0,
        wallMs: own ? own.wallMs() : -1,
        sentMs,
      };
    },
    heard(podMs, sentMs) {
      surely = Math.max(surely, podMs - monotonicMs());
      // Replies may overtake each other; the call sent last knows best.
      if (!latest || sentMs >= latest.sentMs) latest = { podMs, sentMs };
    },
  };
}
