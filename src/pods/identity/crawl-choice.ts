// Which crawl a run belongs to: a new one, or the one in its stores and folders. Decided before anything is opened.
// Promise: read-only, except that it names the stores of a crawl started by 0.1; the coordinating machine names the
// crawl, the others use its name.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../errors.js';
import { markStore, readStoreMark } from '../../frontier/redis/store-mark.js';
import type { Log } from '../../observe/log.js';
import type { PodsConfig } from '../config/types.js';
import { type Evidence, findCrawl, type FolderEvidence, type StoreEvidence } from './crawl-evidence.js';
import { readCrawlMark } from './crawl-mark.js';
import { frontierFolder } from '../stores/embedded-store.js';
import { redisOptions } from '../stores/redis-options.js';
import { JOINED_KEY, SEEDED_NOTE } from '../stores/redis-pod.js';

export interface CrawlChoice {
  readonly crawl: string;
  /** No store holds any of it yet. */
  readonly isNew: boolean;
}

const LOOK_MS = 1_000;

export async function chooseCrawl(config: PodsConfig, log: Log, signal: AbortSignal): Promise<CrawlChoice> {
  const isCoordinator = config.ownPods.includes(config.globalCoordinationRedisPod);
  return isCoordinator ? nameCrawl(config, log) : takeName(config, log, signal);
}

async function nameCrawl(config: PodsConfig, log: Log): Promise<CrawlChoice> {
  if (config.fresh) return { crawl: randomUUID(), isNew: true };
  const evidence = await gatherEvidence(
    config,
    config.pods.map((_, pod) => pod),
    log,
  );
  if (!config.resume) return { crawl: nameOfBeginning(evidence) ?? randomUUID(), isNew: true };
  const found = findCrawl(evidence);
  if (found.kind === 'nothing') return { crawl: randomUUID(), isNew: true };
  if (found.kind === 'named') {
    warnOfUnmarked(found.unmarked, log);
    return { crawl: found.crawl, isNew: false };
  }
  const crawl = randomUUID();
  log.info(`The stores were filled before crawls had names: this one is crawl ${crawl} from now on`);
  // For all machines: the others find their stores named.
  for (const { pod } of evidence.stores) {
    const store = config.pods[pod]!;
    if (store.kind === 'redis') await markStore(redisOptions(config, store), crawl);
  }
  return { crawl, isNew: false };
}

/** A start that was interrupted before the first URL: other machines may already know the name. */
function nameOfBeginning({ stores }: Evidence): string | undefined {
  const names = new Set(stores.flatMap(({ crawl, isFilled }) => (isFilled || crawl === undefined ? [] : [crawl])));
  const [name] = names;
  return names.size === 1 ? name : undefined;
}

async function takeName(config: PodsConfig, log: Log, signal: AbortSignal): Promise<CrawlChoice> {
  const pods = [...new Set([...config.ownPods, config.globalCoordinationRedisPod])];
  let hasSaid = false;
  for (;;) {
    const evidence = await gatherEvidence(config, pods, log);
    const choice = nameIn(config, evidence, log);
    if (choice) return choice;
    if (!hasSaid) {
      log.info(
        `Pod ${config.globalCoordinationRedisPod} has not started the ${config.fresh ? 'new ' : ''}crawl: waiting for ` +
          'its machine',
      );
    }
    hasSaid = true;
    if (signal.aborted) throw new CrawlError('ABORTED', 'interrupted while waiting for the coordinating machine');
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Undefined until the coordinating machine has named the crawl. */
function nameIn(config: PodsConfig, evidence: Evidence, log: Log): CrawlChoice | undefined {
  const { stores, coordinator } = evidence;
  const named = stores.find(({ pod }) => pod === coordinator)?.crawl;
  const own = stores.filter(({ pod }) => pod !== coordinator);
  if (config.resume) {
    const found = findCrawl(evidence);
    if (found.kind !== 'named') return undefined;
    warnOfUnmarked(found.unmarked, log);
    return { crawl: found.crawl, isNew: !own.some(({ isFilled }) => isFilled) };
  }
  // A discarded crawl keeps its name until the coordinating machine discards it, too.
  const isOld = config.fresh && own.some(({ crawl }) => crawl === named);
  return named === undefined || isOld ? undefined : { crawl: named, isNew: true };
}

function warnOfUnmarked(unmarked: readonly FolderEvidence[], log: Log): void {
  for (const { key, path } of unmarked) {
    log.warning(`${key}: ${path} has nothing of this crawl yet; if it should, stop, bring it back and resume`);
  }
}

async function gatherEvidence(config: PodsConfig, pods: readonly number[], log: Log): Promise<Evidence> {
  const { globalCoordinationRedisPod: coordinator } = config;
  const joined = new Map<number, string>();
  const stores = await Promise.all(
    pods.map(async (pod): Promise<StoreEvidence[]> => {
      const store = config.pods[pod]!;
      if (store.kind === 'embedded') {
        const isFilled = existsSync(join(frontierFolder(config, pod), 'data.mdb'));
        const crawl = await readCrawlMark(store.path);
        return [{ pod, where: store.path, crawl: isFilled ? crawl : undefined, isFilled }];
      }
      try {
        const mark = await readStoreMark(redisOptions(config, store), [SEEDED_NOTE], JOINED_KEY);
        if (pod === coordinator) for (const [name, crawl] of mark.hash) joined.set(Number(name), crawl);
        const isFilled = mark.accepted > 0 || mark.notes.has(SEEDED_NOTE);
        return [{ pod, where: store.where, crawl: mark.crawl, isFilled }];
      } catch (error) {
        if (config.ownPods.includes(pod) || pod === coordinator) throw error;
        log.warning(`Pod ${pod} of another machine cannot be compared now: ${(error as Error).message}`);
        return [];
      }
    }),
  );
  const folders = await Promise.all(
    [['state_dir', config.stateDir] as const, ...config.dataDirs.map((path) => ['data_dirs', path] as const)].map(
      async ([key, path]): Promise<FolderEvidence> => ({ key, path, crawl: await readCrawlMark(path) }),
    ),
  );
  // Embedded pods start together.
  const isEmbedded = config.pods[0]!.kind === 'embedded';
  const hasJoined = (pod: number, crawl: string): boolean => isEmbedded || joined.get(pod) === crawl;
  return { stores: stores.flat(), folders, coordinator, hasJoined };
}
