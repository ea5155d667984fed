// Watches a run until it is over: as the orchestrator that coordinates all machines, or as one that follows.
// Promise: each ends on its own; a lost or stopped pod is reported and does not block the others.
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../errors.js';
import type { Log } from '../../observe/log.js';
import type { PodsConfig } from '../config/types.js';
import { type Coordination, createCoordination, type StopReason } from './coordination.js';
import type { PodSupervisor } from './pod-supervisor.js';
import type { OwnPod, PodFailure } from '../stores/pod-view.js';
import { endsFollower, formatStopSignal, type KnownRuns, parseStopSignal } from './stop-signal.js';
import type { PodStores } from '../stores/stores.js';

export interface PodsProgress {
  readonly pages: number;
  readonly readings: Coordination['readings'];
  readonly supervisors: readonly PodSupervisor[];
}

export interface WatchOptions {
  /** With its crawl. */
  readonly config: PodsConfig & { readonly crawl: string };
  readonly log: Log;
  readonly drain: AbortSignal;
  readonly now: AbortSignal;
  readonly onProgress?: (progress: PodsProgress) => void;
  readonly stores: PodStores;
  readonly supervisors: readonly PodSupervisor[];
  /** Why pods of this machine have stopped. */
  readonly failures: readonly PodFailure[];
  readonly failedSeeds: () => CrawlError | undefined;
  /** Called with all stopped pods whenever there is a new one. */
  readonly onStopped: (pods: readonly PodFailure[]) => void;
}

export interface Watching {
  readonly reason: StopReason;
  readonly coordination: Coordination | undefined;
  /** Stopped pods, as far as this orchestrator knows. */
  readonly stopped: readonly PodFailure[];
}

const LOOK_MS = 1_000;

/** The stopped pods, each with the first reason reported. */
function createStoppedList({ onStopped, log, config }: WatchOptions) {
  const byPod = new Map<number, PodFailure>();
  return {
    has: (pod: number) => byPod.has(pod),
    isEmptied: (pod: number) => byPod.get(pod)?.code === 'QUEUE_EMPTIED',
    all: () => [...byPod.values()].sort((a, b) => a.pod - b.pod),
    hear(failures: Iterable<PodFailure>): void {
      const before = byPod.size;
      for (const failure of failures) {
        const { pod, code, message } = failure;
        if (byPod.has(pod)) continue;
        byPod.set(pod, failure);
        if (!config.ownPods.includes(pod)) log.error(`Pod ${pod} of another machine stopped: ${message}`, { code });
      }
      if (byPod.size > before) onStopped([...byPod.values()]);
    },
  };
}

/** The orchestrator of the coordinating pod: decides for all machines. */
export async function coordinate(options: WatchOptions): Promise<Watching> {
  const { config, log, stores, supervisors, failures } = options;
  const { board } = stores;
  const run = await board.nextRun();
  await board.clearStop();
  const joined = await board.joined(config.crawl);
  const startedMs = performance.now();
  const pods = stores.all();
  const stopped = createStoppedList(options);
  const coordination = createCoordination({
    pods,
    epoch: run,
    maxPages: config.maxPages,
    isStopped: stopped.has,
    hasBegun: (pod) => joined.has(pod),
  });
  let shownMs = -Infinity;

  /** Pods whose store is gone: their supervisors stop them, and all machines learn of it. */
  async function tellOfLost(): Promise<void> {
    for (const [pod, { code, message }] of coordination.lost) {
      if (stopped.has(pod)) continue;
      supervisors.find((one) => one.pod.index === pod)?.giveUp(code, message);
      stopped.hear([{ pod, code, message }]);
      await board.tellStopped(run, { pod, code, message }).catch(() => undefined);
    }
  }

  async function end(reason: StopReason): Promise<Watching> {
    // After a failure the others continue and wait for the next run.
    if (reason !== 'failed') {
      await board.signalStop(formatStopSignal(reason, run, config.crawl)).catch(() => undefined);
    }
    stopped.hear(failures);
    return { reason, coordination, stopped: stopped.all() };
  }

  for (;;) {
    stopped.hear(failures);
    if (options.drain.aborted || options.now.aborted) return end('signal');
    if (options.failedSeeds() || pods.every(({ index }) => stopped.has(index))) return end('failed');
    // Machines that cannot be told when to stop exit on their own.
    if (stopped.isEmptied(config.globalCoordinationRedisPod) && supervisors.length < pods.length) return end('failed');
    let over: StopReason | undefined;
    try {
      over = await coordination.look();
      await tellOfLost();
      stopped.hear(await board.stopped(run));
      if (performance.now() - shownMs > config.globalMetricsUpdateInterval * 1_000) {
        shownMs = performance.now();
        await board.showPages(coordination.pages);
      }
      if ((await board.stopSignal()) !== undefined) over ??= 'stop_signal';
    } catch (error) {
      log.warning(`The pods could not be looked at: ${(error as Error).message}`);
    }
    options.onProgress?.({ pages: coordination.pages, readings: coordination.readings, supervisors });
    if (over) return end(over);
    if (config.maxDuration !== undefined && performance.now() - startedMs >= config.maxDuration * 1_000) {
      return end('max_duration');
    }
    await delay(LOOK_MS, undefined, { signal: options.drain }).catch(() => undefined);
  }
}

/** An orchestrator of other pods: runs until the coordinator says stop. */
export async function follow(options: WatchOptions): Promise<Watching> {
  const { config, log, stores, supervisors, failures } = options;
  const { board, own } = stores;
  const known = await knownRuns(config.crawl, own);
  const stopped = createStoppedList(options);
  let seen = known.seen;
  /** A signal set by hand before the start: the coordinator clears it, or stamps it with its run. */
  let leftOver: string | undefined;
  let isFirst = true;
  /** The current run when this process looked. */
  let witnessed = 0;
  let waitsAfter = 0;

  async function remember(name: 'run_seen' | 'run_obeyed', run: number): Promise<void> {
    const working = own.filter(({ index }) => !stopped.has(index));
    // If the store is unreachable this is not saved: at worst the next start exits at once, and the one after it waits.
    await Promise.all(working.map((pod) => pod.setFact(name, String(run)).catch(() => undefined)));
  }

  async function obey(reason: StopReason, run: number): Promise<Watching> {
    await remember('run_seen', run);
    await remember('run_obeyed', run);
    return { reason, coordination: undefined, stopped: stopped.all() };
  }

  for (;;) {
    stopped.hear(failures);
    try {
      const run = await board.currentRun();
      if (run < witnessed) throw new CrawlError('QUEUE_EMPTIED', 'the store of the coordinating pod was emptied');
      for (const failure of failures) await board.tellStopped(run, failure);
      stopped.hear(await board.stopped(run));
      const text = await board.stopSignal();
      const signal = text === undefined ? undefined : parseStopSignal(text);
      if (isFirst && signal?.run === undefined) leftOver = text;
      if (text !== leftOver) leftOver = undefined;
      isFirst = false;
      const isOver =
        signal !== undefined &&
        (signal.run === undefined
          ? text !== leftOver
          : (witnessed > 0 && signal.run === witnessed) || endsFollower(signal, known));
      if (isOver) {
        return await obey(signal.reason === 'signal' ? 'stop_signal' : signal.reason, signal.run ?? run);
      }
      if (signal?.run !== undefined && signal.run !== waitsAfter) {
        waitsAfter = signal.run;
        log.info(`The last run is over (${signal.reason}): waiting for the machine of the coordinating pod to resume`);
      }
      if (signal?.run !== run) witnessed = run;
      if (witnessed > seen) await remember('run_seen', (seen = witnessed));
    } catch (error) {
      if (error instanceof CrawlError && error.code === 'QUEUE_EMPTIED') {
        // No machine can decide any more when the crawl is over.
        const { code, message } = error;
        stopped.hear([{ pod: config.globalCoordinationRedisPod, code, message }]);
        return { reason: 'failed', coordination: undefined, stopped: stopped.all() };
      }
      log.debug(`The coordinator does not answer: ${(error as Error).message}`);
    }
    const mine = { coordination: undefined, stopped: stopped.all() };
    if (options.drain.aborted || options.now.aborted) return { reason: 'signal', ...mine };
    if (options.failedSeeds() || failures.length === supervisors.length) return { reason: 'failed', ...mine };
    const readings = await Promise.all(own.map((pod) => pod.reading().catch(() => undefined)));
    const pages = readings.reduce((sum, reading) => sum + (reading?.done ?? 0), 0);
    options.onProgress?.({ pages, readings, supervisors });
    await delay(LOOK_MS, undefined, { signal: options.drain }).catch(() => undefined);
  }
}

async function knownRuns(crawl: string, pods: readonly OwnPod[]): Promise<KnownRuns> {
  const newest = async (name: 'run_seen' | 'run_obeyed'): Promise<number> => {
    const texts = await Promise.all(pods.map((pod) => pod.fact(name)));
    return Math.max(0, ...texts.map((text) => Number(text ?? 0)));
  };
  return { crawl, seen: await newest('run_seen'), obeyed: await newest('run_obeyed') };
}
