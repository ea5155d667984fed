// Records how URLs end without a page: as index lines, in the same atomic step as the end itself.
// Promise: one line per end, whatever dies when; also of requests that the store ended because they ended their worker.
import { setTimeout as delay } from 'node:timers/promises';
import { mediaTypeOf } from '../../base/media-type.js';
import { headerOf } from '../../crawl/navigate/content-type.js';
import type { Fate, RecordFate } from '../../crawl/run/report/fate.js';
import type { Records } from '../../crawl/run/settler.js';
import type { Log } from '../../observe/log.js';
import { recordToRetry } from '../../request/record-to-retry.js';
import { Request } from '../../request/request.js';
import { packFate, type PackedPage } from '../../store/content/page.js';

/** Notes of the store: `fate/NUMBER` → code, losses and record, separated by spaces. */
const NOTE_PREFIX = 'fate/';
/** Rare, as such ends are; what happened since is looked for once more when the process ends. */
const LOOK_MS = 10_000;
const LAST_LOOK_MS = 5_000;

export function createFateRecorder(crawl: string | undefined, nowMs = Date.now): RecordFate {
  return (request, fate) => packed(request, fate, crawl, nowMs());
}

function packed(request: Request, fate: Fate, crawl: string | undefined, endedAtMs: number): PackedPage {
  const { kind, code, message, attempts, capture } = fate;
  const type = capture && headerOf(capture);
  const record = kind === 'failed' ? recordToRetry(request) : undefined;
  return packFate({
    uniqueKey: request.uniqueKey,
    url: request.url,
    loadedUrl: capture?.loadedUrl,
    depth: request.crawlDepth,
    statusCode: capture?.statusCode,
    contentType: type && mediaTypeOf(type),
    endedAtMs,
    ...{ kind, code, attempts, crawl, message },
    record,
  });
}

export interface LostWorkerParts {
  readonly fateOf: RecordFate;
  /** How many requests have ended their worker: a cheap look. */
  readonly count: () => Promise<number>;
  readonly notes: () => Promise<Readonly<Record<string, string>>>;
  readonly record: (records: Records) => Promise<boolean>;
  readonly log: Log;
}

/** Records the requests that the store itself ended. One process of a pod does it. */
export function recordLostWorkers(parts: LostWorkerParts): { close(): Promise<void> } {
  const { fateOf, log } = parts;
  let known = -1;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const count = await parts.count();
    if (count === known) return;
    const fates = Object.entries(await parts.notes()).filter(([name]) => name.startsWith(NOTE_PREFIX));
    if (fates.length > 0) {
      const isRecorded = await parts.record({
        pages: fates.flatMap(([, text]) => pageOf(text)),
        notes: Object.fromEntries(fates.map(([name]) => [name, null])),
      });
      if (!isRecorded) return;
    }
    known = count;
  }

  function pageOf(text: string): PackedPage[] {
    const [, code = '', losses = '0', record = ''] = /^(\S+) (\d+) ([^]*)$/.exec(text) ?? [];
    try {
      const message = code === 'WORKER_LOST' ? `its worker ended ${losses} times while it held this page` : undefined;
      const page = fateOf(Request.fromRecord(record), { kind: 'failed', code, message, attempts: Number(losses) });
      return page ? [page] : [];
    } catch (error) {
      log.warning(`The fate of a page that ended its worker cannot be recorded: ${(error as Error).message}`);
      return [];
    }
  }

  function lookOnce(): Promise<void> {
    // The run reports an unreachable store.
    looking ??= look()
      .catch(() => undefined)
      .finally(() => (looking = undefined));
    return looking;
  }

  const timer = setInterval(() => void lookOnce(), LOOK_MS);
  return {
    async close() {
      clearInterval(timer);
      await looking;
      await Promise.race([lookOnce(), delay(LAST_LOOK_MS, undefined, { ref: false })]);
    },
  };
}
