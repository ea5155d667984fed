// Crawlee's RequestList: a list that is made, then initialized, and that saves where it is (and, if asked, its requests) in
// the default key-value store when the event manager says so.
import { Configuration } from '../../configuration.js';
import { downloadListOfUrls } from '../../crawl/crawlee-utils.js';
import { CrawlError } from '../../errors.js';
import type { RequestListOptions as OwnOptions, RequestListState } from '../../frontier/queue/request-list.js';
import { EventType, type EventManagerLike } from '../../observe/events.js';
import { log } from '../../observe/log.js';
import { finderOf, foundLike } from '../../request/found.js';
import { type Dictionary, Request, type RequestOptions, type Source, toRequest } from '../../request/request.js';
import type { ProxyConfiguration } from '../../session/proxy.js';
import { KeyValueStore } from '../../store/records/key-value.js';
import { REQUESTS_PERSISTENCE_KEY, STATE_PERSISTENCE_KEY } from '../checks.js';
import { eventManagerOf } from '../events.js';
import { wrongType } from '../storage/client-dataset.js';
import { deserializeArray, serializeArray } from '../storage/values.js';

/** Where a list of requests comes from, and what of it is saved. */
export interface RequestListOptions extends OwnOptions {
  proxyConfiguration?: ProxyConfiguration;
  config?: Configuration;
}

type ListSource = NonNullable<RequestListOptions['sources']>[number];

/**
 * A list of requests, each given out once.
 *
 * @example
 * const requestList = await RequestList.open('my-list', ['https://example.com/a', 'https://example.com/b']);
 * await new CheerioCrawler({ requestList, requestHandler }).run();
 */
export class RequestList {
  readonly requests: Request[] = [];
  /** The unique keys of what was given out and has not ended. */
  readonly inProgress = new Set<string>();
  /** The unique keys of what was given back and comes next. */
  readonly reclaimed = new Set<string>();
  /** Empty once they are loaded. */
  readonly sources: readonly unknown[] = [];
  nextIndex = 0;
  isStatePersisted = true;
  areRequestsPersisted = false;
  isInitialized = false;
  isLoading = false;
  readonly persistStateKey: string | undefined;
  readonly persistRequestsKey: string | undefined;
  readonly keepDuplicateUrls: boolean;
  readonly events: EventManagerLike;
  readonly log = log.child({ prefix: 'RequestList' });
  readonly #options: RequestListOptions;
  readonly #config: Configuration;
  readonly #indexes = new Map<string, number>();
  /** Requests whose unique key the user gave. */
  readonly #named = new WeakSet<Request>();

  constructor(options: RequestListOptions) {
    const { sources, sourcesFunction, persistStateKey, persistRequestsKey, state } = options;
    if (sources !== undefined && !Array.isArray(sources)) throw wrongProperty('sources', 'array', sources);
    if (!sources && !sourcesFunction) throw refused('At least one of "sources" or "sourcesFunction" must be provided.');
    for (const [name, key] of Object.entries({ persistStateKey, persistRequestsKey })) {
      if (key !== undefined && typeof key !== 'string') throw wrongProperty(name, 'string', key);
    }
    if (state && typeof state.nextIndex !== 'number') throw wrongProperty('nextIndex', 'number', state.nextIndex);
    this.persistStateKey = persistStateKey && `SDK_${persistStateKey}`;
    this.persistRequestsKey = persistRequestsKey && `SDK_${persistRequestsKey}`;
    this.keepDuplicateUrls = options.keepDuplicateUrls ?? false;
    this.#options = options;
    this.#config = options.config ?? Configuration.getGlobalConfig();
    this.events = eventManagerOf(this.#config);
  }

  /** Makes a list and initializes it. A list with a name saves its state and its requests under that name. */
  static async open(
    listNameOrOptions: string | null | RequestListOptions,
    sources?: readonly ListSource[],
    options: RequestListOptions = {},
  ): Promise<RequestList> {
    const list = new RequestList(optionsOf(listNameOrOptions, sources, options));
    await list.initialize();
    return list;
  }

  /** Loads the requests, and goes on where an earlier list of the same key stood. */
  async initialize(): Promise<this> {
    if (this.isLoading) throw refused('RequestList sources are already loading or were loaded.');
    this.isLoading = true;
    const state = this.#options.state ?? (await this.#saved<RequestListState>(this.persistStateKey));
    const saved = await this.#saved<Uint8Array>(this.persistRequestsKey);
    if (saved) {
      for (const request of await deserializeArray<Source>(saved)) this._addRequest(toRequest(request));
      this.areRequestsPersisted = true;
    } else {
      await this.#load();
    }
    if (state) this.#restore(state);
    if (this.persistRequestsKey !== undefined && !this.areRequestsPersisted) {
      const bytes = await serializeArray(this.requests.map((request) => request.toJSON()));
      await (await this.#store()).setValue(this.persistRequestsKey, bytes, { contentType: 'application/octet-stream' });
      this.areRequestsPersisted = true;
    }
    this.isInitialized = true;
    if (this.persistStateKey !== undefined) this.events.on(EventType.PERSIST_STATE, this.#onPersist);
    return this;
  }

  /** Saves where the list is; nothing when that was saved already. */
  async persistState(): Promise<void> {
    if (this.persistStateKey === undefined) {
      throw refused('Cannot persist state. options.persistStateKey is not set.');
    }
    if (this.isStatePersisted) return;
    await (await this.#store()).setValue(this.persistStateKey, this.getState());
    this.isStatePersisted = true;
  }

  getState(): RequestListState {
    this.#ensureInitialized();
    const nextUniqueKey = this.requests[this.nextIndex]?.uniqueKey ?? null;
    return { nextIndex: this.nextIndex, nextUniqueKey, inProgress: [...this.inProgress] };
  }

  async fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
    this.#ensureInitialized();
    const [again] = this.reclaimed;
    if (again !== undefined) {
      this.reclaimed.delete(again);
      return this.requests[this.#indexes.get(again)!] as Request<T>;
    }
    const request = this.requests[this.nextIndex];
    if (!request) return null;
    this.inProgress.add(request.uniqueKey);
    this.nextIndex++;
    this.isStatePersisted = false;
    return request as Request<T>;
  }

  async markRequestHandled(request: Request): Promise<void> {
    this.#ensureInProgress(request);
    this.inProgress.delete(request.uniqueKey);
    this.isStatePersisted = false;
  }

  async reclaimRequest(request: Request): Promise<void> {
    this.#ensureInProgress(request);
    this.reclaimed.add(request.uniqueKey);
  }

  async isEmpty(): Promise<boolean> {
    this.#ensureInitialized();
    return this.reclaimed.size === 0 && this.nextIndex >= this.requests.length;
  }

  async isFinished(): Promise<boolean> {
    this.#ensureInitialized();
    return this.inProgress.size === 0 && this.nextIndex >= this.requests.length;
  }

  length(): number {
    this.#ensureInitialized();
    return this.requests.length;
  }

  handledCount(): number {
    this.#ensureInitialized();
    return this.nextIndex - this.inProgress.size;
  }

  /** The list no longer hears the event manager. */
  async teardown(): Promise<void> {
    this.events.off(EventType.PERSIST_STATE, this.#onPersist);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (let request = await this.fetchNextRequest(); request; request = await this.fetchNextRequest()) yield request;
  }

  /** The URLs of a text elsewhere; to be replaced by subclasses. */
  protected _downloadListOfUrls(list: { url: string; urlRegExp?: RegExp; proxyUrl?: string }): Promise<string[]> {
    return downloadListOfUrls(list);
  }

  readonly #onPersist = (): void => {
    this.persistState().catch((error: unknown) => this.log.exception(error, 'Could not save the state of the list'));
  };

  async #load(): Promise<void> {
    const { sources = [], sourcesFunction } = this.#options;
    for (const given of [sources, (await sourcesFunction?.()) ?? []]) {
      const asFound = finderOf(given) ?? ((request: Request) => request);
      const loaded = await Promise.all(
        given.map(async (source) => {
          const isList = typeof source === 'object' && 'requestsFromUrl' in source;
          if (isList) return this.#download(source);
          const request = asFound(toRequest(source));
          if (typeof source === 'object' && 'uniqueKey' in source) this.#named.add(request);
          return [request];
        }),
      );
      for (const some of loaded) for (const request of some) this._addRequest(request);
    }
  }

  async #download(source: { requestsFromUrl: string; regex?: RegExp }): Promise<Request[]> {
    const { requestsFromUrl, regex, ...shared } = source;
    const proxyUrl = await this.#options.proxyConfiguration?.newUrl();
    const urls = await this._downloadListOfUrls({
      url: requestsFromUrl,
      ...(regex ? { urlRegExp: regex } : {}),
      ...(proxyUrl ? { proxyUrl } : {}),
    });
    if (urls.length === 0) this.log.warning('The list has no URLs.', { requestsFromUrl });
    return urls.map((url) => toRequest({ ...(shared as Omit<RequestOptions, 'url'>), url }));
  }

  /** Adds one request, unless the list has its key; to be replaced by subclasses. */
  protected _addRequest(request: Request): void {
    const index = this.requests.length;
    const isKnown = this.#indexes.has(request.uniqueKey);
    if (isKnown && !this.keepDuplicateUrls) return;
    if (isKnown && this.#named.has(request)) {
      const { uniqueKey, url } = request;
      this.log.warning(`Duplicate unique key "${uniqueKey}" with keepDuplicateUrls. Check your sources' unique keys.`, {
        url,
      });
      return;
    }
    const uniqueKey = isKnown ? `${request.uniqueKey}-${index}` : request.uniqueKey;
    this.#indexes.set(uniqueKey, index);
    // A request with a new key has the same origin as the original.
    this.requests.push(isKnown ? foundLike(request, new Request({ ...request.toJSON(), uniqueKey })) : request);
  }

  #restore({ nextIndex, nextUniqueKey, inProgress }: RequestListState): void {
    if (nextIndex > this.requests.length) {
      throw refused('The state object is not consistent with RequestList, too few requests loaded.');
    }
    if (nextIndex < this.requests.length && this.requests[nextIndex]!.uniqueKey !== nextUniqueKey) {
      throw refused('The state object is not consistent with RequestList, the order of URLs seems to have changed.');
    }
    this.nextIndex = nextIndex;
    for (const key of inProgress) {
      if ((this.#indexes.get(key) ?? nextIndex) >= nextIndex) {
        this.log.warning('The state names a request that is not in the list.', { uniqueKey: key });
        continue;
      }
      // It may have been lost: it comes first.
      this.inProgress.add(key);
      this.reclaimed.add(key);
    }
  }

  #store(): Promise<KeyValueStore> {
    return KeyValueStore.open(null, { config: this.#config });
  }

  async #saved<T>(key: string | undefined): Promise<T | null> {
    return key === undefined ? null : (await this.#store()).getValue<T>(key);
  }

  #ensureInitialized(): void {
    if (this.isInitialized) return;
    throw refused('RequestList is not initialized; you must call "await requestList.initialize()" before using it!');
  }

  #ensureInProgress({ uniqueKey }: Request): void {
    this.#ensureInitialized();
    if (!this.inProgress.has(uniqueKey)) {
      throw refused(`The request is not being processed (uniqueKey: ${uniqueKey})`);
    }
    if (this.reclaimed.has(uniqueKey)) throw refused(`The request was already reclaimed (uniqueKey: ${uniqueKey})`);
  }
}

function optionsOf(
  given: string | null | RequestListOptions,
  sources: readonly ListSource[] | undefined,
  further: RequestListOptions,
): RequestListOptions {
  if (given !== null && typeof given !== 'string') return given;
  const keys =
    given === null
      ? {}
      : {
          persistStateKey: `${given}-${STATE_PERSISTENCE_KEY}`,
          persistRequestsKey: `${given}-${REQUESTS_PERSISTENCE_KEY}`,
        };
  return { ...further, ...keys, ...(sources ? { sources } : {}) };
}

const refused = (message: string): CrawlError => new CrawlError('OPTION_INVALID', message);

function wrongProperty(name: string, expected: string, value: unknown): CrawlError {
  const { message } = wrongType(name, expected, value);
  return refused(message.replace('Expected', 'Expected property') + ' in object `options`');
}
