// Store time: the milliseconds by which leases end and domains become due.
// It never runs backwards, follows the wall across boots, and within one boot only the machine's monotonic clock
// drives it: a wall clock that jumps neither ends a lease nor shortens a delay.
import { readFileSync } from 'node:fs';

/** Where store time comes from; tests pass their own. */
export interface FrontierClock {
  /** Milliseconds on a clock that all processes of one boot share and that never jumps. */
  monotonicMs(): number;
  wallMs(): number;
  /** Names the boot `monotonicMs` counts from; '' when the platform does not tell. */
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
  /** Monotonic time when the anchor was set; a smaller reading tells of another boot where boots have no name. */
  readonly setAtMs: number;
}

/** The anchor that holds from now on, given the stored one and the last store time that was used. */
export function anchorClock(clock: FrontierClock, stored: ClockAnchor | undefined, lastMs: number): ClockAnchor {
  const monotonicMs = clock.monotonicMs();
  if (stored?.bootId === clock.bootId && monotonicMs >= stored.setAtMs) return stored;
  return {
    bootId: clock.bootId,
    offsetMs: Math.max(lastMs, clock.wallMs()) - monotonicMs,
    setAtMs: monotonicMs,
  };
}
