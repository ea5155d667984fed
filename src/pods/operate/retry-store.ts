// A pod's store as `retry-failed` needs it, for both kinds of stores.
// Promise: the pod is not crawled while it is open.
import { CrawlError } from '../../errors.js';
import { newHolderId } from '../../frontier/client.js';
import { openLmdbFrontier } from '../../frontier/embedded/store/lmdb.js';
import type { Frontier, QueueEntry } from '../../frontier/frontier.js';
import type { PodsConfig } from '../config/types.js';
import { readCrawlMark } from '../identity/crawl-mark.js';
import { embeddedPath, frontierFolder } from '../stores/embedded-store.js';
import { pacingOf } from '../stores/pod-frontier.js';
import { openOwnRedisPod } from '../stores/redis-pod.js';

export interface RetryStore {
  readonly index: number;
  readonly frontier: Frontier;
  crawl(): Promise<string | undefined>;
  /** Takes the supervisor role; false while a run has it. */
  own(): Promise<boolean>;
  notes(): Promise<Readonly<Record<string, string>>>;
  /** Queues failed requests again and makes notes true, in one step. */
  requeue(entries: readonly QueueEntry[], notes: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}

export function openRetryStore(
  config: PodsConfig,
  index: number,
  warn: (message: string) => void,
): Promise<RetryStore> {
  return config.pods[index]!.kind === 'redis' ? openRedisStore(config, index, warn) : openEmbeddedStore(config, index);
}

async function openRedisStore(config: PodsConfig, index: number, warn: (message: string) => void): Promise<RetryStore> {
  const pod = await openOwnRedisPod(config, index, warn, false);
  const holder = newHolderId();
  let call = 0;
  return {
    index,
    frontier: pod.frontier(),
    crawl: () => pod.fact('crawl'),
    own: () => pod.own(() => undefined),
    notes: () => pod.notes(),
    requeue: (entries, notes) => pod.frontier().pod.requeue({ holder, call: ++call, entries, notes }),
    async close() {
      await pod.disown().catch(() => undefined);
      await pod.close();
    },
  };
}

async function openEmbeddedStore(config: PodsConfig, index: number): Promise<RetryStore> {
  const holder = newHolderId();
  const open = () =>
    openLmdbFrontier(frontierFolder(config, index), {
      access: 'owner',
      holder,
      pacing: pacingOf(config),
      notesFates: config.recordFates,
    });
  const frontier = await open().catch((error: unknown) => {
    if (!(error instanceof CrawlError) || error.code !== 'QUEUE_IN_USE') throw error;
    throw new CrawlError('QUEUE_IN_USE', `pod ${index} is being crawled: stop the run first, then retry`, {
      cause: error,
    });
  });
  let call = 0;
  return {
    index,
    frontier,
    crawl: () => readCrawlMark(embeddedPath(config, index)),
    // An open store has no other owner.
    own: () => Promise.resolve(true),
    notes: async () => (await frontier.overview()).notes,
    requeue: async (entries, notes) => void (await frontier.requeue({ holder, call: ++call, entries, notes })),
    close: () => frontier.close(),
  };
}
