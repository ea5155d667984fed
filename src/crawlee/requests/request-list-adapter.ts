// Crawlee's RequestListAdapter: a list that is used where a source of requests is asked for. It takes no new requests.
import { CrawlError } from '../../errors.js';
import type { Dictionary, Request } from '../../request/request.js';
import type { IRequestList } from '../type-names.js';

/**
 * A request list as a request manager.
 *
 * @example
 * const requestManager = new RequestListAdapter(await RequestList.open(null, ['https://example.com/']));
 */
export class RequestListAdapter {
  readonly #list: IRequestList;

  constructor(requestList: IRequestList) {
    this.#list = requestList;
  }

  isFinished(): Promise<boolean> {
    return this.#list.isFinished();
  }

  isEmpty(): Promise<boolean> {
    return this.#list.isEmpty();
  }

  async handledCount(): Promise<number> {
    return this.#list.handledCount();
  }

  getTotalCount(): number {
    return this.#list.length();
  }

  getPendingCount(): number {
    return this.#list.length() - this.#list.handledCount();
  }

  fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
    return this.#list.fetchNextRequest() as Promise<Request<T> | null>;
  }

  markRequestHandled(request: Request): Promise<void> {
    return this.#list.markRequestHandled(request);
  }

  async reclaimRequest(request: Request): Promise<null> {
    await this.#list.reclaimRequest(request);
    return null;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (let request = await this.fetchNextRequest(); request; request = await this.fetchNextRequest()) yield request;
  }

  async addRequest(): Promise<never> {
    throw new CrawlError('OPTION_INVALID', 'a request list takes no new requests: use a RequestQueue');
  }

  addRequestsBatched(): Promise<never> {
    return this.addRequest();
  }
}
