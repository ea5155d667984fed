// `maxNewRequests` of Crawlee's queues: adds requests until so many were new, and says which were left over.
// Promise: a request that the queue knows already takes no room.
import type { RequestQueue as OwnQueue } from '../../frontier/queue/request-queue.js';
import type {
  AddRequestsBatchedOptions as OwnOptions,
  AddRequestsBatchedResult as OwnResult,
  RequestsLike,
} from '../../frontier/queue/request-queue.js';
import { CrawlError } from '../../errors.js';
import type { Source } from '../../request/request.js';

/** How many requests are added, and at most how many new ones. */
export interface AddRequestsBatchedOptions extends OwnOptions {
  /** At most so many that the queue does not know yet. */
  maxNewRequests?: number;
  /** From Crawlee, without effect: a queue always remembers what it was given. */
  cache?: boolean;
}

/** What became of requests that were added, and what was left over. */
export interface AddRequestsBatchedResult extends OwnResult {
  /** What `maxNewRequests` had no room for, as it was given. */
  requestsOverLimit?: Source[];
}

type AddBatched = (requests: RequestsLike, options?: AddRequestsBatchedOptions) => Promise<AddRequestsBatchedResult>;

const BATCH = 1_000;
const LIMITED = new WeakSet<object>();

/** The queue, whose `addRequestsBatched` knows `maxNewRequests` from now on. */
export function withNewRequestLimit<Queue extends OwnQueue>(queue: Queue): Queue {
  if (LIMITED.has(queue)) return queue;
  LIMITED.add(queue);
  const add: AddBatched = queue.addRequestsBatched.bind(queue);
  const limited: AddBatched = async (requests, options = {}) => {
    const { maxNewRequests, cache: _cache, ...own } = options;
    if (maxNewRequests === undefined) return { ...(await add(requests, own)), requestsOverLimit: [] };
    return addUpTo(add, requests, own, maxNewRequests);
  };
  Object.defineProperty(queue, 'addRequestsBatched', { value: limited, writable: true, configurable: true });
  return queue;
}

async function addUpTo(
  add: AddBatched,
  requests: RequestsLike,
  options: OwnOptions,
  maxNewRequests: number,
): Promise<AddRequestsBatchedResult> {
  if (!(maxNewRequests >= 0)) throw new CrawlError('OPTION_INVALID', 'maxNewRequests must be a number, 0 or more');
  const addedRequests: OwnResult['addedRequests'] = [];
  const requestsOverLimit: Source[] = [];
  let room = maxNewRequests;
  let batch: Source[] = [];
  const flush = async (): Promise<void> => {
    const { addedRequests: added } = await add(batch, { ...options, waitForAllRequestsToBeAdded: true });
    batch = [];
    addedRequests.push(...added);
    room -= added.filter(({ wasAlreadyPresent }) => !wasAlreadyPresent).length;
  };
  for await (const request of requests as AsyncIterable<Source>) {
    if (room <= 0) requestsOverLimit.push(request);
    else batch.push(request);
    // Never more than there is room for: all of a batch may be new.
    if (batch.length >= Math.min(room, options.batchSize ?? BATCH) && batch.length > 0) await flush();
  }
  if (batch.length > 0) await flush();
  return { addedRequests, waitForAllRequestsToBeAdded: Promise.resolve([]), requestsOverLimit };
}
