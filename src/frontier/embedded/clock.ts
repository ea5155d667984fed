// Store time: the clock for leases and due times, in milliseconds.
// It never runs backwards and follows the wall clock across boots; within one boot only the machine's monotonic clock
// drives it: a jump of the wall clock neither ends a lease nor shortens a delay.
import { readFileSync } from 'node:fs';

/** Source of store time; tests pass their own. */
export interface FrontierClock {
  /** Milliseconds on a monotonic clock shared by all processes of one boot. */
  monotonicMs(): number;
  /** Milliseconds since 1970, as the machine tells them. */
  wallMs(): number;
  /** Id of the boot that `monotonicMs` counts from; '' if the platform has none. */
  readonly bootId: string;
}

let bootId: string | undefined;

/** The machine's clock. `process.hrtime` is CLOCK_MONOTONIC, the same in every process of a boot. */
export const systemClock: FrontierClock = {
  monotonicMs: () => Math.floor(Number(process.hrtime.bigint() / 1_000n) / 1_000),
  wallMs: () => Date.now(),
  get bootId() {
    return (bootId ??= readBootId());
  },
};

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return '';
  }
}

/** What is stored about time: store time = monotonic time of that boot + offset. */
export interface ClockAnchor {
  readonly bootId: string;
  readonly offsetMs: number;
  /** Monotonic time when the anchor was set; without boot ids, a smaller reading means another boot. */
  readonly setAtMs: number;
}

/** The new anchor, given the stored one and the last store time used. */
export function anchorClock(clock: FrontierClock, stored: ClockAnchor | undefined, lastMs: number): ClockAnchor {
  const monotonicMs = clock.monotonicMs();
  if (stored?.bootId === clock.bootId && monotonicMs >= stored.setAtMs) return stored;
  return {
    bootId: clock.bootId,
    offsetMs: Math.max(lastMs, clock.wallMs()) - monotonicMs,
    setAtMs: monotonicMs,
  };
}
