// Counts the tasks of all batches that share a dispatcher; both dispatchers stand on it.
// Promise: a freed permit wakes the other batches, so that none of them waits for a poll.
import type { Batch, Membership } from './dispatcher.js';

export interface Permits {
  readonly running: number;
  readonly batches: ReadonlySet<Batch>;
  /** `mayStart` is asked only while a permit is free. */
  join(batch: Batch, mayStart: (batch: Batch) => boolean, onChange?: () => void): Membership;
}

export function createPermits(count: number): Permits {
  const batches = new Set<Batch>();
  let running = 0;
  return {
    get running() {
      return running;
    },
    batches,
    join(batch, mayStart, onChange) {
      let own = 0;
      batches.add(batch);
      onChange?.();
      const free = (freed: number): void => {
        own -= freed;
        running -= freed;
        for (const other of batches) if (other !== batch) other.wake();
      };
      return {
        mayStart: () => running < count && mayStart(batch),
        started() {
          own++;
          running++;
        },
        ended: () => free(1),
        leave() {
          if (!batches.delete(batch)) return;
          free(own);
          onChange?.();
        },
      };
    },
  };
}
