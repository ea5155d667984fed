// The exit codes, the same for every command.
// Promise: a script can tell a finished crawl from a partial, a paused and an interrupted one.
import { CrawlError } from '../errors.js';

export const EXIT = Object.freeze({
  done: 0,
  /** Invalid arguments or settings, or an unusable storage: nothing was crawled, or the crawl was aborted. */
  misuse: 1,
  /** The crawl ended and some pages failed. */
  someFailed: 2,
  /** The disk is full: crawled pages are safe, the rest waits. */
  paused: 3,
  /** A store came back empty: it is never silently refilled. */
  emptied: 4,
  /** A pod stopped because its workers kept dying. */
  podStopped: 5,
  /** Some stored data is gone: the rest is safe, but the crawl is incomplete. */
  lost: 6,
  interrupted: 130,
});

/** A user error: one line that says what is wrong and what to do next. */
export class UsageError extends Error {}

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof CrawlError)) return EXIT.misuse;
  if (error.code === 'STORAGE_FULL') return EXIT.paused;
  if (error.code === 'STORAGE_LOST') return EXIT.lost;
  if (error.code === 'QUEUE_EMPTIED') return EXIT.emptied;
  return error.code === 'WORKER_LOST' ? EXIT.podStopped : EXIT.misuse;
}
