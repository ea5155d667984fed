// Before the first worker: takes the supervisor role, empties or continues the stores, and marks the crawl's folders.
// Promise: nothing is emptied without --fresh, and nothing is continued by accident.
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../errors.js';
import type { Log } from '../../observe/log.js';
import type { PodsConfig } from '../config/types.js';
import type { CrawlChoice } from '../identity/crawl-choice.js';
import { readCrawlMark, writeCrawlMark } from '../identity/crawl-mark.js';
import { setItemsAside } from '../identity/earlier-items.js';
import { handoffFolder, sweepHandoff } from '../worker/handoff.js';
import { podStateDir } from '../stores/pod-frontier.js';
import type { OwnPod } from '../stores/pod-view.js';
import type { FileRecovery } from './recovery.js';
import type { PodStores } from '../stores/stores.js';

const OWN_RETRY_MS = 500;

/** Waits until this process supervises every pod, and logs which process it waits for. */
export async function takeRoles(pods: readonly OwnPod[], log: Log, signal: AbortSignal): Promise<void> {
  await Promise.all(
    pods.map(async (pod) => {
      let hasSaid = false;
      while (
        !(await pod.own((who, leftMs) => {
          if (!hasSaid) log.warning(`Pod ${pod.index} is supervised by ${who}: waiting ${Math.ceil(leftMs / 1_000)} s`);
          hasSaid = true;
        }))
      ) {
        if (signal.aborted) throw new CrawlError('ABORTED', 'interrupted while waiting for another orchestrator');
        await delay(OWN_RETRY_MS);
      }
    }),
  );
}

/** Assigns this machine's stores and folders to the chosen crawl, emptied or as they were. */
export async function prepare(
  config: PodsConfig,
  stores: PodStores,
  choice: CrawlChoice,
  files: FileRecovery,
  log: Log,
): Promise<void> {
  const { own } = stores;
  if (config.fresh) {
    await Promise.all(own.map((pod) => pod.wipe()));
    await setItemsAside(config, log);
  } else {
    await refuseHeld(config, own, choice.crawl);
    if (choice.isNew) await clearLocalState(config);
  }
  await giveToCrawl(config, stores, choice.crawl);
  if (config.fresh) return;
  for (const pod of own) {
    await files.recover(pod, (message) => log.warning(message));
    if (config.parsersPerPod === 0 && (await pod.returnCaptures()) > 0) {
      log.info(`Pod ${pod.index}: pages that waited for parsers are fetched again`);
    }
    const named = await pod.captures();
    const orphans = await sweepHandoff(handoffFolder(config, pod.index), (name) => named.has(name));
    if (orphans > 0) log.info(`Pod ${pod.index}: ${orphans} captures that nobody needs are removed`);
  }
}

async function refuseHeld(config: PodsConfig, pods: readonly OwnPod[], crawl: string): Promise<void> {
  const accepted = await Promise.all(pods.map((pod) => pod.accepted()));
  const held = pods.filter((_, i) => accepted[i]! > 0);
  if (held.length > 0 && !config.resume) {
    const [first] = held as [OwnPod];
    throw new CrawlError(
      'QUEUE_IN_USE',
      `the store of pod ${first.index} (${first.where}) holds ${accepted[pods.indexOf(first)]} URLs of an earlier ` +
        `crawl${held.length > 1 ? `, and so do ${held.length - 1} more` : ''}: continue it with --resume, or discard it with --fresh`,
    );
  }
  for (const pod of held) {
    const other = await pod.fact('crawl');
    if (other === undefined || other === crawl) continue;
    throw new CrawlError(
      'QUEUE_FOREIGN',
      `the store of pod ${pod.index} (${pod.where}) now belongs to crawl ${other}, changed while this process waited: start again`,
    );
  }
}

/** An earlier crawl's spill would be read as part of this one. */
async function clearLocalState(config: PodsConfig): Promise<void> {
  for (const index of config.ownPods) {
    if (config.pods[index]!.kind !== 'redis') continue;
    await rm(podStateDir(config, index), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Stores first: a folder belongs to the crawl only if they do. */
async function giveToCrawl(config: PodsConfig, { own, board }: PodStores, crawl: string): Promise<void> {
  for (const pod of own) if ((await pod.fact('crawl')) !== crawl) await pod.setFact('crawl', crawl);
  await board.join(config.ownPods, crawl);
  for (const folder of [config.stateDir, ...config.dataDirs]) {
    if ((await readCrawlMark(folder)) !== crawl) await writeCrawlMark(folder, crawl);
  }
}
