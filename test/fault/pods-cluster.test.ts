// `orcrawl run` on a Redis Cluster of six servers: masters are killed and a slot moves while pages are crawled.
// Every page is stored once, no host is asked early, and the crawl goes on by itself.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podPrefix, slotOf } from '../../src/frontier/redis/server/slots.js';
import { crawlOnPods } from '../support/pods-crawl.js';
import { type RedisCluster, startCluster } from '../support/redis-cluster.js';
import { redisMissing } from '../support/redis-server.js';

const PODS = 3;

describe.skipIf(redisMissing)(`pods on a Redis Cluster${redisMissing ? `: skipped, ${redisMissing}` : ''}`, () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster();
    // Servers and workers share the machine with other tests: a worker that gets no CPU is not stuck.
    process.env.CRAWLER_STUCK_SECONDS = '300';
  }, 240_000);
  afterAll(async () => {
    delete process.env.CRAWLER_STUCK_SECONDS;
    await cluster?.dispose();
  }, 60_000);

  it('durability: replicated loses nothing, stores nothing twice and keeps the gaps', async () => {
    const report = await crawlOnPods({
      ...{ pods: PODS, hosts: 12, pagesPerHost: 20, delaySecs: 0.2, cluster, patienceMs: 500_000 },
      more: 'durability: replicated',
      async during() {
        await cluster.failOver(slotOf(podPrefix('orcrawl', 0, PODS)));
        await cluster.untilWhole();
        await cluster.moveSlot(slotOf(podPrefix('orcrawl', 1, PODS)));
        await delay(500);
        await cluster.failOver(slotOf(podPrefix('orcrawl', 1, PODS)));
      },
    });
    expect(report.output).not.toMatch(/came back without/);
    const good = { exitCode: 0, missing: 0, duplicates: 0, violations: 0, expected: 240 };
    expect(report, `${report.output}\n${report.errors.join('\n')}`).toMatchObject(good);
    expect(report.smallestGapMs).toBeGreaterThanOrEqual(199);
  }, 600_000);
});
