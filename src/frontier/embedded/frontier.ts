// The frontier on this machine: one state machine over ordered tables, in memory or in LMDB.
// Each call is checked, then runs in a transaction that it may share with calls that waited at the same time.
import { randomUUID } from 'node:crypto';
import { asCrawlError, CrawlError } from '../../errors.js';
import { createAnswers } from './answers.js';
import { type FrontierClock, systemClock } from './clock.js';
import { findRequests, glanceAt, readOverview } from './finding.js';
import type { Fingerprint } from '../../request/fingerprint.js';
import type { Blame, Caller, Frontier, HolderId, Pacing, Presence, QueueEntry, SettleCall } from '../frontier.js';
import { createGroups, Refusal } from './groups.js';
import { createHolders } from './lease-holders.js';
import type { Kv } from '../tables/kv.js';
import { leaseDue } from './leasing.js';
import { createMachine } from './machine.js';
import { type Access, checkVersions, enter, refresh, releaseDead, startClock } from './openers.js';
import { identifyProcess, openTokens } from '../process-identity.js';
import { acceptEntries } from './requests.js';
import { failedRequests, type FailedRequests, requeueFailed } from './failed-requests.js';
import { settleVisits, takeNotes } from './settling.js';
import {
  checkCaller,
  checkedLeaseMs,
  checkedPacing,
  checkedSettleCall,
  checkEntries,
  checkFingerprint,
  checkLeaseCall,
  holderLost,
} from '../validation.js';

export interface EmbeddedOptions {
  readonly pacing: Pacing;
  /** A holder silent for longer loses its leases. Default 180,000. */
  readonly leaseMs?: number;
  readonly clock?: FrontierClock;
  /** This process's own holder: its leases do not expire while it owns the queue. */
  readonly holder?: HolderId;
  /** Fingerprints an owner keeps in memory, at 12 to 34 bytes each; beyond it they stay on disk. Default 64 million. */
  readonly maxSeenInMemory?: number;
  /**
   * In memory only: finished requests are forgotten (`find` does not know them, they can be added again), so that a
   * queue through which millions pass stays as small as what is pending. Default false.
   */
  readonly forgetEnded?: boolean;
  /** A request that ended its holder leaves a note `fate/…`, for whoever records fates. Default false. */
  readonly notesFates?: boolean;
  /** What is known of why the process ended that had this queue open before. */
  readonly blame?: Blame | undefined;
}

/** A frontier, with what only its creator needs. */
export interface EmbeddedFrontier extends Frontier {
  /** Bytes the seen set occupies in memory: a metric. */
  readonly seenBytes: number;
  /**
   * The state of a request, read without a transaction: as of the last commit, or
   * later.
   */
  glance(fingerprint: Fingerprint): Presence;
  /** Whether it was ever accepted, read the same way. Cheap enough for every link of a page. */
  isKnown(fingerprint: Fingerprint): boolean;
  /** Must have resolved before any other call. */
  open(): Promise<void>;
  /** From the next call on, the pacing of domains without their own delay. */
  setPacing(pacing: Pacing): void;
  /** From the next call on, lease nothing that could bring done above this. Infinity (default) for no limit. */
  setAllowance(pages: number): void;
  /** Requests that ended because they ended their holder. */
  readonly lostWorkers: number;
  /** Queues failed requests again and makes notes true, in one step; resolves to how many had failed. */
  requeue(
    call: Caller & {
      readonly entries: readonly QueueEntry[];
      readonly notes?: NonNullable<SettleCall['notes']>;
    },
  ): Promise<number>;
  /** Some of the failed requests, and of the skipped ones if asked, from an id on; `next` is undefined after the last. */
  failedFrom(id: number, most: number, withSkipped?: boolean): Promise<FailedRequests>;
  /** Ends like `kill -9`: nothing is returned. For tests. */
  abandon(): Promise<void>;
}

export const DEFAULT_MAX_SEEN_IN_MEMORY = 64_000_000;
/** A dead process's work should return soon; checking costs two system calls per process. */
const DEAD_CHECK_MS = 1_000;
const MAX_HEARTBEAT_MS = 60_000;
/** Keeps transactions short while an owner's queue becomes shareable. */
const INDEX_PORTION = 100_000;

export function createEmbeddedFrontier(
  kv: Kv,
  options: EmbeddedOptions & { readonly access: Access; readonly where: string },
): EmbeddedFrontier {
  const { access, where } = options;
  const owned = access === 'owner';
  const clock = options.clock ?? systemClock;
  const machine = createMachine(kv.tables, {
    pacing: checkedPacing(options.pacing),
    leaseMs: checkedLeaseMs(options.leaseMs),
    clock,
    owned,
    maxSeenInMemory: options.maxSeenInMemory ?? DEFAULT_MAX_SEEN_IN_MEMORY,
    forgetEnded: options.forgetEnded,
    notesFates: options.notesFates,
    allowance: Number.POSITIVE_INFINITY,
  });
  const identity = identifyProcess(clock.bootId, randomUUID());
  const self = { access, identity, where };
  let opener = 0;
  const holders = createHolders(machine, {
    opener: () => opener,
    ...(owned && options.holder !== undefined ? { unexpiring: options.holder } : {}),
  });
  const answers = createAnswers();
  const groups = createGroups(kv, {
    begin() {
      machine.begin();
      if (!owned) holders.distrust();
      holders.expire();
    },
    afterEach: () => machine.domains.flush(),
    end: () => machine.end(),
    failed() {
      machine.distrust();
      holders.distrust();
    },
  });
  let checkedDeadMs = clock.monotonicMs();
  let heartbeat: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;

  async function open(): Promise<void> {
    openTokens().add(identity.token);
    try {
      await kv.transact(() => {
        checkVersions(kv.tables.meta, where);
        machine.begin();
        startClock(machine);
        opener = enter(machine, holders, self, options.blame);
        holders.forgetLongLost();
        // An owner reads its index now: the first call must not wait for it.
        void machine.seen.bytes;
        machine.end();
      });
      while (!owned && !(await groups.run(() => machine.shareIndexes(INDEX_PORTION))));
    } catch (error) {
      openTokens().delete(identity.token);
      throw asCrawlError(error, 'QUEUE_CORRUPT');
    }
    const everyMs = Math.min(MAX_HEARTBEAT_MS, machine.options.leaseMs / 3);
    heartbeat = setInterval(() => {
      // A failed beat loses nothing; the crawl's next call fails in the same way and reports it.
      groups.run(() => refresh(machine, opener, self)).catch(() => undefined);
    }, everyMs).unref();
  }

  /** Runs a numbered call once, however often it is repeated. */
  function once<T>(caller: Caller, body: () => T | Refusal): Promise<T> {
    if (closing) return Promise.reject(closed(where));
    return groups.run(
      () => {
        const known = answers.find(caller);
        if (known instanceof Refusal) return known;
        if (known) return known.answer as T;
        const answer = body();
        if (!(answer instanceof Refusal)) answers.keep(caller, answer);
        return answer;
      },
      () => answers.drop(caller),
    );
  }

  function read<T>(body: () => T): Promise<T> {
    return closing ? Promise.reject(closed(where)) : groups.run(body);
  }

  async function end(lastWords?: () => void): Promise<void> {
    clearInterval(heartbeat);
    try {
      if (lastWords) await groups.run(lastWords);
      else await groups.idle();
    } finally {
      openTokens().delete(identity.token);
      await kv.close();
    }
  }

  return {
    get seenBytes() {
      return machine.seen.bytes;
    },
    glance: ({ hi, lo }) => glanceAt(machine, hi, lo),
    isKnown: ({ hi, lo }) => machine.seen.get(hi, lo) >= 0,
    open,
    setPacing: (pacing) => void Object.assign(machine.options.pacing, checkedPacing(pacing)),
    setAllowance: (pages) => void (machine.options.allowance = pages),
    async add(call) {
      checkCaller(call);
      checkEntries(call.entries);
      return once(call, () => {
        // Adding needs no lease: a lost holder may still add what it found.
        holders.renew(call.holder);
        return acceptEntries(machine, call.entries);
      });
    },
    async lease(call) {
      checkLeaseCall(call);
      return once(call, () => {
        if (!holders.renew(call.holder)) return new Refusal(holderLost(call.holder));
        if (!owned && clock.monotonicMs() - checkedDeadMs >= DEAD_CHECK_MS) {
          checkedDeadMs = clock.monotonicMs();
          releaseDead(machine, holders, opener);
        }
        return leaseDue(machine, holders, call);
      });
    },
    async settle(call) {
      const checked = checkedSettleCall(call);
      refuseHandOver(checked);
      return once(checked, () =>
        holders.renew(checked.holder)
          ? settleVisits(machine, holders, checked)
          : { held: false, accepted: checked.settlements.map(() => false) },
      );
    },
    release: (holder, blame) => read(() => holders.lose(holder, blame)),
    async find(fingerprints) {
      for (const fingerprint of fingerprints) checkFingerprint(fingerprint);
      return read(() => findRequests(machine, fingerprints));
    },
    overview: () => read(() => readOverview(machine)),
    get lostWorkers() {
      return machine.hot.lostWorkers;
    },
    async requeue(call) {
      checkCaller(call);
      checkEntries(call.entries);
      return once(call, () => {
        holders.renew(call.holder);
        const count = requeueFailed(machine, call.entries);
        if (call.notes) takeNotes(machine, call.notes);
        return count;
      });
    },
    failedFrom: (id, most, withSkipped) => read(() => failedRequests(machine, id, most, withSkipped)),
    close() {
      return (closing ??= end(() => {
        holders.giveBackAllOf(opener);
        kv.tables.openers.remove(0, opener);
      }));
    },
    abandon() {
      return (closing ??= end());
    },
  };
}

function refuseHandOver({ settlements }: SettleCall): void {
  if (!settlements.some(({ kind }) => kind === 'handed')) return;
  throw new CrawlError('REQUEST_INVALID', 'an embedded queue has no parse queue');
}

function closed(where: string): CrawlError {
  return new CrawlError('QUEUE_CLOSED', `the queue at ${where} has been closed`);
}
