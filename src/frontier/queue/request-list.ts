// A fixed list of requests to start from. A crawler copies it into its queue in the background, so a list
// needs no persistence of its own: what was queued is in the queue, and the rest is read again.
import { CrawlError } from '../../errors.js';
import { finderOf, foundLike } from '../../request/found.js';
import { type Dictionary, Request, type Source, toRequest } from '../../request/request.js';
import { downloadRequests, isUrlList, type UrlListSource } from './url-list-source.js';

/** Where a list of requests comes from. */
export interface RequestListOptions {
  sources?: readonly (Source | UrlListSource)[];
  /** Makes the sources when the list is opened. */
  sourcesFunction?: () => Promise<readonly (Source | UrlListSource)[]>;
  /** Crawlee's, without effect: the queue that the list is copied into is what persists. */
  persistStateKey?: string;
  persistRequestsKey?: string;
  /** Keep requests whose unique key came before, under a key of their own. */
  keepDuplicateUrls?: boolean;
}

/**
 * A list of requests, each given out once.
 *
 * @example
 * const requestList = await RequestList.open(null, ['https://example.com/a', 'https://example.com/b']);
 * await new CheerioCrawler({ requestList, requestHandler }).run();
 */
export class RequestList {
  readonly #requests: Request[];
  readonly #inProgress = new Set<string>();
  readonly #reclaimed: Request[] = [];
  #next = 0;

  private constructor(requests: Request[]) {
    this.#requests = requests;
  }

  /** Opens a list from its sources, or from options that hold them. The name is Crawlee's and has no effect here. */
  static async open(
    listNameOrOptions: string | null | RequestListOptions,
    given: readonly (Source | UrlListSource)[] = [],
    further: RequestListOptions = {},
  ): Promise<RequestList> {
    const options = isOptions(listNameOrOptions) ? listNameOrOptions : further;
    const lists = [given, options.sources ?? [], (await options.sourcesFunction?.()) ?? []];
    const requests: Request[] = [];
    const seen = new Set<string>();
    for (const list of lists) {
      const asFound = finderOf(list) ?? ((request: Request) => request);
      for (const source of list) {
        for (const request of isUrlList(source) ? await downloadRequests(source) : [asFound(toRequest(source))]) {
          const known = seen.has(request.uniqueKey);
          if (known && !options.keepDuplicateUrls) continue;
          const uniqueKey = known ? `${request.uniqueKey}#${requests.length}` : request.uniqueKey;
          seen.add(uniqueKey);
          // One that goes under another key was found where its like was.
          requests.push(known ? foundLike(request, new Request({ ...request.toJSON(), uniqueKey })) : request);
        }
      }
    }
    return new RequestList(requests);
  }

  length(): number {
    return this.#requests.length;
  }

  async fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
    const request = this.#reclaimed.shift() ?? this.#requests[this.#next++];
    if (!request) {
      this.#next = this.#requests.length;
      return null;
    }
    this.#inProgress.add(request.uniqueKey);
    return request as Request<T>;
  }

  async markRequestHandled(request: Request): Promise<void> {
    this.#inProgress.delete(request.uniqueKey);
  }

  async reclaimRequest(request: Request): Promise<void> {
    if (this.#inProgress.delete(request.uniqueKey)) this.#reclaimed.push(request);
  }

  async isEmpty(): Promise<boolean> {
    return this.#reclaimed.length === 0 && this.#next >= this.#requests.length;
  }

  async isFinished(): Promise<boolean> {
    return this.#inProgress.size === 0 && (await this.isEmpty());
  }

  handledCount(): number {
    return this.#next - this.#inProgress.size - this.#reclaimed.length;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (let request = await this.fetchNextRequest(); request; request = await this.fetchNextRequest()) yield request;
  }
}

function isOptions(value: string | null | RequestListOptions): value is RequestListOptions {
  if (value === null || typeof value === 'string') return false;
  if (typeof value === 'object' && !Array.isArray(value)) return true;
  throw new CrawlError('OPTION_INVALID', 'RequestList.open takes a name or null and the sources, or options');
}
