// Looks at every running job once a second: its rate, and a sample for its charts.
// Promise: what a page costs here is a few additions; histories go on after a restart and go when their job is gone.
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { PRIVATE_FOLDER } from '../../base/private-files.js';
import { createRate } from '../../observe/progress.js';
import type { Job, Outcome } from '../jobs/store.js';
import { createHistory, type History, openHistory } from './history.js';
import { createLatencies, type Latencies } from './latency.js';
import type { ConsoleSource } from './source.js';
import { SAMPLE } from './wire.js';

export interface Sampler {
  /** Outcomes that were kept in this process. */
  note(id: string, outcomes: readonly Outcome[]): void;
  /** All jobs, as of a moment ago. */
  jobs(): Promise<readonly Job[]>;
  /** Pages per second: now, or of the whole run when it has ended. */
  perSec(job: Job): number;
  historyOf(id: string): Promise<History>;
  /** The last sample of a job that has just ended. */
  close(): Promise<void>;
}

const SAMPLE_MS = 1_000;
const SAVE_MS = 5_000;
const JOBS_MS = 200;
const MAX_TRACKED = 200;
const ID = /^[\w-]{1,100}$/;

interface Tracked {
  readonly history: Promise<History>;
  readonly latencies: Latencies;
  readonly rate: (ended: number) => number;
  readonly endedBefore: number;
  perSec: number;
  bytes: number;
}

export function createSampler(source: ConsoleSource): Sampler {
  const tracked = new Map<string, Tracked>();
  const folder = path.join(source.folder, 'history');
  const fileOf = (id: string): string => path.join(folder, `${id}.json`);
  const made = mkdir(folder, PRIVATE_FOLDER).catch(() => undefined);
  let recent: { atMs: number; list: Promise<Job[]> } | undefined;
  let sampling = false;
  let savedMs = performance.now();

  function jobs(): Promise<readonly Job[]> {
    const nowMs = performance.now();
    if (!recent || nowMs - recent.atMs > JOBS_MS) recent = { atMs: nowMs, list: source.store.list() };
    return recent.list;
  }

  async function open(id: string): Promise<History> {
    await made;
    return ID.test(id) ? openHistory(fileOf(id)) : createHistory(undefined);
  }

  function track(job: Job): Tracked {
    let one = tracked.get(job.id);
    if (!one) {
      one = {
        history: open(job.id),
        latencies: createLatencies(),
        rate: createRate(() => performance.now()),
        endedBefore: job.completed + job.failed,
        perSec: 0,
        bytes: 0,
      };
      tracked.set(job.id, one);
      void forgetOldest();
    }
    return one;
  }

  /** Ended jobs go first; their histories are on the disk. */
  async function forgetOldest(): Promise<void> {
    if (tracked.size <= MAX_TRACKED) return;
    const running = new Set((await jobs()).filter(({ status }) => status === 'scraping').map(({ id }) => id));
    for (const [id, one] of tracked) {
      if (tracked.size <= MAX_TRACKED) return;
      if (running.has(id)) continue;
      tracked.delete(id);
      await (await one.history).save().catch(() => undefined);
    }
  }

  async function sample(job: Job, isLast = false): Promise<void> {
    const live = await source.live(job.id);
    const known = tracked.get(job.id);
    if (!live && !known) return;
    const one = known ?? track(job);
    const ended = job.completed + job.failed;
    one.perSec = isLast ? 0 : one.rate(Math.max(0, ended - one.endedBefore));
    if (!live && !isLast) return;
    const history = await one.history;
    const before = history.samples.at(-1);
    const row: number[] = [];
    row[SAMPLE.atSecs] = Math.round(Date.now() / 100) / 10;
    row[SAMPLE.done] = job.completed;
    row[SAMPLE.failed] = job.failed;
    row[SAMPLE.bytes] = (before?.[SAMPLE.bytes] ?? 0) + one.bytes;
    row[SAMPLE.queued] = live?.queued ?? 0;
    row[SAMPLE.active] = live?.concurrency ?? 0;
    row[SAMPLE.memory] = Math.round(process.memoryUsage.rss() / 1e5) / 10;
    row[SAMPLE.p50] = one.latencies.percentile(0.5);
    row[SAMPLE.p95] = one.latencies.percentile(0.95);
    if (!history.add(row, isLast)) return;
    one.bytes = 0;
    one.latencies.clear();
  }

  const sampled = new Set<string>();
  async function look(): Promise<void> {
    const all = await jobs();
    for (const job of all) {
      const isRunning = job.status === 'scraping';
      if (isRunning) sampled.add(job.id);
      else if (!sampled.delete(job.id)) continue;
      await sample(job, !isRunning);
    }
    if (performance.now() - savedMs < SAVE_MS) return;
    savedMs = performance.now();
    await save();
    await prune(new Set(all.map(({ id }) => id)));
  }

  async function save(): Promise<void> {
    for (const { history } of tracked.values()) await (await history).save().catch(() => undefined);
  }

  async function prune(ids: ReadonlySet<string>): Promise<void> {
    for (const id of tracked.keys()) if (!ids.has(id)) tracked.delete(id);
    for (const file of await readdir(folder).catch(() => [])) {
      if (file.endsWith('.json') && !ids.has(file.slice(0, -'.json'.length))) {
        await rm(path.join(folder, file), { force: true }).catch(() => undefined);
      }
    }
  }

  const timer = setInterval(() => {
    if (sampling) return;
    sampling = true;
    void look()
      .catch(() => undefined)
      .finally(() => (sampling = false));
  }, SAMPLE_MS);
  timer.unref();

  return {
    note(id, outcomes) {
      const one = tracked.get(id);
      if (!one) return;
      for (const { facts } of outcomes) {
        one.bytes += facts?.bytes ?? 0;
        if (facts?.ms !== undefined) one.latencies.add(facts.ms);
      }
    },
    jobs,
    perSec(job) {
      if (job.status === 'scraping') return Math.round((tracked.get(job.id)?.perSec ?? 0) * 10) / 10;
      const tookMs = (job.endedAtMs ?? job.createdAtMs) - job.createdAtMs;
      return tookMs > 0 ? Math.round(((job.completed + job.failed) * 10_000) / tookMs) / 10 : 0;
    },
    async historyOf(id) {
      return tracked.get(id)?.history ?? open(id);
    },
    async close() {
      clearInterval(timer);
      recent = undefined;
      for (const job of await jobs().catch(() => [])) {
        if (sampled.has(job.id)) await sample(job, true).catch(() => undefined);
      }
      await save();
    },
  };
}
