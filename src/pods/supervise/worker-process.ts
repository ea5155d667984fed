// Keeps one worker of a pod running: starts it, listens, kills it if it is silent, restarts it with backoff.
// Promise: it never runs twice at once, and after `stop` it does not run again.
import { type ChildProcess, fork } from 'node:child_process';
import type { BlockReport } from '../../base/loop-watch/watching.js';
import type { ErrorCode } from '../../errors.js';
import type { Blame } from '../../frontier/frontier.js';
import type { Log } from '../../observe/log.js';
import type { PodsConfig } from '../config/types.js';
import { BLOCKS_FD, type FromWorker, type ToWorker, type WorkerFigures, type WorkerPlace } from '../messages.js';
import { blameOf, hearBlocks } from './blocked-workers.js';
import { childEntry } from './child-entry.js';
import type { Progress } from '../worker/reporting-client.js';

export interface WorkerDeath {
  /** Its own last message, if any. */
  readonly code: ErrorCode | undefined;
  readonly message: string;
  /** The holders under which it may have leased. */
  readonly holders: readonly string[];
  /** What it was at when it ended, if its event loop was blocked. */
  readonly blame: Blame | undefined;
  /** In a row, each before its first lease. */
  readonly earlyDeaths: number;
  /** In a row, each before it settled a visit. */
  readonly fruitlessDeaths: number;
}

export interface WorkerProcess {
  readonly place: WorkerPlace;
  readonly pid: number | undefined;
  readonly figures: WorkerFigures | undefined;
  /** Counters of all its earlier lives. */
  readonly earlier: Readonly<Record<CountedFigure, number>>;
  readonly restarts: number;
  /** How often its event loop was blocked beyond the limit, in all its lives. */
  readonly blockedLoops: number;
  readonly isReady: boolean;
  start(): void;
  send(message: ToWorker): void;
  /** Asks it to drain; resolves when it is gone, at the latest after the patience. */
  stop(patienceMs: number): Promise<void>;
  /** At once. */
  kill(): void;
}

export interface WorkerProcessOptions {
  readonly config: PodsConfig;
  readonly place: WorkerPlace;
  readonly log: Log;
  readonly allowance: () => number | undefined;
  readonly onMessage: (message: FromWorker) => void;
  readonly onSpawn: (pid: number) => void;
  /** Called after each death; the worker restarts when it resolves, unless with false. */
  readonly onDeath: (death: WorkerDeath) => Promise<boolean>;
  readonly stuckMs?: number;
  readonly backoffMs?: number;
}

const COUNTED = ['pages', 'failed', 'retries', 'bytes', 'sentLinks', 'misplaced', 'backpressure', 'commands'] as const;
type CountedFigure = (typeof COUNTED)[number];

/** Beats come every second; a worker silent for this long is stuck. */
const STUCK_MS = 30_000;
/** Who blocks a worker is known long before it is killed for it. */
const BLOCKED_SHARE = 1 / 3;
/** Loading takes a second or two, more on a busy machine; opening waits for its stores. */
const START_MS = 120_000;
const BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;
/** After a life that leased: identifying a page that kills its worker takes several deaths, a bounded number. */
const MAX_TRIAL_BACKOFF_MS = 1_000;
/** A life this long resets the death counts. */
const LONG_LIFE_MS = 60_000;
const MAX_HOLDERS = 100;

export function createWorkerProcess(options: WorkerProcessOptions): WorkerProcess {
  const { config, place, log, stuckMs = STUCK_MS, backoffMs = BACKOFF_MS } = options;
  const name = `${place.role} ${place.id} of pod ${place.pod}`;
  const earlier = Object.fromEntries(COUNTED.map((figure) => [figure, 0])) as Record<CountedFigure, number>;
  let child: ChildProcess | undefined;
  let figures: WorkerFigures | undefined;
  let holders: string[] = [];
  let progress = new Set<Progress>();
  let last: Extract<FromWorker, { kind: 'ended' }> | undefined;
  let heardMs = 0;
  let startedMs = 0;
  let isReady = false;
  let block: BlockReport | undefined;
  let blockedLoops = 0;
  let isStuck = false;
  let isStopping = false;
  let deaths = 0;
  let earlyDeaths = 0;
  let fruitlessDeaths = 0;
  let restarts = 0;
  let timer: NodeJS.Timeout | undefined;
  let watch: NodeJS.Timeout | undefined;
  let whenGone: (() => void)[] = [];
  let ending: Promise<void> | undefined;

  function start(): void {
    if (child || isStopping) return;
    const { file, execArgv } = childEntry();
    const heapMb = Math.floor(memoryLimit(config, place) / 1024 ** 2);
    holders = [];
    progress = new Set();
    figures = undefined;
    last = undefined;
    isReady = false;
    block = undefined;
    isStuck = false;
    startedMs = heardMs = performance.now();
    const started = fork(file, [], {
      execArgv: [...execArgv, `--max-old-space-size=${heapMb}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
    });
    child = started;
    started.on('message', (message: FromWorker) => hear(message));
    hearBlocks(started.stdio[BLOCKS_FD], name, log, (report) => {
      block = report.kind === 'blocked' ? report : undefined;
      if (block) blockedLoops++;
    });
    started.on('error', (error) => log.warning(`${name}: ${error.message}`));
    started.once('exit', (code, signal) => void (ending = gone(signal ?? `status ${code}`)));
    started.once('spawn', () => options.onSpawn(started.pid!));
    send({ kind: 'begin', config, place, allowance: options.allowance(), blockedLoopMs: stuckMs * BLOCKED_SHARE });
    watch = setInterval(() => {
      if (isStuck) return;
      const silentMs = performance.now() - heardMs;
      if (silentMs <= (isReady ? stuckMs : Math.max(stuckMs, START_MS))) return;
      log.error(`${name} was silent for ${Math.round(silentMs / 1_000)} s: killing it`);
      isStuck = true;
      started.kill('SIGKILL');
    }, 1_000);
  }

  function hear(message: FromWorker): void {
    heardMs = performance.now();
    if (message.kind === 'beat') figures = message.figures;
    else if (message.kind === 'holder') {
      holders.push(message.id);
      if (holders.length > MAX_HOLDERS) holders.shift();
    } else if (message.kind === 'progress') progress.add(message.progress);
    else if (message.kind === 'started') isReady = true;
    else if (message.kind === 'ended') last = message;
    options.onMessage(message);
  }

  function countDeath(isLong: boolean): void {
    earlyDeaths = progress.has('leased') || isLong ? 0 : earlyDeaths + 1;
    fruitlessDeaths = progress.has('settled') ? 0 : fruitlessDeaths + 1;
    deaths = isLong || progress.has('settled') ? 1 : deaths + 1;
  }

  async function gone(how: string): Promise<void> {
    clearInterval(watch);
    child = undefined;
    for (const figure of COUNTED) earlier[figure] += figures?.[figure] ?? 0;
    figures = undefined;
    // Its store lost its last calls: not a crash.
    const isRolledBack = last?.code === 'QUEUE_ROLLED_BACK';
    if (!isRolledBack) countDeath(performance.now() - startedMs > LONG_LIFE_MS);
    const message = last?.message ?? how;
    const blame = block && blameOf(block, isStuck);
    const death: WorkerDeath = { code: last?.code, message, holders, blame, earlyDeaths, fruitlessDeaths };
    if (!isStopping) log.warning(`${name} ended (${how}): ${message}`, { code: last?.code });
    const mayLive = await options.onDeath(death).catch((error: unknown) => {
      log.exception(error, `after the end of ${name}`);
      return true;
    });
    const waiting = whenGone;
    whenGone = [];
    for (const resume of waiting) resume();
    if (!mayLive || isStopping) return;
    const mostMs = progress.has('leased') ? MAX_TRIAL_BACKOFF_MS : MAX_BACKOFF_MS;
    const waitMs = isRolledBack ? 0 : Math.min(mostMs, backoffMs * 2 ** Math.min(deaths - 1, 10));
    timer = setTimeout(() => {
      restarts++;
      start();
    }, waitMs);
  }

  function send(message: ToWorker): void {
    if (child?.connected) child.send(message, () => undefined);
  }

  return {
    place,
    earlier,
    get pid() {
      return child?.pid;
    },
    get figures() {
      return figures;
    },
    get restarts() {
      return restarts;
    },
    get blockedLoops() {
      return blockedLoops;
    },
    get isReady() {
      return isReady && child !== undefined;
    },
    start,
    send,
    async stop(patienceMs) {
      isStopping = true;
      clearTimeout(timer);
      // Its files are still being repaired.
      if (!child) return ending;
      const isGone = new Promise<void>((resume) => whenGone.push(resume));
      send({ kind: 'drain' });
      const impatience = setTimeout(() => child?.kill('SIGKILL'), patienceMs);
      await isGone;
      clearTimeout(impatience);
    },
    kill() {
      isStopping = true;
      clearTimeout(timer);
      child?.kill('SIGKILL');
    },
  };
}

function memoryLimit(config: PodsConfig, { role }: WorkerPlace): number {
  return role === 'fetcher' ? config.fetcherMemoryLimit : config.parserMemoryLimit;
}
