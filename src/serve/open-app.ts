// Opens everything behind the API: data, fetching, jobs that go on, webhooks. HTTP and MCP stand on it.
// Promise: one owner per data directory; after close() nothing is open, and every unfinished job can go on.
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { modelAt } from '../crawl/model/ask.js';
import { log as rootLog, type Log } from '../observe/log.js';
import type { App } from './app.js';
import { createTurns } from './http/turns.js';
import { createUsage } from './http/usage.js';
import { startHousekeeping } from './jobs/housekeeping.js';
import { openJobs } from './jobs/open.js';
import { crawlFolder, dropCrawlQueue } from './jobs/crawl-job.js';
import { createRunner } from './jobs/runner.js';
import { type Outcome, queuesOf } from './jobs/store.js';
import { forgetVersions } from './monitor/check-job.js';
import { startMonitorScheduler } from './monitor/scheduler.js';
import { type ResolvedServeOptions, resolveServeOptions, type ServeOptions } from './options.js';
import { openFetcher } from './pages/fetcher.js';
import { createTargets } from './targets.js';
import { createWebhooks } from './watch/webhooks.js';

export interface OpenedApp {
  readonly app: App;
  readonly options: ResolvedServeOptions;
  readonly dataDir: string;
  readonly log: Log;
  /** Called with the id of each job that has something new. */
  onNews(listener: (id: string) => void): void;
  /** Called with the outcomes of a job that were kept by this process. */
  onKept(listener: (id: string, outcomes: readonly Outcome[]) => void): void;
  /** Breaks jobs off where they are; they go on when the data is opened again. */
  stopJobs(): Promise<void>;
  close(): Promise<void>;
}

export type AppOptions = ServeOptions & { readonly log?: Log; readonly version: string };

export async function openApp(given: AppOptions): Promise<OpenedApp> {
  const { log = rootLog.child({ prefix: 'serve' }), version, ...rest } = given;
  const options = resolveServeOptions(rest);
  const dataDir = path.resolve(options.dataDir);
  const { allowPrivate, concurrency, retentionMs, allowScripts, webhookRetryMs } = options;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const jobs = await openJobs(dataDir, options.redis);
  const { store } = jobs;
  const model = options.llm && modelAt(options.llm);
  const versions = store.values;
  const fetcher = await openFetcher({ allowPrivate, allowScripts, storageDir: dataDir, concurrency, model, versions });
  const own = await secretOf(dataDir);
  const secret = (await jobs.agreed?.('webhook-secret', own)) ?? own;
  const webhooks = createWebhooks({
    store,
    allowPrivate,
    secret,
    log,
    claim: jobs.claimDelivery,
    ...(webhookRetryMs && { retryAfterMs: webhookRetryMs }),
  });
  const usage = createUsage(store);
  let listener: (id: string) => void = () => undefined;
  let keptListener: (id: string, outcomes: readonly Outcome[]) => void = () => undefined;
  const tell = (id: string): void => {
    webhooks.wake(id);
    listener(id);
  };
  const runner = createRunner({
    store,
    fetcher,
    model,
    dataDir,
    redisUrl: options.redis,
    allowPrivate,
    concurrency,
    log,
    onPages(id, outcomes) {
      if (outcomes) {
        housekeeping.stored(outcomes);
        keptListener(id, outcomes);
      }
      tell(id);
    },
    onEnded: usage.settle,
    claim: jobs.claimRun,
    release: jobs.release,
  });
  const housekeeping = startHousekeeping({
    store,
    runner,
    retentionMs,
    maxDiskBytes: options.maxDiskBytes,
    log,
    onRemove: async (job) => {
      if (job.kind === 'check') await forgetVersions(store, job);
      for (const queue of queuesOf(job)) {
        if (options.redis !== undefined) await dropCrawlQueue(queue, options.redis);
        await rm(crawlFolder(dataDir, queue), { recursive: true, force: true });
      }
      await rm(crawlFolder(dataDir, job.id), { recursive: true, force: true });
    },
  });
  const wake = (id: string): void => {
    runner.look();
    tell(id);
  };
  const monitors = startMonitorScheduler({ store, usage, log, wake });
  const app: App = {
    store,
    fetcher,
    runner,
    monitors,
    turns: createTurns(concurrency),
    targets: createTargets(allowPrivate),
    usage,
    model,
    searxng: options.searxng,
    allowPrivate,
    concurrency,
    retentionMs,
    version,
    wake,
  };
  return {
    app,
    options,
    dataDir,
    log,
    onNews: (next) => void (listener = next),
    onKept: (next) => void (keptListener = next),
    async stopJobs() {
      await monitors.close();
      await runner.close();
    },
    async close() {
      await monitors.close();
      housekeeping.close();
      await runner.close();
      await webhooks.close();
      await fetcher.close();
      await model?.close();
      await jobs.close();
    },
  };
}

/** What webhooks are signed with, made once. */
async function secretOf(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'webhook-secret');
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (kept !== '') return kept;
  const secret = randomBytes(32).toString('hex');
  await writeFile(file, `${secret}\n`, { mode: 0o600 });
  return secret;
}
