// PORT. A dispatcher decides how many URLs of its batches may be in work at once; several batches may share one.
// Promise: never more than `permits` in all, and while anything waits at least one is let through.
import type { RateLimiter } from './rate-limiter.js';

/** What a dispatcher may ask of a batch that joined it. */
export interface Batch {
  /** More may start now than a moment ago. */
  wake(): void;
  /** Breaks off at most `count` of the youngest tasks and queues their URLs again; how many it broke off. */
  shed(count: number): number;
  /** How long the URL that waits longest has waited. */
  longestWaitMs(): number;
}

/** A batch's place in a dispatcher. */
export interface Membership {
  /** Whether one more task may start now. */
  mayStart(): boolean;
  started(): void;
  ended(): void;
  /** The batch is over, or broken off. */
  leave(): void;
}

/** What a task is shown as while it runs. */
export interface TaskEnd {
  readonly success: boolean;
  readonly errorCode: string | undefined;
  readonly statusCode: number | undefined;
  readonly bytes: number;
}

/** Whoever shows the progress of batches; see CrawlerMonitor. */
export interface TaskMonitor {
  /** A batch begins; the returned function ends its showing. */
  begin(): () => void;
  queued(taskId: string, url: string): void;
  started(taskId: string, url: string): void;
  ended(taskId: string, end: TaskEnd): void;
  /** Memory in use, in percent of what there is, and whether new work waits for it. */
  memory(percent: number, isPaused: boolean): void;
}

/** Decides how many URLs of a batch are in work at once. Several batches may share one. */
export interface Dispatcher {
  readonly permits: number;
  readonly rateLimiter: RateLimiter | undefined;
  readonly monitor: TaskMonitor | undefined;
  join(batch: Batch): Membership;
}
