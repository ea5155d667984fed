// `orcrawl run`: supervises the pods of this machine from the first seed to the last drain.
// Promise: one supervisor per pod; whatever dies is restarted or reported; every end loses nothing and gives a reason.
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { asCrawlError, type CrawlError } from '../../errors.js';
import type { Log } from '../../observe/log.js';
import { createAffinity } from './affinity.js';
import type { PodsConfig } from '../config/types.js';
import type { StopReason } from './coordination.js';
import { chooseCrawl } from '../identity/crawl-choice.js';
import { createMessageRouter } from '../stores/embedded-pod.js';
import { type IncompletePod, incompleteText, whatIsLeft, writeReport } from './incomplete.js';
import { openPodLog } from '../pod-log.js';
import { createPodSupervisor, type PodSupervisor } from './pod-supervisor.js';
import type { OwnPod, PodFailure } from '../stores/pod-view.js';
import { prepare, takeRoles } from './preparation.js';
import { createFileRecovery, type FileLosses, type FileRecovery } from './recovery.js';
import { openRunMetrics } from './run-metrics.js';
import { seedOwnPods } from './seed-run.js';
import { openStores, type PodStores } from '../stores/stores.js';
import { coordinate, follow, type PodsProgress, type Watching } from './watching.js';

export interface PodsRunOptions {
  readonly config: PodsConfig;
  /** For people: events of the whole crawl. */
  readonly log: Log;
  /** Aborting `drain` drains; aborting `now` ends everything at once. */
  readonly drain: AbortSignal;
  readonly now: AbortSignal;
  /** Called every second. */
  readonly onProgress?: (progress: PodsProgress) => void;
  /** A worker silent for this long is killed and restarted. Default 30 s. */
  readonly stuckMs?: number;
}

export interface PodsResult {
  readonly reason: StopReason;
  /** Of the whole crawl if this machine coordinates it, else of its own pods. */
  readonly pages: number;
  readonly isWhole: boolean;
  /** Pods that stopped before the crawl was over, and what they left. */
  readonly incomplete: readonly IncompletePod[];
  /** Links for lost pods dropped because this machine's outboxes were full. */
  readonly dropped: number;
  /** Requests that finally failed, over all runs; 0 if another machine coordinates. */
  readonly failed: number;
  /** Failures in this run's workers, by error code. */
  readonly errors: Readonly<Record<string, number>>;
  /** Acknowledged data missing from the data directories: the crawl is incomplete. */
  readonly losses: FileLosses;
}

/** Visits get ten seconds, closing thirty: then a worker is killed. */
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
  const { log } = options;
  const choice = await chooseCrawl(options.config, log, options.drain);
  const router = createMessageRouter();
  const config = { ...options.config, crawl: choice.crawl };
  const stores = await openStores(config, router, warnTo(log));
  const files = createFileRecovery(config);
  const logs = config.ownPods.map((pod) => openPodLog(config, pod, 'orchestrator', 0));
  try {
    await takeRoles(stores.own, log, options.drain);
    await files.prepare();
    await prepare(config, stores, choice, files, log);
    const result = await supervise(
      { ...options, config },
      stores,
      logs.map(({ log: own }) => own),
      router,
      files,
    );
    if (result.isWhole) await writeReport(config, result, warnTo(log));
    return result;
  } finally {
    await stores.close();
    for (const { close } of logs) close();
  }
}

const warnTo = (log: Log) => (message: string) => log.warning(message);

async function supervise(
  options: PodsRunOptions & { readonly config: { readonly crawl: string } },
  stores: PodStores,
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
  /** Pods that accept no more links; a pod that only stopped does. */
  let lost: number[] = [];
  let recovering: Promise<void> = Promise.resolve();
  /** Counters of each process: a restarted one starts at zero. */
  const errorsOf = new Map<string, Readonly<Record<string, number>>>();
  const droppedBy = new Map<number | undefined, number>();
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
        if (message.kind === 'started' && lost.length > 0) worker?.send({ kind: 'lost', pods: lost });
        if (message.kind === 'beat' && message.figures.failed > 0 && worker?.pid !== undefined) {
          errorsOf.set(`${place.role} ${place.pod} ${place.id} ${worker.pid}`, message.figures.errors);
        }
        if (message.kind === 'beat' && message.figures.droppedForLost > 0) {
          droppedBy.set(worker?.pid, message.figures.droppedForLost);
        }
      },
      onFailure: (failure) => {
        failures.push(failure);
        log.error(`Pod ${failure.pod} stopped: ${failure.message}`, { code: failure.code });
      },
      // All pods of the machine share the files: one recovery at a time.
      recover: (of) => (recovering = recovering.catch(() => undefined).then(() => files.recover(of, warnTo(logs[i]!)))),
    }),
  );
  router.attach(supervisors);
  // Before the first lease: a limited crawl may do nothing until the coordinator gives pages.
  if (config.maxPages !== undefined) await Promise.all(own.map((pod) => pod.changeAllowance(0, { act: 'limit' })));

  const seedsEnd = new AbortController();
  const isSeeding = seedOwnPods(config, own, log, seedsEnd.signal);
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
  let watching: Watching;
  try {
    const onProgress = (progress: PodsProgress): void => {
      metrics.look(supervisors, (pod) => progress.readings[isCoordinator ? pod : config.ownPods.indexOf(pod)]);
      options.onProgress?.(progress);
    };
    watching = await (isCoordinator ? coordinate : follow)({
      ...{ config, log, stores, supervisors, failures, onProgress },
      ...{ drain: options.drain, now: options.now },
      failedSeeds: () => seedError,
      onStopped(stopped) {
        lost = stopped.filter(({ code }) => code === 'QUEUE_EMPTIED').map(({ pod }) => pod);
        for (const { workers } of supervisors) for (const one of workers) one.send({ kind: 'lost', pods: lost });
      },
    });
    log.info(`Stopping: ${watching.reason}`);
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
  router.attach([]);
  if (seedError) throw seedError;
  const { reason, coordination } = watching;
  await coordination?.hear();
  const pages = coordination?.pages ?? (await pagesOf(own));
  if (isCoordinator) await board.showPages(pages).catch(() => undefined);
  const failed = (coordination?.lastHeard ?? []).reduce((sum, one) => sum + (one?.failed ?? 0), 0);
  const incomplete = await whatIsLeft(watching, isCoordinator ? stores.all() : own);
  for (const one of incomplete) log.error(`Incomplete: ${incompleteText(one)}`, { ...one });
  const dropped = [...droppedBy.values()].reduce((sum, links) => sum + links, 0);
  const errors = sumOf(errorsOf.values());
  return { reason, pages, isWhole: isCoordinator, incomplete, dropped, failed, errors, losses: files.losses };
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
