// The metrics endpoint over real sockets, judged by Prometheus' own tool where it is installed.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { METRICS, type MetricName } from '../../src/observe/metrics-catalogue.js';
import { createMetricsHub } from '../../src/observe/metrics-hub.js';
import { type MetricsEndpoint, serveMetrics } from '../../src/observe/metrics-server.js';
import { addProcessMetrics, machineMetrics } from '../../src/observe/metrics-system.js';
import { createMetrics, type MetricsSnapshot } from '../../src/observe/metrics.js';
import { readPodsConfig } from '../../src/pods/config/config.js';
import { openOwnRedisPod } from '../../src/pods/stores/redis-pod.js';
import type { PodSupervisor } from '../../src/pods/supervise/pod-supervisor.js';
import { openRunMetrics } from '../../src/pods/supervise/run-metrics.js';
import { fingerprintOf } from '../../src/request/fingerprint.js';
import { promtoolMissing } from '../support/promtool.js';
import { freePort, redisMissing, startRedis } from '../support/redis-server.js';

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
    await expect(serveMetrics({ render: () => '', port })).rejects.toThrow(/prometheus_port\): the port is taken/);
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
    const folder = await mkdtemp(join(tmpdir(), 'orcrawl-metrics-'));
    const port = await freePort();
    await writeFile(join(folder, 'seeds.txt'), 'http://a.test/\n');
    await writeFile(
      join(folder, 'crawl.yaml'),
      [
        `pods: [{ redis_url: '${server.url}' }]`,
        `data_dirs: ['${join(folder, 'data')}']`,
        `log_dir: '${join(folder, 'logs')}'`,
        'seed_file: seeds.txt',
        'email: test@example.com',
        'enable_prometheus: true',
        `prometheus_port: ${port}`,
        'global_metrics_update_interval: 1',
      ].join('\n'),
    );
    const config = await readPodsConfig(join(folder, 'crawl.yaml'), {}, { workingDir: folder });
    const pod = await openOwnRedisPod(config, 0, () => undefined);
    const metrics = await openRunMetrics(config, () => undefined);
    const supervisor = { pod, workers: [] } as unknown as PodSupervisor;
    const text = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    try {
      const entries = ['a', 'a', 'b', 'c'].map((domain, i) => ({
        domain,
        record: `${domain}${i}`,
        fingerprint: fingerprintOf(`${domain}${i}`),
      }));
      await pod.add(entries);
      const reading = await pod.reading();
      await expect
        .poll(
          () => {
            metrics.look([supervisor], () => reading);
            return text();
          },
          { timeout: 20_000 },
        )
        .toMatch(/orcrawl_redis_clients\{pod="0"\} [1-9]/);
      const up = await text();
      expect(up).toContain('orcrawl_store_up{pod="0"} 1');
      expect(up).toContain('orcrawl_frontier_size{pod="0"} 4');
      expect(up).toContain('orcrawl_due_domains{pod="0"} 3');
      expect(up).toContain('orcrawl_queue_size{pod="0",queue="frontier"} 4');
      expect(Number(/orcrawl_redis_memory_bytes\{pod="0"\} (\d+)/.exec(up)![1])).toBeGreaterThan(500_000);
      metrics.look([supervisor], () => undefined);
      const away = await text();
      expect(away).toContain('orcrawl_store_up{pod="0"} 0');
      expect(away).not.toContain('orcrawl_frontier_size{');
    } finally {
      await metrics.close();
      await pod.close();
      await server.dispose();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
