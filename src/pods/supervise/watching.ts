// Watches a run until it is over. Any machine may coordinate: the one that has the lead in the coordinating store does,
// and another takes it when that one leaves or is away for 15 seconds.
// Promise: each machine ends on its own; a lost or stopped pod is reported and does not block the others.
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../errors.js';
import type { Log } from '../../observe/log.js';
import type { PodsConfig } from '../config/types.js';
import { type Coordination, createCoordination, type StopReason } from './coordination.js';
import type { PodSupervisor } from './pod-supervisor.js';
import type { LeadAnswer } from '../../frontier/redis/pod-operations.js';
import type { PodFailure } from '../stores/pod-view.js';
import { endsRun, firstRun, formatStopSignal, parseStopSignal } from './stop-signal.js';
import type { PodStores } from '../stores/stores.js';

export interface PodsProgress {
  readonly pages: number;
  readonly readings: Coordination['readings'];
  readonly supervisors: readonly PodSupervisor[];
  /** Readings are of all pods, by number; else of this machine's pods, in their order. */
  readonly isWhole: boolean;
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
  /** Undefined if another machine coordinates. */
  readonly coordination: Coordination | undefined;
  /** Stopped pods, as far as this orchestrator knows. */
  readonly stopped: readonly PodFailure[];
}

const LOOK_MS = 1_000;
/** Machines that start together leave the lead to the one with the coordinating pod: its report is where people look. */
const DEFER_MS = 5_000;

/** A pod that another machine has taken over: it works, elsewhere. */
const hasMoved = ({ code }: PodFailure): boolean => code === 'QUEUE_IN_USE';

/** The stopped pods, each with the first reason reported. */
function createStoppedList({ onStopped, log, config, failures }: WatchOptions) {
  /** Of this machine, and found lost: for ever. */
  const known = new Map<number, PodFailure>();
  /** Of other machines, as last told: one that is started again works again. */
  let told = new Map<number, PodFailure>();
  let before = '';
  const all = (): PodFailure[] =>
    [...new Map([...told, ...known]).values()].sort((first, second) => first.pod - second.pod);
  const tell = (): void => {
    const pods = all();
    const now = pods.map(({ pod, code }) => `${pod} ${code}`).join();
    if (now !== before) onStopped(pods);
    before = now;
  };
  return {
    has: (pod: number) => known.has(pod) || told.has(pod),
    isEmptied: (pod: number) => (known.get(pod) ?? told.get(pod))?.code === 'QUEUE_EMPTIED',
    all,
    /** Of this machine; those that another one took over have not stopped. */
    hearOwn(): void {
      for (const failure of failures) if (!hasMoved(failure)) this.lose(failure);
    },
    lose(failure: PodFailure): void {
      if (known.has(failure.pod)) return;
      known.set(failure.pod, failure);
      tell();
    },
    hearOthers(list: readonly PodFailure[]): void {
      const others = list.filter(({ pod }) => !config.ownPods.includes(pod) || failures.some((own) => own.pod === pod));
      for (const { pod, code, message } of others) {
        if (!told.has(pod) && !known.has(pod)) {
          log.error(`Pod ${pod} of another machine stopped: ${message}`, { code });
        }
      }
      told = new Map(others.map((failure) => [failure.pod, failure]));
      tell();
    },
  };
}

/** What this process does while it has the lead. */
interface Lead {
  readonly run: number;
  readonly coordination: Coordination;
}

/** Runs until the crawl is over, or this machine's part in it. */
export async function watch(options: WatchOptions): Promise<Watching> {
  const { config, log, stores, supervisors, failures } = options;
  const { board, own } = stores;
  /** Without other machines nobody else can lead: a store that is away takes nothing from this one. */
  const isAlone = supervisors.length === config.pods.length;
  const isPreferred = config.ownPods.includes(config.globalCoordinationRedisPod);
  const stopped = createStoppedList(options);
  const startedMs = performance.now();
  let lead: Lead | undefined;
  /** The first run that this process takes part in. */
  let joined: number | undefined;
  /** A signal set by hand before the start: whoever leads clears it. */
  let leftOver: string | undefined;
  let shownMs = -Infinity;
  let isTroubled = false;

  const mayTake = (): boolean => isPreferred || performance.now() - startedMs >= DEFER_MS;

  async function ask(): Promise<LeadAnswer> {
    try {
      return await board.lead(mayTake());
    } catch (error) {
      if (!isAlone || !lead) throw error;
      return { isOurs: true, run: lead.run, signal: undefined, identity: '' };
    }
  }

  /** The lead is new, or not ours any more. */
  async function change({ isOurs, run, identity }: LeadAnswer): Promise<void> {
    if (isOurs && lead?.run === run) return;
    if (!isOurs) {
      if (lead)
        log.warning(`Another machine coordinates the crawl now${identity === '' ? '' : `: ${nameOf(identity)}`}`);
      lead = undefined;
      return;
    }
    if (!isAlone) log.info(`This machine coordinates the crawl (number ${run})`);
    const hasJoined = await board.joined(config.crawl);
    lead = {
      run,
      coordination: createCoordination({
        pods: stores.all(),
        epoch: run,
        maxPages: config.maxPages,
        isStopped: stopped.has,
        hasBegun: (pod) => hasJoined.has(pod),
      }),
    };
  }

  /** Whether a signal ends this process. */
  async function heed({ signal: text, run, isOurs }: LeadAnswer): Promise<StopReason | undefined> {
    const signal = text === undefined ? undefined : parseStopSignal(text);
    if (joined === undefined) {
      joined = isOurs ? run : firstRun(run, signal, config.crawl);
      if (signal?.run === undefined) leftOver = text;
    }
    if (text !== leftOver) leftOver = undefined;
    if (leftOver !== undefined && isOurs) await board.clearStop();
    if (!signal || leftOver !== undefined) return undefined;
    if (signal.run !== undefined && !endsRun(signal, joined, config.crawl)) return undefined;
    return signal.reason === 'signal' ? 'stop_signal' : signal.reason;
  }

  /** Pods whose store is gone: their supervisors stop them, and all machines learn of it. */
  async function tellOfLost({ run, coordination }: Lead): Promise<void> {
    for (const [pod, { code, message }] of coordination.lost) {
      if (stopped.has(pod)) continue;
      supervisors.find((one) => one.pod.index === pod)?.giveUp(code, message);
      stopped.lose({ pod, code, message });
      await board.tellStopped(run, { pod, code, message }).catch(() => undefined);
    }
  }

  /** Which pods have stopped, here and elsewhere. */
  async function exchange(run: number): Promise<void> {
    for (const failure of failures) if (!hasMoved(failure)) await board.tellStopped(run, failure);
    stopped.hearOthers(await board.stopped(run));
  }

  async function coordinate(current: Lead): Promise<StopReason | undefined> {
    const { coordination } = current;
    let over = await coordination.look();
    // Between two visits of a watch nothing may be queued.
    if (over === 'exhausted' && config.watch) over = undefined;
    await tellOfLost(current);
    // A pod heard of a later leader: the next number is above it.
    if (!coordination.isInCharge) await board.leave().catch(() => undefined);
    if (performance.now() - shownMs > config.globalMetricsUpdateInterval * 1_000) {
      shownMs = performance.now();
      await board.showPages(coordination.pages).catch(() => undefined);
    }
    return over;
  }

  async function leave(reason: StopReason, isForAll: boolean): Promise<Watching> {
    const signal = lead && isForAll ? formatStopSignal(reason, lead.run, config.crawl) : undefined;
    if (lead) await board.leave(signal).catch(() => undefined);
    stopped.hearOwn();
    return { reason, coordination: lead?.coordination, stopped: stopped.all() };
  }

  async function show(): Promise<void> {
    if (lead) {
      const { pages, readings } = lead.coordination;
      return options.onProgress?.({ pages, readings, supervisors, isWhole: true });
    }
    const readings = await Promise.all(own.map((pod) => pod.reading().catch(() => undefined)));
    const pages = readings.reduce((sum, reading) => sum + (reading?.done ?? 0), 0);
    options.onProgress?.({ pages, readings, supervisors, isWhole: false });
  }

  await board.forgetStopped(config.ownPods).catch(() => undefined);
  for (;;) {
    stopped.hearOwn();
    if (options.drain.aborted || options.now.aborted) return leave('signal', false);
    if (options.failedSeeds() || config.pods.every((_, pod) => stopped.has(pod))) return leave('failed', false);
    if (failures.length === supervisors.length && (failures.every(hasMoved) || !lead)) {
      return leave(failures.every(hasMoved) ? 'moved' : 'failed', false);
    }
    // Machines that no signal can reach exit on their own.
    if (stopped.isEmptied(config.globalCoordinationRedisPod) && !isAlone) return leave('failed', false);
    let over: StopReason | undefined;
    try {
      const answer = await ask();
      over = await heed(answer);
      // Whoever led before has ended the crawl, and left: there is nothing to take over.
      if (over && answer.isOurs && !lead) await board.leave();
      if (!over) {
        await change(answer);
        if (!isAlone) await exchange(answer.run);
        if (lead) over = await coordinate(lead);
      }
      isTroubled = false;
    } catch (error) {
      if (error instanceof CrawlError && error.code === 'QUEUE_EMPTIED' && !isAlone) {
        // No machine can decide any more when the crawl is over.
        stopped.lose({ pod: config.globalCoordinationRedisPod, code: error.code, message: error.message });
        return leave('failed', false);
      }
      // Once per outage: a cut cable may last for hours.
      const text = `The pods could not be read: ${(error as Error).message}`;
      if (isTroubled) log.debug(text);
      else log.warning(text);
      isTroubled = true;
    }
    await show();
    if (over) return leave(over, true);
    if (lead && config.maxDuration !== undefined && performance.now() - startedMs >= config.maxDuration * 1_000) {
      return leave('max_duration', true);
    }
    await delay(LOOK_MS, undefined, { signal: options.drain }).catch(() => undefined);
  }
}

/** `process 12 on host` */
function nameOf(identity: string): string {
  try {
    const { pid, host } = JSON.parse(identity) as { pid: number; host: string };
    return `process ${pid} on ${host}`;
  } catch {
    return 'another process';
  }
}
