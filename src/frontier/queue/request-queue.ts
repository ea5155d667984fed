// The public queue: Crawlee's RequestQueue over a frontier. It adds names, folders and Request objects;
// every guarantee is the frontier's.
import { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import { firstUse, queueDropped, WITHIN_FIRST_USE } from '../../first-use.js';
import { type Fingerprint, fingerprintFromId } from '../../request/fingerprint.js';
import { isFound } from '../../request/found.js';
import { type Dictionary, Request, type Source, toRequest } from '../../request/request.js';
import type { HostStore } from '../../politeness/hosts.js';
import type { PaceBy } from '../../request/url.js';
import { entryOf } from '../entry.js';
import type { Counters, Pacing, Presence, Settlement } from '../frontier.js';
import type { FrontierClient } from '../client.js';
import { createPackedInfos, operationInfo, type PackedInfos, type QueueOperationInfo } from './operation-infos.js';
import { openQueuesOf } from './open-queues.js';
import { distinctOf, inBatches, type RequestsLike } from './request-batches.js';
import type { RecentFingerprints } from '../recent.js';
import {
  checkOpenOptions,
  openFrontier,
  queuePlace,
  type QueuePlace,
  type RequestQueueOpenOptions,
  visitsFolderOf,
} from './queue-opening.js';
import type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  RequestQueueInfo,
  RequestQueueOperationOptions,
} from './request-queue-types.js';
import { MAX_TURNS } from '../validation.js';

const CLOSE_PATIENCE_MS = 1_000;
const PACE_BY_NOTE = 'pace-by';

export type { QueueOperationInfo } from './operation-infos.js';
export type { RequestQueueOpenOptions } from './queue-opening.js';
export type { RequestsLike } from './request-batches.js';
export type * from './request-queue-types.js';

type Opened = Awaited<ReturnType<typeof openFrontier>>;

/** What a queue is called, and whom it tells of its end. */
interface Registered {
  readonly id: string;
  readonly name: string | undefined;
  readonly release: () => void;
  readonly afterDrop: () => Promise<void>;
}

/**
 * A persistent queue that takes each request once and hands it to one worker at a time.
 *
 * @example
 * const queue = await RequestQueue.open('shop');
 * await queue.addRequest({ url: 'https://example.com' });
 * const request = await queue.fetchNextRequest();
 * if (request) await queue.markRequestHandled(request);
 */
export class RequestQueue {
  /** The name of its folder, or of its keys. */
  readonly id: string;
  /** As given to `open`; undefined for the default queue. */
  readonly name: string | undefined;
  /** @internal */ readonly recent: RecentFingerprints;
  /** @internal Runs of crawlers in this process that work on this queue now. */ runs = 0;
  /** @internal The last run left requests behind because of its limit. */ hasLeftovers = false;
  /** @internal Requests that ended in runs which were over before the one that works on it now. */ endedEarlier = 0;
  /** @internal What is paced together. Of one queue always the same, or a host would be in two. */ paceBy: PaceBy =
    'domain';
  readonly #opened: Opened;
  readonly #release: () => void;
  readonly #afterDrop: () => Promise<void>;
  readonly #leases = new Map<string, number>();
  #counters: Counters;
  #background: Promise<unknown> | undefined;
  #closed: Promise<void> | undefined;
  #isClosing = false;

  private constructor({ id, name, release, afterDrop }: Registered, opened: Opened, counters: Counters) {
    this.id = id;
    this.name = name;
    this.#release = release;
    this.#afterDrop = afterDrop;
    this.#opened = opened;
    this.#counters = counters;
    this.recent = opened.recent;
  }

  /** Opens a queue by name, or the default one. In one process every opening of a name gives the same queue. */
  static async open(name?: string | null, options: RequestQueueOpenOptions = {}): Promise<RequestQueue> {
    const config = options.config ?? Configuration.getGlobalConfig();
    checkOpenOptions(options);
    const id = name ?? config.get('defaultRequestQueueId');
    if (!options[WITHIN_FIRST_USE]) await firstUse(config);
    const place = queuePlace(id, config, options);
    const queues = openQueuesOf(config, place);
    let queue = queues.get(place.key);
    if (!queue) {
      const release = () => void queues.delete(place.key);
      const afterDrop = async () => (name == null ? undefined : queueDropped(config, id));
      queue = RequestQueue.#create({ id, name: name ?? undefined, release, afterDrop }, place, options);
      queues.set(place.key, queue);
      queue.catch(release);
    }
    return queue;
  }

  static async #create(
    registered: Registered,
    place: QueuePlace,
    options: RequestQueueOpenOptions,
  ): Promise<RequestQueue> {
    const opened = await openFrontier(place, options);
    const { counters } = await opened.frontier.overview();
    return new RequestQueue(registered, opened, counters);
  }

  /** @internal The caller in whose name this process leases and settles. */
  get client(): FrontierClient {
    return this.#opened.client;
  }

  /** @internal */
  get access(): 'owner' | 'shared' {
    return this.#opened.access;
  }

  /** @internal Where it is on disk, if it is. */
  get folder(): string | undefined {
    return this.#opened.folder;
  }

  /** @internal Opens what is known of hosts, where the backend of the queue keeps it. */
  get openHosts(): (() => Promise<HostStore>) | undefined {
    return this.#opened.openHosts;
  }

  /** @internal Where the visits of polite crawls over it are logged. */
  get visitsFolder(): string | undefined {
    return this.folder === undefined ? undefined : visitsFolderOf(this.folder);
  }

  /** @internal How long others wait for this process when it is silent. */
  get leaseMs(): number {
    return this.#opened.leaseMs;
  }

  /** @internal Sets how domains are paced from now on. */
  setPacing(pacing: Pacing): void {
    this.#opened.frontier.setPacing({ ...pacing, turns: Math.min(pacing.turns, MAX_TURNS) });
  }

  /** @internal Chooses what is paced together; false when requests are queued by the other choice already. */
  async choosePaceBy(paceBy: PaceBy): Promise<boolean> {
    const { counters, notes } = await this.overview();
    const current = notes[PACE_BY_NOTE] === 'host' ? 'host' : 'domain';
    this.paceBy = counters.accepted > 0 ? current : paceBy;
    if (this.paceBy !== current) await this.client.settle({ settlements: [], notes: { [PACE_BY_NOTE]: paceBy } });
    return this.paceBy === paceBy;
  }

  /** @internal What became of requests. */
  find(fingerprints: readonly Fingerprint[]) {
    return this.#opened.frontier.find(fingerprints);
  }

  /** @internal */
  async overview() {
    const overview = await this.#opened.frontier.overview();
    this.#counters = overview.counters;
    return overview;
  }

  /** @internal Whether the queue has the request, as far as this process can tell at once: the cheapest question. */
  isKnown(fingerprint: Fingerprint): boolean {
    const { frontier } = this.#opened;
    const known = 'isKnown' in frontier ? frontier.isKnown?.(fingerprint) : undefined;
    return known ?? this.recent.has(fingerprint);
  }

  /** @internal What this process can tell of a request at once; another one may have added or ended it meanwhile. */
  glance(fingerprint: Fingerprint): Presence {
    const { frontier } = this.#opened;
    if ('glance' in frontier) return frontier.glance(fingerprint);
    // A queue elsewhere would have to be asked: what it confirmed lately must do.
    return this.recent.has(fingerprint) ? 'pending' : 'new';
  }

  /** Adds one request, durably, unless its unique key is known. */
  async addRequest(source: Source, options: RequestQueueOperationOptions = {}): Promise<QueueOperationInfo> {
    const request = toRequest(source);
    const [presence] = await this.#add([request], options.forefront, true);
    return operationInfo(request.uniqueKey, presence!);
  }

  /** Adds requests and resolves when all are in. */
  async addRequests(
    requests: RequestsLike,
    options: RequestQueueOperationOptions = {},
  ): Promise<{ processedRequests: QueueOperationInfo[]; unprocessedRequests: [] }> {
    const { addedRequests } = await this.addRequestsBatched(requests, {
      ...options,
      waitForAllRequestsToBeAdded: true,
    });
    return { processedRequests: addedRequests, unprocessedRequests: [] };
  }

  /**
   * Adds any number of requests in batches. Resolves when the first batch is in; the others follow in the
   * background, each when the one before it is in, so that a long list needs little memory.
   */
  async addRequestsBatched(
    requests: RequestsLike,
    options: AddRequestsBatchedOptions = {},
  ): Promise<AddRequestsBatchedResult> {
    const { batchSize = 1000, waitBetweenBatchesMillis = 0, forefront, seeded = true } = options;
    const batches = inBatches(requests, batchSize);
    const infos = createPackedInfos();
    const addNext = async (into: PackedInfos): Promise<boolean> => {
      const { value } = await batches.next();
      if (!value) return false;
      const distinct = distinctOf(value);
      into.add(
        distinct.map((request) => request.uniqueKey),
        await this.#add(distinct, forefront, seeded),
      );
      return true;
    };
    const isMore = await addNext(infos);
    const addedRequests = infos.list();
    const wantsAll = options.waitForAllRequestsToBeAdded ?? false;
    const rest = this.#inBackground(async () => {
      const following = wantsAll ? infos : createPackedInfos();
      while (isMore && !this.#isClosing) {
        if (waitBetweenBatchesMillis > 0) await new Promise((resume) => setTimeout(resume, waitBetweenBatchesMillis));
        if (!(await addNext(following))) break;
      }
      return following.list();
    });
    if (!wantsAll) return { addedRequests, waitForAllRequestsToBeAdded: rest };
    return { addedRequests: await rest, waitForAllRequestsToBeAdded: Promise.resolve([]) };
  }

  /** The next request that is due, leased to this process; null when there is none now. */
  async fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
    const { leases } = await this.client.lease({ max: 1 });
    const lease = leases[0];
    if (!lease) return null;
    const request = Request.fromRecord(lease.record, lease.priority);
    this.#leases.set(request.id, lease.id);
    return request as Request<T>;
  }

  /** Ends a request that `fetchNextRequest` gave; null when it is no longer this process's to end. */
  async markRequestHandled(request: Request): Promise<QueueOperationInfo | null> {
    request.handledAt ??= new Date().toISOString();
    return this.#settleOne(request, (lease) => ({ kind: 'done', lease, record: request.toRecord() }));
  }

  /** Puts a request back that `fetchNextRequest` gave. */
  async reclaimRequest(
    request: Request,
    options: RequestQueueOperationOptions = {},
  ): Promise<QueueOperationInfo | null> {
    const { forefront = false } = options;
    return this.#settleOne(request, (lease) => ({
      kind: 'retry',
      lease,
      afterMs: 0,
      back: !forefront,
      record: request.toRecord(),
    }));
  }

  /** The request as it stands, by its id; null if there is none. */
  async getRequest<T extends Dictionary = Dictionary>(id: string): Promise<Request<T> | null> {
    const fingerprint = fingerprintFromId(id);
    if (!fingerprint) return null;
    const [found] = await this.#opened.frontier.find([fingerprint]);
    return found ? (Request.fromRecord(found.record, found.priority) as Request<T>) : null;
  }

  /** True when nothing can be fetched now: requests in work or waiting for their time may still come back. */
  async isEmpty(): Promise<boolean> {
    const { counters } = await this.overview();
    return counters.queued === 0;
  }

  /** True when everything added has ended. */
  async isFinished(): Promise<boolean> {
    if (this.#background) return false;
    const { counters } = await this.overview();
    return counters.queued + counters.retrying + counters.leased === 0;
  }

  /** Requests that have ended, well or not. */
  async handledCount(): Promise<number> {
    const { counters } = await this.overview();
    return ended(counters);
  }

  /** As last known to this process. */
  getTotalCount(): number {
    return this.#counters.accepted;
  }

  /** As last known to this process. */
  getPendingCount(): number {
    return this.#counters.accepted - ended(this.#counters);
  }

  /** @internal Requests done or failed, as last known to this process. */
  getEndedCount(): number {
    return this.#counters.done + this.#counters.failed;
  }

  /** Counts and times of the queue. */
  async getInfo(): Promise<RequestQueueInfo> {
    const { counters } = await this.overview();
    return {
      id: this.id,
      name: this.name,
      totalRequestCount: counters.accepted,
      handledRequestCount: ended(counters),
      pendingRequestCount: counters.accepted - ended(counters),
      counters,
    };
  }

  /** The requests that are due, one after another, each leased when it comes. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (let request = await this.fetchNextRequest(); request; request = await this.fetchNextRequest()) yield request;
  }

  /** Removes the queue and everything in it. */
  async drop(): Promise<void> {
    await (this.#closed ??= this.#end(async () => {
      await this.#opened.remove();
      await this.#afterDrop();
    }));
  }

  /** Gives back what this process holds and frees the queue for others. */
  close(): Promise<void> {
    return (this.#closed ??= this.#end(() => this.#opened.frontier.close()));
  }

  async #end(end: () => Promise<void>): Promise<void> {
    this.#isClosing = true;
    // A source that never ends must not keep the queue open; what it gives later is refused.
    const patience = new Promise((resume) => setTimeout(resume, CLOSE_PATIENCE_MS).unref());
    await Promise.race([this.#background, patience]);
    this.#release();
    await end();
  }

  async #add(requests: readonly Request[], forefront = false, seeded: boolean): Promise<readonly Presence[]> {
    for (const request of requests) request.seeded = seeded && !isFound(request);
    const presences = await this.client.add(requests.map((request) => entryOf(request, forefront, this.paceBy)));
    for (const request of requests) this.recent.add(request.fingerprint);
    let added = 0;
    for (const presence of presences) if (presence === 'new') added++;
    this.#counters = {
      ...this.#counters,
      accepted: this.#counters.accepted + added,
      queued: this.#counters.queued + added,
    };
    return presences;
  }

  #inBackground<T>(work: () => Promise<T>): Promise<T> {
    const task = work();
    const all = Promise.allSettled([this.#background, task]).then(() => {
      if (this.#background === all) this.#background = undefined;
    });
    this.#background = all;
    return task;
  }

  async #settleOne(request: Request, settlement: (lease: number) => Settlement): Promise<QueueOperationInfo | null> {
    const lease = this.#leases.get(request.id);
    if (lease === undefined) {
      throw new CrawlError('LEASE_LOST', `${request.url} was not fetched from queue "${this.id}" or has been settled`);
    }
    this.#leases.delete(request.id);
    const answer = await this.client.settle({ settlements: [settlement(lease)], landings: [{ lease }] });
    return answer.accepted[0] ? operationInfo(request.uniqueKey, 'pending') : null;
  }
}

function ended(counters: Counters): number {
  return counters.done + counters.failed + counters.skipped;
}
