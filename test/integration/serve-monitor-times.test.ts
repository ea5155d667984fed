// When monitors are checked, by a clock that the test moves, over both stores: once per time, also across crashes.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHousekeeping } from '../../src/serve/jobs/housekeeping.js';
import { openLmdbJobs } from '../../src/serve/jobs/lmdb-store.js';
import { openRedisJobs } from '../../src/serve/jobs/redis-store.js';
import type { JobStore } from '../../src/serve/jobs/store.js';
import { LIMITS } from '../../src/limits.js';
import { checkOf, type CheckSummary, type Monitor } from '../../src/serve/monitor/monitor.js';
import { type MonitorScheduler, startMonitorScheduler } from '../../src/serve/monitor/scheduler.js';
import { silent } from '../support/crawl.js';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';
import { eventually } from '../support/serve.js';

let redis: RedisServer | undefined;
beforeAll(async () => {
  if (!redisMissing) redis = await startRedis();
});
afterAll(() => redis?.dispose());

const BACKENDS = [
  ['LMDB', (folder: string) => openLmdbJobs(folder)],
  ...(redisMissing ? [] : [['Redis', async () => (await openRedisJobs(redis!.url)).store] as const]),
] as const;
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2030, 0, 1);
const SUMMARY: CheckSummary = { totalPages: 2, same: 1, changed: 1, new: 0, removed: 0, error: 0 };

describe.each(BACKENDS)('the checks of monitors in %s', (_name, open) => {
  let folder: string;
  let store: JobStore;
  let nowMs: number;
  let left: number;
  let monitor: Monitor;
  const opened: MonitorScheduler[] = [];

  const scheduler = (over: JobStore = store): MonitorScheduler => {
    const usage = { left: async () => left };
    const parts = { store: over, usage, log: silent, wake: () => undefined, nowMs: () => nowMs };
    // It looks when the test says so.
    const made = startMonitorScheduler({ ...parts, everyMs: 2 ** 30 });
    opened.push(made);
    return made;
  };
  const row = async (): Promise<Monitor> => (await store.monitors.read(monitor.id))!;
  const checks = async () =>
    (await store.list()).filter(({ request }) => (request as { monitorId: string }).monitorId === monitor.id);
  const end = async (id: string, summary = SUMMARY): Promise<void> => {
    await store.change(id, () => ({ summary }));
    await store.end(id, 'completed');
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'orcrawl-monitors-'));
    store = await open(folder);
    nowMs = START_MS;
    left = Infinity;
    monitor = {
      ...{ id: randomUUID(), owner: 'me', pagesPerDay: null, name: 'a', status: 'active', retentionDays: 1 },
      schedule: { cron: '0 * * * *', timezone: 'UTC' },
      targets: [{ id: 't', type: 'scrape', urls: ['http://a.example/'] }],
      ...{ createdAtMs: 0, updatedAtMs: 0, nextRunAtMs: START_MS + HOUR_MS },
    };
    await store.monitors.change(monitor.id, () => monitor);
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    for (const { id } of await store.list()) await store.remove(id);
    for (const { id } of await store.monitors.list()) await store.monitors.remove(id);
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('begin when they are due, once, whoever looks', async () => {
    const [one, other] = [scheduler(), scheduler()];
    await one.look();
    expect(await checks()).toEqual([]);
    nowMs += HOUR_MS;
    await Promise.all([one.look(), other.look()]);
    await other.look();
    const [check, ...more] = await checks();
    expect(more).toEqual([]);
    expect(check!.request).toMatchObject({ trigger: 'scheduled', scheduledForMs: nowMs, maxPages: 10_000 });
    expect(await row()).toMatchObject({
      currentCheckId: check!.id,
      lastRunAtMs: nowMs,
      nextRunAtMs: nowMs + HOUR_MS,
    });
  });

  it('are the same ones after a crash between the check and the note of it', async () => {
    nowMs += HOUR_MS;
    const dying: JobStore = {
      ...store,
      monitors: { ...store.monitors, change: () => Promise.reject(new Error('killed')) },
    };
    await scheduler(dying).look();
    const [check] = await checks();
    expect((await row()).currentCheckId).toBeUndefined();
    await scheduler().look();
    expect((await checks()).map(({ id }) => id)).toEqual([check!.id]);
    expect((await row()).currentCheckId).toBe(check!.id);
  });

  it('are left out while the last one runs, and made up for once after a long pause', async () => {
    const one = scheduler();
    nowMs += HOUR_MS;
    await one.look();
    nowMs += HOUR_MS;
    await one.look();
    expect(await checks()).toHaveLength(1);
    expect((await row()).nextRunAtMs).toBe(nowMs + HOUR_MS);
    await end((await row()).currentCheckId!);
    nowMs += 10 * HOUR_MS;
    await one.look();
    expect(await checks()).toHaveLength(2);
    expect((await row()).nextRunAtMs).toBe(nowMs + HOUR_MS);
  });

  it('are settled when they end: what they found, and which one the next compares with', async () => {
    const one = scheduler();
    const first = (await one.runNow(monitor.id, 5))!;
    expect(first.request).toMatchObject({ trigger: 'manual', maxPages: 5 });
    expect(await one.runNow(monitor.id, 5)).toBeUndefined();
    await end(first.id);
    await one.look();
    expect(await row()).toMatchObject({ lastCheckId: first.id, lastCheckSummary: SUMMARY });
    expect((await row()).currentCheckId).toBeUndefined();
    const second = (await one.runNow(monitor.id, 5))!;
    expect(second.request).toMatchObject({ previousId: first.id });
    await end(second.id, { ...SUMMARY, same: 0, changed: 0, error: 2 });
    await one.look();
    // Nothing was reached: the pages that are known are those of the one before.
    expect(await row()).toMatchObject({ lastCheckId: first.id, lastCheckSummary: { error: 2 } });
  });

  it('do not begin for a token without pages left, a paused monitor, or one that is gone', async () => {
    const one = scheduler();
    left = 0;
    nowMs += HOUR_MS;
    await one.look();
    expect((await row()).nextRunAtMs).toBe(nowMs + HOUR_MS);
    left = Infinity;
    await store.monitors.change(monitor.id, (before) => ({ ...before!, status: 'paused', nextRunAtMs: undefined }));
    nowMs += HOUR_MS;
    await one.look();
    await store.monitors.remove(monitor.id);
    nowMs += HOUR_MS;
    await one.look();
    expect(await one.runNow(monitor.id, 5)).toBeUndefined();
    expect(await checks()).toEqual([]);
    expect(await store.monitors.list()).toEqual([]);
  });

  it('are kept up to the limit, and no longer than their monitor', async () => {
    const ids: string[] = [];
    for (let count = 0; count < LIMITS.monitorChecks.max + 2; count++) {
      const when = { trigger: 'manual', scheduledForMs: null, maxPages: 1 } as const;
      const { job, list } = checkOf(monitor, randomUUID(), when);
      await store.create(job, list);
      await end(job.id);
      ids.push(job.id);
      await new Promise((resume) => setTimeout(resume, 2));
    }
    const removed: string[] = [];
    const housekeeping = startHousekeeping({
      ...{ store, log: silent, runner: { pause: () => undefined } as never, maxDiskBytes: Infinity, everyMs: 10 },
      // What other jobs are kept for; checks are kept for the days of their monitor.
      retentionMs: 0,
      onRemove: async ({ id }) => void removed.push(id),
    });
    await eventually(async () => (await checks()).length <= LIMITS.monitorChecks.max, 'the oldest are removed');
    expect(removed).toEqual(ids.slice(0, 2));
    await store.monitors.remove(monitor.id);
    await eventually(async () => (await checks()).length === 0, 'all are removed');
    housekeeping.close();
  });
});
