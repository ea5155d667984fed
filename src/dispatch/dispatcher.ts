// PORT. A dispatcher decides how many URLs of its batches may be in progress at once; several batches may share one.
// Promise: never more than `permits` in total, and at least one while anything waits.
import type { RateLimiter } from './rate-limiter.js';

/** What a dispatcher may ask of its batches. */
export interface Batch {
  /** More may start now than a moment ago. */
  wake(): void;
  /** Aborts at most `count` of the youngest tasks and queues their URLs again; returns how many. */
  shed(count: number): number;
  /** How long the URL that waits longest has waited. */
  longestWaitMs(): number;
}

/** A batch's place in a dispatcher. */
export interface Membership {
  /** Whether one more task may start now. */
  mayStart(): boolean;
  /** A task of the batch has started. */
  started(): void;
  /** A task of the batch has ended, or was shed. */
  ended(): void;
  /** The batch is over or aborted. */
  leave(): void;
}

/** How a task ended, for display. */
export interface TaskEnd {
  /** The status is below 400 and the body was read. */
  readonly success: boolean;
  /** Why it failed; undefined for a success. */
  readonly errorCode: string | undefined;
  /** Undefined when no response came. */
  readonly statusCode: number | undefined;
  /** Of the decoded body. */
  readonly bytes: number;
}

/** Shows the progress of batches; see CrawlerMonitor. */
export interface TaskMonitor {
  /** A batch starts; the returned function ends its display. */
  begin(): () => void;
  /** The URL was read from the list and waits for its turn. */
  queued(taskId: string, url: string): void;
  /** Its first or next attempt has started. */
  started(taskId: string, url: string): void;
  /** Its result is there: no further attempt is made. */
  ended(taskId: string, end: TaskEnd): void;
  /** Memory in use, in percent, and whether new work waits for it. */
  memory(percent: number, isPaused: boolean): void;
}

/** Decides how many URLs of a batch are in work at once. Several batches may share one. */
export interface Dispatcher {
  /** URLs in work at once at most, over all its batches. */
  readonly permits: number;
  /** Paces each domain; undefined: domains are not paced. */
  readonly rateLimiter: RateLimiter | undefined;
  /** What shows progress; undefined: nothing is shown. */
  readonly monitor: TaskMonitor | undefined;
  /** Takes a batch in. It asks for permission before each start and tells what started and ended. */
  join(batch: Batch): Membership;
}
