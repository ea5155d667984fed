// Marks of visits in shared memory, made by the event loop: which visits are under way, and which one works right now.
// Promise: `work` runs what it is given and nothing else, whether anybody watches or not.
import { FREE, HANDLING, HEAD, MARK_SLOTS, shareMarks, VISITING } from './shared-marks.js';

/** One visit, as the watch knows it. */
export interface VisitMark {
  /** Runs synchronous work of the visit. */
  work<T>(make: () => T): T;
  /** User code has begun, or has ended: between two of its steps nobody knows whose they are. */
  handling(isHandling: boolean): void;
  /** The visit is over. */
  end(): void;
}

export const marks = shareMarks();
const { head, states, leases, urls, urlLengths, urlBytes } = marks;
const text = Buffer.from(urls.buffer, urls.byteOffset, urls.byteLength);
const free = Array.from({ length: MARK_SLOTS }, (_, slot) => MARK_SLOTS - 1 - slot);

/** With every slot taken a visit is not told apart from the others. */
const UNMARKED: VisitMark = { work: (make) => make(), handling: () => undefined, end: () => undefined };

class SlotMark implements VisitMark {
  readonly #slot: number;
  #isOver = false;

  constructor(slot: number) {
    this.#slot = slot;
  }

  work<T>(make: () => T): T {
    // One getter may call another: the outermost stretch counts.
    if (this.#isOver || head[HEAD.current] !== 0) return make();
    head[HEAD.current] = this.#slot + 1;
    head[HEAD.stretch]!++;
    try {
      return make();
    } finally {
      head[HEAD.current] = 0;
    }
  }

  handling(isHandling: boolean): void {
    if (!this.#isOver) states[this.#slot] = isHandling ? HANDLING : VISITING;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    states[this.#slot] = FREE;
    free.push(this.#slot);
  }
}

/** A visit begins. `lease` is 0 where there is none. */
export function markVisit(url: string, lease = 0): VisitMark {
  const slot = free.pop();
  if (slot === undefined) return UNMARKED;
  leases[slot] = lease;
  urlLengths[slot] = text.write(url, slot * urlBytes, urlBytes, 'latin1');
  states[slot] = VISITING;
  return new SlotMark(slot);
}

/** Synchronous work on what a URL gave, outside of its visit. */
export function workOn<T>(url: string, make: () => T): T {
  const mark = markVisit(url);
  try {
    return mark.work(make);
  } finally {
    mark.end();
  }
}
