// A request queue of a MemoryStorage: requests in memory in their order, with locks, and one file each where it persists.
// A request is pending while it has an order number: positive at the end of the queue, negative in front of it.
import { createHash } from 'node:crypto';
import { CrawlError } from '../../errors.js';
import type { Dictionary } from '../../request/request.js';
import type { ClientOperationInfo, ClientQueueInfo, QueueHead, RequestQueueClient } from './clients.js';
import type { RequestQueueHeadItem, RequestSchema } from './clients.js';
import { type Home, Kept, METADATA, parsed, readOrNothing, within, wholeCalls } from './kept.js';

const HEAD_LIMIT = 100;
const ID_LENGTH = 15;

/**
 * The id that Crawlee's storages give to a request: a hash of its unique key.
 *
 * @example
 * getRequestId('https://example.com'); // always the same 15 characters
 */
export function getRequestId(uniqueKey: string): string {
  const hash = createHash('sha256').update(uniqueKey).digest('base64');
  return hash.replaceAll(/[+/=]/g, '').slice(0, ID_LENGTH);
}

interface Queued {
  id: string;
  json: string;
  method?: string;
  /** Null: handled. Its amount is a time; in the future, the request is locked until then. */
  orderNo: number | null;
  retryCount: number;
  uniqueKey: string;
  url: string;
}

export class MemoryQueue extends Kept {
  readonly #requests = new Map<string, Queued>();

  get info(): ClientQueueInfo {
    const { id, name, accessedAt, createdAt, modifiedAt } = this.times;
    const totalRequestCount = this.#requests.size;
    let handledRequestCount = 0;
    for (const { orderNo } of this.#requests.values()) if (orderNo === null) handledRequestCount++;
    return {
      accessedAt,
      createdAt,
      hadMultipleClients: false,
      handledRequestCount,
      id,
      modifiedAt,
      ...(name === undefined ? {} : { name }),
      pendingRequestCount: totalRequestCount - handledRequestCount,
      stats: {},
      totalRequestCount,
      userId: '1',
    };
  }

  static find(home: Home, idOrName: string): MemoryQueue | undefined {
    const folder = within(home.directory, idOrName);
    const metadata = parsed<Dictionary<string>>(readOrNothing(`${folder}/${METADATA}`));
    const name = metadata && !metadata['name'] ? undefined : idOrName;
    const found = new MemoryQueue(home, { id: metadata?.['id'] ?? idOrName, name });
    const files = found.files().filter((file) => file.endsWith('.json') && file !== METADATA);
    if (!metadata && files.length === 0) return undefined;
    for (const file of files) {
      const queued = parsed<Queued>(found.read(file));
      if (queued?.id && queued.json) found.#requests.set(queued.id, queued);
    }
    found.restore(metadata);
    return found;
  }

  get(id: string): Queued | undefined {
    return this.#requests.get(id);
  }

  put(request: RequestSchema & { id: string }, orderNo: number | null): void {
    const { id, url, uniqueKey, method, retryCount = 0 } = request;
    this.store({ id, json: JSON.stringify(request), ...(method ? { method } : {}), orderNo, retryCount, uniqueKey, url });
  }

  store(queued: Queued): void {
    this.#requests.delete(queued.id);
    this.#requests.set(queued.id, queued);
    this.write(`${queued.id}.json`, JSON.stringify(queued, null, '\t'));
    this.touch(true);
    this.writeMetadata(this.info);
  }

  drop(id: string): void {
    if (this.#requests.delete(id)) this.remove(`${id}.json`);
    this.touch(true);
  }

  /** Pending requests, without those that are locked at a time: the newest of those in front, then the others by age. */
  *head(unlockedAtMs = Infinity): Generator<Queued> {
    const pending = [...this.#requests.values()].filter(
      ({ orderNo }) => orderNo !== null && Math.abs(orderNo) <= unlockedAtMs,
    );
    const inFront = pending.filter(({ orderNo }) => orderNo! < 0).reverse();
    yield* inFront.sort((a, b) => a.orderNo! - b.orderNo!);
    yield* pending.filter(({ orderNo }) => orderNo! > 0).sort((a, b) => a.orderNo! - b.orderNo!);
  }

  /** A place in the order: now. Where two are equal, the order of insertion decides. */
  place(isForefront: boolean): number {
    return isForefront ? -Date.now() : Date.now();
  }

  clear(): void {
    this.#requests.clear();
    this.removeAll();
  }
}

export function createQueueClient(
  id: string,
  find: () => MemoryQueue | undefined,
  forget: (queue: MemoryQueue) => void,
): RequestQueueClient & { id: string } {
  const existing = (): MemoryQueue => {
    const found = find();
    if (!found) throw new CrawlError('OPTION_INVALID', `Request queue with id: ${id} does not exist.`);
    return found;
  };
  const named = (queue: MemoryQueue, requestId: string) => {
    const found = queue.get(requestId);
    if (found) return found;
    throw new CrawlError(
      'OPTION_INVALID',
      `Request with ID ${requestId} not found in queue ${queue.name ?? queue.id}`,
    );
  };
  function add(queue: MemoryQueue, request: RequestSchema, isForefront: boolean): ClientOperationInfo {
    const requestId = checkedId(request);
    const known = queue.get(requestId);
    if (known) return { requestId, wasAlreadyHandled: known.orderNo === null, wasAlreadyPresent: true };
    queue.put({ ...request, id: requestId }, request.handledAt ? null : queue.place(isForefront));
    return { requestId, wasAlreadyHandled: Boolean(request.handledAt), wasAlreadyPresent: false };
  }
  const headOf = (queue: MemoryQueue, limit: number, unlockedAtMs?: number) => {
    const taken: ReturnType<MemoryQueue['get']>[] = [];
    for (const queued of queue.head(unlockedAtMs)) if (taken.push(queued) >= limit) break;
    return taken.filter((one) => one !== undefined);
  };
  return {
    id,
    ...wholeCalls(find, existing, forget),
    async listHead({ limit = HEAD_LIMIT } = {}): Promise<QueueHead> {
      const queue = existing();
      const items = headOf(queue, limit).map(({ json }) => JSON.parse(json) as RequestQueueHeadItem);
      queue.touch(false);
      return { limit, hadMultipleClients: false, queueModifiedAt: queue.modifiedAt, items };
    },
    async listAndLockHead({ limit = HEAD_LIMIT, lockSecs }) {
      const queue = existing();
      const { modifiedAt } = queue;
      const untilMs = Date.now() + lockSecs * 1_000;
      const taken = headOf(queue, limit, Date.now());
      for (const queued of taken) queue.store({ ...queued, orderNo: queued.orderNo! < 0 ? -untilMs : untilMs });
      const items = taken.map(({ json }) => JSON.parse(json) as RequestQueueHeadItem);
      return { limit, lockSecs, hadMultipleClients: false, queueModifiedAt: modifiedAt, items };
    },
    async prolongRequestLock(requestId, { lockSecs, forefront = false }) {
      const queue = existing();
      const queued = named(queue, requestId);
      const { orderNo } = queued;
      if (orderNo === null) {
        throw new CrawlError('OPTION_INVALID', `Request with ID ${requestId} was handled: it has no lock`);
      }
      const untilMs = Math.max(Math.abs(orderNo), Date.now()) + lockSecs * 1_000;
      queue.store({ ...queued, orderNo: forefront ? -untilMs : untilMs });
      return { lockExpiresAt: new Date(untilMs) };
    },
    async deleteRequestLock(requestId, { forefront = false } = {}) {
      const queue = existing();
      const queued = named(queue, requestId);
      if (queued.orderNo === null || Math.abs(queued.orderNo) <= Date.now()) {
        const where = queue.name ?? queue.id;
        throw new CrawlError('OPTION_INVALID', `Request with ID ${requestId} is not locked in queue ${where}`);
      }
      queue.store({ ...queued, orderNo: queue.place(forefront) });
    },
    addRequest: async (request, { forefront = false } = {}) => add(existing(), request, forefront),
    async batchAddRequests(requests, { forefront = false } = {}) {
      const queue = existing();
      const processedRequests = requests.map((request) => ({
        uniqueKey: request.uniqueKey,
        ...add(queue, request, forefront),
      }));
      return { processedRequests, unprocessedRequests: [] };
    },
    async getRequest(requestId) {
      const queue = existing();
      queue.touch(false);
      const found = queue.get(requestId);
      return found && (JSON.parse(found.json) as RequestSchema);
    },
    async updateRequest(request, { forefront = false } = {}) {
      const queue = existing();
      const requestId = checkedId(request);
      const known = queue.get(requestId);
      if (!known) return add(queue, request, forefront);
      const wasAlreadyHandled = known.orderNo === null;
      queue.put({ ...request, id: requestId }, request.handledAt ? null : queue.place(forefront));
      return { requestId, wasAlreadyHandled, wasAlreadyPresent: true };
    },
    deleteRequest: async (requestId) => existing().drop(requestId),
  };
}

function checkedId({ id, url, uniqueKey }: RequestSchema): string {
  if (typeof url !== 'string' || typeof uniqueKey !== 'string' || url === '' || uniqueKey === '') {
    throw new CrawlError('OPTION_INVALID', 'a request of a queue needs "url" and "uniqueKey", both filled strings');
  }
  const requestId = getRequestId(uniqueKey);
  if (id !== undefined && id !== requestId) {
    throw new CrawlError('OPTION_INVALID', 'Request ID does not match its uniqueKey.');
  }
  return requestId;
}
