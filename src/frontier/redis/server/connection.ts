// The connection to the Redis that has the data: commands and scripts with bounded waits, reconnects, our error codes.
// Promise: a call resolves, or rejects within its patience and one silence; a silent connection is replaced by a
// new one. A call may reach the server more than once, which call numbers make harmless.
import { CrawlError } from '../../../errors.js';
import { parseUrl } from '../../../request/url.js';
import { type ScriptName, scriptOf } from '../scripts.js';
import { ADDRESS_FORMS, parseAddress, type RedisAddress, withoutPassword } from './address.js';
import { createClient, keepAliveWhile } from './client.js';
import { createConfirmation } from './confirmation.js';
import { slotOf } from './slots.js';
import { isElsewhere, isReply, translated, unreachable } from './translate.js';

export type Argument = string | number | Buffer;

export interface ConnectionOptions {
  /** Of a server, a socket, Sentinels or a cluster (address.ts). */
  readonly url: string;
  /** Begins every key that is used. In a cluster its braces decide which server has them. */
  readonly prefix?: string;
  /** A write is answered only when so many replicas have it. Default 0. */
  readonly replicas?: number;
  readonly connectTimeoutMs?: number;
  /** The longest silence while waiting for an answer: then the connection is replaced. See `silenceLimitMs`. */
  readonly commandTimeoutMs?: number;
  /** How long the server keeps this process's leases without a call. */
  readonly leaseMs?: number;
  /** Probes a silent connection, so that a dead one is noticed. Default true. */
  readonly keepAlive?: boolean;
  /** How long a call waits for an unreachable server, over all its attempts. */
  readonly patienceMs?: number;
}

export interface Connection {
  /** The address without its password. */
  readonly where: string;
  readonly kind: RedisAddress['kind'];
  readonly replicas: number;
  /**
   * Keys that every script names, in a cluster: one that exists and one that never does. While the slot is on its way
   * to another server, which has some of the keys, a script that names both is refused before it begins.
   */
  readonly slotKeys: readonly string[];
  /** Commands sent so far; a script call counts as one: a metric. */
  readonly commandsSent: number;
  connect(): Promise<void>;
  /** Replies are Buffers, numbers, null and arrays of them. */
  command(...parts: [string, ...Argument[]]): Promise<unknown>;
  /** The answer to a script begins with the `callId` that its arguments carry. */
  run(script: ScriptName, args: readonly Argument[], callId: number): Promise<unknown>;
  /** Called after a reconnect, before any other call. */
  onReturn(check: (run: Connection['run']) => Promise<void>): void;
  close(): void;
}

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_COMMAND_TIMEOUT_MS = 10_000;
const DEFAULT_PATIENCE_MS = 30_000;
/** A lease is renewed after a third of its time: three silences later, 5/6 of it are over. */
const SILENCES_PER_LEASE = 6;
/** A lower bound: a busy machine may answer late. */
const SHORTEST_LIMIT_MS = 1_000;

/**
 * How long a connection may be silent while an answer is due. Never longer than a call waits, and short enough that a
 * lease survives three silent connections in a row.
 */
export function silenceLimitMs(
  options: Pick<ConnectionOptions, 'commandTimeoutMs' | 'leaseMs' | 'patienceMs'>,
): number {
  const {
    commandTimeoutMs = DEFAULT_COMMAND_TIMEOUT_MS,
    leaseMs = Infinity,
    patienceMs = DEFAULT_PATIENCE_MS,
  } = options;
  const byLease = Math.max(SHORTEST_LIMIT_MS, leaseMs / SILENCES_PER_LEASE);
  return Math.min(commandTimeoutMs, byLease, patienceMs);
}

export function createConnection(options: ConnectionOptions): Connection {
  const { patienceMs = DEFAULT_PATIENCE_MS, prefix = '', replicas = 0 } = options;
  const connectTimeoutMs = options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  const silenceMs = silenceLimitMs(options);
  const address = parseAddress(options.url);
  if (!address) {
    // A text that is no URL may be a password: not shown.
    const shown = parseUrl(options.url) ? ` ${withoutPassword(options.url)}` : '';
    throw new CrawlError('OPTION_INVALID', `invalid Redis address${shown}: use ${ADDRESS_FORMS}`);
  }
  const { kind, where } = address;
  const canMove = kind !== 'server';
  const slotKeys = kind === 'cluster' ? [`${prefix}state`, `${prefix}none`] : [];
  const keepAlive = options.keepAlive !== false;
  const redis = createClient(address, { connectTimeoutMs, silenceMs, keepAlive, slot: slotOf(prefix) });
  const confirmation = createConfirmation(redis, { where, replicas, silenceMs });
  const liveness = keepAliveWhile(redis);
  let isClosed = false;
  let commandsSent = 0;
  let failure: CrawlError | undefined;
  let afterReturn: ((run: Connection['run']) => Promise<void>) | undefined;
  let lastError: Error | undefined;
  // Callers waiting for the connection; notified at once when it is ready or has failed.
  let usable = false;
  const waiting = new Set<() => void>();

  function tell(): void {
    for (const resume of waiting) resume();
    waiting.clear();
  }

  redis.on('error', (error: Error) => (lastError = error));
  redis.on('close', () => {
    usable = false;
    confirmation.forget();
  });
  redis.on('end', tell);
  let isFirst = true;
  redis.on('ready', () => {
    void liveness.during(async () => {
      try {
        // Not confirmed by replicas: the calls that follow on this connection are, and these with them.
        if (!isFirst) await afterReturn?.(sendScript);
        isFirst = false;
        usable = redis.status === 'ready';
      } catch (error) {
        if (error instanceof CrawlError && error.class === 'fatal') failure = error;
        // Anything else: the connection is lost again, and returns or the callers' patience ends.
        else redis.disconnect(true);
      }
      tell();
    });
  });

  async function sendScript(name: ScriptName, args: readonly Argument[], callId: number): Promise<unknown> {
    const answer = await evaluate(name, args);
    if (Array.isArray(answer) && answer[0] === callId) return answer;
    // A reply was lost or came twice on the way, so that each call would get its neighbour's: over a new connection
    // every call that waits here is made again.
    redis.disconnect(true);
    throw unreachable(where, new Error('replies came out of step'));
  }

  async function evaluate(name: ScriptName, args: readonly Argument[]): Promise<unknown> {
    const { sha, source } = scriptOf(name);
    commandsSent++;
    try {
      return await redis.callBuffer('EVALSHA', [sha, slotKeys.length, ...slotKeys, ...args] as Argument[]);
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw translated(error, where, canMove);
      commandsSent++;
      return redis
        .callBuffer('EVAL', [source, slotKeys.length, ...slotKeys, ...args] as Argument[])
        .catch((again: unknown) => {
          throw translated(again, where, canMove);
        });
    }
  }

  function untilUsable(deadlineMs: number): Promise<void> {
    if (usable || failure || isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, deadlineMs - performance.now()));
      waiting.add(done);
    });
  }

  const patiently = <T>(send: () => Promise<T>): Promise<T> => liveness.during(() => untilAnswered(send));

  async function untilAnswered<T>(send: () => Promise<T>): Promise<T> {
    let deadlineMs = performance.now() + patienceMs;
    let hasExtraTime = true;
    for (;;) {
      await untilUsable(deadlineMs);
      if (failure) throw failure;
      if (isClosed) throw new CrawlError('QUEUE_CLOSED', `the connection to Redis at ${where} has been closed`);
      if (!usable) throw unreachable(where, lastError);
      try {
        return await send();
      } catch (error) {
        const known = translated(error, where, canMove);
        if (canMove && isElsewhere(known.cause)) {
          usable = false;
          redis.disconnect(true);
        }
        // A full overflow empties by itself; full memory does not.
        const mayPass = known.code === 'QUEUE_UNREACHABLE' || /\bOVERFLOW\b/.test((known.cause as Error).message);
        if (!mayPass || isClosed) throw known;
        if (performance.now() >= deadlineMs) {
          // The connection used up the patience, not the server: on a new one the call gets an answer.
          if (isReply(known.cause) || !hasExtraTime) throw known;
          hasExtraTime = false;
          deadlineMs = performance.now() + silenceMs;
        }
        // A server that is loading or busy refuses at once: do not retry in a tight loop.
        await new Promise((resume) => setTimeout(resume, BUSY_PAUSE_MS));
      }
    }
  }

  return {
    where,
    kind,
    replicas,
    slotKeys,
    get commandsSent() {
      return commandsSent;
    },
    connect: () =>
      liveness.during(async () => {
        const deadlineMs = performance.now() + connectTimeoutMs;
        try {
          await redis.connect().catch((error: unknown) => {
            // A new master may be elected just now; the client goes on trying.
            if (!canMove || isReply(lastError)) throw error;
          });
          await untilUsable(deadlineMs);
          if (canMove && !usable && !failure) throw new Error('no server answers as the master');
        } catch (error) {
          redis.disconnect();
          throw translated(lastError ?? error, where, canMove);
        }
      }),
    command: (...parts) =>
      patiently(async () => {
        commandsSent++;
        const answer: unknown = await redis.callBuffer(parts[0], parts.slice(1) as Argument[]);
        if (WRITES.has(parts[0])) await confirmation.confirmed();
        return answer;
      }),
    run: (name, args, callId) =>
      patiently(async () => {
        const answer = await sendScript(name, args, callId);
        // Also where little was written: every answer has a number by which a client judges what the server forgot.
        await confirmation.confirmed();
        return answer;
      }),
    onReturn: (check) => void (afterReturn = check),
    close() {
      isClosed = true;
      redis.disconnect();
      tell();
    },
  };
}

const BUSY_PAUSE_MS = 50;
const WRITES: ReadonlySet<string> = new Set(['SET', 'DEL', 'UNLINK', 'HSET', 'HSETNX', 'HDEL']);
