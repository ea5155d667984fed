// Crawlee's RequestManagerTandem: a list that is moved into a queue bit by bit, used as one.
// Promise: a request leaves the list only when the queue has it.
import { log } from '../../observe/log.js';
import type { RequestQueue } from '../../frontier/queue/request-queue.js';
import type { Dictionary, Request } from '../../request/request.js';

/** What a tandem needs of a list; `RequestList` and `SitemapRequestList` have it. */
export interface TandemList {
  fetchNextRequest(): Promise<Request | null>;
  markRequestHandled(request: Request): Promise<unknown>;
  reclaimRequest?(request: Request): Promise<unknown>;
  isEmpty(): Promise<boolean>;
  isFinished(): Promise<boolean>;
}

const BATCH = 25;

/**
 * A list and a queue as one source of requests.
 *
 * @example
 * const requestList = await RequestList.open(null, ['https://example.com/']);
 * const requestManager = new RequestManagerTandem(requestList, await RequestQueue.open());
 * await new CheerioCrawler({ requestManager, requestHandler }).run();
 */
export class RequestManagerTandem {
  readonly #list: TandemList;
  readonly #queue: RequestQueue;

  constructor(requestList: TandemList, requestQueue: RequestQueue) {
    this.#list = requestList;
    this.#queue = requestQueue;
  }

  async fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
    if (await this.#queue.isEmpty()) await this.#move();
    return this.#queue.fetchNextRequest<T>();
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#queue.isEmpty()) && (await this.#list.isEmpty());
  }

  async isFinished(): Promise<boolean> {
    return (await this.#list.isFinished()) && this.#queue.isFinished();
  }

  handledCount(): Promise<number> {
    return this.#queue.handledCount();
  }

  getTotalCount(): number {
    return this.#queue.getTotalCount();
  }

  getPendingCount(): number {
    return this.#queue.getPendingCount();
  }

  markRequestHandled(...given: Parameters<RequestQueue['markRequestHandled']>) {
    return this.#queue.markRequestHandled(...given);
  }

  reclaimRequest(...given: Parameters<RequestQueue['reclaimRequest']>) {
    return this.#queue.reclaimRequest(...given);
  }

  addRequest(...given: Parameters<RequestQueue['addRequest']>) {
    return this.#queue.addRequest(...given);
  }

  addRequests(...given: Parameters<RequestQueue['addRequests']>) {
    return this.#queue.addRequests(...given);
  }

  addRequestsBatched(...given: Parameters<RequestQueue['addRequestsBatched']>) {
    return this.#queue.addRequestsBatched(...given);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (let request = await this.fetchNextRequest(); request; request = await this.fetchNextRequest()) yield request;
  }

  async #move(): Promise<void> {
    for (let moved = 0; moved < BATCH; moved++) {
      const request = await this.#list.fetchNextRequest();
      if (!request) return;
      try {
        await this.#queue.addRequest(request);
      } catch (error) {
        log.exception(error as Error, 'The queue did not take a request of the list, which has it again', {
          url: request.url,
        });
        await this.#list.reclaimRequest?.(request);
        return;
      }
      await this.#list.markRequestHandled(request);
    }
  }
}
