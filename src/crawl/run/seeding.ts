// Adds requests to the queue: those given to `run` and `addRequests`, and lists read in the background.
// The crawl is not finished while any are being added.
import { asCrawlError, type CrawlError } from '../../errors.js';
import type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  RequestQueue,
  RequestsLike,
} from '../../frontier/queue/request-queue.js';
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
  /** Copies a list, or a foreign manager until it is finished, into the queue. */
  copy(list: RequestListLike | RequestManagerLike, onError: (error: CrawlError) => void): void;
  /** The run is over: lists stay where they are, and background loading stops. */
  stopCopying(): void;
}

interface Copy {
  readonly list: RequestListLike | RequestManagerLike;
  isStopped: boolean;
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
      const batch = await fetchBatch(list);
      if (copy.isStopped) {
        if (isManager(list)) for (const request of batch) await list.reclaimRequest(request);
        return;
      }
      if (batch.length > 0) {
        const isSeed = (request: Request): boolean => list.isSeed?.(request) ?? true;
        for (const seeded of [true, false]) {
          const part = batch.filter((request) => isSeed(request) === seeded);
          if (part.length > 0) await queue.addRequestsBatched(part, { waitForAllRequestsToBeAdded: true, seeded });
        }
        // Only now: a crash before would lose what the list believes handled.
        if (isManager(list)) for (const request of batch) await list.markRequestHandled(request);
        onChange();
        // Copying may go on without a pause for I/O; the crawl must get its turn.
        await new Promise((resume) => setImmediate(resume));
      } else if (!isManager(list) || !('isFinished' in list)) return;
      else if (await (list as { isFinished(): Promise<boolean> }).isFinished()) return;
      else await time.wait(POLL_MS);
    }
  }

  return {
    get isUnderWay() {
      return underWay > 0;
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
    copy(list, onError) {
      const copy: Copy = { list, isStopped: false };
      copies.add(copy);
      track(
        copyAll(copy).finally(() => copies.delete(copy)),
        onError,
      );
    },
    stopCopying() {
      for (const copy of copies) {
        copy.isStopped = true;
        void copy.list.teardown?.();
      }
    },
  };
}

async function fetchBatch(list: RequestListLike): Promise<Request[]> {
  const batch: Request[] = [];
  for (let next = await list.fetchNextRequest(); next; next = await list.fetchNextRequest()) {
    batch.push(next);
    // A list that is still being loaded must not keep back what it has.
    if (batch.length >= COPY_BATCH || (await list.isEmpty?.())) break;
  }
  return batch;
}

function isManager(list: RequestListLike | RequestManagerLike): list is RequestManagerLike {
  return 'markRequestHandled' in list && 'reclaimRequest' in list;
}
