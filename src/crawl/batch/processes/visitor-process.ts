// Keeps one process that visits URLs running: starts it, listens, starts it again when it ended.
// Promise: it never runs twice at once; after `close` it is gone.
import { type ChildProcess, fork } from 'node:child_process';
import { CrawlError } from '../../../errors.js';
import type { LeaseCall } from '../../../frontier/frontier.js';
import type { Time } from '../../time.js';
import type { FromVisitor, ToVisitor } from './messages.js';

export interface VisitorProcess {
  /** Under which it leased, in this life. */
  readonly holders: Set<LeaseCall['holder']>;
  send(message: ToVisitor): void;
  /** Resolves when it is gone. */
  close(): Promise<void>;
}

export interface VisitorParts<Result> {
  readonly entry: { readonly file: string; readonly execArgv: readonly string[] };
  readonly settings: unknown;
  readonly time: Time;
  readonly hear: (visitor: VisitorProcess, message: FromVisitor<Result>) => void;
  /** It ended by itself, or was killed; it is started again when this resolves. */
  readonly onDeath: (visitor: VisitorProcess, holders: ReadonlySet<string>) => Promise<void>;
  /** It cannot be kept running. */
  readonly onFailure: (error: CrawlError) => void;
}

/** After so many deaths in a row before its first lease, more will not help. */
const MAX_EARLY_DEATHS = 5;
const BACKOFF_MS = 100;
/** Closing writes what is to be cached; whatever hangs is ended. */
const CLOSE_MS = 10_000;

export function keepVisitor<Result>(parts: VisitorParts<Result>): VisitorProcess {
  let child: ChildProcess | undefined;
  let isClosing = false;
  let earlyDeaths = 0;
  let cancelStart: (() => void) | undefined;
  let whenGone: (() => void) | undefined;
  const visitor: VisitorProcess = {
    holders: new Set(),
    send(message) {
      if (child?.connected) child.send(message, () => undefined);
    },
    async close() {
      isClosing = true;
      cancelStart?.();
      if (!child) return;
      const gone = new Promise<void>((resolve) => (whenGone = resolve));
      visitor.send({ kind: 'close' });
      const cancelKill = parts.time.after(CLOSE_MS, () => child?.kill('SIGKILL'));
      await gone;
      cancelKill();
    },
  };

  function start(): void {
    const { file, execArgv } = parts.entry;
    // Nothing but results goes to standard output, and only by whoever has the list.
    const started = fork(file, [], {
      execArgv: [...execArgv],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    child = started;
    visitor.holders.clear();
    started.on('message', (message) => parts.hear(visitor, message as FromVisitor<Result>));
    const ended = new Promise<string>((resolve) => {
      started.once('exit', (code, signal) => resolve(signal ?? `status ${code}`));
      started.once('error', (error) => resolve(error.message));
    });
    // Its last messages are read before its end counts. One that could not be started never had a channel.
    const silent = started.connected && new Promise<void>((resolve) => started.once('disconnect', resolve));
    void Promise.all([ended, silent]).then(([how]) => gone(how));
    visitor.send({ kind: 'begin', settings: parts.settings });
  }

  async function gone(how: string): Promise<void> {
    child = undefined;
    whenGone?.();
    if (isClosing) return;
    const holders = new Set(visitor.holders);
    earlyDeaths = holders.size > 0 ? 0 : earlyDeaths + 1;
    await parts.onDeath(visitor, holders);
    if (earlyDeaths >= MAX_EARLY_DEATHS) {
      const message = `a process of the batch ended ${earlyDeaths} times before its first URL, last by ${how}`;
      return parts.onFailure(new CrawlError('WORKER_LOST', message));
    }
    if (!isClosing) cancelStart = parts.time.after(BACKOFF_MS * 2 ** earlyDeaths, start);
  }

  start();
  return visitor;
}
