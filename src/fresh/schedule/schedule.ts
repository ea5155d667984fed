// When each page is to be visited again: from its own rate of change and the price of a visit.
// Promise: a visit costs a constant time here and one move in the order of due pages; a page that is due only says so,
// and its host's pace decides when it is asked for.
import type { RememberedPage } from '../memory/page-row.js';
import { createPriceBook, type PriceBook, type PriceState } from './price.js';
import { priorBelief, type RateBelief } from './rate.js';

export interface Schedule {
  /** The belief to begin with, for a page that was visited once. */
  firstBelief(): RateBelief;
  /** When a page that was just visited is due again, in seconds since 1970. */
  nextVisitAt(page: Planned, before: Planned | undefined): number;
  /**
   * A page has come up: visit it now, or look at it again at this time. The price changes while it waits, so a page that
   * waits long is looked at in between.
   */
  review(page: Planned, nowSecs: number): 'visit' | number;
  setBudget(visitsPerSec: number): void;
  readonly book: Pick<PriceBook, 'pages' | 'meanRate' | 'toJSON'>;
}

/** What of a page decides. */
export type Planned = Pick<RememberedPage, 'visitedAt' | 'nextVisitAt' | 'shape' | 'scaleSecs' | 'importance'>;

export interface ScheduleOptions {
  readonly visitsPerSec: number;
  readonly state?: PriceState | undefined;
  /** Until more is known: once a day. */
  readonly firstRate?: number;
}

/** A little is left for pages that come up late. */
const PLANNED_PART = 0.99;
const DAY_SECS = 86_400;
/** A page is looked at again after so many rounds of all pages, whatever was planned. */
const REVIEW_ROUNDS = 2;
const LATEST = 0xffffffff;

export function createSchedule(options: ScheduleOptions): Schedule {
  const book = createPriceBook(options.visitsPerSec * PLANNED_PART, options.state);
  let perSec = options.visitsPerSec;

  /** From now until it is looked at again. */
  const horizonSecs = () => (REVIEW_ROUNDS * Math.max(1, book.pages)) / perSec;

  function dueAt(page: Planned, intervalSecs: number, nowSecs: number): number {
    const at = page.visitedAt + Math.max(1, intervalSecs);
    return Math.ceil(Math.min(at, nowSecs + Math.max(1, horizonSecs()), LATEST));
  }

  return {
    book,
    firstBelief: () => priorBelief(book.meanRate ?? options.firstRate ?? 1 / DAY_SECS),
    nextVisitAt(page, before) {
      book.replace(before && before.scaleSecs > 0 ? before : undefined, page);
      const testSecs = before && book.testSecs(page);
      const intervalSecs = book.intervalSecs(page);
      // The short one comes after a long one.
      const isTest = testSecs !== undefined && page.visitedAt - before!.visitedAt > intervalSecs / 2;
      return dueAt(page, isTest ? testSecs : intervalSecs, page.visitedAt);
    },
    review(page, nowSecs) {
      // Planned for this very time, and not only to be looked at.
      if (page.nextVisitAt - page.visitedAt < 0.9 * horizonSecs()) return 'visit';
      const interval = book.intervalSecs(page);
      return page.visitedAt + interval <= nowSecs + 1 ? 'visit' : dueAt(page, interval, nowSecs);
    },
    setBudget(visitsPerSec) {
      perSec = visitsPerSec;
      book.setBudget(visitsPerSec * PLANNED_PART);
    },
  };
}
