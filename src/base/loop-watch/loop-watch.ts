// The watch over this process's event loop, for as long as a crawl runs: a heartbeat here, a thread that misses it.
// One thread serves all crawls of a process; it never keeps the process alive and ends with it.
import { Worker } from 'node:worker_threads';
import { HEAD } from './shared-marks.js';
import { threadFile } from './thread-file.js';
import type { ThreadData } from './thread.js';
import { marks } from './visit-marks.js';
import type { BlockReport } from './watching.js';

export interface LoopWatch {
  /** Resolves when a block that ended just now has been told of, too. */
  close(): Promise<void>;
}

export interface LoopWatchOptions {
  /** A block longer than this is told of. */
  readonly limitMs: number;
  /** Called when the loop turns again. */
  readonly onFreed: (report: BlockReport) => void;
  /** Where the thread reports while the loop is blocked, instead of standard error. The first watch of a process decides. */
  readonly reportFd?: number | undefined;
}

/** Five looks within the shortest limit. */
const TICK_MS = 200;
const SHORTEST_LIMIT_MS = 1_000;
const LAST_WORD_MS = 2_000;

const watches = new Set<LoopWatchOptions>();
let beating: NodeJS.Timeout | undefined;
let thread: Worker | undefined;

export function watchLoop(options: LoopWatchOptions): LoopWatch {
  watches.add(options);
  thread ??= startThread(options.reportFd);
  beating ??= setInterval(beat, TICK_MS).unref();
  setLimit();
  return {
    async close() {
      await untilTold();
      if (!watches.delete(options)) return;
      setLimit();
      if (watches.size > 0) return;
      clearInterval(beating);
      beating = undefined;
    },
  };
}

/** The thread learns of the end of a block with its next look. */
async function untilTold(): Promise<void> {
  if (Atomics.load(marks.head, HEAD.told) === 0) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LAST_WORD_MS);
    thread?.once('message', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function beat(): void {
  Atomics.add(marks.head, HEAD.beat, 1);
}

/** The shortest that anybody asked for; 0 parks the thread. */
function setLimit(): void {
  const shortest = Math.min(...[...watches].map(({ limitMs }) => limitMs));
  const limitMs = Number.isFinite(shortest) ? Math.max(SHORTEST_LIMIT_MS, Math.ceil(shortest)) : 0;
  beat();
  Atomics.store(marks.head, HEAD.limitMs, limitMs);
  if (limitMs > 0) Atomics.notify(marks.head, HEAD.limitMs);
}

function startThread(reportFd: number | undefined): Worker | undefined {
  const { file, execArgv } = threadFile();
  const workerData: ThreadData = { buffer: marks.buffer, tickMs: TICK_MS, reportFd };
  try {
    const started = new Worker(file, {
      workerData,
      execArgv,
      // It allocates next to nothing; the heap of the process is not its own.
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    });
    started.on('message', (report: BlockReport) => {
      Atomics.store(marks.head, HEAD.told, 0);
      for (const { onFreed } of watches) onFreed(report);
    });
    // Without a watch a crawl is as good as before.
    started.on('error', () => undefined);
    // After the listeners, which would keep the process.
    started.unref();
    return started;
  } catch {
    return undefined;
  }
}
