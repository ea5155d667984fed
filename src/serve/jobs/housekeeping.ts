// Keeps the store within its limits: results expire, the oldest finished jobs go when the disk limit is reached.
// Promise: a running job is never removed; while nothing else can make room, running jobs rest and say why.
// The limit is noticed when this process has stored what was left of it; what other servers store, at the next look.
import { LIMITS, limitReached } from '../../limits.js';
import type { Log } from '../../observe/log.js';
import type { Runner } from './runner.js';
import type { CheckRequest } from '../monitor/monitor.js';
import { bytesOf, type Job, type JobStore, type Outcome } from './store.js';

export interface HousekeepingOptions {
  readonly store: JobStore;
  readonly runner: Runner;
  readonly retentionMs: number;
  readonly maxDiskBytes: number;
  readonly log: Log;
  /** Removes what else belongs to a job. */
  readonly onRemove: (job: Job) => Promise<void>;
  readonly everyMs?: number;
}

export interface Housekeeping {
  /** These were stored just now. */
  stored(outcomes: readonly Outcome[]): void;
  close(): void;
}

const EVERY_MS = 2_000;

export function startHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { store, runner, retentionMs, maxDiskBytes, log } = options;
  let underWay = false;
  let isClosed = false;
  /** Bytes stored here since the last look began, and how many there was room for. Before the first look: unknown. */
  let storedBytes = 0;
  let roomBytes = 0;

  async function tidy(): Promise<void> {
    storedBytes = 0;
    const jobs = await store.list();
    let bytes = jobs.reduce((sum, job) => sum + job.bytes, 0);
    const finished = jobs
      .filter((job) => job.status !== 'scraping')
      .sort((one, other) => one.endedAtMs! - other.endedAtMs!);
    const isCheckDue = await checkRule(finished);
    const isDue = (job: Job): boolean =>
      job.kind === 'check' ? isCheckDue(job) : job.endedAtMs! + retentionMs < Date.now();
    for (const job of finished) {
      // Events that are due to a webhook name its results.
      const isHeld = job.delivery !== undefined && job.delivery.next < job.events && bytes <= maxDiskBytes;
      if ((!isDue(job) || isHeld) && bytes <= maxDiskBytes) continue;
      await options.onRemove(job);
      await store.remove(job.id);
      bytes -= job.bytes;
    }
    const reason = bytes > maxDiskBytes ? `paused: the disk limit of ${maxDiskBytes} bytes is reached` : undefined;
    if (reason) log.warningOnce(`Jobs are ${reason}`);
    runner.pause(reason);
    // Jobs that rest store no more than what they had under way: the next look is the clock's.
    roomBytes = reason ? Infinity : maxDiskBytes - bytes;
    for (const job of jobs) {
      if (job.status === 'scraping' && job.reason !== reason)
        await store.change(job.id, () => ({ reason }) as Partial<Job>);
    }
  }

  /** Checks live as long as their monitor says, and no longer than it; the newest ones stay. */
  async function checkRule(finished: readonly Job[]): Promise<(job: Job) => boolean> {
    const checks = finished.filter(({ kind }) => kind === 'check');
    if (checks.length === 0) return () => false;
    const newer = new Map((await store.monitors.list()).map(({ id }) => [id, 0]));
    const due = checks.reverse().filter(({ endedAtMs, request }) => {
      const { monitorId, retentionMs: keptMs } = request as CheckRequest;
      const before = newer.get(monitorId);
      if (before === undefined) return true;
      newer.set(monitorId, before + 1);
      if (before < LIMITS.monitorChecks.max) return before > 0 && endedAtMs! + keptMs < Date.now();
      limitReached('monitorChecks');
      return true;
    });
    const ids = new Set(due.map(({ id }) => id));
    return ({ id }) => ids.has(id);
  }

  function look(): void {
    if (underWay || isClosed) return;
    underWay = true;
    void tidy()
      .catch((error: unknown) => {
        roomBytes = Infinity;
        log.error(`Old jobs cannot be removed: ${(error as Error).message}`);
      })
      .finally(() => {
        underWay = false;
        lookIfFull();
      });
  }

  /** Each such look removes jobs, lets the others rest, or comes after as many bytes as there was room for. */
  function lookIfFull(): void {
    if (storedBytes > roomBytes) look();
  }

  const timer = setInterval(look, options.everyMs ?? EVERY_MS);
  return {
    stored(outcomes) {
      for (const outcome of outcomes) storedBytes += bytesOf(outcome);
      lookIfFull();
    },
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
