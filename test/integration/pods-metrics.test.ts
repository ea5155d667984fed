// The metrics endpoint over real sockets, judged by Prometheus' own tool where it is installed.
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { openRedisFrontier } from '../../src/frontier/redis/frontier.js';
import { watchServer } from '../../src/frontier/redis/server/server-stats.js';
import { METRICS, type MetricName } from '../../src/observe/metrics-catalogue.js';
import { createMetricsHub } from '../../src/observe/metrics-hub.js';
import { type MetricsEndpoint, serveMetrics } from '../../src/observe/metrics-server.js';
import { addProcessMetrics, machineMetrics } from '../../src/observe/metrics-system.js';
import { createMetrics, type MetricsSnapshot } from '../../src/observe/metrics.js';
import { storeSnapshot } from '../../src/pods/supervise/store-metrics.js';
import { fingerprintOf } from '../../src/request/fingerprint.js';
import { promtoolMissing } from '../support/promtool.js';
import { redisMissing, startRedis } from '../support/redis-server.js';

let endpoint: MetricsEndpoint | undefined;
afterEach(() => endpoint?.close());

/** A value for every metric of the catalogue. */
function everything(): MetricsSnapshot {
  return (Object.keys(METRICS) as MetricName[]).map((name) => {
    const {
      type,
      labels = [],
      buckets = [],
    } = METRICS[name] as { type: string; labels?: string[]; buckets?: number[] };
    const value = type === 'histogram' ? { counts: [...buckets.map(() => 1), 2], sum: 12.5 } : 3;
    return [name, labels.map((label) => `a ${label}`), value];
  });
}

describe('the metrics endpoint', () => {
  it('answers GET /metrics on loopback and nothing else', async () => {
    const hub = createMetricsHub();
    const metrics = createMetrics();
    addProcessMetrics(metrics, () => 0);
    hub.put({ pod: 0, process: 'fetcher_0', life: 1 }, metrics.snapshot());
    hub.put({ process: 'machine', life: 1 }, machineMetrics([tmpdir()]));
    endpoint = await serveMetrics({ render: () => hub.render(), port: 0 });
    expect(endpoint.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    const answer = await fetch(endpoint.url);
    expect(answer.headers.get('content-type')).toContain('version=0.0.4');
    const text = await answer.text();
    expect(text).toMatch(/^orcrawl_process_resident_memory_bytes\{pod="0",process="fetcher_0"\} \d{7,}$/m);
    expect(text).toMatch(/^orcrawl_machine_cpu_seconds_total\{mode="user"\} [\d.]+$/m);
    expect(text).toMatch(/^orcrawl_machine_disk_free_bytes\{path="[^"]+"\} \d+$/m);
    expect((await fetch(new URL('/', endpoint.url))).status).toBe(404);
    expect((await fetch(endpoint.url, { method: 'POST' })).status).toBe(405);
  });

  it('says which port is taken', async () => {
    endpoint = await serveMetrics({ render: () => '', port: 0 });
    const port = Number(new URL(endpoint.url).port);
    await expect(serveMetrics({ render: () => '', port })).rejects.toThrow(/prometheus_port\): the port is in use/);
  });

  it('answers 500 when the text cannot be made, and goes on', async () => {
    let isBroken = true;
    endpoint = await serveMetrics({
      port: 0,
      render: () => {
        if (isBroken) throw new Error('broken');
        return 'fine\n';
      },
    });
    expect((await fetch(endpoint.url)).status).toBe(500);
    isBroken = false;
    expect(await (await fetch(endpoint.url)).text()).toBe('fine\n');
  });

  it.skipIf(promtoolMissing)('gives a text that promtool accepts, with every metric of the catalogue', () => {
    const hub = createMetricsHub();
    hub.put({ pod: 0, process: 'fetcher_0', life: 1 }, everything());
    hub.put({ pod: 1, process: 'fetcher_0', life: 1 }, everything());
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: hub.render(),
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`).toBe('');
    expect(status).toBe(0);
  });
});

describe.skipIf(redisMissing)('the metrics of a store', () => {
  it('tell load, memory, clients, and where the frontier stands; 0 for up when it is away', async () => {
    const server = await startRedis();
    const frontier = await openRedisFrontier({ url: server.url, pacing: { delayMs: 0, turns: 1 } });
    const watch = await watchServer({ url: server.url });
    try {
      const entries = ['a', 'a', 'b', 'c'].map((domain, i) => ({
        domain,
        record: `${domain}${i}`,
        fingerprint: fingerprintOf(`${domain}${i}`),
      }));
      await frontier.add({ holder: 'h', call: 1, entries });
      await frontier.lease({ holder: 'h', call: 2, max: 1 });
      const stats = await watch.read();
      expect(stats).toMatchObject({ frontierSize: 4, leased: 1, retrying: 0, dueDomains: 2, overflow: 0, spilled: 0 });
      expect(stats!.memoryBytes).toBeGreaterThan(500_000);
      expect(stats!.clients).toBeGreaterThanOrEqual(2);
      const snapshot = storeSnapshot(stats, { entries: 6, bytes: 700 });
      expect(snapshot).toContainEqual(['orcrawl_store_up', [], 1]);
      expect(snapshot).toContainEqual(['orcrawl_queue_size', ['queued'], 3]);
      expect(snapshot).toContainEqual(['orcrawl_queue_size', ['parse'], 6]);
      await frontier.close();
      await server.stop();
      expect(storeSnapshot(await watch.read())).toEqual([['orcrawl_store_up', [], 0]]);
    } finally {
      watch.close();
      await frontier.close();
      await server.dispose();
    }
  });
});
