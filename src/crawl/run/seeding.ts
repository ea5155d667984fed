// Adds requests to the queue: those given to `run` and `addRequests`, and lists read in the background.
// The crawl is not finished while any are being added.
import { asCrawlError, type CrawlError } from '../../errors.js';
import type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  RequestQueue,
  RequestsLike,
} from '../../frontier/queue/request-queue.js';
import { log } from '../../observe/log.js';
import { type Fingerprint, fingerprintToId } from '../../request/fingerprint.js';
import type { Request } from '../../request/request.js';
import type { RequestListLike, RequestManagerLike } from '../options/options.js';
import type { Time } from '../time.js';

export interface Seeding {
  readonly isUnderWay: boolean;
  /** Adds requests; resolves when the first batch is queued. A later failure goes to `onError` and rejects the rest. */
  add(
    requests: RequestsLike,
    options: AddRequestsBatchedOptions,
    onError: (error: CrawlError) => void,
  ): Promise<AddRequestsBatchedResult>;
  /**
   * Copies a list, or a foreign manager until it is finished, into the queue. With `ahead`, a manager is asked for so many
   * requests more than have ended, and told of each when it ends.
   */
  copy(list: RequestListLike | RequestManagerLike, onError: (error: CrawlError) => void, ahead?: number): void;
  /** Whether a manager wants to know of ends. */
  readonly isAsking: boolean;
  /** A request has ended for good. */
  onEnded(fingerprint: Fingerprint): void;
  /** The run is over: lists stay where they are, and background loading stops. */
  stopCopying(): Promise<void>;
}

interface Copy {
  readonly list: RequestListLike | RequestManagerLike;
  isStopped: boolean;
  readonly ahead: number | undefined;
  /** What the manager has given and not been told the end of, by its id in the queue: a manager may have ids of its own. Empty without `ahead`. */
  readonly open: Map<string, Request>;
  /** Goes on where it waits. */
  wake: () => void;
}

const COPY_BATCH = 1_000;
/** A manager with nothing to give now may have something later. */
const POLL_MS = 250;

export function createSeeding(openQueue: () => Promise<RequestQueue>, onChange: () => void, time: Time): Seeding {
  let underWay = 0;
  const copies = new Set<Copy>();

  function track(task: Promise<unknown>, onError: (error: CrawlError) => void): void {
    underWay++;
    void task
      .catch((error: unknown) => onError(asCrawlError(error, 'REQUEST_INVALID')))
      .finally(() => {
        underWay--;
        onChange();
      });
  }

  async function copyAll(copy: Copy): Promise<void> {
    const queue = await openQueue();
    const { list } = copy;
    while (!copy.isStopped) {
      if (copy.ahead !== undefined && copy.open.size > copy.ahead / 2) {
        await woken(copy);
        continue;
      }
      // Some managers must not be asked for what they say they do not have.
      const isEmpty = copy.ahead !== undefined && (await list.isEmpty?.()) === true;
      const most = copy.ahead === undefined ? COPY_BATCH : copy.ahead - copy.open.size;
      const batch = isEmpty ? [] : await fetchBatch(list, most);
      if (copy.isStopped) {
        if (isManager(list)) for (const request of batch) await list.reclaimRequest(request);
        return;
      }
      if (batch.length > 0) {
        const isSeed = (request: Request): boolean => list.isSeed?.(request) ?? true;
        // Before they are added: one may end at once.
        if (copy.ahead !== undefined) for (const request of batch) copy.open.set(keyOf(request), request);
        for (const seeded of [true, false]) {
          const part = batch.filter((request) => isSeed(request) === seeded);
          if (part.length === 0) continue;
          const { addedRequests } = await queue.addRequestsBatched(part, { waitForAllRequestsToBeAdded: true, seeded });
          addedRequests.forEach(({ wasAlreadyHandled }, at) => {
            if (wasAlreadyHandled) ended(copy, keyOf(part[at]!));
          });
        }
        // Only now: a crash before would lose what the list believes handled.
        if (copy.ahead === undefined && isManager(list))
          for (const request of batch) await list.markRequestHandled(request);
        onChange();
        // Copying may go on without a pause for I/O; the crawl must get its turn.
        await new Promise((resume) => setImmediate(resume));
      } else if (copy.open.size > 0) await woken(copy);
      else if (!isManager(list) || !('isFinished' in list)) return;
      else if (await (list as { isFinished(): Promise<boolean> }).isFinished()) return;
      else await woken(copy);
    }
  }

  /** Resolves when something ended, or after a while. */
  async function woken(copy: Copy): Promise<void> {
    const ending = new AbortController();
    copy.wake = () => ending.abort();
    await time.wait(POLL_MS, ending.signal).catch(() => undefined);
  }

  function ended(copy: Copy, id: string): void {
    const request = copy.open.get(id);
    if (!request) return;
    copy.open.delete(id);
    // What the manager cannot note comes again, and is known then.
    (copy.list as RequestManagerLike)
      .markRequestHandled(request)
      .catch((error: unknown) => log.exception(error as Error, 'a request manager did not take the end of a request'))
      .finally(() => copy.wake());
  }

  return {
    get isUnderWay() {
      return underWay > 0;
    },
    get isAsking() {
      return [...copies].some(({ ahead }) => ahead !== undefined);
    },
    async add(requests, options, onError) {
      underWay++;
      try {
        const added = await (await openQueue()).addRequestsBatched(requests, options);
        track(added.waitForAllRequestsToBeAdded, onError);
        return added;
      } finally {
        underWay--;
        onChange();
      }
    },
    copy(list, onError, ahead) {
      const isAsked = ahead !== undefined && isManager(list);
      const wake = () => undefined;
      const copy: Copy = { list, isStopped: false, ahead: isAsked ? ahead : undefined, open: new Map(), wake };
      copies.add(copy);
      track(
        copyAll(copy).finally(() => copies.delete(copy)),
        onError,
      );
    },
    onEnded(fingerprint) {
      if (copies.size === 0) return;
      const id = fingerprintToId(fingerprint);
      for (const copy of copies) ended(copy, id);
    },
    async stopCopying() {
      for (const copy of copies) {
        copy.isStopped = true;
        copy.wake();
        void copy.list.teardown?.();
        // What has not ended is the manager's again.
        const { list } = copy;
        if (isManager(list))
          for (const request of copy.open.values()) await list.reclaimRequest(request).catch(ignored);
        copy.open.clear();
      }
    },
  };
}

function keyOf({ fingerprint }: Request): string {
  return fingerprintToId(fingerprint);
}

/** A manager that lost a request meanwhile has nothing to take back. */
const ignored = (): void => undefined;

async function fetchBatch(list: RequestListLike, most: number): Promise<Request[]> {
  const batch: Request[] = [];
  for (let next = await list.fetchNextRequest(); next; next = await list.fetchNextRequest()) {
    batch.push(next);
    // A list that is still being loaded must not keep back what it has.
    if (batch.length >= most || (await list.isEmpty?.())) break;
  }
  return batch;
}

function isManager(list: RequestListLike | RequestManagerLike): list is RequestManagerLike {
  return 'markRequestHandled' in list && 'reclaimRequest' in list;
}
