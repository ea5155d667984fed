// The frontier in Redis: the port over Lua scripts, shared by any number of processes and machines.
// Each script is one atomic step. A call of more requests than a script may take is made in parts, each remembered by
// its number; of a settle call the links come first, so nothing is acknowledged whose links are not queued.
import { randomBytes, randomUUID } from 'node:crypto';
import { CrawlError } from '../../errors.js';
import type { Fingerprint } from '../../request/fingerprint.js';
import type { Priority } from '../../request/request.js';
import { type FrontierClock, systemClock } from '../clock.js';
import {
  ANSWERS_KEPT,
  type Caller,
  type Counters,
  type Found,
  type Frontier,
  type HolderId,
  type Lease,
  type LeaseAnswer,
  type LeaseCall,
  type Overview,
  type Pacing,
  type Presence,
  type QueueEntry,
  type SettleAnswer,
  type SettleCall,
} from '../frontier.js';
import { identifyProcess, openTokens } from '../process-identity.js';
import {
  checkCaller,
  checkedLeaseMs,
  checkedPacing,
  checkedSettleCall,
  checkEntries,
  checkFingerprint,
  checkLeaseCall,
} from '../validation.js';
import { type Argument, type Connection, type ConnectionOptions, createConnection } from './connection.js';
import { DEFAULT_DOMAIN_HEAD, DEFAULT_OVERFLOW_LIMIT, type Keeper, type SpillOptions, startKeeper } from './keeper.js';
import { KEYS, REDIS_SCHEMA_VERSION } from './keys.js';
import { dropStore, finishDrop, isBeingDropped } from './dropping.js';
import { releaseDead, resignAsKeeper } from './openers.js';
import {
  domainKey,
  type EntryCall,
  fingerprintBytes,
  type FingerprintOfRecord,
  packEntryCalls,
  packLandings,
  packSettlements,
  unpackLease,
} from './packing.js';
import { createPodClock } from './pod-clock.js';
import { createRecentAdds } from './recent-adds.js';
import type { ScriptName } from './scripts.js';
import { seenNumbers, type SeenMemory, type SeenNumbers } from './seen-memory.js';
import { checkServer, pairs } from './start-checks.js';
import { checkIdentity, freshInfo, type PodIdentity } from './store-identity.js';

export interface RedisFrontierOptions extends ConnectionOptions {
  readonly pacing: Pacing;
  /** A holder silent for longer loses what it holds. Default 180,000. */
  readonly leaseMs?: number;
  /** Before every key; several frontiers may share a database. Default ''. */
  readonly prefix?: string;
  /** The pod this store belongs to; fixed when the store is made. */
  readonly pod?: PodIdentity;
  /** How seen requests are remembered. Default `{ kind: 'exact' }`. */
  readonly seen?: SeenMemory;
  /** How a record tells its own fingerprint: then 8 bytes less are stored a queued request. */
  readonly fingerprintOf?: FingerprintOfRecord;
  /** False: a store that is not there is refused as emptied instead of made. Default true. */
  readonly create?: boolean;
  /** Time for tests and simulations; by default the server's clock, bounded by this process's monotonic one. */
  readonly clock?: FrontierClock;
  /** Long domains keep their tail on disk. Every process of a pod names the same folder, or none does. */
  readonly spill?: SpillOptions;
  readonly warn?: (message: string) => void;
  /** The server came back and had forgotten at least so many calls that it had answered. */
  readonly onForgotten?: (calls: number) => void;
}

export interface RedisFrontier extends Frontier {
  /** Commands sent to the server so far, a script call counting as one: a metric. */
  readonly commandsSent: number;
  /** From the next call on, domains without a delay of their own are paced like this. */
  setPacing(pacing: Pacing): void;
  /** Closes the frontier and removes everything of it; refused with `QUEUE_IN_USE` while another process has it open. */
  drop(): Promise<void>;
  /** Ends as `kill -9` would: nothing is given back. For tests. */
  abandon(): Promise<void>;
}

const DEAD_CHECK_MS = 1_000;
const RIDERS_PER_CALL = 512;
/** One script call stays under 5 ms: a lease takes the server about 17 µs. */
const MAX_LEASES_A_CALL = 256;
const MAX_FINDS_A_CALL = 1_000;
type SkimmingCall = LeaseCall & { readonly skim?: readonly string[] };
const PRESENCES: Readonly<Record<string, Presence>> = { n: 'new', p: 'pending', e: 'ended' };
const STATES: Readonly<Record<string, Found['state']>> = {
  Q: 'queued',
  R: 'retrying',
  D: 'done',
  F: 'failed',
  S: 'skipped',
};

/**
 * Opens the frontier in a Redis, made when it is empty.
 *
 * Rejects with `QUEUE_UNREACHABLE`, `QUEUE_UNSUITABLE` (version, cluster, eviction, password), `QUEUE_FOREIGN` (another
 * pod's store), `QUEUE_VERSION`, or `QUEUE_EMPTIED` when `create` is false and there is none.
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
    return await openStore(connection, options, numbers);
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function openStore(
  connection: Connection,
  options: RedisFrontierOptions,
  seen: SeenNumbers,
): Promise<RedisFrontier> {
  const { prefix = '', fingerprintOf } = options;
  const { where } = connection;
  const bootId = (options.clock ?? systemClock).bootId;
  const token = randomUUID();
  const leaseMs = checkedLeaseMs(options.leaseMs);
  const clock = createPodClock(options.clock);
  // Requests that can be found are found by their fingerprint, so it is stored with them.
  const withFingerprint = seen.letter === 'r' || fingerprintOf === undefined;
  const recentAdds = createRecentAdds();
  const holders = new Set<HolderId>();
  const { spill } = options;
  const domainHead = spill ? (spill.domainHead ?? DEFAULT_DOMAIN_HEAD) : 0;
  const overflowLimit = spill?.overflowLimit ?? DEFAULT_OVERFLOW_LIMIT;
  let keeper: Keeper | undefined;
  let pacing = checkedPacing(options.pacing);
  let storeId: Buffer = randomBytes(8);
  let lastSeq = 0;
  let restores = 0;
  let checkedDeadMs = performance.now();
  let closing: Promise<void> | undefined;

  function frame(): { bytes: Buffer; sentMs: number } {
    const { lowerMs, upperMs, wallMs, sentMs } = clock.bounds();
    const bytes = Buffer.allocUnsafe(97);
    [lowerMs, upperMs, wallMs, leaseMs, pacing.delayMs].forEach((value, i) => bytes.writeDoubleLE(value, i * 8));
    bytes.writeUInt32LE(pacing.turns, 40);
    bytes.writeUInt32LE(ANSWERS_KEPT, 44);
    storeId.copy(bytes, 48);
    bytes.writeDoubleLE(domainHead, 56);
    bytes.writeDoubleLE(overflowLimit, 64);
    bytes.write(seen.letter, 72, 'latin1');
    [seen.a, seen.b, seen.c].forEach((value, i) => bytes.writeDoubleLE(value, 73 + i * 8));
    return { bytes, sentMs };
  }

  /** Runs a script and takes note of pod time and sequence number, with which every answer begins. */
  async function run(name: ScriptName, args: readonly Argument[], by = connection.run): Promise<unknown[]> {
    const { bytes, sentMs } = frame();
    const answer = (await by(name, [prefix, bytes, ...args])) as unknown[];
    clock.heard(answer[0] as number, sentMs);
    lastSeq = Math.max(lastSeq, answer[1] as number);
    return answer.slice(2);
  }

  async function open(): Promise<void> {
    const identity = { where, pod: options.pod, memory: seen.text };
    const process = JSON.stringify(identifyProcess(bootId, token));
    const info = Object.entries(freshInfo(identity)).flat();
    openTokens().add(token);
    const create = options.create === false ? '0' : '1';
    const ask = () => run('open', [create, REDIS_SCHEMA_VERSION, token, process, ...info]);
    let answer = await ask();
    if (isBeingDropped(answer[0])) {
      await finishDrop(connection, prefix);
      answer = await ask();
    }
    const [id, schema, stored, known = 0] = answer as [Buffer, Buffer, unknown[], number?];
    if (schema.length > 0) checkIdentity(identity, String(schema), pairs(stored));
    if (id.length === 0) throw emptied(where);
    storeId = id;
    restores = known;
  }

  /** After a reconnect: nothing the server had confirmed may be missing unnoticed. */
  async function comeBack(by: Connection['run']): Promise<void> {
    const [forgotten, now] = (await run('recover', [lastSeq, pacing.delayMs, restores], by)) as [number, number];
    restores = now;
    if (forgotten === 0) return;
    options.warn?.(
      `Redis at ${where} came back without ${forgotten} or more of its last calls; recent adds are repeated`,
    );
    options.onForgotten?.(forgotten);
    const holder = `replay-${token}`;
    let call = 0;
    for (const add of recentAdds.all()) await run('add', addArguments({ holder, call: call++ }, 0, add, false), by);
  }

  function addArguments(caller: Caller, part: number | string, call: EntryCall, withLeases = true): Argument[] {
    const leases = withLeases ? call.leases : '';
    return [caller.holder, caller.call, String(part), leases, call.entries, ...call.domains];
  }

  /** Adds entries in as many parts as they need; undefined when the holder was lost and they were found in its visits. */
  async function addAll(caller: Caller, calls: readonly EntryCall[], name: string): Promise<string | undefined> {
    let letters = '';
    for (const [part, call] of calls.entries()) {
      const [held, answer] = (await run('add', addArguments(caller, name + part, call))) as [number, Buffer];
      if (held === 0) return undefined;
      recentAdds.keep(call);
      letters += answer.toString('latin1');
    }
    return letters;
  }

  async function leasePart(call: SkimmingCall, part: number, max: number, riders: number): Promise<LeaseAnswer> {
    const skim = [...new Set(call.skim ?? [])].map(domainKey);
    const limit = call.maxEnded ?? Number.POSITIVE_INFINITY;
    const limitText = Number.isFinite(limit) ? String(limit) : limit > 0 ? 'inf' : '-inf';
    const answer = await run('lease', [call.holder, call.call, String(part), max, limitText, token, riders, ...skim]);
    const [held, state, nextDueMs, first, rows] = answer as [number, Buffer, number, number, Buffer[]];
    if (held === 0) throw lost(call.holder);
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

  const release = async (list: readonly HolderId[]): Promise<number> =>
    ((await run('release', ['lost', ...list])) as [number])[0];

  function checkOpen(): void {
    if (closing) throw new CrawlError('QUEUE_CLOSED', `the queue in Redis at ${where} has been closed`);
  }

  async function giveBack(): Promise<void> {
    try {
      if (holders.size > 0) await run('release', ['untouched', ...holders]);
      if (keeper) await resignAsKeeper(connection, prefix, token);
      await connection.command('HDEL', prefix + KEYS.openers, token);
    } catch (error) {
      // What cannot be given back now comes back when the leases end.
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
    await open();
    connection.onReturn(comeBack);
    await releaseDead(connection, { prefix, token, bootId, release });
    if (spill) {
      const { openSpillStore } = await import('./spill-lmdb.js');
      const openStore = () => openSpillStore(spill.folder);
      keeper = startKeeper({ token, domainHead, openStore, run, warn: options.warn });
    }
  } catch (error) {
    openTokens().delete(token);
    throw error;
  }

  return {
    get commandsSent() {
      return connection.commandsSent;
    },
    setPacing: (next) => void (pacing = checkedPacing(next)),
    async add(call) {
      checkOpen();
      checkCaller(call);
      checkEntries(call.entries);
      const letters = await addAll(call, packEntryCalls(call.entries.map(toFound), withFingerprint, seen.letter), '');
      return Array.from(letters ?? '', (letter) => PRESENCES[letter]!);
    },
    async lease(call) {
      checkOpen();
      checkLeaseCall(call);
      holders.add(call.holder);
      if (performance.now() - checkedDeadMs >= DEAD_CHECK_MS) {
        checkedDeadMs = performance.now();
        await releaseDead(connection, { prefix, token, bootId, release });
      }
      const leases: Lease[] = [];
      const riders: Lease[] = [];
      for (let part = 0; ; part++) {
        const wanted = Math.min(MAX_LEASES_A_CALL, call.max - leases.length);
        const answer = await leasePart(call, part, wanted, RIDERS_PER_CALL - riders.length);
        const before = leases.length;
        for (const lease of answer.leases) ('rider' in lease ? riders : leases).push(lease);
        const isOver = leases.length - before < wanted || leases.length >= call.max;
        if (isOver) return { ...answer, leases: [...leases, ...riders] };
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
        const answer = await addAll(checked, packEntryCalls(links, withFingerprint, seen.letter), 'links ');
        if (answer === undefined) return refused;
      }
      const [held, accepted] = (await run('settle', settleArguments(checked))) as [number, Buffer];
      return held === 0 ? refused : { held: true, accepted: Array.from(accepted, (digit) => digit === ONE) };
    },
    async release(holder) {
      checkOpen();
      return release([holder]);
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

async function findAll(
  fingerprints: readonly Fingerprint[],
  ask: (list: Buffer[]) => Promise<unknown[]>,
): Promise<(Found | undefined)[]> {
  const found: (Found | undefined)[] = [];
  for (let from = 0; from < fingerprints.length; from += MAX_FINDS_A_CALL) {
    const list = fingerprints.slice(from, from + MAX_FINDS_A_CALL).map(fingerprintBytes);
    const [rows, leased] = (await ask(list)) as [(Buffer | null)[], Buffer[]];
    const isLeased = new Set(leased.map((bytes) => bytes.toString('latin1')));
    rows.forEach((row, i) => found.push(row ? foundIn(row, isLeased.has(list[i]!.toString('latin1'))) : undefined));
  }
  return found;
}

/** A row of `r`: state, priority, length of the reason, reason, record. Empty where only the fingerprint is kept. */
function foundIn(row: Buffer, isLeased: boolean): Found {
  if (row.length === 0) return { state: 'known', record: '', priority: 0 };
  const stored = STATES[String.fromCharCode(row[0]!)]!;
  const recordAt = 4 + row.readUInt16LE(2);
  const state = isLeased && stored === 'queued' ? 'leased' : stored;
  const found = { state, record: row.toString('utf8', recordAt), priority: (row[1]! - 2) as Priority };
  return state === 'failed' || state === 'skipped' ? { ...found, reason: row.toString('utf8', 4, recordAt) } : found;
}

function overviewOf(answer: unknown[]): Overview {
  const [counts, flat] = answer as [number[], Buffer[]];
  const [accepted, queued, retrying, leased, done, failed, skipped] = counts as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const counters: Counters = { accepted, queued, retrying, leased, done, failed, skipped };
  const notes: Record<string, string> = {};
  for (const [key, value] of pairs(flat)) {
    // A key such as __proto__ shall be a key.
    Object.defineProperty(notes, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return { counters, notes };
}

function emptied(where: string): CrawlError {
  return new CrawlError('QUEUE_EMPTIED', `Redis at ${where} holds no queue: it was emptied, or never filled`);
}

function lost(holder: HolderId): CrawlError {
  return new CrawlError('LEASE_LOST', `holder ${holder} was lost and its leases are taken: begin a new life`);
}
