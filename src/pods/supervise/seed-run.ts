// The seeds of this machine's pods at the start of a run, as far as they are not in yet.
// Promise: a seed file that is of no use ends the run with a reason; a pod that is lost meanwhile does not stop the others'.
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
  /** Undefined when the pod's store is gone: its workers find out, too, and stop the pod. */
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
    throw new CrawlError(
      'OPTION_INVALID',
      'the seeds were not all in when the crawl stopped: name the seed_file again',
    );
  }
  const excluded = await watchExcludeFile(config.excludeFile, log);
  const isSkippedFile = createExtensionTest(config.skipExtensions);
  let privates = 0;
  /** Named before a worker meets them one by one; names that resolve to such addresses fail when they are asked for. */
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
    const remedy =
      'private and loopback addresses are refused unless --allow-private or allow_private_addresses says so';
    if (privates > 0 && seeds === 0) {
      throw new CrawlError('ADDRESS_REFUSED', `no seed of ${config.seedFile} may be visited: ${remedy}`);
    }
    if (privates > 0) log.warning(`${countOf(privates, 'seed is', 'seeds are')} left out: ${remedy}`);
    if (seeds === 0 && refused > 0) {
      throw new CrawlError(
        'OPTION_INVALID',
        `no seed of ${config.seedFile} may be visited: exclude_file and skip_extensions leave out all ${countText(refused)}`,
      );
    }
    for (const pod of waiting) await unlessLost(pod, () => pod.markSeeded());
    const { min, max, imbalance } = distribution(byPod);
    const share = byPod.length > 1 ? `; a pod has ${countText(min)} to ${countText(max)} (imbalance ${imbalance})` : '';
    log.info(
      `Seeds are in: ${countText(seeds)}, and ${countText(wrong)} wrong and ${countText(refused)} refused lines${share}`,
    );
  } finally {
    excluded.close();
  }
}
