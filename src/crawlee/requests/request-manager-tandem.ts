// Crawlee's RequestManagerTandem: a list that is moved into a queue bit by bit, used as one.
// Promise: a request leaves the list only when the queue has it.
import { log } from '../../observe/log.js';
import type { RequestQueue } from '../../frontier/queue/request-queue.js';
import type { Dictionary, Request } from '../../request/request.js';

/** What a tandem needs of a list; `RequestList` and `SitemapRequestList` have it. */
export interface TandemList {
  /** The next request, or null when none is left. */
  fetchNextRequest(): Promise<Request | null>;
  /** Takes a request off the list for good. */
  markRequestHandled(request: Request): Promise<unknown>;
  /** Puts a request back, to be fetched again. */
  reclaimRequest?(request: Request): Promise<unknown>;
  /** Whether no request is left to fetch. */
  isEmpty(): Promise<boolean>;
  /** Whether all requests were handled. */
  isFinished(): Promise<boolean>;
}

/**
 * A list and a queue as one source of requests.
 *
 * @example
 * const requestList = await RequestList.open(null, ['https://example.com/']);
 * const requestManager = new RequestManagerTandem(requestList, await RequestQueue.open());
 * await new CheerioCrawler({ requestManager, requestHandler }).run();
 */
export class RequestManagerTandem {
  /** Where requests come from. */
  readonly requestList: TandemList;
  /** Where they go before they are handled. */
  readonly requestQueue: RequestQueue;

  constructor(requestList: TandemList, requestQueue: RequestQueue) {
    this.requestList = requestList;
    this.requestQueue = requestQueue;
  }

  /** The next request of the queue, which has those of the list in front. */
  async fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
    // A list that is still being read is waited for only when there is nothing else to do.
    if (!(await this.requestList.isEmpty()) || (await this.requestQueue.isEmpty())) await this.#move();
    return this.requestQueue.fetchNextRequest<T>();
  }

  /** Whether neither has a request to fetch. */
  async isEmpty(): Promise<boolean> {
    return (await this.requestQueue.isEmpty()) && (await this.requestList.isEmpty());
  }

  /** Whether both have handled everything. */
  async isFinished(): Promise<boolean> {
    return (await this.requestList.isFinished()) && this.requestQueue.isFinished();
  }

  /** How many requests were handled. */
  handledCount(): Promise<number> {
    return this.requestQueue.handledCount();
  }

  /** How many requests the queue was given. */
  getTotalCount(): number {
    return this.requestQueue.getTotalCount();
  }

  /** How many requests of the queue are not handled yet. */
  getPendingCount(): number {
    return this.requestQueue.getPendingCount();
  }

  /** Tells the queue that a request is done. */
  markRequestHandled(...given: Parameters<RequestQueue['markRequestHandled']>) {
    return this.requestQueue.markRequestHandled(...given);
  }

  /** Returns a request to the queue, to be fetched again. */
  reclaimRequest(...[request, options]: Parameters<RequestQueue['reclaimRequest']>) {
    return this.requestQueue.reclaimRequest(request, options);
  }

  /** Adds a request to the queue. */
  addRequest(...given: Parameters<RequestQueue['addRequest']>) {
    return this.requestQueue.addRequest(...given);
  }

  /** Adds requests to the queue. */
  addRequests(...given: Parameters<RequestQueue['addRequests']>) {
    return this.requestQueue.addRequests(...given);
  }

  /** Adds many requests to the queue, in batches. */
  addRequestsBatched(...[requests, options]: Parameters<RequestQueue['addRequestsBatched']>) {
    return this.requestQueue.addRequestsBatched(requests, options);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (let request = await this.fetchNextRequest(); request; request = await this.fetchNextRequest()) yield request;
  }

  async #move(): Promise<void> {
    const request = await this.requestList.fetchNextRequest();
    if (!request) return;
    try {
      await this.requestQueue.addRequest(request, { forefront: true });
    } catch (error) {
      log.exception(error as Error, 'The queue did not take a request of the list, which has it again', {
        url: request.url,
      });
      await this.requestList.reclaimRequest?.(request);
      return;
    }
    await this.requestList.markRequestHandled(request);
  }
}
