// One pod on this machine: its workers, the supervisor role, and what happens when something dies.
// Promise: a dead worker's leases are freed at once and its half-written pages are cut; a pod that cannot work stops
// with a reason, and the others continue.
import { asCrawlError, CrawlError, type ErrorCode, ERROR_CLASSES } from '../../errors.js';
import { countOf } from '../../observe/figures.js';
import type { Log } from '../../observe/log.js';
import type { Affinity } from './affinity.js';
import type { PodsConfig } from '../config/types.js';
import type { FromWorker, WorkerPlace, WorkerRole } from '../messages.js';
import type { OwnPod, PodFailure } from '../stores/pod-view.js';
import { OWNER_TTL_MS } from '../stores/redis-pod.js';
import { STOP_PATIENCE_MS } from '../placing/patience.js';
import { createWorkerProcess, type WorkerDeath, type WorkerProcess } from './worker-process.js';

export interface PodSupervisor {
  readonly pod: OwnPod;
  readonly workers: readonly WorkerProcess[];
  readonly failure: PodFailure | undefined;
  /** Starts the workers, one by one. */
  start(): Promise<void>;
  /** Drains and ends them; resolves when they are gone. */
  stop(patienceMs: number): Promise<void>;
  kill(): void;
  /** Stops the pod, for a reason that its workers cannot see. */
  giveUp(code: ErrorCode, message: string): void;
}

export interface PodSupervisorOptions {
  readonly config: PodsConfig;
  readonly pod: OwnPod;
  readonly log: Log;
  readonly affinity: Affinity;
  readonly stuckMs?: number;
  readonly allowance: () => number | undefined;
  readonly onMessage: (place: WorkerPlace, message: FromWorker) => void;
  readonly onFailure: (failure: PodFailure) => void;
  /** Repairs the files of dead writers. */
  readonly recover: (pod: OwnPod) => Promise<void>;
}

const EARLY_DEATHS = 5;
/** Ten bad pages in a row cause fewer deaths: beyond this, the pages are not the cause. */
const FRUITLESS_DEATHS = 50;
/** So that hundreds of processes do not start at once. */
const STAGGER_MS = 100;
const OWN_EVERY_MS = 5_000;
const GIVE_BACK_AGAIN_MS = 1_000;

export function createPodSupervisor(options: PodSupervisorOptions): PodSupervisor {
  const { config, pod, log } = options;
  let failure: PodFailure | undefined;
  let isStopping = false;
  let owning: NodeJS.Timeout | undefined;
  let isRenewing = false;
  let ownedAtMs = performance.now();
  let hasRunOut = false;
  let isAway = false;

  const workers = placesOf(config, pod.index).map((place) =>
    createWorkerProcess({
      config,
      place,
      log,
      stuckMs: options.stuckMs,
      allowance: options.allowance,
      onMessage: (message) => options.onMessage(place, message),
      onSpawn: (pid) => options.affinity.pin(place, pid),
      onDeath: (death) => afterDeath(place, death),
    }),
  );

  async function afterDeath(place: WorkerPlace, death: WorkerDeath): Promise<boolean> {
    await giveBack(death);
    if (failure || isStopping) return false;
    const { code, message } = death;
    // Its store is unreachable or lost its last calls: it restarts when the store is back.
    if (code === 'QUEUE_UNREACHABLE' || code === 'QUEUE_ROLLED_BACK') return true;
    if (code !== undefined && ERROR_CLASSES[code] === 'fatal') {
      fail(code, message);
      return false;
    }
    const { earlyDeaths, fruitlessDeaths } = death;
    if (earlyDeaths < EARLY_DEATHS && fruitlessDeaths < FRUITLESS_DEATHS) return true;
    const how =
      earlyDeaths >= EARLY_DEATHS
        ? `${EARLY_DEATHS} times in a row before its first request`
        : `${FRUITLESS_DEATHS} times in a row without finishing one page`;
    fail('WORKER_LOST', `${place.role} ${place.id} ended ${how}, lastly: ${message}`);
    return false;
  }

  /** Before it is done nothing of the worker runs again: what it wrote and was not acknowledged would stay. */
  async function giveBack({ holders, blame }: WorkerDeath): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const leases = await pod.release(holders, blame);
        if (leases > 0) log.info(`${leases} leases of a worker that ended are free again`);
        await options.recover(pod);
        return;
      } catch (error) {
        const isAway = error instanceof CrawlError && error.class === 'transient';
        if (tries === 1) log.warning(`What a dead worker held cannot be given back yet: ${(error as Error).message}`);
        if (!isAway || failure || isStopping) return;
        await new Promise((resume) => setTimeout(resume, GIVE_BACK_AGAIN_MS));
      }
    }
  }

  function fail(code: ErrorCode, message: string): void {
    if (failure) return;
    failure = { pod: pod.index, code, message };
    log.error(`Pod ${pod.index} stops: ${message}`, { code });
    options.onFailure(failure);
    void stopWorkers(STOP_PATIENCE_MS);
  }

  async function stopWorkers(patienceMs: number): Promise<void> {
    await Promise.all(workers.map((worker) => worker.stop(patienceMs)));
  }

  /**
   * Renews the role, one call at a time. An unreachable store gives it to no one else: when it answers again, the role
   * is ours, or another process has it and this pod stops.
   */
  async function keepRole(): Promise<void> {
    if (isRenewing) return;
    isRenewing = true;
    const askedAtMs = performance.now();
    try {
      if (!(await pod.own(() => undefined))) return fail('QUEUE_IN_USE', 'another orchestrator took over');
      if (isAway) log.info(`The store of pod ${pod.index} answers again`);
      isAway = false;
      if (hasRunOut) log.info(`Pod ${pod.index} is supervised by this process again`);
      hasRunOut = false;
      ownedAtMs = askedAtMs;
    } catch (thrown) {
      const { code, message } = asCrawlError(thrown, 'QUEUE_UNREACHABLE');
      if (ERROR_CLASSES[code] === 'fatal') return fail(code, message);
      const silentMs = performance.now() - ownedAtMs;
      if (!isAway) log.warning(`The store of pod ${pod.index} (${pod.where}) does not answer: ${message}`, { code });
      isAway = true;
      if (hasRunOut || silentMs < OWNER_TTL_MS) return;
      hasRunOut = true;
      log.warning(
        `The supervisor role expired after ${Math.round(silentMs / 1_000)} s without an answer: ${message}. ` +
          'It is renewed when the store answers; if another orchestrator has it by then, this pod stops.',
      );
    } finally {
      isRenewing = false;
    }
  }

  return {
    pod,
    workers,
    get failure() {
      return failure;
    },
    async start() {
      const { fetchersPerPod, parsersPerPod } = config;
      const parsers = parsersPerPod > 0 ? ` and ${countOf(parsersPerPod, 'parser')}` : '';
      log.info(`Starting ${countOf(fetchersPerPod, 'fetcher')}${parsers} of pod ${pod.index}, store ${pod.where}`);
      owning = setInterval(() => void keepRole(), OWN_EVERY_MS);
      for (const worker of workers) {
        if (isStopping || failure) return;
        worker.start();
        await new Promise((resume) => setTimeout(resume, STAGGER_MS));
      }
    },
    async stop(patienceMs) {
      isStopping = true;
      log.info(`Stopping the workers of pod ${pod.index}`);
      await stopWorkers(patienceMs);
      clearInterval(owning);
      const restarts = workers.reduce((sum, worker) => sum + worker.restarts, 0);
      log.info(`The workers of pod ${pod.index} have ended, ${countOf(restarts, 'restart')} in this run`);
    },
    kill() {
      isStopping = true;
      clearInterval(owning);
      for (const worker of workers) worker.kill();
    },
    giveUp: fail,
  };
}

function placesOf({ fetchersPerPod, parsersPerPod }: PodsConfig, pod: number): WorkerPlace[] {
  const places = (role: WorkerRole, count: number) => Array.from({ length: count }, (_, id) => ({ role, pod, id }));
  return [...places('fetcher', fetchersPerPod), ...places('parser', parsersPerPod)];
}
