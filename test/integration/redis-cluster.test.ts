// Pods in a real Redis Cluster of six servers: masters are killed and a slot moves in mid-crawl. With
// `durability: replicated` nothing that was acknowledged is lost, nothing is done twice, no domain is asked early.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFrontierClient } from '../../src/frontier/client.js';
import { openRedisFrontier, type RedisFrontier } from '../../src/frontier/redis/frontier.js';
import { probeRedis } from '../../src/frontier/redis/server/probe.js';
import { podPrefix, slotOf } from '../../src/frontier/redis/server/slots.js';
import { RequestQueue } from '../../src/index.js';
import { addsUp, done, entry } from '../../src/testing/conformance/bench.js';
import { testConfig } from '../support/crawl.js';
import { type RedisCluster, startCluster } from '../support/redis-cluster.js';
import { redisMissing } from '../support/redis-server.js';

const PODS = 3;
const PAGES = 300;
const DELAY_MS = 200;

describe.skipIf(redisMissing)(`a Redis Cluster${redisMissing ? `: skipped, ${redisMissing}` : ''}`, () => {
  let cluster: RedisCluster;
  const opened: RedisFrontier[] = [];
  beforeAll(async () => {
    cluster = await startCluster();
  }, 240_000);
  afterAll(async () => {
    for (const frontier of opened) await frontier.abandon();
    await cluster?.dispose();
  }, 60_000);

  async function open(pod: number, name: string, replicas = 1, patienceMs = 120_000): Promise<RedisFrontier> {
    const frontier = await openRedisFrontier({
      ...{ url: cluster.url, prefix: podPrefix(name, pod, PODS), replicas, patienceMs },
      ...{ connectTimeoutMs: 60_000, commandTimeoutMs: 10_000, pod: { index: pod, count: PODS } },
      pacing: { delayMs: DELAY_MS, turns: 1 },
      leaseMs: 600_000,
    });
    opened.push(frontier);
    return frontier;
  }

  it('has each pod on a master of its own, and queues of the library', async () => {
    const masters = await Promise.all(
      Array.from({ length: PODS }, (_, pod) => cluster.masterOf(slotOf(podPrefix('spread', pod, PODS)))),
    );
    expect(new Set(masters).size).toBe(PODS);
    const queue = await RequestQueue.open('q', { config: await testConfig(), redisUrl: cluster.url });
    await queue.addRequest('https://example.com/');
    await queue.markRequestHandled((await queue.fetchNextRequest())!);
    expect(await queue.isFinished()).toBe(true);
    await queue.drop();
    const plain = { url: cluster.url, prefix: '{risk}:', connectTimeoutMs: 20_000 };
    expect((await probeRedis(plain)).atRisk).toMatch(/a failover loses .* durability: replicated nothing is lost/);
    expect((await probeRedis({ ...plain, replicas: 1 })).atRisk).not.toMatch(/failover/);
    expect((await probeRedis({ ...plain, replicas: 2 })).problem).toMatch(/has no replica/);
  }, 120_000);

  it('replicated: a call is answered when a replica has it, not before', async () => {
    const prefix = podPrefix('slow', 0, PODS);
    const frontier = await open(0, 'slow', 1, 4_000);
    const client = createFrontierClient(frontier);
    await client.add([entry('a/1', 'a')]);
    const replica = await cluster.replicaOf(slotOf(prefix));
    replica.pause();
    try {
      const refused = frontier.add({ holder: 'h', call: 1, entries: [entry('a/2', 'a')] });
      await expect(refused).rejects.toMatchObject({
        code: 'QUEUE_UNREACHABLE',
        message: expect.stringMatching(/no replica confirmed/) as string,
      });
    } finally {
      replica.resume();
    }
    await cluster.untilWhole();
    expect(await frontier.add({ holder: 'h', call: 1, entries: [entry('a/2', 'a')] })).toEqual(['new']);
    expect((await frontier.overview()).counters).toMatchObject({ accepted: 2, queued: 2 });
  }, 240_000);

  it('a holder of the old master is refused by the new one, which knows nothing of its lease', async () => {
    const prefix = podPrefix('fence', 2, PODS);
    const first = await open(2, 'fence', 0);
    const old = createFrontierClient(first);
    await old.add([entry('x/1', 'x')]);
    const replica = await cluster.replicaOf(slotOf(prefix));
    const master = await cluster.masterOf(slotOf(prefix));
    // The replica has the request, and then hears no more.
    await delay(1_000);
    replica.pause();
    let lease;
    try {
      await cluster.cutReplicas(master);
      [lease] = (await old.lease({ max: 1 })).leases;
      await master.stop('SIGKILL');
    } finally {
      replica.resume();
    }
    expect(await cluster.masterOf(slotOf(prefix), master)).toBe(replica);
    await master.start();
    const next = createFrontierClient(await open(2, 'fence', 0));
    await expect(old.settle({ settlements: [done(lease!)] })).rejects.toMatchObject({ code: 'QUEUE_ROLLED_BACK' });
    for (;;) {
      const [again] = (await next.lease({ max: 1 })).leases;
      if (again) {
        expect(again.record).toBe('x/1');
        expect(again.id).toBeGreaterThan(lease!.id);
        break;
      }
      await delay(100);
    }
    await cluster.untilWhole();
  }, 240_000);

  it('goes on through two killed masters and a moved slot: nothing lost, doubled or early', async () => {
    const settled = new Map<string, number>();
    const askedAt = new Map<string, number>();
    const early: string[] = [];
    let stop = false;

    /** One worker of a pod: leases, "visits" and settles; every second page has a new link. */
    async function work(pod: number): Promise<void> {
      const client = createFrontierClient(await open(pod, 'crawl'));
      while (!stop) {
        const { leases, state, nextDueMs } = await client.lease({ max: 8 });
        if (leases.length === 0) {
          if (state === 'exhausted') return;
          await delay(Math.min(nextDueMs ?? 50, 100));
          continue;
        }
        for (const { domain } of leases) {
          const before = askedAt.get(domain);
          const now = performance.now();
          if (before !== undefined && now - before < DELAY_MS - 5) early.push(`${domain} after ${now - before} ms`);
          askedAt.set(domain, now);
        }
        const settlements = leases.map((lease) => ({
          ...done(lease),
          ...(lease.record.includes('/seed') && {
            links: [entry(lease.record.replace('/seed', '/link'), lease.domain)],
          }),
        }));
        const answer = await client.settle({ landings: leases.map(({ id }) => ({ lease: id })), settlements });
        answer.accepted.forEach((isOurs, i) => {
          if (isOurs) settled.set(leases[i]!.record, (settled.get(leases[i]!.record) ?? 0) + 1);
        });
      }
    }

    const seeders = await Promise.all(Array.from({ length: PODS }, (_, pod) => open(pod, 'crawl')));
    for (const [pod, frontier] of seeders.entries()) {
      const seeds = Array.from({ length: PAGES / PODS / 2 }, (_, n) =>
        entry(`h${pod}-${n % 10}/seed${n}`, `h${pod}-${n % 10}`),
      );
      await createFrontierClient(frontier).add(seeds);
    }
    const working = Promise.all([0, 0, 1, 1, 2, 2].map(work));
    working.catch(() => undefined);
    try {
      await cluster.failOver(slotOf(podPrefix('crawl', 0, PODS)));
      const moved = await cluster.moveSlot(slotOf(podPrefix('crawl', 1, PODS)));
      expect(moved.keys).toBeGreaterThan(5);
      await cluster.untilWhole();
      await cluster.failOver(slotOf(podPrefix('crawl', 2, PODS)));
      await cluster.untilWhole();
      await working;
    } finally {
      stop = true;
    }
    for (const frontier of seeders) {
      const overview = await frontier.overview();
      expect(addsUp(overview.counters)).toBe(true);
      expect(overview.counters).toMatchObject({ accepted: PAGES / PODS, done: PAGES / PODS });
    }
    expect(settled.size).toBe(PAGES);
    expect([...settled].filter(([, times]) => times > 1)).toEqual([]);
    expect(early).toEqual([]);
  }, 600_000);
});
