// The job store on this machine: one LMDB file under the data directory.
// Promise: each call is one transaction; a job's counters, results and events always agree.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Database } from 'lmdb';
import { checkLmdbFolder } from '../../base/lmdb-file.js';
import { CrawlError } from '../../errors.js';
import { LIMITS, limitReached } from '../../limits.js';
import { batchKey, counted, type EventType, type Job, type JobError, type JobEvent, type JobPages } from './store.js';
import type { Monitor } from '../monitor/monitor.js';
import { joinRow, rowText } from './rows.js';
import { hashed, type JobStore, type KeptValues, newJob, type Outcome, wants } from './store.js';

type Key = string | (string | number)[];
type Texts = Database<string, Key>;

const LAST = Number.MAX_SAFE_INTEGER;

export async function openLmdbJobs(folder: string): Promise<JobStore> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkLmdbFolder(folder);
  const lmdb = createRequire(import.meta.url)('lmdb') as typeof import('lmdb');
  const environment = lmdb.open({ path: folder, maxDbs: 12, noSubdir: false });
  const table = (name: string): Texts => environment.openDB({ name, encoding: 'string' }) as unknown as Texts;
  const jobs = table('jobs');
  const documents = table('documents');
  const keys = table('keys');
  const troubles = table('troubles');
  const lists = table('lists');
  const events = table('events');
  const names = table('names');
  const rows = table('rows');
  const monitors = table('monitors');

  const readJob = (id: string): Job | undefined => {
    const text = jobs.get(id);
    return text === undefined ? undefined : (JSON.parse(text) as Job);
  };
  const readMonitor = (id: string): Monitor | undefined => {
    const text = monitors.get(id);
    return text === undefined ? undefined : (JSON.parse(text) as Monitor);
  };
  const keep = (job: Job): Job => {
    void jobs.put(job.id, JSON.stringify(job));
    return job;
  };
  async function inOneStep<T>(body: () => T): Promise<T> {
    try {
      return await environment.childTransaction(body);
    } catch (error) {
      const message = `the jobs at ${folder} cannot be written: ${(error as Error).message}`;
      throw error instanceof CrawlError ? error : new CrawlError('STORAGE_UNWRITABLE', message, { cause: error });
    }
  }

  function addEvent(job: Job, type: EventType, more: Omit<JobEvent, 'type'> = {}): Job {
    if (!wants(job, type)) return job;
    void events.put([job.id, job.events], JSON.stringify({ type, ...more }));
    return { ...job, events: job.events + 1 };
  }

  function putOne(job: Job, outcome: Outcome): Job {
    const key = [job.id, hashed(outcome.key)];
    if (keys.get(key) !== undefined) return job;
    void keys.put(key, '');
    const after = counted(job, outcome);
    const result = outcome.kind === 'document' ? job.completed : undefined;
    void rows.put([job.id, job.rows], joinRow(result, rowText(outcome, Date.now())));
    if (outcome.kind === 'document') {
      void documents.put([job.id, job.completed], outcome.document);
      return addEvent(after, 'page', { result: job.completed });
    }
    const value = outcome.kind === 'error' ? outcome.error : { robots: outcome.url };
    const place = troubleCount(job.id);
    if (place < LIMITS.jobErrors.max) void troubles.put([job.id, place], JSON.stringify(value));
    else limitReached('jobErrors');
    return after;
  }

  function troubleCount(id: string): number {
    const last = [...troubles.getKeys({ start: [id, LAST], end: [id, -1], reverse: true, limit: 1 })][0];
    return last === undefined ? 0 : Number((last as readonly unknown[])[1]) + 1;
  }

  const pages: JobPages = {
    put: (id, outcomes) =>
      inOneStep(() => {
        let job = readJob(id);
        if (!job || job.status !== 'scraping') return;
        for (const outcome of outcomes) job = putOne(job, outcome);
        keep({ ...job, total: Math.max(job.total, job.completed + job.failed) });
      }),
    async results(id, from, { maxItems, maxBytes }) {
      const found: string[] = [];
      let bytes = 0;
      for (const { key, value } of documents.getRange({ start: [id, from], end: [id, LAST] })) {
        bytes += Buffer.byteLength(value);
        if (found.length > 0 && (found.length >= maxItems || bytes > maxBytes)) {
          return { documents: found, next: Number((key as readonly unknown[])[1]) };
        }
        found.push(value);
      }
      return { documents: found, next: undefined };
    },
    async errors(id) {
      const errors: JobError[] = [];
      const robotsBlocked: string[] = [];
      for (const { value } of troubles.getRange({ start: [id, 0], end: [id, LAST] })) {
        const trouble = JSON.parse(value) as JobError | { robots: string };
        if ('robots' in trouble) robotsBlocked.push(trouble.robots);
        else errors.push(trouble);
      }
      return { errors, robotsBlocked };
    },
    append: (id, urls) =>
      inOneStep(() => {
        const job = readJob(id);
        if (!job || job.status !== 'scraping') return false;
        urls.forEach((url, index) => void lists.put([id, job.urls + index], url));
        keep({ ...job, urls: job.urls + urls.length, total: job.total + urls.length });
        return true;
      }),
    async pending(id, from, max) {
      const urls: { index: number; url: string }[] = [];
      let next = from;
      for (const { key, value } of lists.getRange({ start: [id, from], end: [id, LAST] })) {
        if (urls.length >= max) break;
        const index = Number((key as readonly unknown[])[1]);
        next = index + 1;
        if (keys.get([id, hashed(batchKey(index))]) === undefined) urls.push({ index, url: value });
      }
      return { urls, next };
    },
    async event(id, number) {
      const text = events.get([id, number]);
      return text === undefined ? undefined : (JSON.parse(text) as JobEvent);
    },
  };

  const values: KeptValues = {
    swap: (name, value) =>
      inOneStep(() => {
        const key = hashed(name);
        const before = names.get(key);
        void names.put(key, value);
        return before;
      }),
    peek: async (name) => names.get(hashed(name)),
    add: (name, by) =>
      inOneStep(() => {
        const key = hashed(name);
        const sum = Number(names.get(key) ?? 0) + by;
        void names.put(key, String(sum));
        return sum;
      }),
  };

  return {
    create: (given, urls = [], idempotencyKey) =>
      inOneStep(() => {
        const name = idempotencyKey && hashed(`idempotency ${given.owner} ${idempotencyKey}`);
        const earlier = name ? readJob(names.get(name) ?? '') : undefined;
        if (earlier) return earlier;
        if (name) void names.put(name, given.id);
        urls.forEach((url, index) => void lists.put([given.id, index], url));
        return keep(addEvent(newJob(given, urls.length, Date.now(), randomUUID()), 'started'));
      }),
    read: async (id) => readJob(id),
    async list() {
      const all = [...jobs.getRange({})].map(({ value }) => JSON.parse(value) as Job);
      return all.sort((one, other) => one.createdAtMs - other.createdAtMs);
    },
    change: (id, change) =>
      inOneStep(() => {
        const job = readJob(id);
        const changed = job && change(job);
        return changed ? keep({ ...job, ...changed }) : job;
      }),
    end: (id, status, reason) =>
      inOneStep(() => {
        const job = readJob(id);
        if (!job || job.status !== 'scraping') return false;
        const ended: Job = { ...job, status, endedAtMs: Date.now(), ...(reason !== undefined && { reason }) };
        const all = { ...ended, total: job.completed + job.failed };
        keep(status === 'cancelled' ? all : addEvent(all, status, reason === undefined ? {} : { error: reason }));
        return true;
      }),
    remove: (id) =>
      inOneStep(() => {
        void jobs.remove(id);
        for (const one of [documents, keys, troubles, lists, events, rows]) {
          for (const key of [...one.getKeys({ start: [id], end: [id, '\uffff'] })]) void one.remove(key);
        }
      }),
    pages,
    values,
    rows: {
      read: async (id, from, max) =>
        [...rows.getRange({ start: [id, from], end: [id, LAST], limit: max })].map(({ value }) => value),
    },
    monitors: {
      read: async (id) => readMonitor(id),
      async list() {
        const all = [...monitors.getRange({})].map(({ value }) => JSON.parse(value) as Monitor);
        return all.sort((one, other) => one.createdAtMs - other.createdAtMs);
      },
      change: (id, change) =>
        inOneStep(() => {
          const before = readMonitor(id);
          const after = change(before);
          if (after) void monitors.put(id, JSON.stringify(after));
          return after ?? before;
        }),
      remove: (id) =>
        inOneStep(() => {
          const isThere = monitors.get(id) !== undefined;
          void monitors.remove(id);
          return isThere;
        }),
    },
    close: async () => void (await environment.close()),
  };
}
