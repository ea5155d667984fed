// Starts the checks of monitors when they are due, and notes what the last one found.
// Promise: a time of a schedule has at most one check, whichever server starts it and however often one is killed;
// a check that is due while the last one runs is left out.
import { randomUUID } from 'node:crypto';
import type { Usage } from '../http/usage.js';
import type { Job, JobStore } from '../jobs/store.js';
import { LIMITS } from '../../limits.js';
import type { Log } from '../../observe/log.js';
import { type CheckRequest, checkOf, type Monitor, noPages } from './monitor.js';
import { nextRun } from './schedule.js';

export interface SchedulerOptions {
  readonly store: JobStore;
  readonly usage: Pick<Usage, 'left'>;
  readonly log: Log;
  /** A job was made. */
  readonly wake: (id: string) => void;
  readonly nowMs?: () => number;
  readonly everyMs?: number;
}

export interface MonitorScheduler {
  /** Looks at all monitors once. */
  look(): Promise<void>;
  /** Starts a check of so many pages at once. Undefined when one is running. */
  runNow(id: string, left: number): Promise<Job | undefined>;
  close(): Promise<void>;
}

const LOOK_MS = 1_000;

export function startMonitorScheduler(options: SchedulerOptions): MonitorScheduler {
  const { store, usage, log, nowMs = Date.now } = options;
  let looking: Promise<void> | undefined;

  const look = (): Promise<void> =>
    (looking ??= lookOnce()
      .catch((error: unknown) => log.error(`Monitors cannot be read: ${(error as Error).message}`))
      .finally(() => (looking = undefined)));

  async function lookOnce(): Promise<void> {
    for (const monitor of await store.monitors.list()) {
      const settled = await settle(monitor);
      if (settled && (settled.nextRunAtMs ?? Infinity) <= nowMs()) await startDue(settled, settled.nextRunAtMs!);
    }
  }

  /** Notes the end of a check that ended. */
  async function settle(monitor: Monitor): Promise<Monitor | undefined> {
    const { id, currentCheckId } = monitor;
    if (currentCheckId === undefined) return monitor;
    const check = await store.read(currentCheckId);
    if (check?.status === 'scraping') return monitor;
    return store.monitors.change(id, (before) => {
      if (before?.currentCheckId !== currentCheckId) return undefined;
      const { currentCheckId: _ended, ...rest } = before;
      if (!check?.summary) return rest;
      return { ...rest, lastCheckSummary: check.summary, ...(isBasis(check) && { lastCheckId: currentCheckId }) };
    });
  }

  async function startDue(monitor: Monitor, dueMs: number): Promise<void> {
    const isRunning = monitor.currentCheckId !== undefined;
    const left = await usage.left(tokenOf(monitor));
    // The row says last that the time is over: whoever is killed before finds the same check again by its key.
    const check =
      isRunning || left < 1 ? undefined : await start(monitor, 'scheduled', dueMs, left, `${monitor.id} ${dueMs}`);
    if (left < 1) log.warning(`Monitor ${monitor.id} is not checked: its token has no pages left today`);
    await store.monitors.change(monitor.id, (before) => {
      if (before?.nextRunAtMs !== dueMs) return undefined;
      return { ...before, ...(check && begun(check, dueMs)), nextRunAtMs: nextRun(before.schedule, nowMs()) };
    });
  }

  async function start(
    monitor: Monitor,
    trigger: CheckRequest['trigger'],
    scheduledForMs: number | null,
    left: number,
    key?: string,
  ): Promise<Job> {
    const maxPages = Math.min(LIMITS.monitorPages.max, left);
    const { job, list } = checkOf(monitor, randomUUID(), { trigger, scheduledForMs, maxPages });
    const check = await store.create(job, list, key && `monitor ${key}`);
    options.wake(check.id);
    return check;
  }

  const timer = setInterval(() => void look(), options.everyMs ?? LOOK_MS);

  return {
    look,
    async runNow(id, left) {
      const monitor = await store.monitors.read(id);
      const settled = monitor && (await settle(monitor));
      if (!settled || settled.currentCheckId !== undefined) return undefined;
      const check = await start(settled, 'manual', null, left);
      const after = await store.monitors.change(id, (before) =>
        before && before.currentCheckId === undefined ? { ...before, ...begun(check, nowMs()) } : undefined,
      );
      if (after?.currentCheckId === check.id) return check;
      // Another one began in between.
      await store.end(check.id, 'cancelled');
      await store.remove(check.id);
      return undefined;
    },
    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}

const begun = ({ id }: Job, lastRunAtMs: number): Partial<Monitor> => ({ currentCheckId: id, lastRunAtMs });

/** A check that came to no page says nothing of which pages there are. */
const isBasis = ({ summary = noPages() }: Job): boolean => summary.totalPages > summary.error;

/** Whose pages a check counts as. */
export const tokenOf = ({ owner, pagesPerDay }: Monitor) => ({
  name: owner,
  concurrency: Infinity,
  pagesPerDay: pagesPerDay ?? Infinity,
});
