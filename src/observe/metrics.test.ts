import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMetricsHub } from './metrics-hub.js';
import { addProcessMetrics, machineMetrics } from './metrics-system.js';
import { createMetrics, type MetricsSnapshot } from './metrics.js';

/** What travels between processes is JSON. */
const sent = (snapshot: MetricsSnapshot): MetricsSnapshot => JSON.parse(JSON.stringify(snapshot)) as MetricsSnapshot;
const pages = (count: number): MetricsSnapshot => {
  const metrics = createMetrics();
  metrics.counter('orcrawl_pages_crawled_total', {}).add(count);
  return sent(metrics.snapshot());
};

describe('the metrics of a process', () => {
  it('count, set and spread values over buckets whose bounds are included', () => {
    const metrics = createMetrics();
    const seconds = metrics.histogram('orcrawl_fetch_duration_seconds', { fetch_type: 'page' });
    for (const value of [0.01, 0.011, 60, 61, NaN]) seconds.observe(value);
    metrics.counter('orcrawl_errors_total', { type: 'FETCH_TIMEOUT' }).add(3);
    metrics.counter('orcrawl_errors_total', { type: 'FETCH_TIMEOUT' }).add(-1);
    metrics.gauge('orcrawl_active_workers', { role: 'fetcher' }, () => 7);
    expect(metrics.snapshot()).toEqual([
      ['orcrawl_fetch_duration_seconds', ['page'], { counts: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1], sum: 121.021 }],
      ['orcrawl_errors_total', ['FETCH_TIMEOUT'], 3],
      ['orcrawl_active_workers', ['fetcher'], 7],
    ]);
  });

  it('keep the last value of a reading that fails', () => {
    const metrics = createMetrics();
    let isBroken = false;
    metrics.gauge('orcrawl_leases', {}, () => {
      if (isBroken) throw new Error('gone');
      return 5;
    });
    metrics.snapshot();
    isBroken = true;
    expect(metrics.snapshot()).toEqual([['orcrawl_leases', [], 5]]);
  });

  it('put endless label values under one name', () => {
    const metrics = createMetrics();
    for (let i = 0; i < 5_000; i++) metrics.counter('orcrawl_errors_total', { type: `E${i}` }).add();
    const snapshot = metrics.snapshot();
    expect(snapshot.length).toBeLessThanOrEqual(1_025);
    expect(snapshot.at(-1)).toEqual(['orcrawl_errors_total', ['other'], 5_000 - 1_024]);
  });

  it('tell pages per second over the last interval', () => {
    let nowMs = 0;
    let count = 0;
    const metrics = createMetrics();
    addProcessMetrics(
      metrics,
      () => count,
      () => nowMs,
    );
    const rate = (): unknown => metrics.snapshot().find(([name]) => name === 'orcrawl_process_pages_per_second')?.[2];
    [nowMs, count] = [2_000, 50];
    expect(rate()).toBe(25);
    [nowMs, count] = [3_000, 50];
    expect(rate()).toBe(0);
  });
});

describe('the metrics of all processes', () => {
  it('are added up for a pod, apart for a process, and never fall when a process is replaced', () => {
    const hub = createMetricsHub();
    hub.put({ pod: 0, process: 'fetcher_0', life: 11 }, pages(5));
    hub.put({ pod: 0, process: 'fetcher_1', life: 12 }, pages(7));
    hub.put({ pod: 1, process: 'fetcher_0', life: 13 }, pages(1));
    hub.put({ pod: 0, process: 'fetcher_0', life: 11 }, pages(6));
    expect(hub.render()).toContain('orcrawl_pages_crawled_total{pod="0"} 13\norcrawl_pages_crawled_total{pod="1"} 1\n');
    hub.put({ pod: 0, process: 'fetcher_0', life: 99 }, pages(2));
    expect(hub.render()).toContain('orcrawl_pages_crawled_total{pod="0"} 15\n');
    hub.retire({ pod: 0, process: 'fetcher_0' });
    hub.put({ pod: 0, process: 'fetcher_0', life: 100 }, pages(1));
    expect(hub.render()).toContain('orcrawl_pages_crawled_total{pod="0"} 16\n');
  });

  it('equal the sum of everything counted, whatever lives and dies', () => {
    const step = fc.record({ slot: fc.nat(2), pages: fc.nat(100), dies: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const hub = createMetricsHub();
        const counts = [0, 0, 0];
        let total = 0;
        let life = 0;
        const lives = [0, 0, 0];
        for (const { slot, pages: more, dies } of steps) {
          counts[slot]! += more;
          total += more;
          hub.put({ pod: 0, process: `fetcher_${slot}`, life: lives[slot]! }, pages(counts[slot]!));
          if (!dies) continue;
          hub.retire({ pod: 0, process: `fetcher_${slot}` });
          lives[slot] = ++life;
          counts[slot] = 0;
        }
        if (steps.length > 0) expect(hub.render()).toContain(`orcrawl_pages_crawled_total{pod="0"} ${total}\n`);
      }),
    );
  });

  it('forget the gauges of a process that ended', () => {
    const hub = createMetricsHub();
    const metrics = createMetrics();
    metrics.gauge('orcrawl_process_open_fds', {}).set(20);
    hub.put({ pod: 3, process: 'parser_0', life: 1 }, sent(metrics.snapshot()));
    expect(hub.render()).toContain('orcrawl_process_open_fds{pod="3",process="parser_0"} 20');
    hub.retire({ pod: 3, process: 'parser_0' });
    expect(hub.render()).not.toContain('open_fds{');
  });

  it('show histograms with running counts', () => {
    const hub = createMetricsHub();
    for (const life of [1, 2]) {
      const metrics = createMetrics();
      const seconds = metrics.histogram('orcrawl_cross_pod_write_seconds', { target: '4' });
      for (const value of [0.002, 0.002, 9]) seconds.observe(value);
      hub.put({ pod: 0, process: 'fetcher_0', life }, sent(metrics.snapshot()));
    }
    const text = hub.render();
    expect(text).toContain('orcrawl_cross_pod_write_seconds_bucket{pod="0",target="4",le="0.001"} 0\n');
    expect(text).toContain('orcrawl_cross_pod_write_seconds_bucket{pod="0",target="4",le="0.0025"} 4\n');
    expect(text).toContain('orcrawl_cross_pod_write_seconds_bucket{pod="0",target="4",le="+Inf"} 6\n');
    expect(text).toContain('orcrawl_cross_pod_write_seconds_sum{pod="0",target="4"} 18.008\n');
    expect(text).toContain('orcrawl_cross_pod_write_seconds_count{pod="0",target="4"} 6\n');
  });

  it('say how far each store is above the mean', () => {
    const hub = createMetricsHub();
    for (const [pod, load] of [100, 100, 400].entries()) {
      const metrics = createMetrics();
      metrics.gauge('orcrawl_redis_commands_per_second', {}).set(load);
      hub.put({ pod, process: 'orchestrator', life: 1 }, metrics.snapshot());
    }
    expect(hub.render()).toContain('orcrawl_hot_shard_ratio{pod="0"} 0.5\n');
    expect(hub.render()).toContain('orcrawl_hot_shard_ratio{pod="2"} 2\n');
  });

  it('escape what a label holds', () => {
    const hub = createMetricsHub();
    const metrics = createMetrics();
    metrics.counter('orcrawl_errors_total', { type: 'a"b\\c\nd' }).add();
    hub.put({ pod: 0, process: 'p', life: 1 }, metrics.snapshot());
    expect(hub.render()).toContain('orcrawl_errors_total{pod="0",type="a\\"b\\\\c\\nd"} 1\n');
  });

  it('leave out what another version counts', () => {
    const hub = createMetricsHub();
    hub.put({ pod: 0, process: 'p', life: 1 }, [['other_total', [], 1]] as unknown as MetricsSnapshot);
    expect(hub.render()).toBe('\n');
  });
});

describe('the metrics of the machine', () => {
  it('come from /proc', () => {
    const files: Record<string, string> = {
      '/proc/meminfo': 'MemTotal:       100 kB\nMemFree:    30 kB\nMemAvailable:    40 kB\n',
      '/proc/diskstats':
        '   8       0 sda 10 0 200 5 20 0 400 6 0 1500 11 0 0 0 0\n   8       1 sda1 10 0 200 5 20 0 400 6 0 15 11\n',
      '/proc/net/dev':
        'Inter-|   Receive |  Transmit\n face |bytes packets|bytes\n    lo: 1 2 0 0 0 0 0 0 9 2 0\n  eth0:77 2 0 0 0 0 0 0 88 2 0\n',
    };
    const snapshot = machineMetrics([], (path) => files[path]);
    expect(snapshot).toContainEqual(['orcrawl_machine_memory_available_bytes', [], 40 * 1024]);
    expect(snapshot).toContainEqual(['orcrawl_machine_disk_read_bytes_total', ['sda'], 200 * 512]);
    expect(snapshot).toContainEqual(['orcrawl_machine_disk_written_bytes_total', ['sda'], 400 * 512]);
    expect(snapshot).toContainEqual(['orcrawl_machine_disk_io_seconds_total', ['sda'], 1.5]);
    expect(snapshot).toContainEqual(['orcrawl_machine_network_received_bytes_total', ['eth0'], 77]);
    expect(snapshot).toContainEqual(['orcrawl_machine_network_sent_bytes_total', ['eth0'], 88]);
    expect(snapshot).toContainEqual(['orcrawl_machine_memory_free_bytes', [], 30 * 1024]);
    expect(snapshot).toContainEqual(['orcrawl_machine_disk_reads_total', ['sda'], 10]);
    expect(snapshot).toContainEqual(['orcrawl_machine_disk_writes_total', ['sda'], 20]);
    expect(snapshot).toContainEqual(['orcrawl_machine_network_received_packets_total', ['eth0'], 2]);
    expect(snapshot).toContainEqual(['orcrawl_machine_network_sent_packets_total', ['eth0'], 2]);
    expect(snapshot.filter(([name]) => name.includes('disk_read_'))).toHaveLength(1);
  });
});
