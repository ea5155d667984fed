// The frontier in Redis: the port over Lua scripts, shared by any number of processes and machines.
// Each script is one atomic step. A call with more requests than a script may take is made in numbered parts; a settle
// call adds its links first, so nothing is acknowledged before its links are queued.
import { CrawlError } from '../../errors.js';
import type { FrontierClock } from '../embedded/clock.js';
import {
  type Blame,
  BULK_SKIPS_PER_CALL,
  type Frontier,
  type HolderId,
  type Lease,
  type LeaseAnswer,
  type LeaseCall,
  type Pacing,
  type Presence,
  type QueueEntry,
  type SettleAnswer,
  type SettleCall,
} from '../frontier.js';
import { openTokens } from '../process-identity.js';
import {
  checkCaller,
  checkedSettleCall,
  checkEntries,
  checkFingerprint,
  checkLeaseCall,
  holderLost,
} from '../validation.js';
import { type Argument, type Connection, type ConnectionOptions, createConnection } from './server/connection.js';
import { dropStore } from './dropping.js';
import { createKeeper, type Keeper, type KeeperOptions, type SpillOptions, startKeeper } from './spill/keeper.js';
import { KEYS } from './keys.js';
import { releaseDead, resignAsKeeper } from './openers.js';
import { domainKey, type FingerprintOfRecord, packLandings, packSettlements, unpackLease } from './packing.js';
import { createPodOperations, type PodOperations } from './pod-operations.js';
import { findAll, overviewOf } from './reading.js';
import { seenNumbers, type SeenMemory, type SeenNumbers } from './seen-memory.js';
import { checkServer } from './server/start-checks.js';
import { unpackStateNumbers } from './state-numbers.js';
import { openStore } from './store.js';
import type { PodIdentity } from './store-identity.js';

export interface RedisFrontierOptions extends ConnectionOptions {
  readonly pacing: Pacing;
  /** A holder silent for longer loses its leases. Default 180,000. */
  readonly leaseMs?: number;
  /** Prefix of every key; several frontiers may share a database. Default ''. */
  readonly prefix?: string;
  /** The store's pod; fixed when the store is created. */
  readonly pod?: PodIdentity;
  /** How seen requests are stored. Default `{ kind: 'exact' }`. */
  readonly seen?: SeenMemory;
  /** Most requests accepted per domain, over all processes; more are dropped and counted. */
  readonly domainBudget?: number;
  /** Computes the fingerprint from a record: saves 8 bytes per queued request. */
  readonly fingerprintOf?: FingerprintOfRecord;
  /** False: a missing store is refused as emptied instead of created. Default true. */
  readonly create?: boolean;
  /** Time for tests and simulations; by default the server's clock, bounded by this process's monotonic one. */
  readonly clock?: FrontierClock;
  /** Long domains keep their tail on disk. All processes of a pod use the same folder, or none does. */
  readonly spill?: SpillOptions;
  readonly warn?: (message: string) => void;
  /**
   * The server came back without at least this many answered calls; this process's recent adds were repeated. If it
   * leased, every further call fails with `QUEUE_ROLLED_BACK`: recovery starts with a new opening.
   */
  readonly onForgotten?: (calls: number) => void;
}

export interface RedisFrontier extends Frontier {
  /** Commands sent to the server so far; a script call counts as one: a metric. */
  readonly commandsSent: number;
  /** From the next call on, the pacing of domains without their own delay. */
  setPacing(pacing: Pacing): void;
  /** What only a pod needs from its store. */
  readonly pod: PodOperations;
  /** One round of the keeper of spilled requests, if it works `byHand`. */
  keep(): Promise<void>;
  /** Closes and removes the frontier; refused with `QUEUE_IN_USE` while another process has it open. */
  drop(): Promise<void>;
  /** Ends like `kill -9`: nothing is returned. For tests. */
  abandon(): Promise<void>;
}

const DEAD_CHECK_MS = 1_000;
/** One script call stays under 5 ms, even on a shared core: a lease takes the server 15 to 30 µs. */
const MAX_LEASES_A_CALL = 100;
/** Links dropped by a domain's budget (b) will never be queued, as if ended. */
const PRESENCES: Readonly<Record<string, Presence>> = { n: 'new', p: 'pending', e: 'ended', b: 'ended' };

/**
 * Opens the frontier in a Redis, created if missing.
 *
 * Rejects with `QUEUE_UNREACHABLE`, `QUEUE_UNSUITABLE` (version, cluster, eviction, password), `QUEUE_FOREIGN` (another
 * pod's store), `QUEUE_VERSION`, or `QUEUE_EMPTIED` if `create` is false and it is missing.
 *
 * @example
 * const frontier = await openRedisFrontier({
 *   url: 'redis://localhost:6379', pacing: { delayMs: 70_000, turns: 1 }, pod: { index: 0, count: 16 },
 * });
 */
export async function openRedisFrontier(options: RedisFrontierOptions): Promise<RedisFrontier> {
  const connection = createConnection(options);
  try {
    await connection.connect();
    const { maxIntsetEntries, atRisk } = await checkServer(connection);
    if (atRisk) options.warn?.(`Redis at ${connection.where}: ${atRisk}`);
    const numbers = seenNumbers(options.seen ?? { kind: 'exact' }, options.pod?.count ?? 1, maxIntsetEntries);
    return await openOn(connection, options, numbers);
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function openOn(
  connection: Connection,
  options: RedisFrontierOptions,
  seen: SeenNumbers,
): Promise<RedisFrontier> {
  const { prefix = '', fingerprintOf } = options;
  const { where } = connection;
  const store = await openStore(connection, options, seen);
  const { run, token, bootId } = store;
  const { spill } = options;
  let keeper: Keeper | undefined;
  let keeperByHand: ReturnType<typeof createKeeper> | undefined;
  let checkedDeadMs = performance.now();
  let closing: Promise<void> | undefined;
  let failure: CrawlError | undefined;

  async function leasePart(call: LeaseCall, part: number, max: number, bulkSkips: number): Promise<LeaseAnswer> {
    const domains = [...new Set(call.bulkSkipDomains ?? [])].map(domainKey);
    const limit = call.maxEnded ?? Number.POSITIVE_INFINITY;
    const limitText = Number.isFinite(limit) ? String(limit) : limit > 0 ? 'inf' : '-inf';
    const answer = await run('lease', [
      call.holder,
      call.call,
      String(part),
      max,
      limitText,
      token,
      bulkSkips,
      ...domains,
    ]);
    const [held, state, nextDueMs, first, rows] = answer as [number, Buffer, number, number, Buffer[]];
    if (held === 0) throw holderLost(call.holder);
    const leases: Lease[] = [];
    rows.forEach((row, i) => {
      if (row) leases.push(unpackLease(first + i, row, fingerprintOf));
    });
    return {
      leases,
      state: state.toString('latin1') as LeaseAnswer['state'],
      ...(nextDueMs < 0 ? {} : { nextDueMs }),
    };
  }

  const release = async (list: readonly HolderId[], blame?: Blame): Promise<number> => {
    const leases = Buffer.from(Float64Array.from(blame?.leases ?? []).buffer);
    return ((await run('release', ['lost', blame?.code ?? '', leases, ...list])) as [number])[0];
  };

  function checkOpen(): void {
    if (closing) throw new CrawlError('QUEUE_CLOSED', `the queue in Redis at ${where} has been closed`);
    if (failure) throw failure;
  }

  async function openSpill({ folder, keep = true, isLocal = keep, byHand = false }: SpillOptions): Promise<void> {
    const { openSpillStore } = await import('./spill/spill-lmdb.js');
    const openTail = (storedRows: number) => openSpillStore(folder, store.id, storedRows);
    const packed = (await connection.command('HGET', prefix + KEYS.state, 'numbers')) as Buffer | null;
    const { far, overflow } = unpackStateNumbers(packed);
    if (isLocal && far > overflow) await openTail(far - overflow).close();
    if (!keep) return;
    const keeping: KeeperOptions = {
      ...{ token, folder, run, domainHead: store.domainHead, openStore: openTail, warn: options.warn },
      fail: (error) => (failure = error),
      ...(options.clock ? { nowMs: options.clock.monotonicMs } : {}),
    };
    keeper = byHand ? (keeperByHand = createKeeper(keeping)) : startKeeper(keeping);
  }

  async function giveBack(): Promise<void> {
    try {
      if (store.lives.size > 0) await run('release', ['untouched', '', '', ...store.lives]);
      if (keeper) await resignAsKeeper(connection, prefix, token);
      await connection.command('HDEL', prefix + KEYS.openers, token);
    } catch (error) {
      // What cannot be returned now returns when the leases end.
      options.warn?.(`closing the queue in Redis at ${where}: ${(error as Error).message}`);
    }
  }

  async function dropAll(): Promise<void> {
    await giveBack();
    await dropStore(connection, { prefix, token, bootId });
  }

  async function end(lastWords: () => Promise<void>): Promise<void> {
    try {
      await keeper?.close();
      await lastWords();
    } finally {
      openTokens().delete(token);
      connection.close();
    }
  }

  try {
    await releaseDead(connection, { prefix, token, bootId, release });
    if (spill) await openSpill(spill);
  } catch (error) {
    openTokens().delete(token);
    throw error;
  }

  return {
    get commandsSent() {
      return connection.commandsSent;
    },
    setPacing: store.setPacing,
    keep: async () => void (await keeperByHand?.round()),
    pod: createPodOperations({
      ...{ run, connection, prefix, token, fingerprintOf, hold: store.hold },
      async requeue({ holder, call, entries, notes }) {
        checkOpen();
        checkCaller({ holder, call });
        checkEntries(entries);
        await store.again({ holder, call }, entries, notes);
      },
    }),
    async add(call) {
      checkOpen();
      checkCaller(call);
      checkEntries(call.entries);
      const letters = await store.add(call, call.entries.map(toFound), '');
      return Array.from(letters ?? '', (letter) => PRESENCES[letter]!);
    },
    async lease(call) {
      checkOpen();
      checkLeaseCall(call);
      store.hold(call.holder);
      if (performance.now() - checkedDeadMs >= DEAD_CHECK_MS) {
        checkedDeadMs = performance.now();
        await releaseDead(connection, { prefix, token, bootId, release });
      }
      const leases: Lease[] = [];
      const bulkSkips: Lease[] = [];
      for (let part = 0; ; part++) {
        const wanted = Math.min(MAX_LEASES_A_CALL, call.max - leases.length);
        const answer = await leasePart(call, part, wanted, BULK_SKIPS_PER_CALL - bulkSkips.length);
        const before = leases.length;
        for (const lease of answer.leases) ('bulkSkip' in lease ? bulkSkips : leases).push(lease);
        const isOver = leases.length - before < wanted || leases.length >= call.max;
        if (isOver) return { ...answer, leases: [...leases, ...bulkSkips] };
      }
    },
    async settle(call): Promise<SettleAnswer> {
      checkOpen();
      const checked = checkedSettleCall(call);
      const refused = { held: false, accepted: checked.settlements.map(() => false) };
      const links = checked.settlements.flatMap(({ lease, links: found = [] }) =>
        found.map((entry) => ({ entry, lease })),
      );
      if (links.length > 0) {
        const answer = await store.add(checked, links, 'links ');
        if (answer === undefined) return refused;
      }
      const [held, accepted] = (await run('settle', settleArguments(checked))) as [number, Buffer];
      if (held === 0) return refused;
      if (checked.notes) store.noted(checked.notes);
      return { held: true, accepted: Array.from(accepted, (digit) => digit === ONE) };
    },
    async release(holder, blame) {
      checkOpen();
      return release([holder], blame);
    },
    async find(fingerprints) {
      checkOpen();
      for (const fingerprint of fingerprints) checkFingerprint(fingerprint);
      return findAll(fingerprints, (list) => run('find', list));
    },
    async overview() {
      checkOpen();
      return overviewOf(await run('overview', []));
    },
    close: () => (closing ??= end(() => giveBack())),
    drop: () => (closing ??= end(dropAll)),
    abandon: () => (closing ??= end(async () => undefined)),
  };
}

const ONE = '1'.charCodeAt(0);
const toFound = (entry: QueueEntry) => ({ entry });

function settleArguments(call: SettleCall): Argument[] {
  const notes = Object.entries(call.notes ?? {}).flatMap(([name, text]) => [name, text === null ? '' : `=${text}`]);
  return [
    call.holder,
    call.call,
    'settle',
    packLandings(call.landings ?? []),
    packSettlements(call.settlements),
    ...notes,
  ];
}
