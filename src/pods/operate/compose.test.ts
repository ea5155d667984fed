import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { METRICS, type MetricKind } from '../../observe/metrics-catalogue.js';
import { type ComposeOptions, composeFiles } from './compose.js';
import { HOT_SHARD } from '../supervise/run-metrics.js';
import { readTemplate } from './monitoring/templates.js';
import { STORE_IMAGE } from './topology.js';

const OPTIONS: ComposeOptions = {
  pods: 3,
  basePort: 6_379,
  totalMemoryGb: 6,
  image: STORE_IMAGE,
  bind: '::1',
  fetchersPerPod: 6,
  parsersPerPod: 0,
  prometheusPort: 8_001,
};

/** The columns of the console's pods, by the metric of the same figure. */
const CONSOLE_METRICS = [
  'orcrawl_pages_crawled_total',
  'orcrawl_errors_total',
  'orcrawl_queue_size',
  'orcrawl_leases',
  'orcrawl_processes',
  'orcrawl_process_restarts_total',
  'orcrawl_process_resident_memory_bytes',
  'orcrawl_process_cpu_seconds_total',
  'orcrawl_redis_memory_bytes',
  'orcrawl_redis_commands_per_second',
  'orcrawl_hot_shard_ratio',
] satisfies (keyof typeof METRICS)[];

interface Compose {
  services: Record<string, { image: string; command: string[]; ports?: string[]; volumes: string[] }>;
  volumes: Record<string, object>;
}

describe('compose files', () => {
  const files = composeFiles(OPTIONS, 'compose.yml');
  const compose = parse(files.get('compose.yml')!, { version: '1.1' }) as Compose;

  it('have a store per pod with a port and a volume of its own, Prometheus and Grafana', () => {
    expect(Object.keys(compose.services)).toEqual(['redis-0', 'redis-1', 'redis-2', 'prometheus', 'grafana']);
    expect(compose.services['redis-2']).toMatchObject({
      image: 'redis:7-alpine',
      ports: ['[::1]:6381:6379'],
      volumes: ['redis_data_2:/data', './logs/redis-2:/data/log'],
    });
    expect(compose.services['redis-2']!.command).toEqual(
      expect.arrayContaining(['redis-server', '--maxmemory', '2048mb', '--appendonly', 'yes', '--save', '3600 1']),
    );
    expect(Object.keys(compose.volumes)).toHaveLength(5);
  });

  it('take an image as it is written', () => {
    const image = 'registry.example:5000/valkey/valkey:8 # mine';
    const other = composeFiles({ ...OPTIONS, pods: 1, bind: '127.0.0.1', image }, 'compose.yml');
    const { services } = parse(other.get('compose.yml')!) as Compose;
    expect(services['redis-0']).toMatchObject({ image, command: expect.arrayContaining(['valkey-server']) as unknown });
  });

  it('leave nothing to be filled in', () => {
    for (const [name, text] of files) expect([name, /__[A-Z]+__/.test(text)]).toEqual([name, false]);
  });

  it('call the same pod a hot shard as the crawl does', () => {
    const limits = [...readTemplate('rules.yml').matchAll(/orcrawl_hot_shard_ratio > (\d+)/g)].map(
      ([, limit]) => limit,
    );
    expect(limits).toEqual([String(HOT_SHARD)]);
  });

  it('ask only for metrics of the catalogue', () => {
    const asked = `${readTemplate('dashboard.json')}${readTemplate('rules.yml')}`.match(/orcrawl_\w+/g)!;
    const unknown = asked.filter((name) => !(name.replace(/_bucket$/, '') in METRICS));
    expect(unknown).toEqual([]);
    expect(asked.length).toBeGreaterThan(30);
  });

  it('ask for no label that a metric does not have', () => {
    const texts = `${readTemplate('dashboard.json').replaceAll('\\"', '"')}${readTemplate('rules.yml')}`;
    const known = new Set(['pod', 'process', 'le', 'instance', 'job']);
    const wrong: string[] = [];
    for (const [, name, selector] of texts.matchAll(/(orcrawl_\w+)\{([^}]*)\}/g)) {
      const kind: MetricKind | undefined = METRICS[name!.replace(/_bucket$/, '') as keyof typeof METRICS];
      for (const [, label] of selector!.matchAll(/(\w+)\s*[=!]/g)) {
        if (!known.has(label!) && !kind?.labels?.includes(label!)) wrong.push(`${name}{${label}}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('show what the console shows of a pod', () => {
    const shown = readTemplate('dashboard.json');
    const missing = CONSOLE_METRICS.filter((name) => !shown.includes(name));
    expect(missing).toEqual([]);
  });
});
