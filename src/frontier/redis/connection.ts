// The way to one Redis server: commands and scripts with a bounded wait, through reconnects, and errors with our names.
// Promise: a call resolves, or rejects within its patience; it may have reached the server more than once, which the
// numbers of calls make harmless.
import { createRequire } from 'node:module';
import type { Redis } from 'ioredis';
import { CrawlError } from '../../errors.js';
import { type ScriptName, scriptOf } from './scripts.js';

export type Argument = string | number | Buffer;

export interface ConnectionOptions {
  readonly url: string;
  readonly db?: number;
  readonly password?: string;
  readonly connectTimeoutMs?: number;
  /** How long one command may take. */
  readonly commandTimeoutMs?: number;
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
  run(script: ScriptName, args: readonly Argument[]): Promise<unknown>;
  /** Called after a lost connection is there again, before any other call is made on it. */
  onReturn(check: (run: Connection['run']) => Promise<void>): void;
  close(): void;
}

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_COMMAND_TIMEOUT_MS = 30_000;
const DEFAULT_PATIENCE_MS = 30_000;
const MAX_RECONNECT_PAUSE_MS = 1_000;

export function createConnection(options: ConnectionOptions): Connection {
  const { patienceMs = DEFAULT_PATIENCE_MS } = options;
  const where = withoutPassword(options.url);
  const redis = createClient(options);
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
    void (async () => {
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
    })();
  });

  async function sendScript(name: ScriptName, args: readonly Argument[]): Promise<unknown> {
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

  async function patiently<T>(send: () => Promise<T>): Promise<T> {
    const deadlineMs = performance.now() + patienceMs;
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
        if (!mayPass || isClosed || performance.now() >= deadlineMs) throw known;
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
    async connect() {
      try {
        await redis.connect();
        await untilUsable(performance.now() + (options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS));
      } catch (error) {
        redis.disconnect();
        throw translated(lastError ?? error, where);
      }
    },
    command: (...parts) =>
      patiently(() => {
        commandsSent++;
        return redis.callBuffer(parts[0], parts.slice(1) as Argument[]);
      }),
    run: (name, args) => patiently(() => sendScript(name, args)),
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

function createClient(options: ConnectionOptions): Redis {
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
    commandTimeout: options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS,
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
  // The script ran into something it did not expect: what is stored contradicts itself, or is another program's.
  if (code === 'WRONGTYPE' || code === 'ERR') {
    return new CrawlError('QUEUE_CORRUPT', `the queue in Redis at ${where} failed: ${message}`, cause);
  }
  return unreachable(where, error);
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
