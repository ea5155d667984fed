// One run of a crawl: leases from the queue, attempts in the pool, settlements back into the queue.
// Ends when nothing is pending, a limit is reached, it is stopped, or a store fails; unfinished leases
// are returned untouched.
import { setMaxListeners } from 'node:events';
import type { Configuration } from '../../configuration.js';
import { AutoscaledPool } from '../../dispatch/autoscaled-pool.js';
import type { AutoscaledPoolOptions } from '../../dispatch/pool-options.js';
import type { SlowShare } from '../../dispatch/slow-share.js';
import { asCrawlError, CrawlError } from '../../errors.js';
import type { HolderId, Lease } from '../../frontier/frontier.js';
import type { RequestQueue } from '../../frontier/queue/request-queue.js';
import type { ContentStore } from '../../store/content/content.js';
import { unpackRecord } from '../../request/record.js';
import type { VisitWriter } from '../../store/dataset/visit-segments.js';
import { flushTraces } from '../../observe/tracing.js';
import { attempt, refuse } from './attempt.js';
import type { Gate } from '../polite/gate.js';
import { type LoopBlockOptions, watchBlocks } from './loop-blocks.js';
import { createLeaseFeed, type TakenLease } from './lease-feed.js';
import type { BaseContext, PlacedServices, VisitServices } from './services.js';
import { createSettler, type FinishedVisit, type SettledVisit, type Settler } from './settler.js';
import { joinSlowShare } from './slow-hosts.js';

export interface RunParts<Context extends BaseContext> extends LoopBlockOptions {
  readonly queue: Pick<RequestQueue, 'client' | 'recent' | 'leaseMs' | 'overview'>;
  /** Everything an attempt needs but what the run itself provides. */
  readonly services: PlacedServices<Context>;
  readonly config: Configuration;
  readonly poolOptions: Partial<AutoscaledPoolOptions>;
  /** Polite crawls have a gate that every lease passes. */
  readonly openGate?: (services: VisitServices<Context>) => Gate;
  /** Missing where visits have no items. */
  readonly openWriter?: (dataset: string | undefined) => Promise<VisitWriter>;
  /** Where the pages of visits are stored, if they are. */
  readonly content?: Pick<ContentStore, 'append'>;
  readonly maxEnded: number;
  /**
   * Whether requests are leased before they can start, for larger batches. One at hand holds its domain's turn, which
   * costs nothing: when more is due than can start, its domain would wait in the queue just as long.
   */
  readonly leaseAhead: boolean;
  /** Whether a slot is free only once its visit's links are queued: the next request may be one of them. */
  readonly settlesFirst?: boolean;
  readonly keepAlive: boolean;
  /** Are all seeds in the queue? */
  readonly seedsAreIn: () => boolean;
  /** Ends a request that must not be sent, where there is no gate. */
  readonly refuseLease?: (lease: Lease) => FinishedVisit | undefined;
  /** Whether one more attempt may start now, regardless of the queue. */
  readonly mayStart?: () => boolean;
  /** Told when an attempt takes a slot of the pool; what it returns is called when the slot is free. */
  readonly onSlot?: (lease: Lease) => () => void;
  /** Told when a request has ended for good: done, failed or skipped. */
  readonly onEnded?: ((lease: Lease) => void) | undefined;
  /** Keeps slow hosts to their share of the slots. */
  readonly slowShare?: SlowShare | undefined;
  /** How long an ended visit waits for others to be settled with. Default 10. */
  readonly settleBatchWaitMs?: () => number;
  /** False: the pool options alone set the number of visits, regardless of load. Default true. */
  readonly followsLoad?: boolean;
}

/** Why a run ended. */
export type RunEnd =
  | { readonly kind: 'exhausted' | 'limit' | 'stopped' | 'aborted' }
  | { readonly kind: 'failed'; readonly error: CrawlError };

export interface Run {
  readonly pool: AutoscaledPool;
  /** Works until the end; never rejects. */
  readonly ended: Promise<RunEnd>;
  /** Stores pages that no visit brings, and makes notes true in the same step. */
  record: Settler['record'];
  /** Work may have been added. */
  notify(): void;
  /** Starts nothing new and ends when the running visits have ended. */
  stop(): void;
  /** As `stop`, and breaks off what is on the wire; those requests go back untouched. */
  abort(): void;
  /** Ends the run because of an error. */
  fail(error: CrawlError): void;
}

/** Small enough that a stop gives little back, large enough that the queue is asked rarely. */
const MAX_AHEAD = 64;
/** How a request ends for good. */
const ENDS: ReadonlySet<string> = new Set(['done', 'failed', 'skipped']);
const LONGEST_RENEWAL_MS = 20_000;

export function startRun<Context extends BaseContext>(parts: RunParts<Context>): Run {
  const { queue } = parts;
  const { client } = queue;
  const { time } = parts.services;
  const abortion = new AbortController();
  // Every visit on the wire listens to it.
  setMaxListeners(0, abortion.signal);
  let end: RunEnd | undefined;

  const releaseLink = parts.services.links?.releaseLink;
  const settler = createSettler({
    client,
    time,
    recent: queue.recent,
    batchWaitMs: parts.settleBatchWaitMs,
    openWriter: parts.openWriter,
    content: parts.content,
    memory: parts.services.remembering?.memory,
    onDuplicate: releaseLink && (({ record }) => releaseLink(unpackRecord(record).url)),
    onFailure: (error) => fail(asCrawlError(error, 'STORAGE_UNWRITABLE')),
    onSettling: () => {
      if (parts.leaseAhead && !end) void feed.refill().catch(onError);
    },
    onFlushed: workMayBeReady,
  });
  const services: VisitServices<Context> = {
    ...parts.services,
    turn: { ...parts.services.turn, land: settler.land },
    onFatal: fail,
    signal: abortion.signal,
  };
  const gate = parts.openGate?.(services);
  const bulkSkipping = new Set<Promise<void>>();
  /** An aborted pool does not wait for its tasks. */
  const running = new Set<Promise<void>>();
  const feed = createLeaseFeed({
    client,
    time,
    wanted() {
      const free = pool.desiredConcurrency - pool.currentConcurrency;
      // When the share of slow hosts is full, check whether others wait behind them.
      const isAhead = parts.leaseAhead || parts.slowShare?.isFull === true;
      return isAhead ? free + Math.min(pool.desiredConcurrency, MAX_AHEAD) : free;
    },
    maxEnded: Number.isFinite(parts.maxEnded) ? parts.maxEnded : undefined,
    bulkSkipDomains: gate?.bulkSkipDomains,
    onBulkSkips: (bulkSkips, life) => {
      const skipping = settleBulkSkips(bulkSkips, life).catch(onError);
      bulkSkipping.add(skipping);
      void skipping.finally(() => bulkSkipping.delete(skipping));
    },
    onReady: () => pool.notify(),
  });
  const pool = new AutoscaledPool(
    {
      ...parts.poolOptions,
      runTaskFunction: () => {
        const task = runTask().finally(() => running.delete(task));
        running.add(task);
        return task;
      },
      isTaskReadyFunction: isTaskReady,
      isFinishedFunction: isFinished,
    },
    parts.config,
    {
      followsLoad: parts.followsLoad,
      // A crawl's own function may take its time.
      isTaskAtHand: parts.poolOptions.isTaskReadyFunction ? undefined : () => feed.ready > 0 && isTaskReady(1) === true,
    },
  );

  const leaveShare =
    parts.slowShare &&
    joinSlowShare(parts.slowShare, {
      pool,
      feed,
      putBack: (taken, waitMs) => settler.settle({ ...putBack(taken, waitMs), life: taken.life }),
      onError,
    });

  /** Back to its place; its domain rests for this long. */
  function putBack({ lease }: TakenLease, pauseMs: number): FinishedVisit {
    settler.land({ lease: lease.id, pauseMs });
    return { settlement: { kind: 'untouched', lease: lease.id }, items: [] };
  }

  async function runTask(): Promise<void> {
    const taken = feed.take();
    if (!taken) return;
    const release = parts.onSlot?.(taken.lease);
    await settler.settle(telling(taken.lease, { ...(await visit(taken)), life: taken.life }));
    if (parts.settlesFirst) await settler.flush();
    release?.();
  }

  /** A visit whose end is told to whoever wants to know, once the queue has it. */
  function telling(lease: Lease, visited: SettledVisit): SettledVisit {
    const { onEnded } = parts;
    if (!onEnded || !ENDS.has(visited.settlement.kind)) return visited;
    return {
      ...visited,
      onSettled(held) {
        visited.onSettled?.(held);
        if (held) onEnded(lease);
      },
    };
  }

  async function visit(taken: TakenLease): Promise<FinishedVisit> {
    const refused = gate ? undefined : parts.refuseLease?.(taken.lease);
    if (refused) return refused;
    const waitMs = parts.slowShare?.waitMs(taken.lease.domain, true) ?? 0;
    if (waitMs > 0) return putBack(taken, waitMs);
    return gate ? passGate(gate, taken) : attempt(services, taken.lease, isGood(taken));
  }

  async function passGate(at: Gate, taken: TakenLease): Promise<FinishedVisit> {
    try {
      const decision = await at.admit(taken, isGood(taken));
      if (decision.kind === 'ended') return decision.visit;
      return await attempt(services, taken.lease, isGood(taken), decision.turn);
    } catch (error) {
      // What a page or its host did wrong ends one request; anything else, the crawl.
      if (error instanceof CrawlError && error.class === 'permanent') return refuse(services, taken.lease, error);
      onError(error);
      return { settlement: { kind: 'untouched', lease: taken.lease.id }, items: [] };
    }
  }

  async function settleBulkSkips(bulkSkips: readonly Lease[], life: HolderId): Promise<void> {
    for (const visited of await gate!.bulkSkip(bulkSkips)) await settler.settle({ ...visited, life });
  }

  /** A request is sent only while its lease is valid; a lost one belongs to another holder. */
  function isGood({ life }: TakenLease): () => boolean {
    return () => client.isGood(life);
  }

  function isTaskReady(freeSlots: number): boolean | Promise<boolean> {
    if (end || parts.mayStart?.() === false) return false;
    const asked = parts.poolOptions.isTaskReadyFunction;
    return asked ? isReadyIf(asked(freeSlots)) : isLeaseReady();
  }

  async function isReadyIf(answer: boolean | Promise<boolean>): Promise<boolean> {
    return (await answer) && isLeaseReady();
  }

  function isLeaseReady(): boolean | Promise<boolean> {
    const { ready } = feed;
    if (ready === 0) return refilled();
    if (parts.leaseAhead && ready * 2 < Math.min(pool.desiredConcurrency, MAX_AHEAD)) void feed.refill().catch(onError);
    return true;
  }

  async function refilled(): Promise<boolean> {
    await feed.refill();
    if (feed.ready === 0) settler.hurry();
    return feed.ready > 0 && !end;
  }

  async function isFinished(): Promise<boolean> {
    if (end) return true;
    if (settler.pending > 0 || feed.ready > 0) {
      settler.hurry();
      return false;
    }
    // Asking costs the queue a call, and a crawl without a limit has nothing to learn from it.
    if (Number.isFinite(parts.maxEnded)) {
      const { counters } = await queue.overview();
      if (counters.done + counters.failed >= parts.maxEnded) return finish({ kind: 'limit' });
    }
    const asked = parts.poolOptions.isFinishedFunction;
    if (asked) return (await asked()) && finish({ kind: 'exhausted' });
    if (parts.keepAlive || !parts.seedsAreIn() || !feed.exhausted) return false;
    return finish({ kind: 'exhausted' });
  }

  function finish(how: RunEnd): true {
    end ??= how;
    return true;
  }

  function fail(error: CrawlError): void {
    end ??= { kind: 'failed', error };
    pool.notify();
  }

  function onError(error: unknown): void {
    fail(asCrawlError(error, 'QUEUE_CORRUPT'));
  }

  function workMayBeReady(): void {
    feed.reopen();
    pool.notify();
  }

  async function work(): Promise<RunEnd> {
    const renewalMs = Math.min(LONGEST_RENEWAL_MS, queue.leaseMs / 3);
    const endRenewal = time.every(renewalMs, () => void client.renew().catch(onError));
    const watch = watchBlocks(parts, parts.services);
    try {
      await pool.run();
    } catch (error) {
      onError(error);
    }
    await giveBack().catch(onError);
    await watch?.close();
    endRenewal();
    await flushTraces();
    return end ?? { kind: 'stopped' };
  }

  async function giveBack(): Promise<void> {
    leaveShare?.();
    const left = await feed.drain();
    // Each is bounded by the time limits of its steps; one that threw has ended the pool and was reported.
    await Promise.allSettled(running);
    await Promise.all(bulkSkipping);
    for (const { lease, life } of left) {
      await settler.settle({ settlement: { kind: 'untouched', lease: lease.id }, items: [], life });
    }
    await settler.flush();
    await settler.close();
  }

  return {
    pool,
    ended: work(),
    record: settler.record,
    notify: workMayBeReady,
    stop() {
      end ??= { kind: 'stopped' };
      pool.notify();
    },
    abort() {
      end ??= { kind: 'aborted' };
      abortion.abort();
      pool.notify();
    },
    fail,
  };
}
