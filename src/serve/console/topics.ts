// What can be watched: all jobs that a token may see, or one job with its charts, figures and newest pages.
// Promise: numbers come from the job store and its rows; a topic reads only what is new.
import { setImmediate as turn } from 'node:timers/promises';
import { OWNER_NAME, type Token } from '../http/tokens.js';
import { parseRow } from '../jobs/rows.js';
import type { Job } from '../jobs/store.js';
import type { Growing, Topic } from './channel.js';
import type { Fold } from './fold.js';
import type { Sampler } from './sampler.js';
import type { ConsoleSource } from './source.js';
import type { JobAction, JobState, JobView, ServerView } from './wire.js';

/** The newest rows that a newcomer gets. */
const RECENT_ROWS = 100;
const MAX_ROWS_PER_TICK = 400;
/** Jobs listed; the oldest that ended are left out. */
const MAX_JOBS = 1_000;

export const maySee = (job: Job, token: Token): boolean => job.owner === token.name || token.name === OWNER_NAME;

export function viewOf(job: Job, source: ConsoleSource, sampler: Sampler, isLive: boolean): JobView {
  const { id, url, owner, createdAtMs, endedAtMs, reason, completed, failed, rows, bytes } = job;
  const state = stateOf(job, isLive);
  return {
    id,
    kind: source.mode === 'pods' ? 'pods' : job.kind,
    url,
    state,
    owner,
    createdAtMs,
    ...(endedAtMs !== undefined && { endedAtMs }),
    ...(reason !== undefined && { reason: reason.slice(0, 1_000) }),
    total: Math.max(job.total, completed + failed),
    completed,
    failed,
    rows,
    bytes,
    perSec: sampler.perSec(job),
    can: actionsFor(job, source),
  };
}

function stateOf({ status, reason }: Job, isLive: boolean): JobState {
  if (status !== 'scraping') return status;
  return reason !== undefined ? 'paused' : isLive ? 'running' : 'waiting';
}

export function actionsFor({ status, failed, kind }: Job, { actions }: ConsoleSource): JobAction[] {
  const can: JobAction[] = [];
  if (status === 'scraping' && actions.cancel) can.push('cancel');
  if (status === 'cancelled' && kind !== 'check' && actions.resume) can.push('resume');
  if (status !== 'scraping' && failed > 0 && kind !== 'extract' && kind !== 'check' && actions.retry) can.push('retry');
  return can;
}

export function jobsTopic(source: ConsoleSource, sampler: Sampler, token: Token, startedAtMs: number): Topic {
  const server = serverView(source, token, startedAtMs);
  return {
    async state() {
      const seen = (await sampler.jobs()).filter((job) => maySee(job, token)).slice(-MAX_JOBS);
      const state: Record<string, unknown> = { server };
      for (const job of seen) state[`job:${job.id}`] = viewOf(job, source, sampler, await isLive(job, source));
      for (const pod of source.pods?.() ?? []) state[`pod:${pod.pod}`] = pod;
      return state;
    },
  };
}

export function serverView(source: ConsoleSource, token: Token, startedAtMs: number): ServerView {
  const { mode, version, browser } = source;
  return { mode, version, token: token.name, browser, startedAtMs };
}

async function isLive(job: Job, source: ConsoleSource): Promise<boolean> {
  return job.status === 'scraping' && (job.rows > 0 || (await source.live(job.id)) !== undefined);
}

export function jobTopic(source: ConsoleSource, sampler: Sampler, id: string, fold: Fold): Topic {
  return {
    async state() {
      const job = await source.store.read(id);
      if (!job) return { gone: true };
      const live = job.status === 'scraping' ? await source.live(id) : undefined;
      await Promise.race([fold.follow(), turn()]);
      return {
        job: viewOf(job, source, sampler, live !== undefined || (job.status === 'scraping' && job.rows > 0)),
        request: job.request,
        now: live ?? null,
        figures: fold.view(),
      };
    },
    growing: { samples: samplesOf(sampler, id), rows: newestRows(source, id) },
  };
}

function samplesOf(sampler: Sampler, id: string): Growing {
  let generation = 0;
  let last = -Infinity;
  let recent: readonly string[] = [];
  return {
    async news() {
      const history = await sampler.historyOf(id);
      const reset = history.generation !== generation;
      generation = history.generation;
      if (reset) last = -Infinity;
      const fresh = history.samples.filter((sample) => sample[0]! > last).map((sample) => JSON.stringify(sample));
      last = history.samples.at(-1)?.[0] ?? last;
      recent = reset ? fresh : [...recent, ...fresh];
      return { items: fresh, reset };
    },
    recent: () => recent,
  };
}

function newestRows({ store }: ConsoleSource, id: string): Growing {
  let next: number | undefined;
  let recent: string[] = [];
  return {
    async news() {
      const { rows = 0 } = (await store.read(id)) ?? {};
      const isBehind = next === undefined || rows - next > MAX_ROWS_PER_TICK;
      const from = isBehind ? Math.max(0, rows - RECENT_ROWS) : next!;
      if (from === rows && !isBehind) return { items: [], reset: false };
      const read = await store.rows.read(id, from, rows - from);
      const items = read.map((text, index) => JSON.stringify([from + index, parseRow(text)]));
      next = from + read.length;
      recent = isBehind ? items : [...recent, ...items].slice(-RECENT_ROWS);
      return { items, reset: isBehind };
    },
    recent: () => recent,
  };
}
