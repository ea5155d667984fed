// `orcrawl retry-failed` on pods: queues the URLs again that failed, each once, however often it is called or killed.
// Promise: the line that says so and the request in the queue become true in one step of the pod's store.
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../errors.js';
import { createFrontierClient } from '../../frontier/client.js';
import { entryOf } from '../../frontier/entry.js';
import type { QueueEntry } from '../../frontier/frontier.js';
import { MAX_REQUEUED } from '../../frontier/redis/pod-operations.js';
import { Request } from '../../request/request.js';
import { ContentStore } from '../../store/content/content.js';
import { createDataDirectories } from '../../store/content/data-directories.js';
import { type FailedUrl, failedFates } from '../../store/content/failed-fates.js';
import { packFate } from '../../store/content/page.js';
import type { PodsConfig } from '../config/types.js';
import { createFileRecovery } from '../supervise/recovery.js';
import { podOfDomain } from '../topology.js';
import { openRetryStore, type RetryStore } from './retry-store.js';

export interface RetryOptions {
  /** Only failures with one of these codes; undefined: all. */
  readonly codes?: ReadonlySet<string>;
  readonly warn: (message: string) => void;
  /** How long to wait for the supervisor role of a run that is ending. */
  readonly patienceMs?: number;
}

export interface RetryResult {
  readonly queued: number;
  readonly byCode: Readonly<Record<string, number>>;
  /** Too long to be kept in the index. */
  readonly tooLong: number;
  /** Of pods that another machine runs. */
  readonly elsewhere: number;
}

const PATIENCE_MS = 20_000;
const RETRY_MS = 500;

export async function retryFailed(config: PodsConfig, options: RetryOptions): Promise<RetryResult> {
  const { warn, codes } = options;
  const stores: RetryStore[] = [];
  const batches = new Map<number, ReturnType<typeof openBatch>>();
  const counts = { queued: 0, tooLong: 0, elsewhere: 0 };
  const byCode: Record<string, number> = {};
  try {
    for (const index of config.ownPods) stores.push(await openRetryStore(config, index, warn));
    for (const store of stores) await takeRole(store, options.patienceMs ?? PATIENCE_MS);
    const crawl = await crawlOf(stores);
    const files = createFileRecovery(config);
    for (const store of stores) await files.recover(store, warn).finally(() => files.shipper?.close());
    for await (const failed of failedFates(config.dataDirs, { crawl, warn })) {
      const { code, record = failed.url } = failed.fate;
      if (codes && !codes.has(code)) continue;
      if (record === '') {
        counts.tooLong++;
        continue;
      }
      const entry = entryOf(Request.fromRecord(record));
      const pod = podOfDomain(entry.domain, config.pods.length);
      const store = stores.find(({ index }) => index === pod);
      if (!store) {
        counts.elsewhere++;
        continue;
      }
      let batch = batches.get(pod);
      if (!batch) batches.set(pod, (batch = openBatch(config, store, crawl, warn)));
      await (await batch).add(failed, entry);
      counts.queued++;
      byCode[code] = (byCode[code] ?? 0) + 1;
    }
    for (const batch of batches.values()) await (await batch).flush();
    return { ...counts, byCode };
  } finally {
    for (const batch of batches.values()) await batch.then((one) => one.close()).catch(() => undefined);
    for (const store of stores) await store.close().catch(() => undefined);
  }
}

async function takeRole(store: RetryStore, patienceMs: number): Promise<void> {
  for (const deadlineMs = performance.now() + patienceMs; !(await store.own()); await delay(RETRY_MS)) {
    if (performance.now() < deadlineMs) continue;
    throw new CrawlError('QUEUE_IN_USE', `pod ${store.index} is being crawled: stop the run first, then retry`);
  }
}

/** The crawl that all stores belong to. */
async function crawlOf(stores: readonly RetryStore[]): Promise<string> {
  const names = new Set(await Promise.all(stores.map((store) => store.crawl())));
  const [name] = names;
  if (names.size !== 1 || name === undefined) {
    throw new CrawlError('QUEUE_FOREIGN', 'the stores hold no crawl, or pods of several crawls: nothing to retry');
  }
  return name;
}

/** Queues requests of one pod in batches, with a line for each. */
async function openBatch(config: PodsConfig, store: RetryStore, crawl: string, warn: (message: string) => void) {
  const client = createFrontierClient(store.frontier);
  const content = await ContentStore.open({
    dataDirs: config.dataDirs,
    directories: createDataDirectories(config.dataDirs, warn),
    isWriterGone: () => false,
    durability: config.durability === 'process' ? 'process' : 'machine',
    notes: {},
    note: async (notes) => void (await client.settle({ settlements: [], notes })),
    warn,
  });
  let waiting: { failed: FailedUrl; entry: QueueEntry }[] = [];

  async function flush(): Promise<void> {
    if (waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    const pages = batch.map(({ failed }) => againLine(failed, crawl));
    const { written } = await content.append(pages);
    const notes = Object.fromEntries(written.map(({ writer }) => [writer.key, writer.note]));
    await store.requeue(
      batch.map(({ entry }) => entry),
      notes,
    );
    for (const { writer } of written) writer.confirm();
  }

  return {
    flush,
    async add(failed: FailedUrl, entry: QueueEntry) {
      waiting.push({ failed, entry });
      if (waiting.length >= MAX_REQUEUED) await flush();
    },
    close: () => content.close(),
  };
}

/** Later than the failure, even if the clock is not: it must be the URL's last event. */
function againLine({ url, uniqueKey, depth, fetchedAtMs, fate }: FailedUrl, crawl: string) {
  const endedAtMs = Math.max(Date.now(), fetchedAtMs + 1);
  const { code, attempts } = fate;
  return packFate({ url, uniqueKey, depth, endedAtMs, kind: 'again', code, attempts, crawl });
}
