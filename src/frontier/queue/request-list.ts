// A fixed list of start requests. A crawler copies it into its queue in the background, so a list needs no
// persistence: after a restart the list is read again.
import { CrawlError } from '../../errors.js';
import { finderOf, foundLike } from '../../request/found.js';
import { type Dictionary, Request, type Source, toRequest } from '../../request/request.js';
import { downloadRequests, isUrlList, type UrlListSource } from './url-list-source.js';

/** How far a list got. */
export interface RequestListState {
  /** Position of the next request. */
  nextIndex: number;
  /** Its key, or null at the end of the list. */
  nextUniqueKey: string | null;
  /** The unique keys of what was given out and has not ended. */
  inProgress: string[];
}

/** Where the states of lists are kept; the crawl layer says. */
export interface ListStates {
  load(key: string): Promise<RequestListState | undefined>;
  save(key: string, state: RequestListState): Promise<void>;
}

let listStates: ListStates = { load: async () => undefined, save: async () => {} };

export function keepListStatesWith(states: ListStates): void {
  listStates = states;
}

/** Where a list of requests comes from. */
export interface RequestListOptions {
  /** URLs, requests, or addresses of lists (`requestsFromUrl`), in their order. */
  sources?: readonly (Source | UrlListSource)[];
  /** Creates the sources when the list is opened. */
  sourcesFunction?: () => Promise<readonly (Source | UrlListSource)[]>;
  /** Where `persistState()` saves, and what an earlier list of this key saved is gone on from. */
  persistStateKey?: string;
  /** Where an earlier list stood: `getState()`. */
  state?: RequestListState;
  /** Keeps the list itself under this key, so that a restart does not load its sources again. */
  persistRequestsKey?: string;
  /** Keep requests with a repeated unique key, under a new key. */
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

  readonly #stateKey: string | undefined;

  private constructor(requests: Request[], stateKey?: string) {
    this.#requests = requests;
    this.#stateKey = stateKey;
  }

  /** Opens a list from its sources or from options with them. Under its name, or `persistStateKey`, its state is saved. */
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
          // A request with a new key has the same origin as the original.
          requests.push(known ? foundLike(request, new Request({ ...request.toJSON(), uniqueKey })) : request);
        }
      }
    }
    const name = typeof listNameOrOptions === 'string' ? `${listNameOrOptions}-REQUEST_LIST_STATE` : undefined;
    const list = new RequestList(requests, options.persistStateKey ?? name);
    const state = options.state ?? (await list.#loadState());
    if (state) list.#goOnFrom(state);
    return list;
  }

  /** Where the list stands: to be given as `state` to a list of the same sources. */
  getState(): RequestListState {
    const nextUniqueKey = this.#requests[this.#next]?.uniqueKey ?? null;
    const reclaimed = this.#reclaimed.map(({ uniqueKey }) => uniqueKey);
    return { nextIndex: this.#next, nextUniqueKey, inProgress: [...this.#inProgress, ...reclaimed] };
  }

  /** Saves the state in the default key-value store, if the list has a name. */
  async persistState(): Promise<void> {
    if (this.#stateKey === undefined) return;
    await listStates.save(this.#stateKey, this.getState());
  }

  async #loadState(): Promise<RequestListState | undefined> {
    if (this.#stateKey === undefined) return undefined;
    return listStates.load(this.#stateKey);
  }

  /** What was given out and not ended comes first, as it may have been lost. */
  #goOnFrom({ nextIndex, nextUniqueKey, inProgress }: RequestListState): void {
    const isSame = (this.#requests[nextIndex]?.uniqueKey ?? null) === nextUniqueKey;
    if (!isSame) throw new CrawlError('OPTION_INVALID', 'the state of a RequestList fits the same sources only');
    const lost = new Set(inProgress);
    this.#next = nextIndex;
    this.#reclaimed.push(...this.#requests.slice(0, nextIndex).filter(({ uniqueKey }) => lost.has(uniqueKey)));
  }

  /** All requests of the list, in order. */
  get requests(): readonly Request[] {
    return this.#requests;
  }

  /** The unique keys of what was given out and has not ended. */
  get inProgress(): ReadonlySet<string> {
    return new Set(this.getState().inProgress);
  }

  /** The unique keys of what was given back and comes next. */
  get reclaimed(): ReadonlySet<string> {
    return new Set(this.#reclaimed.map(({ uniqueKey }) => uniqueKey));
  }

  /** Requests in the list, without duplicates. */
  length(): number {
    return this.#requests.length;
  }

  /** The next request, or null when none is left. */
  async fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
    const request = this.#reclaimed.shift() ?? this.#requests[this.#next++];
    if (!request) {
      this.#next = this.#requests.length;
      return null;
    }
    this.#inProgress.add(request.uniqueKey);
    return request as Request<T>;
  }

  /** The request has ended, well or not: it does not come again. */
  async markRequestHandled(request: Request): Promise<void> {
    this.#inProgress.delete(request.uniqueKey);
  }

  /** Gives the request back: it comes again. */
  async reclaimRequest(request: Request): Promise<void> {
    if (this.#inProgress.delete(request.uniqueKey)) this.#reclaimed.push(request);
  }

  /** Whether no request is left to fetch; some may be in progress. */
  async isEmpty(): Promise<boolean> {
    return this.#reclaimed.length === 0 && this.#next >= this.#requests.length;
  }

  /** Whether every request has ended. */
  async isFinished(): Promise<boolean> {
    return this.#inProgress.size === 0 && (await this.isEmpty());
  }

  /** Requests that have ended. */
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
