// Request queues over a Crawlee storage client: `new RequestQueue({ id, client })`. The first kind asks the client for its
// head; the second also locks what it takes, so that several processes share a queue.
// Promise: a request is in progress here from the moment it is fetched until it is marked or reclaimed.
import { Configuration } from '../../configuration.js';
import { inBatches, type RequestsLike } from '../../frontier/queue/request-batches.js';
import { log } from '../../observe/log.js';
import { type Dictionary, Request, type Source, toRequest } from '../../request/request.js';
import { randomUUID } from 'node:crypto';
import type { ClientStorageOptions } from './client-dataset.js';
import type { ClientOperationInfo, ClientQueueInfo, RequestQueueClient, RequestSchema } from './clients.js';
import { getRequestId } from './memory-queue.js';

/** What became of one request. */
export interface ClientQueueOperation extends ClientOperationInfo {
  uniqueKey: string;
  forefront?: boolean;
}
/** How requests are added. */
export interface ClientAddOptions {
  forefront?: boolean;
  /** False asks the client even for what was added before. */
  cache?: boolean;
}
interface ClientBatchedOptions extends ClientAddOptions {
  batchSize?: number;
  waitBetweenBatchesMillis?: number;
  waitForAllRequestsToBeAdded?: boolean;
}
interface Cached {
  readonly id: string;
  isHandled: boolean;
  forefront: boolean;
}

const MAX_CACHED = 1_000_000;
const HEAD = { plain: 100, locking: 25 };
const MAX_ATTEMPTS = 20;
const BATCH = 1_000;

export class ClientRequestQueue {
  readonly id: string;
  readonly name: string | undefined;
  readonly client: RequestQueueClient;
  readonly clientKey = randomUUID().replaceAll('-', '').slice(0, 17);
  readonly log = log.child({ prefix: 'RequestQueue' });
  timeoutSecs = 30;
  requestLockSecs = 180;
  internalTimeoutMillis: number;
  assumedTotalCount = 0;
  assumedHandledCount = 0;
  protected readonly inProgress = new Set<string>();
  protected head: string[] = [];
  readonly #known = new Map<string, Cached>();
  #background = 0;
  /** Something was put in front: the client is asked for it before what this queue locked earlier is used up. */
  #asksAgain = false;
  protected isLocking = true;

  constructor(
    options: ClientStorageOptions,
    readonly config: Configuration = Configuration.getGlobalConfig(),
  ) {
    this.id = options.id;
    this.name = options.name;
    this.internalTimeoutMillis = config.get('internalTimeoutMillis') ?? 300_000;
    const { clientKey, timeoutSecs } = this;
    this.client = options.client.requestQueue(options.id, { clientKey, timeoutSecs });
  }

  async addRequest(source: Source, options: ClientAddOptions = {}): Promise<ClientQueueOperation> {
    const { forefront = false, cache = true } = options;
    const request = toRequest(source);
    const known = cache ? this.#known.get(request.uniqueKey) : undefined;
    if (known) {
      setId(request, known.id);
      return { ...presentAs(known), uniqueKey: request.uniqueKey, forefront };
    }
    const info = await this.client.addRequest(schemaOf(request), { forefront });
    this.#added({ ...info, uniqueKey: request.uniqueKey }, forefront);
    setId(request, info.requestId);
    return { ...info, uniqueKey: request.uniqueKey, forefront };
  }

  async addRequests(
    requests: RequestsLike,
    options: ClientAddOptions = {},
  ): Promise<{
    processedRequests: ClientQueueOperation[];
    unprocessedRequests: { uniqueKey: string; url: string }[];
  }> {
    const processedRequests: ClientQueueOperation[] = [];
    const unprocessedRequests: { uniqueKey: string; url: string }[] = [];
    for await (const batch of inBatches(requests, BATCH)) {
      const answer = await this.#addBatch(batch, options);
      processedRequests.push(...answer.processedRequests);
      unprocessedRequests.push(...answer.unprocessedRequests);
    }
    return { processedRequests, unprocessedRequests };
  }

  async addRequestsBatched(
    requests: RequestsLike,
    options: ClientBatchedOptions = {},
  ): Promise<{
    addedRequests: ClientQueueOperation[];
    waitForAllRequestsToBeAdded: Promise<ClientQueueOperation[]>;
  }> {
    const { batchSize = BATCH, waitBetweenBatchesMillis = BATCH } = options;
    const batches = inBatches(requests, batchSize);
    const addNext = async (): Promise<ClientQueueOperation[] | undefined> => {
      const { value } = await batches.next();
      return value && this.#addStubbornly(value, options, waitBetweenBatchesMillis);
    };
    const addedRequests = (await addNext()) ?? [];
    this.#background++;
    const others = (async () => {
      const rest: ClientQueueOperation[] = [];
      for (let some = await addNext(); some; some = await addNext()) {
        rest.push(...some);
        await pause(waitBetweenBatchesMillis);
      }
      return rest;
    })().finally(() => this.#background--);
    if (!options.waitForAllRequestsToBeAdded) return { addedRequests, waitForAllRequestsToBeAdded: others };
    return { addedRequests: [...addedRequests, ...(await others)], waitForAllRequestsToBeAdded: Promise.resolve([]) };
  }

  async getRequest<T extends Dictionary = Dictionary>(id: string): Promise<Request<T> | null> {
    const found = await this.client.getRequest(id);
    if (!found) return null;
    const { id: foundId = id, ...options } = found;
    const request = new Request<T>(options as ConstructorParameters<typeof Request<T>>[0]);
    setId(request, foundId);
    return request;
  }

  async fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
    await this.#fillHead();
    const id = this.head.shift();
    if (id === undefined || this.inProgress.has(id)) return null;
    this.inProgress.add(id);
    try {
      if (this.isLocking) await this.client.prolongRequestLock(id, { lockSecs: this.requestLockSecs });
      const request = await this.getRequest<T>(id);
      if (request && request.handledAt === undefined) return request;
      // Not there yet, or another process was faster.
      this.inProgress.delete(id);
      return null;
    } catch (error) {
      this.inProgress.delete(id);
      throw error;
    }
  }

  async markRequestHandled(request: Request): Promise<ClientQueueOperation | null> {
    const wasHandled = request.handledAt !== undefined;
    request.handledAt ??= new Date().toISOString();
    const { id, info } = await this.#update(request);
    if (!info.wasAlreadyHandled || !wasHandled) this.assumedHandledCount++;
    this.#remember(request.uniqueKey, { id, isHandled: true, forefront: info.forefront ?? false });
    return info;
  }

  async reclaimRequest(request: Request, options: ClientAddOptions = {}): Promise<ClientQueueOperation | null> {
    const { forefront = false } = options;
    const { id, info } = await this.#update(request, { forefront });
    if (this.isLocking) this.#asksAgain ||= forefront;
    else if (forefront) this.head.unshift(id);
    else this.head.push(id);
    return { ...info, forefront };
  }

  async isEmpty(): Promise<boolean> {
    await this.#fillHead();
    return this.head.length === 0;
  }

  async isFinished(): Promise<boolean> {
    if (this.#background > 0 || this.inProgress.size > 0) return false;
    return this.isEmpty();
  }

  async handledCount(): Promise<number> {
    return (await this.client.get())?.handledRequestCount ?? 0;
  }

  getTotalCount(): number {
    return this.assumedTotalCount;
  }

  getPendingCount(): number {
    return this.assumedTotalCount - this.assumedHandledCount;
  }

  getInfo(): Promise<ClientQueueInfo | undefined> {
    return this.client.get();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (let request = await this.fetchNextRequest(); request; request = await this.fetchNextRequest()) yield request;
  }

  async drop(): Promise<void> {
    await this.client.delete();
  }

  async #addBatch(batch: readonly Request[], { forefront = false, cache = true }: ClientAddOptions) {
    const processed: ClientQueueOperation[] = [];
    const unknown = new Map<string, Request>();
    for (const request of batch) {
      const known = cache ? this.#known.get(request.uniqueKey) : undefined;
      if (known) processed.push({ ...presentAs(known), uniqueKey: request.uniqueKey });
      else unknown.set(request.uniqueKey, request);
    }
    if (unknown.size === 0) return { processedRequests: processed, unprocessedRequests: [] };
    const answer = await this.client.batchAddRequests([...unknown.values()].map(schemaOf), { forefront });
    for (const info of answer.processedRequests) {
      this.#added(info, forefront);
      const request = unknown.get(info.uniqueKey);
      if (request) setId(request, info.requestId);
    }
    return {
      processedRequests: [...processed, ...answer.processedRequests],
      unprocessedRequests: answer.unprocessedRequests,
    };
  }

  /** Gives a client what it could not take once more, a limited number of times. */
  async #addStubbornly(batch: readonly Request[], options: ClientAddOptions, waitMs: number) {
    const processed: ClientQueueOperation[] = [];
    let left = batch;
    for (let attempt = 0; left.length > 0 && attempt < MAX_ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(waitMs);
      const { forefront, cache = true } = options;
      const answer = await this.addRequests(left, { ...(forefront ? { forefront } : {}), cache: cache && attempt === 0 });
      processed.push(...answer.processedRequests);
      const refused = new Set(answer.unprocessedRequests.map(({ uniqueKey }) => uniqueKey));
      left = left.filter(({ uniqueKey }) => refused.has(uniqueKey));
    }
    return processed;
  }

  #added(info: ClientQueueOperation, forefront: boolean): void {
    const { requestId: id, uniqueKey, wasAlreadyPresent, wasAlreadyHandled } = info;
    this.#remember(uniqueKey, { id, isHandled: wasAlreadyHandled, forefront });
    if (wasAlreadyPresent || this.inProgress.has(id)) return;
    this.assumedTotalCount++;
    if (this.isLocking) {
      this.#asksAgain ||= forefront;
    } else if (forefront) {
      this.head.unshift(id);
    } else {
      this.head.push(id);
    }
  }

  async #fillHead(): Promise<void> {
    if (this.head.length > 0 && !this.#asksAgain) return;
    this.#asksAgain = false;
    const later = this.head;
    this.head = [];
    const { items } = this.isLocking
      ? await this.client.listAndLockHead({ limit: HEAD.locking, lockSecs: this.requestLockSecs })
      : await this.client.listHead({ limit: Math.max(HEAD.plain, this.inProgress.size * 3) });
    for (const { id, uniqueKey } of items) {
      if (this.inProgress.has(id) || this.#known.get(uniqueKey)?.isHandled) continue;
      this.head.push(id);
      if (!this.#known.has(uniqueKey)) this.#remember(uniqueKey, { id, isHandled: false, forefront: false });
    }
    for (const id of later) if (!this.head.includes(id)) this.head.push(id);
  }

  async #update(request: Request, options?: { forefront: boolean }) {
    const known = this.#known.get(request.uniqueKey);
    const id = known?.id ?? (Object.hasOwn(request, 'id') ? request.id : getRequestId(request.uniqueKey));
    const args = [{ ...schemaOf(request), id }, ...(options ? [options] : [])] as const;
    const answer = await this.client.updateRequest(...(args as Parameters<RequestQueueClient['updateRequest']>));
    this.inProgress.delete(id);
    const info: ClientQueueOperation = { ...answer, uniqueKey: request.uniqueKey, forefront: known?.forefront ?? false };
    return { id, info };
  }

  #remember(uniqueKey: string, cached: Cached): void {
    this.#known.delete(uniqueKey);
    this.#known.set(uniqueKey, cached);
    if (this.#known.size > MAX_CACHED) this.#known.delete(this.#known.keys().next().value!);
  }
}

/** The first kind: it does not lock, and tells how many requests are in progress. */
export class ClientRequestQueueV1 extends ClientRequestQueue {
  protected override isLocking = false;

  inProgressCount(): number {
    return this.inProgress.size;
  }
}

const presentAs = ({ id, isHandled }: Cached): ClientOperationInfo => ({
  wasAlreadyPresent: true,
  wasAlreadyHandled: isHandled,
  requestId: id,
});

const pause = (ms: number): Promise<unknown> => new Promise((resume) => setTimeout(resume, ms));

/** Requests here have an id of their own; the client's is shown in its place. */
function setId(request: Request, id: string): void {
  Object.defineProperty(request, 'id', { value: id, configurable: true, enumerable: true, writable: true });
}

function schemaOf(request: Request): RequestSchema {
  const { url, loadedUrl, uniqueKey, method, payload, noRetry, retryCount, errorMessages, headers, userData, handledAt } =
    request;
  return {
    url,
    uniqueKey,
    method,
    noRetry,
    retryCount,
    errorMessages: [...(errorMessages ?? [])],
    headers: { ...headers },
    userData,
    ...(payload === undefined ? {} : { payload: String(payload) }),
    ...(loadedUrl === undefined ? {} : { loadedUrl }),
    ...(handledAt === undefined ? {} : { handledAt }),
  };
}
