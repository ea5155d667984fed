// The job store that servers share: a few keys per job in Redis, changed by Lua in one step each.
// Promise: the same as the port's, whichever server calls; a claim ends by itself when its server dies.
import { createHash, randomUUID } from 'node:crypto';
import { type Argument, createConnection } from '../../frontier/redis/server/connection.js';
import { type JobScript, jobScript } from './redis-scripts.js';
import {
  batchKey,
  type Job,
  type JobError,
  type JobEvent,
  type JobPages,
  type JobStore,
  newJob,
  wants,
} from './store.js';

/** Everything begins with it; the jobs' queues have the frontier's own prefix. */
const PREFIX = 'orcrawl:serve:';
/** Parts of a job that go with it. */
const PARTS = ['job', 'keys', 'docs', 'troubles', 'events', 'urls', 'run', 'hook'];
const CLAIM_MS = 10_000;
const DOCUMENTS_AT_ONCE = 20;
const URLS_AT_ONCE = 5_000;
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
const COUNTS = ['total', 'completed', 'failed', 'events', 'bytes', 'urls', 'endedAtMs'] as const;

export async function openRedisJobs(url: string): Promise<SharedJobs> {
  const connection = createConnection({ url, keepAlive: true });
  await connection.connect();
  const self = randomUUID();
  const at = (part: string, id: string): string => `${PREFIX}${part}:${id}`;
  const run = (script: JobScript, ...args: Argument[]): Promise<unknown> =>
    connection.command('EVAL', jobScript(script), 0, ...args);
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
      ...(delivery !== undefined && { delivery: JSON.parse(delivery) as NonNullable<Job['delivery']> }),
    };
    return { ...found, total: Math.max(found.total, found.completed + found.failed) };
  }

  const pages: JobPages = {
    async put(id, outcomes) {
      const triples = outcomes.flatMap((outcome) => {
        switch (outcome.kind) {
          case 'document':
            return ['d', hashed(outcome.key), outcome.document];
          case 'error':
            return ['e', hashed(outcome.key), JSON.stringify(outcome.error)];
          case 'robots':
            return ['r', hashed(outcome.key), JSON.stringify({ robots: outcome.url })];
          default:
            return outcome satisfies never;
        }
      });
      await run('put', PREFIX, id, ...triples);
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
    append: async (id, urls) => Number(await run('append', PREFIX, id, ...urls)) === 1,
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
    async swap(name, value) {
      const before = await connection.command('SET', at('name', hashed(name)), value, 'EX', NAME_TTL_SECS, 'GET');
      return before === null ? undefined : String(before);
    },
  };

  const store: JobStore = {
    async create(given, urls = [], idempotencyKey) {
      const job = newJob(given, urls.length, Date.now(), randomUUID());
      const { status, total, completed, failed, bytes, delivery, urls: count, ...record } = job;
      const isTold = wants(job, 'started');
      const limit = (given.request as { limit?: unknown }).limit;
      const fields: Record<string, string | number> = {
        record: JSON.stringify(record),
        ...{ status, total, completed, failed, bytes, urls: count, events: isTold ? 1 : 0 },
        wantsPage: wants(job, 'page') ? 1 : 0,
        ...(delivery && { delivery: JSON.stringify(delivery) }),
        ...(given.kind === 'crawl' && typeof limit === 'number' && { limit }),
      };
      const pairs = Object.entries(fields).flat();
      const key = idempotencyKey ? hashed(`${given.owner} ${idempotencyKey}`) : '';
      const event = isTold ? '{"type":"started"}' : '';
      const first = urls.slice(0, URLS_AT_ONCE);
      const answer = await run(
        'create',
        PREFIX,
        job.id,
        key,
        job.createdAtMs,
        event,
        pairs.length / 2,
        ...pairs,
        ...first,
      );
      const id = String(answer);
      for (let index = URLS_AT_ONCE; id === job.id && index < urls.length; index += URLS_AT_ONCE) {
        await connection.command('RPUSH', at('urls', id), ...urls.slice(index, index + URLS_AT_ONCE));
      }
      return (await read(id)) ?? job;
    },
    read,
    async list() {
      const ids = texts(await connection.command('ZRANGE', `${PREFIX}jobs`, 0, -1));
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
      return Number(await run('end', PREFIX, id, status, Date.now(), reason, event)) === 1;
    },
    async remove(id) {
      await connection.command('ZREM', `${PREFIX}jobs`, id);
      await connection.command('DEL', ...(PARTS.map((part) => at(part, id)) as [string, ...string[]]));
    },
    pages,
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

/** Keys of pages are of any length; those of a set should not be. */
function hashed(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
