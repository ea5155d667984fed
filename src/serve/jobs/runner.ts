// Runs the jobs of a server: those it finds at its start go on, new ones begin in order, none more at once than fit.
// Promise: a job ends in the store exactly once; one that is stopped with the server goes on at the next start.
import { rm } from 'node:fs/promises';
import type { AskModel } from '../../crawl/model/ask.js';
import { asCrawlError } from '../../errors.js';
import type { Log } from '../../observe/log.js';
import type { ProgressFigures } from '../../observe/progress.js';
import type { Fetcher } from '../pages/fetcher.js';
import { startBatchJob } from './batch-job.js';
import { crawlFolder, startCrawlJob } from './crawl-job.js';
import { startExtractJob } from './extract-job.js';
import { startCheckJob } from '../monitor/check-job.js';
import { type Job, type JobStore, type Outcome, queuesOf } from './store.js';

/** One run of one job in this process. */
export interface JobRun {
  /** Resolves when nothing is left to do, or the signal ended it. */
  run(signal: AbortSignal): Promise<void>;
  /** Pages known of, if the run can tell. */
  total(): Promise<number | undefined>;
  setShare(slots: number): void;
  /** What waits and what is under way now, if the run can tell. */
  figures?(): Promise<Pick<ProgressFigures, 'queued' | 'concurrency'> | undefined>;
}

export interface JobTools {
  readonly store: JobStore;
  readonly fetcher: Fetcher;
  readonly model: AskModel | undefined;
  readonly dataDir: string;
  readonly redisUrl: string | undefined;
  readonly allowPrivate: readonly string[];
  /** How many pages at once a job may fetch now. */
  share(): number;
  /** A job has new results. */
  onPages(id: string, outcomes?: readonly Outcome[]): void;
}

export interface RunnerOptions extends Omit<JobTools, 'share'> {
  readonly concurrency: number;
  readonly log: Log;
  /** A job ended here by itself, once over all servers. */
  readonly onEnded: (job: Job) => Promise<void>;
  /** Who may run a job now, where several servers share them. Resolves to false when another does. */
  readonly claim?: ((job: Job) => Promise<boolean>) | undefined;
  readonly release?: ((id: string) => Promise<void>) | undefined;
}

export interface Runner {
  /** Jobs that run in this process. */
  readonly running: ReadonlyMap<string, { readonly run: JobRun }>;
  /** A job was made, changed or ended: look at all of them. */
  look(): void;
  /** Lets no job begin or go on while there is a reason not to. */
  pause(reason: string | undefined): void;
  close(): Promise<void>;
}

const MAX_RUNNING = 20;
const LOOK_MS = 1_000;

interface Active {
  readonly run: JobRun;
  readonly stopping: AbortController;
  readonly ended: Promise<void>;
}

export function createRunner(options: RunnerOptions): Runner {
  const { store, log, concurrency } = options;
  const active = new Map<string, Active>();
  let isClosing = false;
  let pausedFor: string | undefined;
  let looking: Promise<void> | undefined;
  let again = false;
  const tools: JobTools = { ...options, share: () => Math.max(1, Math.floor(concurrency / Math.max(1, active.size))) };

  async function begin(job: Job): Promise<void> {
    if (options.claim && !(await options.claim(job))) return;
    const stopping = new AbortController();
    let run: JobRun;
    try {
      run = runOf(job, tools);
    } catch (error) {
      if (await store.end(job.id, 'failed', (error as Error).message)) await options.onEnded(job);
      return;
    }
    active.set(job.id, { run, stopping, ended: drive(job, run, stopping.signal).finally(() => over(job.id)) });
    rebalance();
  }

  async function drive(job: Job, run: JobRun, signal: AbortSignal): Promise<void> {
    try {
      await run.run(signal);
      if (signal.aborted) return;
      const { completed, failed } = (await store.read(job.id)) ?? job;
      const first = completed === 0 && failed > 0 ? (await store.pages.errors(job.id)).errors[0] : undefined;
      const isEnded = await (first ? store.end(job.id, 'failed', first.error) : store.end(job.id, 'completed'));
      if (isEnded) await settle(job);
    } catch (error) {
      if (signal.aborted) return;
      const known = asCrawlError(error, 'HANDLER_FAILED');
      log.error(`Job ${job.id} failed: ${known.message}`, { code: known.code });
      const isEnded = await store.end(job.id, 'failed', known.message).catch(() => false);
      if (isEnded) await settle(job).catch(() => undefined);
    }
  }

  const settle = async (job: Job): Promise<void> => options.onEnded((await store.read(job.id)) ?? job);

  function over(id: string): void {
    active.delete(id);
    options.onPages(id);
    void options.release?.(id).catch(() => undefined);
    if (!isClosing) void tidy(id).finally(look);
    rebalance();
  }

  /** The queue of a job that ended is of no more use, nor is what its pages were compared with. */
  async function tidy(id: string): Promise<void> {
    const job = await store.read(id);
    // One that was cancelled can go on.
    if (job?.status === 'scraping' || job?.status === 'cancelled') return;
    for (const folder of [id, ...(job ? queuesOf(job) : [])]) {
      await rm(crawlFolder(options.dataDir, folder), { recursive: true, force: true }).catch(() => undefined);
    }
  }

  function rebalance(): void {
    for (const { run } of active.values()) run.setShare(tools.share());
  }

  function look(): void {
    if (looking) {
      again = true;
      return;
    }
    again = false;
    looking = lookOnce()
      .catch((error: unknown) => log.error(`Jobs cannot be read: ${(error as Error).message}`))
      .finally(() => {
        looking = undefined;
        if (again) look();
      });
  }

  async function lookOnce(): Promise<void> {
    const unfinished = new Set<string>();
    for (const job of await store.list()) {
      if (job.status !== 'scraping') continue;
      unfinished.add(job.id);
      const mine = active.get(job.id);
      if (mine) await lookAfter(job, mine);
      else if (!isClosing && pausedFor === undefined && active.size < MAX_RUNNING) await begin(job);
    }
    // Cancelled here or elsewhere.
    for (const [id, { stopping }] of active) if (!unfinished.has(id)) stopping.abort();
  }

  async function lookAfter(job: Job, { run, stopping }: Active): Promise<void> {
    // A claim that was lost is another server's: what this one did not keep is done again there.
    if (options.claim && !(await options.claim(job))) stopping.abort();
    else await noteTotal(job, run);
  }

  async function noteTotal(job: Job, run: JobRun): Promise<void> {
    const total = await run.total().catch(() => undefined);
    if (total !== undefined && total > job.total) await store.change(job.id, () => ({ total }));
  }

  const timer = setInterval(look, LOOK_MS);
  look();

  return {
    running: active,
    look,
    pause(reason) {
      if (reason === pausedFor) return;
      pausedFor = reason;
      if (reason !== undefined) for (const { stopping } of active.values()) stopping.abort();
      else look();
    },
    async close() {
      isClosing = true;
      clearInterval(timer);
      await looking;
      for (const { stopping } of active.values()) stopping.abort();
      await Promise.all([...active.values()].map(({ ended }) => ended.catch(() => undefined)));
    },
  };
}

function runOf(job: Job, tools: JobTools): JobRun {
  switch (job.kind) {
    case 'crawl':
      return startCrawlJob(job, tools);
    case 'batch':
      return startBatchJob(job, tools);
    case 'extract':
      return startExtractJob(job, tools);
    case 'check':
      return startCheckJob(job, tools);
    default:
      return job.kind satisfies never;
  }
}
