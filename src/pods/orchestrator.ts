// `orcrawl run`: supervises the pods of this machine from the first seed to the last drain.
// Promise: one supervisor a pod; whatever dies is restarted or reported; every way to end loses nothing and says why.
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { asCrawlError, CrawlError } from '../errors.js';
import { countOf, countText } from '../observe/figures.js';
import type { Log } from '../observe/log.js';
import { createAffinity } from './affinity.js';
import type { PodsConfig } from './config-types.js';
import { type Coordination, createCoordination, type StopReason } from './coordination.js';
import { watchExcludeFile } from './exclude-list.js';
import { createMessageRouter } from './embedded-pod.js';
import { handoffFolder, sweepHandoff } from './handoff.js';
import { openPodLog } from './pod-log.js';
import { createPodSupervisor, type PodFailure, type PodSupervisor } from './pod-supervisor.js';
import type { OwnPod, PodView } from './pod-view.js';
import { createFileRecovery, type FileLosses, type FileRecovery } from './recovery.js';
import { openRunMetrics } from './run-metrics.js';
import { setItemsAside } from './earlier-items.js';
import { distribution, privateKindOf, seedPods } from './seeding.js';
import { createExtensionTest } from './skipped-extensions.js';
import { openStores } from './stores.js';

export interface PodsRunOptions {
  readonly config: PodsConfig;
  /** For people: what happens to the crawl as a whole. */
  readonly log: Log;
  /** The first abort drains; what `now` says ends everything at once. */
  readonly drain: AbortSignal;
  readonly now: AbortSignal;
  /** Told every second. */
  readonly onProgress?: (progress: PodsProgress) => void;
  /** A worker silent for so long is killed and restarted. Default 30 s. */
  readonly stuckMs?: number;
}

export interface PodsProgress {
  readonly pages: number;
  readonly readings: Coordination['readings'];
  readonly supervisors: readonly PodSupervisor[];
}

export interface PodsResult {
  readonly reason: StopReason;
  /** Of the whole crawl where this machine coordinates it, else of its own pods. */
  readonly pages: number;
  readonly isWhole: boolean;
  readonly failures: readonly PodFailure[];
  /** Requests that failed for good, over all runs of the crawl; 0 where another machine coordinates. */
  readonly failed: number;
  /** Of those, what this run's workers met, by error code. */
  readonly errors: Readonly<Record<string, number>>;
  /** What was acknowledged and is not in the data directories any more: the crawl is not whole. */
  readonly losses: FileLosses;
}

const LOOK_MS = 1_000;
/** Visits have ten seconds, closing thirty: then a worker is killed. */
const STOP_PATIENCE_MS = 60_000;
const STAGGER_PODS_MS = 50;

/**
 * Runs the pods of this machine until the crawl is over.
 *
 * @example
 * const result = await runPods({ config, log, drain: drain.signal, now: now.signal });
 * console.log(result.reason, result.pages);
 */
export async function runPods(options: PodsRunOptions): Promise<PodsResult> {
  const { config, log } = options;
  const warn = (message: string) => log.warning(message);
  const router = createMessageRouter();
  const stores = await openStores(config, router, warn);
  const files = createFileRecovery(config);
  const logs = config.ownPods.map((pod) => openPodLog(config, pod, 'orchestrator', 0));
  try {
    await takeRoles(stores.own, log, options.drain);
    await files.prepare();
    await prepare(config, stores.own, files, log);
    return await supervise(
      options,
      stores,
      logs.map(({ log: own }) => own),
      router,
      files,
    );
  } finally {
    await stores.close();
    for (const { close } of logs) close();
  }
}

type Stores = Awaited<ReturnType<typeof openStores>>;

/** Waits until this process supervises every pod, and says for whom it waits. */
async function takeRoles(pods: readonly OwnPod[], log: Log, signal: AbortSignal): Promise<void> {
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

const OWN_RETRY_MS = 500;

/** Resume or fresh: nothing is wiped that nobody gave up, and nothing is continued by accident. */
async function prepare(config: PodsConfig, pods: readonly OwnPod[], files: FileRecovery, log: Log): Promise<void> {
  if (config.fresh) {
    await Promise.all(pods.map((pod) => pod.wipe()));
    await setItemsAside(config, log);
    return;
  }
  const accepted = await Promise.all(pods.map((pod) => pod.accepted()));
  const held = pods.filter((_, i) => accepted[i]! > 0);
  if (held.length > 0 && !config.resume) {
    const [first] = held as [OwnPod];
    throw new CrawlError(
      'QUEUE_IN_USE',
      `the store of pod ${first.index} (${first.where}) holds ${accepted[pods.indexOf(first)]} URLs of an earlier ` +
        `crawl${held.length > 1 ? `, and so do ${held.length - 1} more` : ''}: continue it with --resume, or give it up with --fresh`,
    );
  }
  for (const pod of pods) {
    await files.recover(pod, warnTo(log));
    if (config.parsersPerPod === 0 && (await pod.returnCaptures()) > 0) {
      log.info(`Pod ${pod.index}: pages that waited for parsers are fetched again`);
    }
    const named = await pod.captures();
    const orphans = await sweepHandoff(handoffFolder(config, pod.index), (name) => named.has(name));
    if (orphans > 0) log.info(`Pod ${pod.index}: ${orphans} captures that nobody waits for are removed`);
  }
}

const warnTo = (log: Log) => (message: string) => log.warning(message);

async function supervise(
  options: PodsRunOptions,
  stores: Stores,
  logs: readonly Log[],
  router: ReturnType<typeof createMessageRouter>,
  files: FileRecovery,
): Promise<PodsResult> {
  const { config, log } = options;
  const { own, board } = stores;
  const machine = { platform: process.platform, cores: availableParallelism() };
  const affinity = createAffinity(config, machine, warnTo(log));
  const isCoordinator = config.ownPods.includes(config.globalCoordinationRedisPod);
  const failures: PodFailure[] = [];
  const isFailed = (pod: number) => failures.some((failure) => failure.pod === pod);
  let recovering: Promise<void> = Promise.resolve();
  /** What each process has counted: one that is restarted counts from zero. */
  const errorsOf = new Map<string, Readonly<Record<string, number>>>();
  const metrics = await openRunMetrics(config, warnTo(log));
  const supervisors: PodSupervisor[] = own.map((pod, i) =>
    createPodSupervisor({
      config,
      pod,
      log: logs[i]!,
      affinity,
      stuckMs: options.stuckMs,
      allowance: () => router.allowanceOf(pod.index),
      onMessage(place, message) {
        router.hear(place, message);
        const worker = supervisors[i]?.workers.find(({ place: other }) => other === place);
        metrics.hear(place, worker?.pid, message);
        if (message.kind === 'ended') metrics.retire(place);
        if (message.kind === 'beat' && message.figures.failed > 0 && worker?.pid !== undefined) {
          errorsOf.set(`${place.role} ${place.pod} ${place.id} ${worker.pid}`, message.figures.errors);
        }
      },
      onFailure: (failure) => {
        failures.push(failure);
        log.error(`Pod ${failure.pod} stopped: ${failure.message}`, { code: failure.code });
      },
      // Files are shared by all pods of the machine: one recovery at a time.
      recover: (of) => (recovering = recovering.catch(() => undefined).then(() => files.recover(of, warnTo(logs[i]!)))),
    }),
  );
  router.attach(supervisors);
  // Before the first lease: until the coordinator gives pages, a limited crawl may do none.
  if (config.maxPages !== undefined) await Promise.all(own.map((pod) => pod.changeAllowance(0, { act: 'limit' })));

  const seedsEnd = new AbortController();
  const isSeeding = startSeeding(options, stores, seedsEnd.signal);
  let seedError: CrawlError | undefined;
  isSeeding.catch((error: unknown) => (seedError = asCrawlError(error, 'REQUEST_INVALID')));
  const starting = (async () => {
    for (const supervisor of supervisors) {
      void supervisor.start();
      await delay(STAGGER_PODS_MS);
    }
  })();

  const killing = () => {
    for (const supervisor of supervisors) supervisor.kill();
  };
  options.now.addEventListener('abort', killing);
  let reason: StopReason;
  let coordination: Coordination | undefined;
  try {
    const watch = isCoordinator ? coordinate : follow;
    const onProgress = (progress: PodsProgress): void => {
      metrics.look(supervisors, (pod) => progress.readings[isCoordinator ? pod : config.ownPods.indexOf(pod)]);
      options.onProgress?.(progress);
    };
    ({ reason, coordination } = await watch({ ...options, onProgress }, stores, {
      isFailed,
      supervisors,
      failedSeeds: () => seedError,
      failures,
    }));
    log.info(`Stopping: ${reason}`);
    if (isCoordinator && reason !== 'failed') await board.signalStop(`${reason} ${Date.now()}`).catch(() => undefined);
  } finally {
    seedsEnd.abort();
    await starting;
    await Promise.all(supervisors.map((supervisor) => supervisor.stop(STOP_PATIENCE_MS)));
    options.now.removeEventListener('abort', killing);
    await metrics.close();
  }
  await recovering.catch(() => undefined);
  for (const pod of own) {
    await files.recover(pod, warnTo(log)).catch((error: unknown) => log.warning((error as Error).message));
    await pod.disown().catch(() => undefined);
  }
  if (seedError) throw seedError;
  // A pod without a server answers no more: what it said last counts.
  const before = [...(coordination?.readings ?? [])];
  await coordination?.look().catch(() => undefined);
  const pages = coordination?.pages ?? (await pagesOf(own));
  if (isCoordinator) await board.showPages(pages).catch(() => undefined);
  const failed = before.reduce((sum, one, i) => sum + ((coordination?.readings[i] ?? one)?.failed ?? 0), 0);
  return {
    reason,
    pages,
    isWhole: isCoordinator,
    failures,
    failed,
    errors: sumOf(errorsOf.values()),
    losses: files.losses,
  };
}

async function pagesOf(pods: readonly OwnPod[]): Promise<number> {
  const readings = await Promise.all(pods.map((pod) => pod.reading().catch(() => undefined)));
  return readings.reduce((sum, reading) => sum + (reading?.done ?? 0), 0);
}

function sumOf(counts: Iterable<Readonly<Record<string, number>>>): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const one of counts) for (const [code, count] of Object.entries(one)) sum[code] = (sum[code] ?? 0) + count;
  return sum;
}

async function startSeeding({ config, log }: PodsRunOptions, { own }: Stores, signal: AbortSignal): Promise<void> {
  const waiting: OwnPod[] = [];
  for (const pod of own) if (!(await pod.isSeeded())) waiting.push(pod);
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
  try {
    const report = await seedPods({
      file: config.seedFile,
      pods: config.pods.length,
      add: (index) => waiting.find((pod) => pod.index === index)?.add,
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
    for (const pod of waiting) await pod.markSeeded();
    const { min, max, imbalance } = distribution(byPod);
    const share = byPod.length > 1 ? `; a pod has ${countText(min)} to ${countText(max)} (imbalance ${imbalance})` : '';
    log.info(
      `Seeds are in: ${countText(seeds)}, and ${countText(wrong)} wrong and ${countText(refused)} refused lines${share}`,
    );
  } finally {
    excluded.close();
  }
}

interface Watched {
  readonly isFailed: (pod: number) => boolean;
  readonly supervisors: readonly PodSupervisor[];
  readonly failures: readonly PodFailure[];
  readonly failedSeeds: () => CrawlError | undefined;
}

interface Watching {
  reason: StopReason;
  coordination: Coordination | undefined;
}

/** Reasons that any orchestrator stops for. */
function ownReason(options: PodsRunOptions, watched: Watched): StopReason | undefined {
  if (options.drain.aborted || options.now.aborted) return 'signal';
  if (watched.failedSeeds() || watched.failures.length === watched.supervisors.length) return 'failed';
  return undefined;
}

/** The orchestrator that has the coordinating pod: decides for all machines. */
async function coordinate(options: PodsRunOptions, stores: Stores, watched: Watched): Promise<Watching> {
  const { config, log } = options;
  const { board } = stores;
  const epoch = await board.nextEpoch();
  await board.clearStop();
  const startedMs = performance.now();
  const pods: readonly PodView[] = stores.all();
  const { isFailed } = watched;
  const coordination = createCoordination({ pods, epoch, maxPages: config.maxPages, isStopped: isFailed });
  let shownMs = -Infinity;
  for (;;) {
    let over = ownReason(options, watched);
    if (over) return { reason: over, coordination };
    try {
      over = await coordination.look();
      if (performance.now() - shownMs > config.globalMetricsUpdateInterval * 1_000) {
        shownMs = performance.now();
        await board.showPages(coordination.pages);
      }
      if ((await board.stopSignal()) !== undefined) over ??= 'stop_signal';
    } catch (error) {
      log.warning(`The pods could not be looked at: ${(error as Error).message}`);
    }
    options.onProgress?.({ ...coordination, pages: coordination.pages, supervisors: watched.supervisors });
    if (over) return { reason: over, coordination };
    if (config.maxDuration !== undefined && performance.now() - startedMs >= config.maxDuration * 1_000) {
      return { reason: 'max_duration', coordination };
    }
    await delay(LOOK_MS, undefined, { signal: options.drain }).catch(() => undefined);
  }
}

/** An orchestrator of other pods: goes on until the coordinator says stop. */
async function follow(options: PodsRunOptions, stores: Stores, watched: Watched): Promise<Watching> {
  const { board } = stores;
  const before: { signal: string | undefined; isKnown: boolean } = { signal: undefined, isKnown: false };
  for (;;) {
    const over = ownReason(options, watched);
    if (over) return { reason: over, coordination: undefined };
    try {
      const signal = await board.stopSignal();
      // What an earlier run left is not for this one; its coordinator clears it when it starts.
      if (!before.isKnown) Object.assign(before, { signal, isKnown: true });
      else if (signal === undefined) before.signal = undefined;
      else if (signal !== before.signal) return { reason: reasonIn(signal), coordination: undefined };
    } catch (error) {
      options.log.debug(`The coordinator does not answer: ${(error as Error).message}`);
    }
    const readings = await Promise.all(stores.own.map((pod) => pod.reading().catch(() => undefined)));
    const pages = readings.reduce((sum, reading) => sum + (reading?.done ?? 0), 0);
    options.onProgress?.({ pages, readings, supervisors: watched.supervisors });
    await delay(LOOK_MS, undefined, { signal: options.drain }).catch(() => undefined);
  }
}

function reasonIn(signal: string): StopReason {
  const [word] = signal.split(' ') as [string];
  return word === 'max_pages' || word === 'max_duration' || word === 'exhausted' ? word : 'stop_signal';
}
