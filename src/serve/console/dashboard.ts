// The console of one crawl of the command line: the same page and stream as a server's, over a store in its folder.
// Promise: on loopback, with a token of its own for this start; what was shown before is there after --resume. It never
// fails a crawl: what goes wrong here is told once.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { ProgressFigures } from '../../observe/progress.js';
import { log as rootLog } from '../../observe/log.js';
import { createGate } from '../http/gate.js';
import { startListener } from '../http/listener.js';
import { createRouter } from '../http/router.js';
import { oneToken } from '../http/tokens.js';
import { openLmdbJobs } from '../jobs/lmdb-store.js';
import { createOutcomeWriter } from '../jobs/outcome-writer.js';
import type { Job, JobStatus, Outcome } from '../jobs/store.js';
import { openConsole } from './console.js';
import type { PodView } from './wire.js';

export interface DashboardOptions {
  readonly mode: 'crawl' | 'batch' | 'pods';
  /** Where it keeps what it shows. */
  readonly folder: string;
  /** Forget what an earlier crawl left in the folder. */
  readonly isFresh: boolean;
  readonly url: string;
  readonly request: unknown;
  readonly version: string;
  /** The figures that the terminal shows. */
  readonly figures: () => Promise<ProgressFigures | undefined> | ProgressFigures | undefined;
  /** Ends the crawl as Ctrl-C does. */
  readonly stop: () => void;
  readonly pods?: () => readonly PodView[];
  readonly pageFolder?: URL;
}

export interface Dashboard {
  /** With the token in its fragment. */
  readonly address: string;
  readonly watchers: number;
  /** Keeps what became of a page; resolves when it is kept. */
  put(outcome: Outcome): Promise<void>;
  end(status: Exclude<JobStatus, 'scraping'>, reason?: string): Promise<void>;
  close(): Promise<void>;
}

const ID = 'crawl';
const LOOK_MS = 500;
const CLOSE_MS = 2_000;

export async function openDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { mode, url, request, version } = options;
  const folder = path.join(options.folder, 'console');
  if (options.isFresh) await rm(folder, { recursive: true, force: true });
  const store = await openLmdbJobs(path.join(folder, 'jobs'));
  const kind = mode === 'batch' ? 'batch' : 'crawl';
  if (!(await store.read(ID))) await store.create({ id: ID, kind, owner: 'terminal', url, request });
  await store.change(ID, () => ({
    status: 'scraping',
    endedAtMs: undefined,
    reason: undefined,
    createdAtMs: Date.now(),
  }));

  const figures = async (): Promise<ProgressFigures | undefined> => options.figures();
  const page = openConsole({
    mode,
    version,
    browser: false,
    store,
    folder,
    live: async () => (await figures().catch(() => undefined)) ?? { queued: 0, concurrency: 0 },
    actions: { cancel: async () => options.stop() },
    ...(options.pods && { pods: options.pods }),
    pageFolder: options.pageFolder,
  });
  const writer = createOutcomeWriter(store, ID, (outcomes) => page.note(ID, outcomes));
  const token = `orc-${randomBytes(24).toString('base64url')}`;
  const listener = await startListener({
    host: '127.0.0.1',
    port: 0,
    trustProxy: false,
    gate: createGate({ host: '127.0.0.1', publicHosts: [], cors: [], tokens: oneToken(token) }),
    route: createRouter(page.routes),
    open: page.open,
    health: async () => ({ status: 'ok', version }),
    onUpgrade: (_request, socket) => socket.destroy(),
    onAnswer: () => undefined,
    log: rootLog.child({ prefix: 'console' }),
  }).catch(async (error: unknown) => {
    await page.close();
    await store.close();
    throw error;
  });

  /** Pages of pods are counted by their stores; those of others by what was put. */
  async function look(): Promise<void> {
    const now = await figures();
    if (!now) return;
    const { done, failed, queued, concurrency } = now;
    const total = done + failed + queued + concurrency;
    await store.change(ID, (job: Job): Partial<Job> | undefined =>
      job.status !== 'scraping' ? undefined : mode === 'pods' ? { completed: done, failed, total } : { total },
    );
  }

  let looking: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look).catch(() => undefined);
  }, LOOK_MS);
  timer.unref();

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    clearInterval(timer);
    await looking;
    await writer.close();
    await page.close();
    await listener.close(CLOSE_MS);
    await store.close();
  }

  return {
    address: `${listener.url}/#token=${token}`,
    get watchers() {
      return page.watchers;
    },
    put: (outcome) => writer.put(outcome),
    async end(status, reason) {
      clearInterval(timer);
      await looking;
      await look().catch(() => undefined);
      await writer.close();
      await store.end(ID, status, reason);
    },
    close: () => (closing ??= close()),
  };
}
