// A batch: a list of URLs as one run of the crawl lifecycle, over a queue in memory that forgets what ended.
// Promise: one result per URL; the list is pulled only as needed, and nothing starts while results pile up unread.
import type { Configuration } from '../../configuration.js';
import type { Dispatcher } from '../../dispatch/dispatcher.js';
import type { Permits } from '../../dispatch/permits.js';
import type { SlowShare } from '../../dispatch/slow-share.js';
import { asCrawlError, CrawlError } from '../../errors.js';
import type { Engine } from '../../fetch/engine.js';
import type { WholeMemory } from '../../fresh/memory/memory.js';
import { entryOf as queueEntryOf } from '../../frontier/entry.js';
import { createFrontierClient, newHolderId } from '../../frontier/client.js';
import { createMemoryFrontier } from '../../frontier/embedded/store/memory.js';
import { createRecentFingerprints } from '../../frontier/recent.js';
import type { Lease, QueueEntry } from '../../frontier/frontier.js';
import type { Log } from '../../observe/log.js';
import type { CrawlOrder } from '../navigate/order.js';
import type { HostStore } from '../../politeness/hosts.js';
import { finderOf, isFound } from '../../request/found.js';
import { hideLogins } from '../../request/login.js';
import type { Cookies } from '../../session/cookies.js';
import { keyInRecord } from '../../request/record.js';
import type { Request } from '../../request/request.js';
import { createFeeder, LOOK_AHEAD, type ListEntry } from './feeder.js';
import { placedClient, placementOf, type PlacedTask } from './placement.js';
import { admit, type BatchTask, indexOf, resultOf, type UrlItem } from './tasks.js';
import { createBatchCopies, simhashOfResult } from './copies.js';
import { type BatchMemory, createBatchMemory } from './remembered.js';
import { createBatchGate } from './gate.js';
import { createBatchServices } from './services.js';
import { createSessionQueues } from './session-queues.js';
import { createDomainShares } from './shares.js';
import type { CrawlResult } from './crawl-result.js';
import { type Run, startRun } from '../run/lifecycle.js';
import type { ResolvedRunConfig, RunMemory } from './run-config.js';
import { isoNow, type Time } from '../time.js';
import type { Many } from './url-source.js';
import type { WebCrawlerHooks } from '../options/web-crawler-options.js';

/** What a batch shares with the other batches of its crawler. */
export interface BatchResources {
  readonly engine: Engine<object, CrawlOrder>;
  /** Reads robots.txt, which no browser shows. */
  readonly http: Engine;
  /** Writes what the engine still has to write. */
  readonly flush: () => Promise<void>;
  readonly allowHost: (url: string) => Promise<boolean>;
  /** What is known of hosts, per user agent. */
  readonly hostsOf: (identity: string) => Promise<HostStore>;
  readonly config: Configuration;
  /** The page memory of a name, in the storage folder. */
  readonly openMemory: (name: string) => Promise<WholeMemory>;
  readonly log: Log;
  readonly time: Time;
  readonly hooks: WebCrawlerHooks;
  /** Whether every result is logged. */
  readonly isVerbose?: boolean;
  /** Sent besides what the servers set. */
  readonly cookies?: Cookies | undefined;
  readonly memoryMb: () => number;
  /** The engine's name, for results of URLs that were never requested. */
  readonly engineName: 'http' | 'browser';
  /** Keeps slow hosts to their share of the slots of all batches. */
  readonly slowShare: SlowShare | undefined;
  readonly blockedLoopMs?: number;
  /** The connections of all batches. */
  readonly connections: Permits<{ wake(): void }>;
}

export interface BatchParts {
  readonly items: Many<UrlItem>;
  readonly config: ResolvedRunConfig;
  readonly dispatcher: Dispatcher;
  readonly resources: BatchResources;
  readonly onResult: (result: CrawlResult, index: number) => void;
  /** Unread results; undefined if all are wanted at once. */
  readonly unread?: () => number;
}

export interface RunningBatch {
  /** Resolves when every URL has its result; rejects when the list itself, or a store, failed. */
  readonly ended: Promise<void>;
  /** Results were read, or connections are free. */
  wake(): void;
  /** Starts nothing more; what is under way still ends in results. */
  stop(): void;
  /** Breaks everything off; no more results come. */
  abort(): Promise<void>;
}

const MAX_TURNS = 65_535;
/** How long nothing ends before a domain that has all slots counts as slow. */
const SLOW_MS = 1_000;

export function startBatch(parts: BatchParts): RunningBatch {
  const { dispatcher, resources, config } = parts;
  const { permits, monitor } = dispatcher;
  const { time } = resources;
  const limiter = dispatcher.rateLimiter;
  const tasks = new Map<number, BatchTask>();
  /** Those with a slot, the youngest last. */
  const active = new Set<BatchTask>();
  const asFound = finderOf(parts.items);
  const placement = placementOf(parts.items);
  const holderId = placement?.holder ?? newHolderId();
  const frontier = createMemoryFrontier({
    holder: holderId,
    pacing: { delayMs: limiter?.baseDelayMs[0] ?? 0, turns: MAX_TURNS },
    forgetEnded: true,
    clock: { monotonicMs: () => Math.floor(time.monotonicMs()), wallMs: time.wallMs, bootId: '' },
  });
  const own = createFrontierClient(placement?.frontier ?? frontier, { id: holderId });
  const client = placement
    ? placedClient(own, placement, { tasks, admit: admitPlaced, allowHost: resources.allowHost })
    : own;
  // A limiter paces domains already, one request at a time; elsewhere, whoever has the list sees to it.
  const shares =
    limiter || placement
      ? undefined
      : createDomainShares(permits, MAX_TURNS, (turns) => frontier.setPacing({ delayMs: 0, turns }));
  let endings = 0;
  /** A domain that has every slot and ends nothing is slow: others are looked for. */
  let endingsBefore = 0;
  const endLooking = time.every(SLOW_MS, () => {
    const isStuck = endings === endingsBefore && active.size >= permits && shares?.isAlone;
    endingsBefore = endings;
    if (isStuck) feeder.lookFurther();
  });
  let sourceError: unknown;
  let over = false;
  const taskPrefix = newHolderId();
  const queues = createSessionQueues(LOOK_AHEAD);
  const copies = config.duplicates === 'keep' ? undefined : createBatchCopies(time.wallMs);
  const pages = config.remember ? memoryOf(config.remember) : undefined;
  let delivering: Promise<void> = Promise.resolve();
  let deliveryError: CrawlError | undefined;
  let adding = 0;
  const feeder = createFeeder({
    items: parts.items,
    permits,
    held: () => tasks.size - queues.waiting,
    unread: parts.unread,
    take: queueUp,
    onDone: () => run.notify(),
  });

  const { engine, http, allowHost, log } = resources;
  const hostsOf = placement?.hostsOf ?? resources.hostsOf;

  const run: Run = startRun({
    queue: {
      client: { ...client, lease: leaseAndLookAhead },
      recent: createRecentFingerprints(),
      leaseMs: Infinity,
      overview: () => (placement?.frontier ?? frontier).overview(),
    },
    services: createBatchServices({
      engine,
      log,
      time,
      hooks: resources.hooks,
      cookies: resources.cookies,
      limiter,
      allowHost,
      taskAt,
      onEnd: finish,
    }),
    config: resources.config,
    poolOptions: {
      minConcurrency: permits,
      maxConcurrency: permits,
      desiredConcurrency: permits,
      loggingIntervalSecs: 0,
    },
    mayStart,
    slowShare: resources.slowShare,
    blockedLoopMs: resources.blockedLoopMs,
    // The dispatcher watches memory, and its permits were set explicitly.
    followsLoad: false,
    maxEnded: Infinity,
    // A domain at its limit waits for its visits to be settled.
    settleBatchWaitMs: () => (placement || (shares && !shares.isAlone) ? 1 : 10),
    // What one process has at hand, another cannot start.
    leaseAhead: limiter === undefined && !placement,
    keepAlive: false,
    seedsAreIn: () => feeder.isDone && queues.waiting === 0 && adding === 0,
    openGate: (services) =>
      createBatchGate(
        { engine: http, allowHost, limiter, log, hostsOf, shared: !!placement, taskOf: taskOfLease, onDenied: finish },
        services,
      ),
    onSlot: (lease) => takeSlot(taskOfLease(lease)),
  });

  const membership = dispatcher.join({
    wake: () => run.pool.notify(),
    shed,
    longestWaitMs() {
      for (const task of tasks.values()) {
        if (!active.has(task)) return time.monotonicMs() - task.progress.pulledAtMs;
      }
      return 0;
    },
  });
  const connections = resources.connections.join({ wake: () => run.pool.notify() });
  const endShowing = monitor?.begin();

  function memoryOf(remember: true | RunMemory): BatchMemory {
    const { name = 'default', versions = false } = remember === true ? {} : remember;
    return createBatchMemory({
      open: () => resources.openMemory(name),
      nowMs: time.wallMs,
      keepsVersions: versions,
    });
  }

  function taskAt(index: number): BatchTask {
    const task = tasks.get(index);
    if (!task) throw new CrawlError('QUEUE_CORRUPT', `the batch has no URL number ${index} in work`);
    return task;
  }

  /** Undefined for what a gate has to do. */
  function taskOfLease({ record }: Lease): BatchTask | undefined {
    const index = indexOf(keyInRecord(record));
    if (Number.isNaN(index)) return undefined;
    // Elsewhere its result may be out, and only its end was lost with the process that had it.
    return placement ? tasks.get(index) : taskAt(index);
  }

  function admitPlaced({ index, item, pulledAgoMs }: PlacedTask): BatchTask {
    return admit(item, index, config, time.monotonicMs() - pulledAgoMs).task;
  }

  function mayStart(): boolean {
    if (!membership.mayStart() || !connections.mayStart()) return false;
    // More waits to be read than could ever run: then the reader is the slow one.
    return !parts.unread || parts.unread() + active.size < 2 * permits;
  }

  function takeSlot(task: BatchTask | undefined): () => void {
    membership.started();
    connections.started();
    if (task) begin(task);
    return () => {
      if (task) active.delete(task);
      membership.ended();
      connections.ended();
      feeder.feedMore();
    };
  }

  function begin(task: BatchTask): void {
    active.delete(task);
    active.add(task);
    const { progress } = task;
    progress.startedAtMs ??= time.monotonicMs();
    progress.startTime ??= isoNow(time);
    progress.peakMemoryMb = Math.max(progress.peakMemoryMb, resources.memoryMb());
    monitor?.started(taskId(task), task.url);
  }

  function shed(count: number): number {
    const youngest = [...active].reverse().flatMap(({ attempt }) => attempt ?? []);
    const chosen = youngest.slice(0, Math.min(count, active.size - 1));
    for (const attempt of chosen) {
      attempt.isShed = true;
      attempt.abortion.abort();
    }
    return chosen.length;
  }

  /** Slots are free and nothing is due: everything that waits belongs to resting domains, so look for others. */
  async function leaseAndLookAhead(call: Parameters<typeof client.lease>[0]) {
    const answer = await client.lease(call);
    if (answer.leases.length > 0) feeder.lookNoFurther();
    else if (answer.state === 'waiting' && (active.size < permits || resources.slowShare?.isFull)) feeder.lookFurther();
    return answer;
  }

  async function queueUp(entries: readonly ListEntry[]): Promise<void> {
    const queued: QueueEntry[] = [];
    for (const { item, place } of entries) {
      const admitted = admit(item, place, config, time.monotonicMs());
      if (asFound && admitted.request) admitted.request.seeded = !isFound(asFound(admitted.request));
      const { task } = admitted;
      tasks.set(task.index, task);
      monitor?.queued(taskId(task), task.url);
      if (admitted.error) finish(task, admitted.error, false);
      else if (queues.mayGo(task.config.sessionId, admitted.request)) queued.push(enlist(task, admitted.request));
    }
    if (queued.length === 0) return;
    await client.add(queued);
    run.notify();
  }

  function enlist(task: BatchTask, request: Request): QueueEntry {
    const queued = queueEntryOf(request);
    shares?.pending((task.domain = queued.domain));
    return queued;
  }

  function finish(task: BatchTask, error: CrawlError | undefined, wasQueued = true): void {
    if (over || !tasks.delete(task.index)) return;
    endings++;
    if (task.domain !== undefined) shares?.ended(task.domain);
    const result = resultOf(task, error, {
      taskId: taskId(task),
      memoryUsage: resources.memoryMb(),
      engine: resources.engineName,
      time,
    });
    const { success, errorCode, statusCode, bytes } = result;
    monitor?.ended(taskId(task), {
      success,
      errorCode: errorCode ?? undefined,
      statusCode: statusCode ?? undefined,
      bytes,
    });
    if (resources.isVerbose) log.info(`${statusCode ?? '-'} ${hideLogins(task.url)}`, factsOf(result));
    placement?.ended(task.index);
    if (!copies && !pages) parts.onResult(result, task.index);
    else {
      delivering = delivering
        .then(() => deliverCompared(result, task))
        .catch((failure: unknown) => run.fail((deliveryError ??= asCrawlError(failure, 'STORAGE_UNWRITABLE'))));
    }
    feeder.feedMore();
    if (wasQueued) addNextOf(task.config.sessionId);
  }

  /** One after another: the first of several alike is the original. */
  async function deliverCompared(result: CrawlResult, { index, capture, config: own }: BatchTask): Promise<void> {
    if (over) return;
    const seen = await pages?.see(result, capture, own);
    const simhash = copies && simhashOfResult(result);
    const original = simhash && (await copies.see(String(index), result.url, simhash));
    if (seen?.change) result.markChange(seen.change);
    if (original) result.markCopyOf(original);
    if (over) return;
    if (!original || config.duplicates !== 'skip') parts.onResult(result, index);
    seen?.keep();
  }

  /** Of a browser session only one URL at a time is queued. */
  function addNextOf(sessionId: string | undefined): void {
    const next = queues.ended(sessionId);
    const task = next && tasks.get(indexOf(next.uniqueKey));
    if (!task) return;
    adding++;
    void client
      .add([enlist(task, next)])
      .catch((error: unknown) => run.fail(asCrawlError(error, 'QUEUE_CORRUPT')))
      .finally(() => {
        adding--;
        run.notify();
      });
  }

  function taskId(task: BatchTask): string {
    return `${taskPrefix}-${task.index}`;
  }

  placement?.onOpen(() => run.notify());
  // What was pulled still ends in results; then the list's own failure is reported.
  const feeding = feeder.feed().catch((error: unknown) => (sourceError = error));

  async function end(): Promise<void> {
    const how = await run.ended;
    await delivering;
    over = true;
    endLooking();
    feeder.leave();
    membership.leave();
    connections.leave();
    endShowing?.();
    await copies?.close();
    await pages?.close();
    await frontier.close();
    await resources.flush();
    if (how.kind === 'failed') throw how.error;
    if (how.kind === 'aborted') throw new CrawlError('ABORTED', 'the batch was aborted');
    await feeding;
    if (deliveryError) throw deliveryError;
    if (sourceError !== undefined) throw sourceError;
  }

  const ended = end();
  // Whoever leaves early does not read how it ended.
  ended.catch(() => undefined);

  return {
    ended,
    wake() {
      feeder.feedMore();
      run.pool.notify();
    },
    stop() {
      feeder.stop();
      run.stop();
    },
    async abort() {
      over = true;
      run.abort();
      for (const { attempt } of active) attempt?.abortion.abort();
      await ended.catch((error: unknown) => {
        if (asCrawlError(error, 'ABORTED').code !== 'ABORTED') resources.log.debug(String(error));
      });
    },
  };
}

/** The log line of a result. */
function factsOf({ errorCode, engine, cacheStatus, bytes, timings, dispatch }: CrawlResult): Record<string, unknown> {
  const { totalMs } = timings;
  return {
    ...(errorCode === null ? {} : { errorCode }),
    engine,
    cacheStatus,
    bytes,
    ms: Math.round(totalMs),
    attempts: dispatch.attempts,
  };
}
