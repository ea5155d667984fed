// `orcrawl run`: supervises the pods of this machine from the first seed to the last drain.
// Promise: one supervisor per pod; what dies is restarted or reported; every end loses nothing and gives a reason.
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Configuration } from '../../configuration.js';
import { asCrawlError, type CrawlError } from '../../errors.js';
import type { Log } from '../../observe/log.js';
import { createAffinity } from './affinity.js';
import type { PodsConfig } from '../config/types.js';
import type { StopReason } from './coordination.js';
import { chooseCrawl } from '../identity/crawl-choice.js';
import { createMessageRouter } from '../stores/embedded-pod.js';
import { checkHandler } from './handler-check.js';
import { type IncompletePod, incompleteText, rolledBack, whatIsLeft, writeReport } from './incomplete.js';
import { openPodLog } from '../pod-log.js';
import { AWAY_PATIENCE_MS, STOP_PATIENCE_MS } from '../placing/patience.js';
import { createPodSupervisor, type PodSupervisor } from './pod-supervisor.js';
import type { OwnPod, PodFailure } from '../stores/pod-view.js';
import { prepare, takeRoles } from './preparation.js';
import { createProbes, type Probes } from '../placing/probes.js';
import { removeEmptyHandoff } from '../worker/handoff.js';
import { createFileRecovery, type FileLosses, type FileRecovery } from './recovery.js';
import { openRunMetrics, type RunMetrics } from './run-metrics.js';
import { seedOwnPods } from './seed-run.js';
import { openStores, type PodStores } from '../stores/stores.js';
import { createShares } from '../watch/shares.js';
import { createStatusFile } from './status-file.js';
import { type PodsProgress, watch, type Watching } from './watching.js';

export interface PodsRunOptions {
  readonly config: PodsConfig;
  /** For people: events of the whole crawl. */
  readonly log: Log;
  /** Aborting `drain` drains; aborting `now` ends everything at once. */
  readonly drain: AbortSignal;
  readonly now: AbortSignal;
  /** Called every second. */
  readonly onProgress?: (progress: PodsProgress & PodsInside) => void;
  /** A worker silent for this long is killed and restarted. Default 30 s. */
  readonly stuckMs?: number;
  /** When the crawl is over, answer probes and metrics until a signal: what places processes restarts one that ends. */
  readonly stay?: boolean;
}

/** What else this machine knows of its pods. */
export interface PodsInside {
  readonly serverOf: RunMetrics['serverOf'];
  readonly failures: readonly PodFailure[];
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
  /** Responses in this run's workers, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Of `failed`: pages that ended their worker. */
  readonly lostWorkers: number;
  readonly skipped: number;
  readonly startedAt: string;
  readonly durationSecs: number;
  /** Pages of this run, and per second. */
  readonly pagesOfRun: number;
  readonly pagesPerSec: number;
  /** Acknowledged data missing from the data directories: the crawl is incomplete. */
  readonly losses: FileLosses;
}

const ANSWER_MS = 2_000;
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
  // Before --fresh gives anything up.
  await checkHandler(options.config);
  if (options.config.engine !== 'http') {
    (await import('../../crawl/browser/rendering.js')).checkBrowser(new Configuration());
  }
  const probes = createProbes();
  const draining = () => probes.drains();
  options.drain.addEventListener('abort', draining);
  // Before anything that waits for stores or other machines.
  const metrics = await openRunMetrics(options.config, warnTo(log), {
    '/health': probes.health,
    '/ready': probes.ready,
  });
  if (metrics.url !== undefined) log.info(`Metrics at ${metrics.url}`);
  try {
    const result = await runChosen(options, metrics, probes);
    if (options.stay === true && STAYS.has(result.reason)) await stay(options, probes);
    return result;
  } finally {
    options.drain.removeEventListener('abort', draining);
    await metrics.close();
  }
}

/** The crawl is over: to start again would end at once. After anything else a new start is of use. */
const STAYS: ReadonlySet<StopReason> = new Set(['exhausted', 'max_pages', 'max_duration']);

async function stay({ log, drain, now }: PodsRunOptions, probes: Probes): Promise<void> {
  if (drain.aborted || now.aborted) return;
  probes.stays();
  log.info('The crawl is over: staying until a signal (--stay)');
  await new Promise<void>((resume) => {
    // A signal's listener alone does not keep the process: without metrics nothing else does.
    const timer = setInterval(() => undefined, 60_000);
    const end = (): void => {
      clearInterval(timer);
      resume();
    };
    for (const signal of [drain, now]) signal.addEventListener('abort', end, { once: true });
  });
}

async function runChosen(options: PodsRunOptions, metrics: RunMetrics, probes: Probes): Promise<PodsResult> {
  const { log } = options;
  const choice = await chooseCrawl(options.config, log, options.drain);
  const router = createMessageRouter();
  const config = { ...options.config, crawl: choice.crawl };
  const stores = await openStores(config, router, warnTo(log));
  const files = createFileRecovery(config, stores.own);
  const logs = config.ownPods.map((pod) => openPodLog(config, pod, 'orchestrator', 0));
  try {
    await takeRoles(stores.own, log, options.drain);
    await files.prepare();
    await prepare(config, stores, choice, files, log);
    files.shipper?.start(log);
    const result = await supervise(
      { ...options, config },
      stores,
      logs.map(({ log: own }) => own),
      router,
      files,
      { metrics, probes },
    );
    if (result.isWhole) await writeReport(config, result, warnTo(log));
    return result;
  } finally {
    await files.shipper?.close();
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
  { metrics, probes }: { readonly metrics: RunMetrics; readonly probes: Probes },
): Promise<PodsResult> {
  const { config, log } = options;
  const { own, board } = stores;
  const machine = { platform: process.platform, cores: availableParallelism() };
  const affinity = createAffinity(config, machine, warnTo(log));
  const failures: PodFailure[] = [];
  /** Pods that accept no more links; a pod that only stopped does. */
  let lost: number[] = [];
  let recovering: Promise<void> = Promise.resolve();
  /** Counters of each process: a restarted one starts at zero. */
  const errorsOf = new Map<string, Readonly<Record<string, number>>>();
  const statusesOf = new Map<string, Readonly<Record<string, number>>>();
  const startedAt = new Date().toISOString();
  const startedMs = performance.now();
  const since = { own: await pagesOf(own), all: isFirstToLead(config) ? await pagesOf(stores.all()) : undefined };
  const droppedBy = new Map<number | undefined, number>();
  const status = createStatusFile(config, metrics.url);
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
        if (message.kind === 'beat') shares?.hear(place.pod, message.figures.watched);
        if (message.kind === 'beat' && worker?.pid !== undefined) {
          const life = `${place.role} ${place.pod} ${place.id} ${worker.pid}`;
          if (message.figures.failed > 0) errorsOf.set(life, message.figures.errors);
          statusesOf.set(life, message.figures.statuses);
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
  const shares =
    config.watch &&
    createShares({
      ...{ pods: config.pods.length, ownPods: config.ownPods, board },
      tell(pod, part) {
        const of = supervisors.find((one) => one.pod.index === pod);
        for (const one of of?.workers ?? []) one.send({ kind: 'share', part });
      },
    });
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
  /** Pods whose store did not answer the last time. */
  let away: ReadonlySet<number> = new Set();
  try {
    const onProgress = (progress: PodsProgress): void => {
      const { readings, isWhole } = progress;
      if (isWhole) since.all ??= progress.pages;
      metrics.look(supervisors, (pod) => readings[isWhole ? pod : config.ownPods.indexOf(pod)]);
      status.see(progress);
      shares?.look();
      away = new Set(readings.flatMap((one, i) => (one ? [] : [isWhole ? i : config.ownPods[i]!])));
      probes.turned(supervisors, away);
      options.onProgress?.({ ...progress, serverOf: metrics.serverOf, failures });
    };
    watching = await watch({
      ...{ config, log, stores, supervisors, failures, onProgress },
      ...{ drain: options.drain, now: options.now },
      failedSeeds: () => seedError,
      onStopped(stopped) {
        lost = stopped.filter(({ code }) => code === 'QUEUE_EMPTIED').map(({ pod }) => pod);
        for (const { workers } of supervisors) for (const one of workers) one.send({ kind: 'lost', pods: lost });
      },
    });
    log.info(`Stopping: ${watching.reason}`);
    probes.drains();
  } finally {
    seedsEnd.abort();
    await starting;
    // Nothing can be acknowledged in a store that is away: its requests return when it is back.
    const patienceOf = ({ pod }: PodSupervisor) => (away.has(pod.index) ? AWAY_PATIENCE_MS : STOP_PATIENCE_MS);
    await Promise.all(supervisors.map((supervisor) => supervisor.stop(patienceOf(supervisor))));
    options.now.removeEventListener('abort', killing);
    await status.close();
  }
  await recovering.catch(() => undefined);
  for (const pod of own) {
    if (away.has(pod.index) && !(await answers(pod))) {
      log.warning(
        `Pod ${pod.index}: its store (${pod.where}) does not answer; what its workers held returns with --resume`,
      );
      continue;
    }
    await files.recover(pod, warnTo(log)).catch((error: unknown) => log.warning((error as Error).message));
    await pod.disown().catch(() => undefined);
  }
  if (config.parsersPerPod > 0) {
    await removeEmptyHandoff(
      config,
      own.map(({ index }) => index),
    );
  }
  // The workers have ended: what is left is read from the stores themselves.
  router.attach([]);
  await files.shipper?.finish(log, options.now);
  if (seedError) throw seedError;
  const { reason, coordination } = watching;
  const doneBefore = coordination?.lastHeard.map((one) => one?.done ?? 0) ?? [];
  await coordination?.hear();
  const pages = coordination?.pages ?? (await pagesOf(own));
  if (coordination) await board.showPages(pages).catch(() => undefined);
  const failed = (coordination?.lastHeard ?? []).reduce((sum, one) => sum + (one?.failed ?? 0), 0);
  const stopped = [...watching.stopped, ...rolledBack(doneBefore, coordination?.readings ?? [])];
  const incomplete = await whatIsLeft({ stopped, coordination }, coordination ? stores.all() : own);
  for (const one of incomplete) log.error(`Incomplete: ${incompleteText(one)}`, { ...one });
  const dropped = [...droppedBy.values()].reduce((sum, links) => sum + links, 0);
  const errors = sumOf(errorsOf.values());
  const statuses = sumOf(statusesOf.values());
  const sum = (name: 'lostWorkers' | 'skipped') =>
    (coordination?.lastHeard ?? []).reduce((total, one) => total + (one?.[name] ?? 0), 0);
  const durationSecs = Math.round(performance.now() - startedMs) / 1_000;
  const pagesOfRun = Math.max(0, pages - (coordination ? (since.all ?? 0) : since.own));
  const pagesPerSec = Math.round((pagesOfRun * 10) / Math.max(0.001, durationSecs)) / 10;
  const totals = { failed, errors, statuses, lostWorkers: sum('lostWorkers'), skipped: sum('skipped') };
  const run = { startedAt, durationSecs, pagesOfRun, pagesPerSec };
  return {
    reason,
    pages,
    isWhole: coordination !== undefined,
    incomplete,
    dropped,
    ...totals,
    ...run,
    losses: files.losses,
  };
}

/** Whether the crawl's pages are known at the start; a machine that takes over counts from then. */
function isFirstToLead({ ownPods, globalCoordinationRedisPod }: PodsConfig): boolean {
  return ownPods.includes(globalCoordinationRedisPod);
}

/** Whether a store answers soon. */
function answers(pod: OwnPod): Promise<boolean> {
  const reading = pod.reading().then(
    () => true,
    () => false,
  );
  return Promise.race([reading, delay(ANSWER_MS, false)]);
}

async function pagesOf(pods: readonly Pick<OwnPod, 'reading'>[]): Promise<number> {
  const readings = await Promise.all(pods.map((pod) => pod.reading().catch(() => undefined)));
  return readings.reduce((sum, reading) => sum + (reading?.done ?? 0), 0);
}

function sumOf(counts: Iterable<Readonly<Record<string, number>>>): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const one of counts) for (const [code, count] of Object.entries(one)) sum[code] = (sum[code] ?? 0) + count;
  return sum;
}
