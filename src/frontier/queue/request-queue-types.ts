// What the public queue is told and what it answers.
import type { Counters } from '../frontier.js';
import type { QueueOperationInfo } from './operation-infos.js';

/** Where a request goes in the queue. */
export interface RequestQueueOperationOptions {
  /** Before what waits already. Default false. */
  forefront?: boolean;
}

/** How many requests are added. */
export interface AddRequestsBatchedOptions extends RequestQueueOperationOptions {
  /** Requests written at once. Default 1,000. */
  batchSize?: number;
  /** A rest between batches. Default 0. */
  waitBetweenBatchesMillis?: number;
  /** Resolves after the last batch, not the first. Default false. */
  waitForAllRequestsToBeAdded?: boolean;
  /** @internal False for requests that come from pages: only what the user adds may name a private address. */
  seeded?: boolean;
}

/** What became of requests that were added in batches. */
export interface AddRequestsBatchedResult {
  /** Those of the first batch, or all when waited for. */
  addedRequests: QueueOperationInfo[];
  /** Resolves to the rest when the last batch is in. */
  waitForAllRequestsToBeAdded: Promise<QueueOperationInfo[]>;
}

/** A queue in figures. */
export interface RequestQueueInfo {
  /** Of the queue. */
  id: string;
  /** Undefined for the default queue. */
  name: string | undefined;
  /** All requests ever accepted. */
  totalRequestCount: number;
  /** Those that ended. */
  handledRequestCount: number;
  /** Those that wait or are under way. */
  pendingRequestCount: number;
  /** All of them by state. */
  counters: Counters;
}
