// Seeds this machine's pods at the start of a run, unless already done.
// Promise: a useless seed file ends the run with a reason; a pod lost meanwhile does not stop the others.
import { CrawlError } from '../../errors.js';
import type { QueueEntry } from '../../frontier/frontier.js';
import { countOf, countText } from '../../observe/figures.js';
import type { Log } from '../../observe/log.js';
import type { PodsConfig } from '../config/types.js';
import { watchExcludeFile } from '../config/exclude-list.js';
import type { OwnPod } from '../stores/pod-view.js';
import { distribution, privateKindOf, seedPods } from './seeding.js';
import { createExtensionTest } from '../config/skipped-extensions.js';

export async function seedOwnPods(
  config: PodsConfig,
  own: readonly OwnPod[],
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const waiting: OwnPod[] = [];
  const lost = new Set<number>();
  /** Undefined if the pod's store is gone: its workers notice, too, and stop the pod. */
  async function unlessLost<T>(pod: OwnPod, act: () => Promise<T>): Promise<T | undefined> {
    if (lost.has(pod.index)) return undefined;
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof CrawlError) || error.code !== 'QUEUE_EMPTIED') throw error;
      lost.add(pod.index);
      log.warning(`Pod ${pod.index} takes no more seeds: ${error.message}`);
      return undefined;
    }
  }

  for (const pod of own) if ((await unlessLost(pod, () => pod.isSeeded())) === false) waiting.push(pod);
  if (waiting.length === 0) return;
  if (config.seedFile === undefined) {
    throw new CrawlError('OPTION_INVALID', 'the crawl stopped before all seeds were queued: give the seed_file again');
  }
  const excluded = await watchExcludeFile(config.excludeFile, log);
  const isSkippedFile = createExtensionTest(config.skipExtensions);
  let privates = 0;
  /** Reported before workers fail on them one by one; names that resolve to such addresses fail when requested. */
  const isPrivate = (url: string): boolean => {
    if (config.allowPrivateAddresses || privateKindOf(url) === undefined) return false;
    privates++;
    return true;
  };
  const adderOf = (index: number) => {
    const pod = waiting.find((one) => one.index === index);
    return pod && ((entries: readonly QueueEntry[]) => unlessLost(pod, () => pod.add(entries)));
  };
  try {
    const report = await seedPods({
      file: config.seedFile,
      pods: config.pods.length,
      add: adderOf,
      refuse: (url) =>
        excluded.refusal(url) ??
        (isSkippedFile(url) || url.length > 2_000 ? 'filters' : isPrivate(url) ? 'private' : undefined),
      batchSize: config.frontierBatchSize,
      signal,
      log,
    });
    if (signal.aborted) return;
    const { byPod, seeds, wrong, refused } = report;
    const remedy = 'to crawl private and loopback addresses, use --allow-private or allow_private_addresses';
    if (privates > 0 && seeds === 0) {
      throw new CrawlError('ADDRESS_REFUSED', `no seed in ${config.seedFile} may be visited: ${remedy}`);
    }
    if (privates > 0) log.warning(`${countOf(privates, 'seed is', 'seeds are')} skipped: ${remedy}`);
    if (seeds === 0 && refused > 0) {
      throw new CrawlError(
        'OPTION_INVALID',
        `no seed in ${config.seedFile} may be visited: exclude_file and skip_extensions exclude all ${countText(refused)}`,
      );
    }
    for (const pod of waiting) await unlessLost(pod, () => pod.markSeeded());
    const { min, max, imbalance } = distribution(byPod);
    for (const [pod, count] of byPod.length > 1 ? byPod.entries() : []) {
      const part = seeds === 0 ? 0 : (count * 100) / seeds;
      log.info(`Pod ${pod}: ${countOf(count, 'seed')} (${part.toFixed(1)} %)`);
    }
    const share = byPod.length > 1 ? `; ${countText(min)} to ${countText(max)} per pod (imbalance ${imbalance})` : '';
    log.info(`Queued ${countOf(seeds, 'seed')} (${countText(wrong)} invalid, ${countText(refused)} refused)${share}`);
  } finally {
    excluded.close();
  }
}
