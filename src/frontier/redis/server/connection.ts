// The way to one Redis server: commands and scripts with a bounded wait, through reconnects, and errors with our names.
// Promise: a call resolves, or rejects within its patience and one silence; a connection that falls silent is left for a
// new one. A call may reach the server more than once, which the numbers of calls make harmless. An idle connection does
// not keep the process alive.
import { createRequire } from 'node:module';
import type { Redis } from 'ioredis';
import { CrawlError } from '../../../errors.js';
import { type ScriptName, scriptOf } from '../scripts.js';

export type Argument = string | number | Buffer;

export interface ConnectionOptions {
  readonly url: string;
  readonly db?: number;
  readonly password?: string;
  readonly connectTimeoutMs?: number;
  /** The longest silence while an answer is due: then the connection is left for a new one. See `silenceLimitMs`. */
  readonly commandTimeoutMs?: number;
  /** How long the server keeps what this process holds without hearing of it. */
  readonly leaseMs?: number;
  /** Probes a connection that is silent, so that a dead one is noticed. Default true. */
  readonly keepAlive?: boolean;
  /** How long a call waits for a server that is away, over all its attempts. */
  readonly patienceMs?: number;
}

export interface Connection {
  /** The address without its password. */
  readonly where: string;
  /** Commands sent so far, a script call counting as one: a metric. */
  readonly commandsSent: number;
  connect(): Promise<void>;
  /** Replies are Buffers, numbers, null and arrays of them. */
  command(...parts: [string, ...Argument[]]): Promise<unknown>;
  /** The answer to a script begins with the `callId` that its arguments carry. */
  run(script: ScriptName, args: readonly Argument[], callId: number): Promise<unknown>;
  /** Called after a lost connection is there again, before any other call is made on it. */
  onReturn(check: (run: Connection['run']) => Promise<void>): void;
  close(): void;
}

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_COMMAND_TIMEOUT_MS = 10_000;
const DEFAULT_PATIENCE_MS = 30_000;
const MAX_RECONNECT_PAUSE_MS = 1_000;
/** A lease is renewed when a third of it is over: three silences later, 5/6 of it are. */
const SILENCES_PER_LEASE = 6;
/** A busy machine answers later than a short lease would have it. */
const SHORTEST_LIMIT_MS = 1_000;

/**
 * How long a connection may be silent while an answer is due. Never longer than a call waits, and so short that a lease
 * outlives three silent connections in a row.
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
  const { patienceMs = DEFAULT_PATIENCE_MS } = options;
  const where = withoutPassword(options.url);
  const silenceMs = silenceLimitMs(options);
  const redis = createClient(options, silenceMs);
  const liveness = keepAliveWhile(redis);
  let isClosed = false;
  let commandsSent = 0;
  let failure: CrawlError | undefined;
  let afterReturn: ((run: Connection['run']) => Promise<void>) | undefined;
  let lastError: Error | undefined;
  // Whoever waits for the connection; told at once when it is usable or will never be.
  let usable = false;
  const waiting = new Set<() => void>();

  function tell(): void {
    for (const resume of waiting) resume();
    waiting.clear();
  }

  redis.on('error', (error: Error) => (lastError = error));
  redis.on('close', () => (usable = false));
  redis.on('end', tell);
  let isFirst = true;
  redis.on('ready', () => {
    void liveness.during(async () => {
      try {
        if (!isFirst) await afterReturn?.(sendScript);
        isFirst = false;
        usable = redis.status === 'ready';
      } catch (error) {
        if (error instanceof CrawlError && error.class === 'fatal') failure = error;
        // Anything else: the connection is lost again, and comes back or the callers' patience ends.
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
      return await redis.callBuffer('EVALSHA', [sha, 0, ...args] as Argument[]);
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw translated(error, where);
      commandsSent++;
      return redis.callBuffer('EVAL', [source, 0, ...args] as Argument[]).catch((again: unknown) => {
        throw translated(again, where);
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
        const known = translated(error, where);
        // A full overflow empties by itself; full memory does not.
        const mayPass = known.code === 'QUEUE_UNREACHABLE' || /\bOVERFLOW\b/.test((known.cause as Error).message);
        if (!mayPass || isClosed) throw known;
        if (performance.now() >= deadlineMs) {
          // The connection used up the patience, and not the server: over a new one the call gets an answer.
          if (isReply(known.cause) || !hasExtraTime) throw known;
          hasExtraTime = false;
          deadlineMs = performance.now() + silenceMs;
        }
        // A server that loads its data or is busy refuses at once: do not ask it in a tight loop.
        await new Promise((resume) => setTimeout(resume, BUSY_PAUSE_MS));
      }
    }
  }

  return {
    where,
    get commandsSent() {
      return commandsSent;
    },
    connect: () =>
      liveness.during(async () => {
        try {
          await redis.connect();
          await untilUsable(performance.now() + (options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS));
        } catch (error) {
          redis.disconnect();
          throw translated(lastError ?? error, where);
        }
      }),
    command: (...parts) =>
      patiently(() => {
        commandsSent++;
        return redis.callBuffer(parts[0], parts.slice(1) as Argument[]);
      }),
    run: (name, args, callId) => patiently(() => sendScript(name, args, callId)),
    onReturn: (check) => void (afterReturn = check),
    close() {
      isClosed = true;
      redis.disconnect();
      tell();
    },
  };
}

const BUSY_PAUSE_MS = 50;
const KEEP_ALIVE_MS = 30_000;

/** While nothing is asked, neither the connection nor the wait for a new one keeps the process alive. */
function keepAliveWhile(redis: Redis): { during<T>(work: () => Promise<T>): Promise<T> } {
  let working = 0;
  const follow = (): void => {
    // Both are missing while there is no connection, or one.
    const { stream, reconnectTimeout } = redis as unknown as {
      stream?: import('node:net').Socket;
      reconnectTimeout?: NodeJS.Timeout | null;
    };
    for (const holding of [stream, reconnectTimeout]) {
      if (working > 0) holding?.ref();
      else holding?.unref();
    }
  };
  redis.on('connect', follow);
  redis.on('reconnecting', follow);
  return {
    async during(work) {
      if (working++ === 0) follow();
      try {
        return await work();
      } finally {
        if (--working === 0) follow();
      }
    },
  };
}

function createClient(options: ConnectionOptions, silenceMs: number): Redis {
  // createRequire: loaded on first use, and also from the CommonJS build of a consumer.
  const { Redis: Client } = createRequire(import.meta.url)('ioredis') as typeof import('ioredis');
  return new Client(options.url, {
    lazyConnect: true,
    protocol: 2,
    // Calls wait here, with a limit, and are numbered; the client itself shall neither queue nor repeat them.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(MAX_RECONNECT_PAUSE_MS, 50 * attempt),
    connectTimeout: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    // Ends the connection, so that the next one gets the calls; a timeout of single commands would keep it.
    socketTimeout: silenceMs,
    // Anything but a number means none.
    keepAlive: options.keepAlive === false ? (false as never) : KEEP_ALIVE_MS,
    ...(options.db === undefined ? {} : { db: options.db }),
    ...(options.password === undefined ? {} : { password: options.password }),
  });
}

/** What the server or the way to it said, by our names. */
function translated(error: unknown, where: string): CrawlError {
  if (error instanceof CrawlError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const cause = { cause: error };
  const code = message.split(' ', 1)[0]!;
  if (code === 'OOM') {
    return new CrawlError(
      'QUEUE_FULL',
      `Redis at ${where} has reached its maxmemory: nothing can be added until requests have ended or it gets more`,
      cause,
    );
  }
  if (code === 'MISCONF') {
    return new CrawlError('QUEUE_FULL', `Redis at ${where} cannot write to its disk: ${message}`, cause);
  }
  if (code === 'EMPTIED' || /\bEMPTIED\b/.test(message)) {
    return new CrawlError(
      'QUEUE_EMPTIED',
      `Redis at ${where} no longer holds the queue that was opened: it was emptied or lost its data. ` +
        'Restore it from a backup, or start afresh',
      cause,
    );
  }
  if (/\bOUTBOX\b/.test(message)) {
    return new CrawlError('QUEUE_FULL', `too many links wait in Redis at ${where} for pods that are away`, cause);
  }
  if (/\bOVERFLOW\b/.test(message)) {
    return new CrawlError('QUEUE_FULL', `too many requests wait to be written to disk for Redis at ${where}`, cause);
  }
  if (/\bOLDCALL\b/.test(message)) {
    return new CrawlError('REQUEST_INVALID', 'the number of the call is too old to tell whether it happened', cause);
  }
  if (['NOAUTH', 'WRONGPASS', 'NOPERM'].includes(code) || /invalid password|invalid username/i.test(message)) {
    return new CrawlError('QUEUE_UNSUITABLE', `Redis at ${where} refuses access: ${message}`, cause);
  }
  if (code === 'READONLY') {
    return new CrawlError('QUEUE_UNSUITABLE', `Redis at ${where} is a read-only replica: name its master`, cause);
  }
  const contradiction = /CORRUPT counters: ([^]*?)(?: script: |$)/.exec(message)?.[1];
  if (contradiction !== undefined) {
    return new CrawlError(
      'QUEUE_CORRUPT',
      `the counters of the queue in Redis at ${where} contradict each other: ${contradiction}. ` +
        'Restore it from a backup, or start afresh',
      cause,
    );
  }
  // The script ran into something it did not expect: what is stored contradicts itself, or is another program's.
  if (code === 'WRONGTYPE' || code === 'ERR') {
    return new CrawlError('QUEUE_CORRUPT', `the queue in Redis at ${where} failed: ${message}`, cause);
  }
  return unreachable(where, error);
}

/** The server said so itself. */
function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

function unreachable(where: string, cause: unknown): CrawlError {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new CrawlError('QUEUE_UNREACHABLE', `Redis at ${where} does not answer${reason}`, { cause });
}

export function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url);
    parsed.username = '';
    parsed.password = '';
    return parsed.href;
  } catch {
    return 'the given address';
  }
}
