// A batch: a list of URLs as one run of the crawl lifecycle, over a queue in memory that forgets what ended.
// Promise: one result a URL; the list is pulled only as needed, and nothing starts while results pile up unread.
import type { Configuration } from '../configuration.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import type { Permits } from '../dispatch/permits.js';
import type { SlowShare } from '../dispatch/slow-share.js';
import type { SystemLoad } from '../dispatch/system-load.js';
import { asCrawlError, CrawlError } from '../errors.js';
import type { Engine } from '../fetch/engine.js';
import { entryOf as queueEntryOf } from '../frontier/entry.js';
import { createHolder, newHolderId } from '../frontier/holder.js';
import { createMemoryFrontier } from '../frontier/memory.js';
import { createRecentFingerprints } from '../frontier/recent.js';
import type { Lease, QueueEntry } from '../frontier/frontier.js';
import type { Log } from '../observe/log.js';
import type { HostStore } from '../politeness/hosts.js';
import { finderOf, isFound } from '../request/found.js';
import { keyInRecord } from '../request/record.js';
import type { Request } from '../request/request.js';
import { admit, type Entry, indexOf, resultOf, type UrlItem } from './batch-entries.js';
import { createBatchGate } from './batch-gate.js';
import { createBatchHost } from './batch-host.js';
import { createSessionQueues } from './browser-queues.js';
import { createDomainShares } from './domain-shares.js';
import type { CrawlResult } from './crawl-result.js';
import { type Run, startRun } from './lifecycle.js';
import type { ResolvedRunConfig } from './run-config.js';
import { type Many, openSource } from './url-source.js';
import type { WebCrawlerHooks } from './web-crawler-options.js';

/** What a batch shares with the other batches of its crawler. */
export interface BatchWorld {
  /** Fetches for a batch; `entryOf` tells whose order it is. */
  readonly engineFor: (entryOf: (signal: AbortSignal | undefined) => Entry | undefined) => Engine;
  /** Writes what the engine still has to write. */
  readonly flush: () => Promise<void>;
  readonly allowHost: (url: string) => Promise<boolean>;
  /** What is known of hosts to one who asks under some name. */
  readonly hostsOf: (identity: string) => Promise<HostStore>;
  readonly config: Configuration;
  readonly log: Log;
  readonly hooks: WebCrawlerHooks;
  readonly memoryMb: () => number;
  /** What fetches, for results of URLs that were never asked for. */
  readonly engineName: 'http' | 'browser';
  /** Keeps slow hosts to their share of the slots of all batches. */
  readonly slowShare: SlowShare | undefined;
  /** The connections of all batches. */
  readonly connections: Permits<{ wake(): void }>;
}

export interface BatchParts {
  readonly items: Many<UrlItem>;
  readonly config: ResolvedRunConfig;
  readonly dispatcher: Dispatcher;
  readonly world: BatchWorld;
  readonly onResult: (result: CrawlResult, index: number) => void;
  /** Results that nobody has read yet; undefined when all of them are wanted at once. */
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

/** Beyond what may run: so that a slot that frees finds its next URL waiting. */
const STOCK_LIMIT = 64;
/** How far the list is read ahead while slots are free and all that waits belongs to domains that rest. */
const LOOK_AHEAD = 10_000;
const MAX_TURNS = 65_535;
/** How long nothing ends before a domain that has all slots counts as slow. */
const SLOW_MS = 1_000;
const PULL_BATCH = 256;
/** The list is read when this part of the stock is used up: a call of the queue costs the same for one URL and for many. */
const PULL_SHARE = 1 / 4;

/** The dispatcher looks at memory, and its permits were asked for: the pool itself has no opinion. */
const CALM_SIGNAL = Object.freeze({ isOverloaded: false, limitRatio: 1, actualRatio: 0 });
const CALM = Object.freeze({ isOverloaded: false, cpu: CALM_SIGNAL, memory: CALM_SIGNAL, eventLoop: CALM_SIGNAL });
const CALM_LOAD: SystemLoad = Object.freeze({
  start: () => undefined,
  stop: () => undefined,
  current: () => CALM,
  historical: () => CALM,
  latest: () => ({ cpuRatio: 0, eventLoopLateMs: 0, usedBytes: 0, limitBytes: Infinity }),
});

export function startBatch(parts: BatchParts): RunningBatch {
  const { dispatcher, world, config } = parts;
  const { permits, monitor } = dispatcher;
  const stock = permits + Math.min(permits, STOCK_LIMIT);
  const leastPull = Math.ceil(Math.min(permits, STOCK_LIMIT) * PULL_SHARE);
  const limiter = dispatcher.rateLimiter;
  const entries = new Map<number, Entry>();
  /** Those with a slot, the youngest last. */
  const active = new Set<Entry>();
  const owners = new WeakMap<AbortSignal, Entry>();
  const source = openSource(parts.items);
  const asFound = finderOf(parts.items);
  const holderId = newHolderId();
  const frontier = createMemoryFrontier({
    holder: holderId,
    pacing: { delayMs: limiter?.baseDelayMs[0] ?? 0, turns: MAX_TURNS },
    forgetEnded: true,
  });
  const holder = createHolder(frontier, { id: holderId });
  // A limiter paces domains already, one request at a time.
  const shares = limiter
    ? undefined
    : createDomainShares(permits, MAX_TURNS, (turns) => frontier.setPacing({ delayMs: 0, turns }));
  let endings = 0;
  /** A domain that has every slot and ends nothing is slow: others are looked for. */
  let endingsBefore = 0;
  const looking = setInterval(() => {
    const isStuck = endings === endingsBefore && active.size >= permits && shares?.isAlone && !isSourceDone;
    endingsBefore = endings;
    if (isStuck) lookFurther();
  }, SLOW_MS).unref();
  let pulled = 0;
  let room = stock;
  let isSourceDone = false;
  let sourceError: unknown;
  let over = false;
  let wakeFeeder: (() => void) | undefined;
  const taskPrefix = newHolderId();
  const queues = createSessionQueues(LOOK_AHEAD);
  let adding = 0;

  const engine = world.engineFor((signal) => signal && owners.get(signal));
  const gateParts = { allowHost: world.allowHost, limiter, log: world.log, hostsOf: world.hostsOf, onDenied: finish };

  const run: Run = startRun({
    queue: {
      holder: { ...holder, lease: leaseAndLookAhead },
      recent: createRecentFingerprints(),
      leaseMs: Infinity,
      overview: () => frontier.overview(),
    },
    host: createBatchHost({
      engine,
      config: world.config,
      log: world.log,
      hooks: world.hooks,
      limiter,
      allowHost: world.allowHost,
      entryAt,
      onEnd: finish,
      claim: (signal, entry) => void owners.set(signal, entry),
    }),
    config: world.config,
    poolOptions: {
      minConcurrency: permits,
      maxConcurrency: permits,
      desiredConcurrency: permits,
      loggingIntervalSecs: 0,
    },
    mayStart,
    slowShare: world.slowShare,
    load: CALM_LOAD,
    openWriter: () => Promise.reject(new CrawlError('OPTION_INVALID', 'a batch stores no items')),
    maxEnded: Infinity,
    // A domain at its limit waits for its visits to be settled.
    settleCompanyMs: () => (shares && !shares.isAlone ? 1 : 10),
    leaseAhead: limiter === undefined,
    keepAlive: false,
    seedsAreIn: () => isSourceDone && queues.waiting === 0 && adding === 0,
    openGate: (attemptHost) => createBatchGate({ ...gateParts, engine, entryOf: entryOfLease }, attemptHost),
    onSlot: (lease) => takeSlot(entryOfLease(lease)),
  });

  const membership = dispatcher.join({
    wake: () => run.pool.notify(),
    shed,
    longestWaitMs() {
      for (const entry of entries.values()) {
        if (!active.has(entry)) return performance.now() - entry.pulledAtMs;
      }
      return 0;
    },
  });
  const connections = world.connections.join({ wake: () => run.pool.notify() });
  const endShowing = monitor?.begin();

  function entryAt(index: number): Entry {
    const entry = entries.get(index);
    if (!entry) throw new CrawlError('QUEUE_CORRUPT', `the batch has no URL number ${index} in work`);
    return entry;
  }

  /** Undefined for what a gate has to do. */
  function entryOfLease({ record }: Lease): Entry | undefined {
    const index = indexOf(keyInRecord(record));
    return Number.isNaN(index) ? undefined : entryAt(index);
  }

  function mayStart(): boolean {
    if (!membership.mayStart() || !connections.mayStart()) return false;
    // More waits to be read than could ever run: then the reader is the slow one.
    return !parts.unread || parts.unread() + active.size < 2 * permits;
  }

  function takeSlot(entry: Entry | undefined): () => void {
    membership.started();
    connections.started();
    if (entry) begin(entry);
    return () => {
      if (entry) active.delete(entry);
      membership.ended();
      connections.ended();
      feedMore();
    };
  }

  function begin(entry: Entry): void {
    active.delete(entry);
    active.add(entry);
    entry.startedAtMs ??= performance.now();
    entry.startTime ??= new Date().toISOString();
    entry.peakMemoryMb = Math.max(entry.peakMemoryMb, world.memoryMb());
    monitor?.started(taskId(entry), entry.url);
  }

  function shed(count: number): number {
    const youngest = [...active].reverse().filter(({ abortion }) => abortion !== undefined);
    const chosen = youngest.slice(0, Math.min(count, active.size - 1));
    for (const entry of chosen) {
      entry.isShed = true;
      entry.abortion?.abort();
    }
    return chosen.length;
  }

  /** Slots are free and nothing is due: whatever waits belongs to domains that rest, so others are looked for. */
  async function leaseAndLookAhead(call: Parameters<typeof holder.lease>[0]) {
    const answer = await holder.lease(call);
    if (answer.leases.length > 0) room = stock;
    else if (answer.state === 'waiting' && !isSourceDone && (active.size < permits || world.slowShare?.isFull)) {
      lookFurther();
    }
    return answer;
  }

  function lookFurther(): void {
    if (room >= LOOK_AHEAD) return;
    room = Math.min(LOOK_AHEAD, Math.max(room, entries.size) + permits);
    feedMore();
  }

  const roomToPull = () => Math.min(PULL_BATCH, room - (entries.size - queues.waiting) - (parts.unread?.() ?? 0));

  function feedMore(): void {
    if (wakeFeeder && (over || roomToPull() >= leastPull)) wakeFeeder();
  }

  async function feed(): Promise<void> {
    while (!over) {
      const max = roomToPull();
      if (max < leastPull) {
        await new Promise<void>((resume) => (wakeFeeder = resume));
        wakeFeeder = undefined;
        continue;
      }
      const items = await source.take(max);
      if (!items || over) return;
      const queued: QueueEntry[] = [];
      for (const item of items) {
        const admitted = admit(item, pulled++, config, performance.now());
        if (asFound && admitted.request) admitted.request.seeded = !isFound(asFound(admitted.request));
        const { entry } = admitted;
        entries.set(entry.index, entry);
        monitor?.queued(taskId(entry), entry.url);
        if (admitted.error) finish(entry, admitted.error, false);
        else if (queues.mayGo(entry.config.sessionId, admitted.request)) queued.push(enlist(entry, admitted.request));
      }
      if (queued.length === 0) continue;
      await holder.add(queued);
      run.notify();
    }
  }

  function enlist(entry: Entry, request: Request): QueueEntry {
    const queued = queueEntryOf(request);
    shares?.pending((entry.domain = queued.domain));
    return queued;
  }

  function finish(entry: Entry, error: CrawlError | undefined, wasQueued = true): void {
    if (over || !entries.delete(entry.index)) return;
    endings++;
    if (entry.domain !== undefined) shares?.ended(entry.domain);
    const result = resultOf(entry, error, {
      taskId: taskId(entry),
      memoryUsage: world.memoryMb(),
      engine: world.engineName,
    });
    const { success, errorCode, statusCode, bytes } = result;
    monitor?.ended(taskId(entry), {
      success,
      errorCode: errorCode ?? undefined,
      statusCode: statusCode ?? undefined,
      bytes,
    });
    parts.onResult(result, entry.index);
    feedMore();
    if (wasQueued) addNextOf(entry.config.sessionId);
  }

  /** Of a browser session only one URL at a time is queued. */
  function addNextOf(sessionId: string | undefined): void {
    const next = queues.ended(sessionId);
    const entry = next && entries.get(indexOf(next.uniqueKey));
    if (!entry) return;
    adding++;
    void holder
      .add([enlist(entry, next)])
      .catch((error: unknown) => run.fail(asCrawlError(error, 'QUEUE_CORRUPT')))
      .finally(() => {
        adding--;
        run.notify();
      });
  }

  function taskId(entry: Entry): string {
    return `${taskPrefix}-${entry.index}`;
  }

  const feeding = feed()
    .catch((error: unknown) => {
      // What was pulled still ends in results; then the list's own failure is reported.
      sourceError = error ?? new CrawlError('REQUEST_INVALID', 'the list of URLs failed');
    })
    .finally(() => {
      isSourceDone = true;
      run.notify();
    });

  async function end(): Promise<void> {
    const how = await run.ended;
    over = true;
    clearInterval(looking);
    source.leave();
    feedMore();
    membership.leave();
    connections.leave();
    endShowing?.();
    await frontier.close();
    await world.flush();
    if (how.kind === 'failed') throw how.error;
    if (how.kind === 'aborted') throw new CrawlError('ABORTED', 'the batch was broken off');
    await feeding;
    if (sourceError !== undefined) throw sourceError;
  }

  const ended = end();
  // Whoever leaves early does not read how it ended.
  ended.catch(() => undefined);

  return {
    ended,
    wake() {
      feedMore();
      run.pool.notify();
    },
    stop() {
      isSourceDone = true;
      run.stop();
    },
    async abort() {
      over = true;
      run.abort();
      for (const { abortion } of active) abortion?.abort();
      await ended.catch((error: unknown) => {
        if (asCrawlError(error, 'ABORTED').code !== 'ABORTED') world.log.debug(String(error));
      });
    },
  };
}
