// `context.crawler` on pods: the crawler methods that work across many processes.
// Methods that one process cannot provide throw and say what to use instead.
import type { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import { entryOf } from '../../frontier/entry.js';
import type { Presence, QueueEntry } from '../../frontier/frontier.js';
import { operationInfo } from '../../frontier/queue/operation-infos.js';
import { inBatches } from '../../frontier/queue/request-batches.js';
import type { AddRequestsBatchedResult } from '../../frontier/queue/request-queue.js';
import type { AutoscaledPool } from '../../dispatch/autoscaled-pool.js';
import type { ContextCrawler } from '../../handle/context.js';
import type { Log } from '../../observe/log.js';
import { Dataset } from '../../store/dataset/dataset.js';

export interface PodCrawlerParts {
  readonly config: Configuration;
  readonly log: Log;
  readonly stats: ContextCrawler['stats'];
  /** Adds requests to the pods that own them. */
  readonly add: (entries: readonly QueueEntry[]) => Promise<readonly Presence[]>;
  readonly useState: ContextCrawler['useState'];
  readonly pool: () => AutoscaledPool | undefined;
}

const BATCH = 1_000;

export function createPodCrawler(parts: PodCrawlerParts): ContextCrawler {
  const openDataset = (name?: string) => Dataset.open(name, { config: parts.config });

  async function addRequests(
    requests: Parameters<ContextCrawler['addRequests']>[0],
    options: Parameters<ContextCrawler['addRequests']>[1] = {},
  ): Promise<AddRequestsBatchedResult> {
    const added: AddRequestsBatchedResult['addedRequests'] = [];
    for await (const batch of inBatches(requests, options.batchSize ?? BATCH)) {
      // They may come from a page: only the configuration may allow private addresses.
      for (const request of batch) request.seeded = false;
      const presences = await parts.add(batch.map((request) => entryOf(request, options.forefront)));
      added.push(...batch.map(({ uniqueKey }, index) => operationInfo(uniqueKey, presences[index]!)));
    }
    return { addedRequests: added, waitForAllRequestsToBeAdded: Promise.resolve(added) };
  }

  return {
    log: parts.log,
    stats: parts.stats,
    running: true,
    addRequests,
    useState: parts.useState,
    async pushData(data, name) {
      await (await openDataset(name)).pushData(data as never);
    },
    getDataset: openDataset,
    getData: async (...options) => (await openDataset()).getData(...options),
    requestQueue: undefined,
    sessionPool: undefined,
    proxyConfiguration: undefined,
    get autoscaledPool() {
      return parts.pool();
    },
    stop: () => notOnPods('stop()', 'end the crawl with global:stop_signal, Ctrl-C or max_pages'),
    teardown: () => notOnPods('teardown()', 'end the crawl with global:stop_signal, Ctrl-C or max_pages'),
    getRequestQueue: () => notOnPods('getRequestQueue()', 'the queue is spread over pods: use addRequests()'),
    exportData: () => notOnPods('exportData()', 'read the items in <data dir>/datasets/<name>/*.jsonl'),
  };
}

function notOnPods(call: string, instead: string): never {
  throw new CrawlError('NOT_ON_PODS', `crawler.${call} does not work on pods: ${instead}`);
}
