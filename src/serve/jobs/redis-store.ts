// The job store that servers share: a few keys per job in Redis, changed by Lua in one step each.
// Promise: the same as the port's, whichever server calls; a claim ends by itself when its server dies.
import { randomUUID } from 'node:crypto';
import { CrawlError } from '../../errors.js';
import { type Argument, createConnection } from '../../frontier/redis/server/connection.js';
import { queuePrefix } from '../../frontier/redis/keys.js';
import type { Monitor } from '../monitor/monitor.js';
import { type JobScript, jobScript } from './redis-scripts.js';
import { rowText } from './rows.js';
import {
  batchKey,
  hashed,
  type Job,
  type JobError,
  type JobEvent,
  type JobPages,
  type JobStore,
  type KeptValues,
  type MonitorRows,
  newJob,
  wants,
} from './store.js';

/** Parts of a job that go with it. */
const PARTS = ['job', 'keys', 'docs', 'troubles', 'events', 'urls', 'rows', 'run', 'hook'];
const CLAIM_MS = 10_000;
const DOCUMENTS_AT_ONCE = 20;
/** Another server changed the row in between: only monitors that are edited at once come to a second try. */
const MAX_CHANGE_TRIES = 20;
const NAME_TTL_SECS = 90 * 86_400;

export interface SharedJobs {
  readonly store: JobStore;
  /** Whether this server has the claim on a job's run, or delivery, now. Asking renews it. */
  claim(what: 'run' | 'hook', id: string): Promise<boolean>;
  release(id: string): Promise<void>;
  /** A value that the first server made. */
  agreed(name: string, value: string): Promise<string>;
}

/** What changes of a job; the rest is one field. */
const COUNTS = ['total', 'completed', 'failed', 'events', 'bytes', 'urls', 'rows', 'endedAtMs', 'charged'] as const;

export async function openRedisJobs(url: string): Promise<SharedJobs> {
  // Everything begins with it; the jobs' queues have the frontier's own prefix.
  const prefix = queuePrefix('serve', url);
  const connection = createConnection({ url, prefix: prefix, keepAlive: true });
  await connection.connect();
  const self = randomUUID();
  const at = (part: string, id: string): string => `${prefix}${part}:${id}`;
  const run = (script: JobScript, ...args: Argument[]): Promise<unknown> =>
    connection.command('EVAL', jobScript(script), connection.slotKeys.length, ...connection.slotKeys, ...args);
  const texts = (answer: unknown): string[] => (answer as (Buffer | string | null)[]).map((one) => String(one ?? ''));

  async function read(id: string): Promise<Job | undefined> {
    const pairs = texts(await connection.command('HGETALL', at('job', id)));
    if (pairs.length === 0) return undefined;
    const fields = new Map<string, string>();
    for (let index = 0; index < pairs.length; index += 2) fields.set(pairs[index]!, pairs[index + 1]!);
    const job = JSON.parse(fields.get('record') ?? '{}') as Job;
    const counts = COUNTS.flatMap((name) => (fields.has(name) ? [[name, Number(fields.get(name))]] : []));
    const delivery = fields.get('delivery');
    const found: Job = {
      ...job,
      ...Object.fromEntries(counts),
      status: fields.get('status') as Job['status'],
      ...(fields.has('reason') && { reason: fields.get('reason')! }),
      ...(fields.has('summary') && { summary: JSON.parse(fields.get('summary')!) as NonNullable<Job['summary']> }),
      ...(delivery !== undefined && { delivery: JSON.parse(delivery) as NonNullable<Job['delivery']> }),
    };
    return { ...found, total: Math.max(found.total, found.completed + found.failed) };
  }

  const pages: JobPages = {
    async put(id, outcomes) {
      const nowMs = Date.now();
      const four = outcomes.flatMap((outcome) => {
        const row = rowText(outcome, nowMs);
        switch (outcome.kind) {
          case 'document':
            return ['d', hashed(outcome.key), outcome.document, row];
          case 'error':
            return ['e', hashed(outcome.key), JSON.stringify(outcome.error), row];
          case 'robots':
            return ['r', hashed(outcome.key), JSON.stringify({ robots: outcome.url }), row];
          default:
            return outcome satisfies never;
        }
      });
      await run('put', prefix, id, ...four);
    },
    async results(id, from, { maxItems, maxBytes }) {
      const documents: string[] = [];
      let bytes = 0;
      for (;;) {
        const start = from + documents.length;
        const some = texts(await connection.command('LRANGE', at('docs', id), start, start + DOCUMENTS_AT_ONCE - 1));
        if (some.length === 0) return { documents, next: undefined };
        for (const document of some) {
          bytes += Buffer.byteLength(document);
          if (documents.length > 0 && (documents.length >= maxItems || bytes > maxBytes)) {
            return { documents, next: from + documents.length };
          }
          documents.push(document);
        }
      }
    },
    async errors(id) {
      const errors: JobError[] = [];
      const robotsBlocked: string[] = [];
      for (const text of texts(await connection.command('LRANGE', at('troubles', id), 0, -1))) {
        const trouble = JSON.parse(text) as JobError | { robots: string };
        if ('robots' in trouble) robotsBlocked.push(trouble.robots);
        else errors.push(trouble);
      }
      return { errors, robotsBlocked };
    },
    append: async (id, urls) => Number(await run('append', prefix, id, ...urls)) === 1,
    async pending(id, from, max) {
      const listed = texts(await connection.command('LRANGE', at('urls', id), from, from + max - 1));
      if (listed.length === 0) return { urls: [], next: from };
      const keys = listed.map((_, index) => hashed(batchKey(from + index)));
      const isDone = (await connection.command('SMISMEMBER', at('keys', id), ...keys)) as number[];
      const urls = listed.map((address, index) => ({ index: from + index, url: address }));
      return { urls: urls.filter((_, index) => Number(isDone[index]) === 0), next: from + listed.length };
    },
    async event(id, number) {
      const text = await connection.command('LINDEX', at('events', id), number);
      return text === null ? undefined : (JSON.parse(String(text)) as JobEvent);
    },
  };

  const values: KeptValues = {
    async swap(name, value) {
      const before = await connection.command('SET', at('name', hashed(name)), value, 'EX', NAME_TTL_SECS, 'GET');
      return before === null ? undefined : String(before);
    },
    async peek(name) {
      const value = await connection.command('GET', at('name', hashed(name)));
      return value === null ? undefined : String(value);
    },
    add: async (name, by) => Number(await run('add', at('name', hashed(name)), by, NAME_TTL_SECS)),
  };

  const monitors: MonitorRows = {
    async read(id) {
      const text = await monitorText(id);
      return text === '' ? undefined : (JSON.parse(text) as Monitor);
    },
    async list() {
      const all = texts(await connection.command('HVALS', `${prefix}monitors`));
      return all.map((text) => JSON.parse(text) as Monitor).sort((one, other) => one.createdAtMs - other.createdAtMs);
    },
    async change(id, change) {
      for (let tries = 0; tries < MAX_CHANGE_TRIES; tries++) {
        const text = await monitorText(id);
        const before = text === '' ? undefined : (JSON.parse(text) as Monitor);
        const after = change(before);
        if (!after) return before;
        if (Number(await run('monitor', prefix, id, text, JSON.stringify(after))) === 1) return after;
      }
      throw new CrawlError('STORAGE_UNWRITABLE', `monitor ${id} was changed by other servers at each attempt`);
    },
    remove: async (id) => Number(await connection.command('HDEL', `${prefix}monitors`, id)) === 1,
  };

  async function monitorText(id: string): Promise<string> {
    return String((await connection.command('HGET', `${prefix}monitors`, id)) ?? '');
  }

  const store: JobStore = {
    async create(given, urls = [], idempotencyKey) {
      const job = newJob(given, urls.length, Date.now(), randomUUID());
      const { status, total, completed, failed, bytes, delivery, urls: count, rows, ...record } = job;
      const isTold = wants(job, 'started');
      const limit = (given.request as { limit?: unknown }).limit;
      const fields: Record<string, string | number> = {
        record: JSON.stringify(record),
        ...{ status, total, completed, failed, bytes, rows, urls: count, events: isTold ? 1 : 0 },
        wantsPage: wants(job, 'page') ? 1 : 0,
        ...(delivery && { delivery: JSON.stringify(delivery) }),
        ...(given.kind === 'crawl' && typeof limit === 'number' && { limit }),
      };
      const pairs = Object.entries(fields).flat();
      const key = idempotencyKey ? hashed(`${given.owner} ${idempotencyKey}`) : '';
      const event = isTold ? '{"type":"started"}' : '';
      // In one step with its list: another server may begin the job at once.
      const answer = await run(
        'create',
        prefix,
        job.id,
        key,
        job.createdAtMs,
        event,
        pairs.length / 2,
        ...pairs,
        ...urls,
      );
      return (await read(String(answer))) ?? job;
    },
    read,
    async list() {
      const ids = texts(await connection.command('ZRANGE', `${prefix}jobs`, 0, -1));
      const found = await Promise.all(ids.map(read));
      return found.filter((job) => job !== undefined);
    },
    async change(id, change) {
      const job = await read(id);
      const changed = job && change(job);
      if (!changed) return job;
      // Only what one server at a time changes comes this way: the total, the reason, the delivery.
      for (const [name, value] of Object.entries(changed)) {
        if (value === undefined) await connection.command('HDEL', at('job', id), name);
        else
          await connection.command(
            'HSET',
            at('job', id),
            name,
            typeof value === 'object' ? JSON.stringify(value) : String(value),
          );
      }
      return read(id);
    },
    async end(id, status, reason = '') {
      const job = await read(id);
      const isTold = job !== undefined && status !== 'cancelled' && wants(job, status);
      const event = isTold ? JSON.stringify({ type: status, ...(reason && { error: reason }) }) : '';
      return Number(await run('end', prefix, id, status, Date.now(), reason, event)) === 1;
    },
    async remove(id) {
      await connection.command('ZREM', `${prefix}jobs`, id);
      await connection.command('DEL', ...(PARTS.map((part) => at(part, id)) as [string, ...string[]]));
    },
    pages,
    values,
    rows: {
      read: async (id, from, max) => texts(await connection.command('LRANGE', at('rows', id), from, from + max - 1)),
    },
    monitors,
    close: async () => connection.close(),
  };

  return {
    store,
    claim: async (what, id) => Number(await run('claim', at(what, id), self, CLAIM_MS)) === 1,
    async release(id) {
      const holder = await connection.command('GET', at('run', id));
      if (holder !== null && String(holder) === self) await connection.command('DEL', at('run', id));
    },
    async agreed(name, value) {
      await connection.command('SET', at('agreed', name), value, 'NX');
      return String(await connection.command('GET', at('agreed', name)));
    },
  };
}
