// What the process's exit status says, the same for every command.
// Promise: a script can tell a finished crawl from a partial, a paused and an interrupted one.
import { CrawlError } from '../errors.js';

export const EXIT = Object.freeze({
  done: 0,
  /** Wrong arguments or settings, or a storage that cannot be used: nothing was crawled, or the crawl broke off. */
  misuse: 1,
  /** The crawl ended and some pages failed. */
  someFailed: 2,
  /** The disk is full: what was crawled is safe, the rest waits. */
  paused: 3,
  /** A store came back empty: it is never silently refilled. */
  emptied: 4,
  /** A pod stopped because its workers kept ending. */
  podStopped: 5,
  /** What was stored is gone, or a part of it: the rest is safe, and the crawl is not whole. */
  lost: 6,
  interrupted: 130,
});

/** An error of the person at the keyboard: one line that says what is wrong and what to do next. */
export class UsageError extends Error {}

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof CrawlError)) return EXIT.misuse;
  if (error.code === 'STORAGE_FULL') return EXIT.paused;
  if (error.code === 'STORAGE_LOST') return EXIT.lost;
  if (error.code === 'QUEUE_EMPTIED') return EXIT.emptied;
  return error.code === 'WORKER_LOST' ? EXIT.podStopped : EXIT.misuse;
}
