// The promises of the server's job store, over both of its backends: LMDB under a data directory, and Redis.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbJobs } from '../../src/serve/jobs/lmdb-store.js';
import { openRedisJobs } from '../../src/serve/jobs/redis-store.js';
import type { Monitor } from '../../src/serve/monitor/monitor.js';
import { batchKey, type JobStore, type NewJob, type Outcome } from '../../src/serve/jobs/store.js';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';

let redis: RedisServer | undefined;
beforeAll(async () => {
  if (!redisMissing) redis = await startRedis();
});
afterAll(() => redis?.dispose());

const BACKENDS = [
  ['LMDB', (folder: string) => openLmdbJobs(folder)],
  ...(redisMissing ? [] : [['Redis', async () => (await openRedisJobs(redis!.url)).store] as const]),
] as const;

const NO_LIMIT = { maxItems: Infinity, maxBytes: Infinity };
const given = (more: Partial<NewJob> = {}): NewJob => ({
  id: randomUUID(),
  kind: 'batch',
  owner: 'me',
  url: 'http://a.example/',
  request: { formats: ['markdown'] },
  ...more,
});
const document = (key: string, text = key): Outcome => ({ kind: 'document', key, document: JSON.stringify({ text }) });
const error = (key: string): Outcome => ({
  kind: 'error',
  key,
  error: { id: key, timestamp: 't', url: key, code: 'DNS_NOT_FOUND', error: 'gone' },
});
const webhook = { url: 'http://hook.example/' };

describe.each(BACKENDS)('the job store in %s', (_name, open) => {
  let store: JobStore;
  let folder: string;
  let reopen: () => Promise<void>;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'orcrawl-jobs-'));
  });
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await store?.close();
    store = await open(folder);
    reopen = async () => {
      await store.close();
      store = await open(folder);
    };
  });

  it('keeps a job with its list in one step, also a long one, for whoever opens the store next', async () => {
    const urls = Array.from({ length: 12_000 }, (_, index) => `http://a.example/${index}`);
    const made = await store.create(given(), urls);
    expect(made).toMatchObject({ status: 'scraping', total: 12_000, urls: 12_000, completed: 0, failed: 0 });
    await reopen();
    expect(await store.read(made.id)).toEqual(made);
    const { urls: some, next } = await store.pages.pending(made.id, 0, 5);
    expect([some.map(({ url }) => url), next]).toEqual([urls.slice(0, 5), 5]);
    expect(await store.pages.pending(made.id, 11_998, 5)).toEqual({
      urls: [11_998, 11_999].map((index) => ({ index, url: urls[index] })),
      next: 12_000,
    });
    expect(await store.pages.pending(made.id, 12_000, 5)).toEqual({ urls: [], next: 12_000 });
  });

  it('gives the earlier job for an idempotency key of the same owner, until it is removed', async () => {
    const first = await store.create(given(), ['http://a.example/'], 'key');
    const again = await store.create(given(), ['http://b.example/'], 'key');
    expect(again.id).toBe(first.id);
    expect((await store.pages.pending(first.id, 0, 9)).urls).toHaveLength(1);
    expect((await store.create(given({ owner: 'other' }), [], 'key')).id).not.toBe(first.id);
    await store.remove(first.id);
    expect((await store.create(given(), [], 'key')).id).not.toBe(first.id);
  });

  it('lists jobs, the oldest first', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      ids.push((await store.create(given())).id);
      await new Promise((resume) => setTimeout(resume, 3));
    }
    const listed = (await store.list()).map(({ id }) => id);
    expect(listed.filter((id) => ids.includes(id))).toEqual(ids);
  });

  it('takes each key once, whoever puts it, and counts what it took', async () => {
    const { id } = await store.create(given());
    await Promise.all(
      Array.from({ length: 10 }, (_, turn) =>
        store.pages.put(id, [
          document('a', `a${turn}`),
          document('b'),
          error('c'),
          { kind: 'robots', key: 'd', url: 'd' },
        ]),
      ),
    );
    await reopen();
    const job = (await store.read(id))!;
    expect(job).toMatchObject({ completed: 2, failed: 1, total: 3 });
    expect(job.bytes).toBeGreaterThan(400);
    const { documents, next } = await store.pages.results(id, 0, NO_LIMIT);
    expect([documents.length, next]).toEqual([2, undefined]);
    const { errors, robotsBlocked } = await store.pages.errors(id);
    expect([errors.map(({ url }) => url), robotsBlocked]).toEqual([['c'], ['d']]);
  });

  it('gives results in their order, in pages bounded by items and bytes', async () => {
    const { id } = await store.create(given());
    for (let i = 0; i < 50; i++) await store.pages.put(id, [document(`${i}`, 'é'.repeat(100))]);
    const pages: number[] = [];
    for (let from: number | undefined = 0; from !== undefined;) {
      const page = await store.pages.results(id, from, { maxItems: 30, maxBytes: 2_500 });
      pages.push(page.documents.length);
      from = page.next;
    }
    expect(pages.reduce((sum, count) => sum + count, 0)).toBe(50);
    // 212 bytes each: eleven fit.
    expect(pages).toEqual([11, 11, 11, 11, 6]);
    expect((await store.pages.results(id, 0, { maxItems: 3, maxBytes: Infinity })).next).toBe(3);
    expect((await store.pages.results(id, 0, { maxItems: 1, maxBytes: 1 })).documents).toHaveLength(1);
    expect(await store.pages.results(id, 50, NO_LIMIT)).toEqual({ documents: [], next: undefined });
  });

  it('knows which URLs of a list have no outcome yet, and takes more while the job runs', async () => {
    const { id } = await store.create(given(), ['u0', 'u1', 'u2']);
    await store.pages.put(id, [document(batchKey(0)), error(batchKey(2))]);
    expect(await store.pages.append(id, ['u3', 'u4'])).toBe(true);
    expect((await store.read(id))!).toMatchObject({ urls: 5, total: 5 });
    expect((await store.pages.pending(id, 0, 10)).urls.map(({ index }) => index)).toEqual([1, 3, 4]);
    await store.end(id, 'completed');
    expect(await store.pages.append(id, ['u5'])).toBe(false);
  });

  it('ends a job once, and takes nothing of it afterwards', async () => {
    const { id } = await store.create(given());
    await store.pages.put(id, [document('a')]);
    const ends = await Promise.all([1, 2, 3].map(() => store.end(id, 'failed', 'because')));
    expect(ends.filter(Boolean)).toHaveLength(1);
    await store.pages.put(id, [document('late')]);
    await reopen();
    expect(await store.read(id)).toMatchObject({ status: 'failed', reason: 'because', completed: 1, total: 1 });
    expect(await store.end(id, 'completed')).toBe(false);
    expect(await store.end(randomUUID(), 'completed')).toBe(false);
  });

  it('writes events in the same step as what they tell of, only those that are wanted', async () => {
    const { id } = await store.create(given({ webhook }));
    await store.pages.put(id, [document('a'), error('x'), document('b')]);
    await store.pages.put(id, [document('a')]);
    await store.end(id, 'failed', 'because');
    await reopen();
    const job = (await store.read(id))!;
    const events = await Promise.all(Array.from({ length: job.events }, (_, number) => store.pages.event(id, number)));
    expect(events).toEqual([
      { type: 'started' },
      { type: 'page', result: 0 },
      { type: 'page', result: 1 },
      { type: 'failed', error: 'because' },
    ]);
    expect(await store.pages.event(id, job.events)).toBeUndefined();
    expect(job.webhookId).toBeTypeOf('string');
    expect(job.delivery).toEqual({ next: 0, tries: 0, dueAtMs: 0 });

    const few = await store.create(given({ webhook: { ...webhook, events: ['completed'] } }));
    await store.pages.put(few.id, [document('a')]);
    await store.end(few.id, 'completed');
    expect((await store.read(few.id))!.events).toBe(1);
    const cancelled = await store.create(given({ webhook }));
    await store.end(cancelled.id, 'cancelled');
    expect((await store.read(cancelled.id))!.events).toBe(1);
  });

  it('changes a job, or leaves it as it is', async () => {
    const { id } = await store.create(given({ webhook }));
    const delivery = { next: 1, tries: 2, dueAtMs: 3 };
    expect(await store.change(id, () => ({ reason: 'paused', total: 7, delivery }))).toMatchObject({ total: 7 });
    await reopen();
    expect(await store.read(id)).toMatchObject({ reason: 'paused', total: 7, delivery });
    expect((await store.change(id, () => ({ reason: undefined }) as never))!.reason).toBeUndefined();
    expect((await store.read(id))!.reason).toBeUndefined();
    expect((await store.change(id, () => undefined))!.id).toBe(id);
    expect(await store.change(randomUUID(), () => ({ total: 1 }))).toBeUndefined();
  });

  it('removes all of a job and nothing of others', async () => {
    const one = await store.create(given({ webhook }), ['u']);
    const other = await store.create(given({ webhook }), ['v']);
    for (const { id } of [one, other]) await store.pages.put(id, [document('a'), error('b')]);
    await store.remove(one.id);
    expect(await store.read(one.id)).toBeUndefined();
    expect((await store.pages.results(one.id, 0, NO_LIMIT)).documents).toEqual([]);
    expect((await store.pages.errors(one.id)).errors).toEqual([]);
    expect((await store.pages.pending(one.id, 0, 9)).urls).toEqual([]);
    expect(await store.pages.event(one.id, 0)).toBeUndefined();
    expect((await store.pages.results(other.id, 0, NO_LIMIT)).documents).toHaveLength(1);
    expect((await store.pages.pending(other.id, 0, 9)).urls).toHaveLength(1);
  });

  it('keeps monitors, the oldest first, and changes each in one step', async () => {
    const made = (createdAtMs: number): Monitor => ({
      ...{ id: randomUUID(), owner: 'me', pagesPerDay: null, name: 'a', status: 'active', retentionDays: 1 },
      ...{ schedule: { cron: '0 * * * *', timezone: 'UTC' }, targets: [], createdAtMs, updatedAtMs: 0 },
    });
    const [second, first] = [made(2), made(1)];
    for (const monitor of [second, first]) await store.monitors.change(monitor.id, () => monitor);
    await Promise.all(
      Array.from({ length: 10 }, () =>
        store.monitors.change(first.id, (before) => before && { ...before, updatedAtMs: before.updatedAtMs + 1 }),
      ),
    );
    await reopen();
    expect(await store.monitors.list()).toEqual([{ ...first, updatedAtMs: 10 }, second]);
    expect(await store.monitors.change(first.id, () => undefined)).toMatchObject({ updatedAtMs: 10 });
    expect([await store.monitors.remove(first.id), await store.monitors.remove(first.id)]).toEqual([true, false]);
    expect(await store.monitors.change(first.id, (before) => before)).toBeUndefined();
    expect(await store.monitors.read(first.id)).toBeUndefined();
    expect((await store.monitors.read(second.id))!.id).toBe(second.id);
    await store.monitors.remove(second.id);
  });

  it('keeps what a check found', async () => {
    const { id } = await store.create(given({ kind: 'check' }), ['{}']);
    const summary = { totalPages: 1, same: 1, changed: 0, new: 0, removed: 0, error: 0 };
    await store.change(id, () => ({ summary }));
    await reopen();
    expect(await store.read(id)).toMatchObject({ kind: 'check', summary, urls: 1, total: 0 });
  });

  it('keeps the last value under a name and gives the one before', async () => {
    const key = `version ${randomUUID()} ${'x'.repeat(5_000)}`;
    expect(await store.values.swap(key, 'one')).toBeUndefined();
    expect(await store.values.swap(key, 'two')).toBe('one');
    expect(await store.values.peek(key)).toBe('two');
    expect(await store.values.peek(`${key}x`)).toBeUndefined();
    await reopen();
    expect(await store.values.swap(key, '')).toBe('two');
    expect(await store.values.swap(key, 'three')).toBe('');
  });

  it('adds up numbers under a name, however many add at once', async () => {
    const key = `pages ${randomUUID()}`;
    await Promise.all(Array.from({ length: 20 }, () => store.values.add(key, 3)));
    expect(await store.values.add(key, -10)).toBe(50);
    await reopen();
    expect(await store.values.peek(key)).toBe('50');
  });
});
