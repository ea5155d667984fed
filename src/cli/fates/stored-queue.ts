// The queue that a script or `orcrawl crawl` left in a storage folder: what became of a URL, and failed ones again.
// Promise: a queue that is in use is left alone; nothing is created.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { endRun } from '../../crawl/storage/run-state.js';
import { newHolderId } from '../../frontier/client.js';
import type { EmbeddedFrontier } from '../../frontier/embedded/frontier.js';
import { entryOf } from '../../frontier/entry.js';
import type { Found } from '../../frontier/frontier.js';
import { MAX_TURNS } from '../../frontier/validation.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import { recordToRetry } from '../../request/record-to-retry.js';
import { Request } from '../../request/request.js';
import { normalizeUrl } from '../../request/url.js';
import { UsageError } from '../exit-codes.js';
import { shown } from '../terminal.js';

const QUEUES = 'request_queues';
const BATCH = 500;

/** Whether a folder is the storage of a script, or the folder of `orcrawl crawl`. */
export const isStorage = (folder: string): boolean => existsSync(path.join(folder, QUEUES));

async function withQueue<T>(folder: string, name: string, use: (queue: EmbeddedFrontier) => Promise<T>): Promise<T> {
  const place = path.join(folder, QUEUES, name);
  if (!existsSync(place)) throw new UsageError(`${shown(place)} does not exist: no queue of that name was stored`);
  const { openLmdbFrontier } = await import('../../frontier/embedded/store/lmdb.js');
  const queue = await openLmdbFrontier(place, { holder: newHolderId(), pacing: { delayMs: 0, turns: MAX_TURNS } });
  try {
    return await use(queue);
  } finally {
    await queue.close();
  }
}

/** What became of a URL; undefined if it was never queued. */
export function findInQueue(folder: string, name: string, url: string): Promise<Found | undefined> {
  return withQueue(folder, name, async (queue) => (await queue.find([fingerprintOf(normalizeUrl(url))]))[0]);
}

/** Every URL of a queue that failed or was skipped, with why. */
export function eachFate(folder: string, name: string, tell: (fate: StoredFate) => void): Promise<number> {
  return withQueue(folder, name, async (queue) => {
    let count = 0;
    for (let from: number | undefined = 0; from !== undefined;) {
      const some: Awaited<ReturnType<EmbeddedFrontier['failedFrom']>> = await queue.failedFrom(from, BATCH, true);
      for (const { record, reason, isSkipped } of some.requests) {
        tell(storedFate(isSkipped ? 'skipped' : 'failed', Request.fromRecord(record), reason));
      }
      count += some.requests.length;
      from = some.next;
    }
    return count;
  });
}

/** What a queue knows of a URL. */
export interface StoredFate {
  readonly url: string;
  readonly fate: Found['state'];
  readonly code: string | undefined;
  /** The last status that the host answered with. */
  readonly statusCode: number | undefined;
  readonly attempts: number;
  readonly handledAt: string | undefined;
  readonly loadedUrl: string | undefined;
  readonly errorMessages: readonly string[];
  readonly depth: number;
}

export function storedFate(fate: Found['state'], request: Request, code: string | undefined): StoredFate {
  const { url, retryCount, handledAt, loadedUrl, errorMessages, crawlDepth: depth } = request;
  const attempts = retryCount + (fate === 'done' || fate === 'failed' ? 1 : 0);
  // Requests keep messages, not statuses; those of src/crawl/navigate/status.ts say "answered 404".
  const [, status] = / answered (\d{3})\b/.exec(errorMessages.at(-1) ?? '') ?? [];
  const statusCode = status === undefined ? undefined : Number(status);
  return { url, fate, code, statusCode, attempts, handledAt, loadedUrl, errorMessages, depth };
}

/** Queues failed requests again and lets the next run continue. Returns how many, by code. */
export function retryInQueue(
  folder: string,
  name: string,
  codes: ReadonlySet<string> | undefined,
): Promise<Record<string, number>> {
  return withQueue(folder, name, async (queue) => {
    const byCode: Record<string, number> = {};
    const holder = newHolderId();
    let call = 0;
    for (let from: number | undefined = 0; from !== undefined;) {
      const { requests, next }: Awaited<ReturnType<EmbeddedFrontier['failedFrom']>> = await queue.failedFrom(
        from,
        BATCH,
      );
      const chosen = requests.filter(({ reason }) => codes === undefined || codes.has(reason));
      const entries = chosen.flatMap(({ record }) => {
        const request = Request.fromRecord(record);
        return [{ ...entryOf(request), record: recordToRetry(request) || record }];
      });
      if (entries.length > 0) await queue.requeue({ holder, call: ++call, entries });
      for (const { reason } of chosen) byCode[reason] = (byCode[reason] ?? 0) + 1;
      from = next;
    }
    // The last run counts as finished, and the next would start fresh.
    if (Object.keys(byCode).length > 0) await endRun(folder, name, 'interrupted');
    return byCode;
  });
}
