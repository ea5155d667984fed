// One opened store: every script call with its frame, the store's identity, and what happens when the server returns.
// Promise: a loss of confirmed data never goes unnoticed; a store that was emptied is never refilled.
import { randomBytes, randomUUID } from 'node:crypto';
import { CrawlError } from '../../errors.js';
import { systemClock } from '../embedded/clock.js';
import { ANSWERS_KEPT, type Caller, type HolderId, type Pacing, type QueueEntry } from '../frontier.js';
import { identifyProcess, openTokens } from '../process-identity.js';
import { checkedLeaseMs, checkedPacing } from '../validation.js';
import type { Argument, Connection } from './server/connection.js';
import { finishDrop, isBeingDropped } from './dropping.js';
import type { RedisFrontierOptions } from './frontier.js';
import { DEFAULT_DOMAIN_HEAD, DEFAULT_OVERFLOW_LIMIT } from './spill/keeper.js';
import { REDIS_SCHEMA_VERSION } from './keys.js';
import { type EntryCall, type FoundEntry, packEntryCalls, packNote } from './packing.js';
import { createPodClock } from './pod-clock.js';
import { createRecentAdds } from './recent-adds.js';
import { createRecentNotes } from './recent-notes.js';
import type { ScriptName } from './scripts.js';
import type { SeenNumbers } from './seen-memory.js';
import { pairs } from './server/start-checks.js';
import { checkIdentity, freshInfo } from './store-identity.js';

export interface Store {
  /** Unique among all openings of all processes. */
  readonly token: string;
  readonly bootId: string;
  /** Created with the store: a replacement store has another. */
  readonly id: Buffer;
  /** Requests per domain in Redis; 0 for all. */
  readonly domainHead: number;
  /** Runs a script; its answer without pod time and sequence number, which are recorded here. */
  run(name: ScriptName, args: readonly Argument[]): Promise<unknown[]>;
  /**
   * Adds entries in as many parts as needed; returns one letter each, or undefined if the holder was lost and they
   * were found in its visits. `name` distinguishes the parts of one call.
   */
  add(caller: Caller, found: readonly FoundEntry[], name: string): Promise<string | undefined>;
  /** A holder is about to take requests. `isForWork` false: only to return them. */
  hold(holder: HolderId, isForWork?: boolean): void;
  /** The holders that were held. */
  readonly lives: ReadonlySet<HolderId>;
  /** Notes that the server has confirmed. */
  noted(notes: Readonly<Record<string, string | null>>): void;
  /** Queues failed requests again and makes notes true, in one call. */
  again(caller: Caller, entries: readonly QueueEntry[], notes: Readonly<Record<string, string>>): Promise<void>;
  setPacing(pacing: Pacing): void;
}

export async function openStore(
  connection: Connection,
  options: RedisFrontierOptions,
  seen: SeenNumbers,
): Promise<Store> {
  const { prefix = '', spill } = options;
  const { where } = connection;
  const bootId = (options.clock ?? systemClock).bootId;
  const token = randomUUID();
  const ownProcess = JSON.stringify(identifyProcess(bootId, token));
  const leaseMs = checkedLeaseMs(options.leaseMs);
  const clock = createPodClock(options.clock);
  // `find` needs the fingerprint, so it is stored with the request.
  const withFingerprint = seen.letter === 'r' || options.fingerprintOf === undefined;
  const recentAdds = createRecentAdds();
  const recentNotes = createRecentNotes();
  /** Holders that took requests through this opening. */
  const lives = new Set<HolderId>();
  let hasLeased = false;
  const domainHead = spill ? (spill.domainHead ?? DEFAULT_DOMAIN_HEAD) : 0;
  const overflowLimit = spill?.overflowLimit ?? DEFAULT_OVERFLOW_LIMIT;
  let pacing = checkedPacing(options.pacing);
  let storeId: Buffer = randomBytes(8);
  let lastSeq = 0;
  let lastCallId = 0;
  /** The number of the server's last beginning that this process knows. */
  let began = 0;

  /** The arguments of every script: lua/part-frame.lua. */
  function frame(): { bytes: Buffer; sentMs: number; callId: number } {
    const { passedMs, heardSeq, upperMs, wallMs, sentMs } = clock.bounds();
    const bytes = Buffer.allocUnsafe(117);
    lastCallId = (lastCallId + 1) >>> 0;
    [passedMs, upperMs, wallMs, leaseMs, pacing.delayMs].forEach((value, i) => bytes.writeDoubleLE(value, i * 8));
    bytes.writeUInt32LE(pacing.turns, 40);
    bytes.writeUInt32LE(ANSWERS_KEPT, 44);
    storeId.copy(bytes, 48);
    bytes.writeDoubleLE(domainHead, 56);
    bytes.writeDoubleLE(overflowLimit, 64);
    bytes.write(seen.letter, 72, 'latin1');
    [seen.a, seen.b, seen.c].forEach((value, i) => bytes.writeDoubleLE(value, 73 + i * 8));
    bytes.writeDoubleLE(options.domainBudget ?? 0, 97);
    bytes.writeDoubleLE(heardSeq, 105);
    bytes.writeUInt32LE(lastCallId, 113);
    return { bytes, sentMs, callId: lastCallId };
  }

  async function run(name: ScriptName, args: readonly Argument[], by = connection.run): Promise<unknown[]> {
    const { bytes, sentMs, callId } = frame();
    const [, podMs, seq, ...answer] = (await by(name, [prefix, bytes, ...args], callId)) as [number, number, number];
    clock.heard(podMs, sentMs, seq);
    lastSeq = Math.max(lastSeq, seq);
    return answer;
  }

  async function open(): Promise<void> {
    const identity = { where, pod: options.pod, memory: seen.text };
    const info = Object.entries(freshInfo(identity)).flat();
    const create = options.create === false ? '0' : '1';
    // Registering prevents a store from being dropped: a store that is not ours is only read.
    const { bytes, callId } = frame();
    const look = await connection.run('open', [prefix, bytes, '0', REDIS_SCHEMA_VERSION, '', ''], callId);
    const [found, version, facts] = (look as unknown[]).slice(3) as [Buffer, Buffer, unknown[]];
    if (version.length > 0 && !isBeingDropped(found)) checkIdentity(identity, String(version), pairs(facts));
    const ask = () => run('open', [create, REDIS_SCHEMA_VERSION, token, ownProcess, ...info]);
    let answer = await ask();
    if (isBeingDropped(answer[0])) {
      await finishDrop(connection, prefix);
      answer = await ask();
    }
    const [id, schema, stored, known = 0] = answer as [Buffer, Buffer, unknown[], number?];
    if (schema.length > 0) checkIdentity(identity, String(schema), pairs(stored));
    if (id.length === 0) {
      throw new CrawlError('QUEUE_EMPTIED', `Redis at ${where} has no queue: it was emptied, or never filled`);
    }
    storeId = id;
    began = known;
  }

  /**
   * After a reconnect, before any other call. This process's recent adds are repeated. If it leased, it must end like a
   * crash: it has settled what the server holds as leased, and written what is not acknowledged.
   */
  async function comeBack(by: Connection['run']): Promise<void> {
    clock.forgetCalls();
    const known = [lastSeq, pacing.delayMs, began, token, ownProcess, ...recentNotes.all()];
    const [forgotten, now] = (await run('recover', known, by)) as [number, number];
    if (forgotten > 0) await makeUpFor(forgotten, by);
    began = now;
  }

  async function makeUpFor(forgotten: number, by: Connection['run']): Promise<void> {
    const what = `Redis at ${where} came back without ${forgotten} or more of its last calls`;
    const keptSecs = Math.floor(recentAdds.completeMs / 1_000);
    options.warn?.(`${what}; what was added in the last ${keptSecs} seconds is added again`);
    const holder = `replay-${randomUUID()}`;
    let call = 0;
    try {
      for (const add of recentAdds.all()) await run('add', addArguments({ holder, call: call++ }, '', add), by);
    } catch (error) {
      if (!(error instanceof CrawlError) || error.code !== 'QUEUE_FULL') throw error;
      options.warn?.(`not all recent adds could be repeated: ${error.message}`);
    }
    if (lives.size > 0) await run('release', ['over', '', '', ...lives], by);
    options.onForgotten?.(forgotten);
    if (!hasLeased) return;
    throw new CrawlError(
      'QUEUE_ROLLED_BACK',
      `${what}: what this process did since is undone. Run again to continue: it is crawled again, and stored once`,
    );
  }

  function addArguments(caller: Caller, part: string, call: EntryCall): Argument[] {
    return [caller.holder, caller.call, part, call.leases, call.entries, ...call.domains];
  }

  openTokens().add(token);
  try {
    await open();
  } catch (error) {
    openTokens().delete(token);
    throw error;
  }
  connection.onReturn(comeBack);

  return {
    token,
    bootId,
    get id() {
      return storeId;
    },
    domainHead,
    run: (name, args) => run(name, args),
    async add(caller, found, name) {
      const { calls, order } = packEntryCalls(found, withFingerprint, seen.letter);
      let letters = '';
      for (const [part, call] of calls.entries()) {
        const [held, answer] = (await run('add', addArguments(caller, name + part, call))) as [number, Buffer];
        if (held === 0) return undefined;
        recentAdds.keep(call);
        letters += answer.toString('latin1');
      }
      if (!order) return letters;
      const asAsked: string[] = new Array<string>(letters.length);
      order.forEach((index, i) => (asAsked[index] = letters[i]!));
      return asAsked.join('');
    },
    hold(holder, isForWork = true) {
      lives.add(holder);
      hasLeased ||= isForWork;
    },
    noted: (notes) => recentNotes.keep(notes),
    async again(caller, entries, notes) {
      const { calls } = packEntryCalls(
        entries.map((entry) => ({ entry })),
        withFingerprint,
        seen.letter,
      );
      if (calls.length > 1) throw new RangeError('too many requests for one call');
      const made = Buffer.concat([Buffer.from('again'), ...Object.entries(notes).flatMap(packNote)]);
      for (const call of calls) await run('add', addArguments(caller, 'again', { ...call, leases: made }));
      recentNotes.keep(notes);
    },
    lives,
    setPacing: (next) => void (pacing = checkedPacing(next)),
  };
}
