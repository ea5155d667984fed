// Time and chance for everything in crawl/, passed in from outside: only this file reads the real clock.
// Tests pass their own (test/support/manual-time.ts), so that they neither sleep nor flake; a lint rule keeps it so.
import { setTimeout as delay } from 'node:timers/promises';

export interface Time {
  /** Milliseconds since 1970. */
  wallMs(): number;
  /** Milliseconds on a clock that never jumps. */
  monotonicMs(): number;
  /** From 0 up to, and without, 1. */
  random(): number;
  /** Resolves after this time; rejects when the signal aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls once, unless the returned function cancels it first. Keeps the process alive until then. */
  after(ms: number, call: () => void): () => void;
  /** Calls again and again until the returned function ends it. Does not keep the process alive. */
  every(ms: number, call: () => void): () => void;
}

/** Node's longest timer; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemTime: Time = Object.freeze({
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  wait: (ms: number, signal?: AbortSignal) => delay(Math.min(ms, LONGEST_TIMER_MS), undefined, { signal }),
  after(ms: number, call: () => void) {
    const timer = setTimeout(call, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
  every(ms: number, call: () => void) {
    const timer = setInterval(call, Math.min(ms, LONGEST_TIMER_MS)).unref();
    return () => clearInterval(timer);
  },
});

/** Now, as results and statistics are dated. */
export function isoNow(time: Time): string {
  return new Date(time.wallMs()).toISOString();
}
