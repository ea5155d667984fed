// Counts the tasks of all batches that share a dispatcher, or a crawler's connections.
// Promise: a freed permit wakes the other batches, so that none waits for a poll; while one waits for a permit,
// the others take none beyond their share.
import type { Batch, Membership } from './dispatcher.js';

export interface Permits<B extends Pick<Batch, 'wake'> = Batch> {
  readonly running: number;
  readonly batches: ReadonlySet<B>;
  /** `mayStart` is asked only while a permit is free for this batch. */
  join(batch: B, mayStart?: (batch: B) => boolean, onChange?: () => void): Membership;
}

export function createPermits<B extends Pick<Batch, 'wake'> = Batch>(count: number): Permits<B> {
  const batches = new Set<B>();
  /** Batches that were refused a permit and not offered one since, longest waiting first. */
  const waiting = new Set<B>();
  let running = 0;

  const firstWaiting = (): B | undefined => waiting.values().next().value;

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
      /** The first in line is never held back, so one can always go. */
      const mustYield = (): boolean => {
        const first = firstWaiting();
        return first !== undefined && first !== batch && own + 1 > count / batches.size;
      };
      return {
        mayStart() {
          if (running >= count || mustYield()) {
            waiting.add(batch);
            return false;
          }
          // Offered: used or not, the next in line is asked.
          if (waiting.delete(batch)) firstWaiting()?.wake();
          return mayStart?.(batch) ?? true;
        },
        started() {
          own++;
          running++;
        },
        ended: () => free(1),
        leave() {
          if (!batches.delete(batch)) return;
          waiting.delete(batch);
          free(own);
          onChange?.();
        },
      };
    },
  };
}
