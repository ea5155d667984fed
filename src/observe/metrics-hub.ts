// Combines the snapshots of all processes into one text in Prometheus' format.
// Promise: counters never fall when a process is replaced; a pod's numbers are the sum over its processes.
import { kindOf, METRICS, type MetricKind, type MetricName } from './metrics-catalogue.js';
import type { Distribution, MetricsSnapshot } from './metrics.js';

/** The source of a snapshot. */
export interface MetricsSource {
  /** Without a pod, the numbers are the machine's or the whole crawl's. */
  readonly pod?: number;
  /** Stays when the process is replaced: `fetcher_0`. */
  readonly process: string;
  /** Changes when the process restarts: its pid. */
  readonly life: string | number;
}

export interface MetricsHub {
  /** The newest numbers of a process. */
  put(source: MetricsSource, snapshot: MetricsSnapshot): void;
  /** The process has ended: its gauges are removed, its counters stay. */
  retire(source: Pick<MetricsSource, 'pod' | 'process'>): void;
  /** The text for `GET /metrics`. */
  render(): string;
}

interface Member {
  readonly pod: string | undefined;
  readonly process: string;
  life: string | number;
  current: MetricsSnapshot;
  /** Counters of its earlier lives. */
  past: MetricsSnapshot;
}

type Value = number | Distribution;

/**
 * @example
 * const hub = createMetricsHub();
 * worker.on('message', ({ metrics }) => hub.put({ pod: 0, process: 'fetcher_0', life: worker.pid }, metrics));
 */
export function createMetricsHub(): MetricsHub {
  const members = new Map<string, Member>();
  const keyOf = (pod: number | undefined, process: string): string => `${pod ?? ''}/${process}`;

  return {
    put({ pod, process, life }, snapshot) {
      const key = keyOf(pod, process);
      const known = members.get(key);
      if (!known) {
        const label = pod === undefined ? undefined : String(pod);
        members.set(key, { pod: label, process, life, current: snapshot, past: [] });
        return;
      }
      if (known.life !== life) known.past = countedBy(known);
      known.life = life;
      known.current = snapshot;
    },
    retire({ pod, process }) {
      const known = members.get(keyOf(pod, process));
      if (!known) return;
      known.past = countedBy(known);
      known.current = [];
    },
    render: () => textOf(merged([...members.values()])),
  };
}

/** The counters and histograms of all lives of a process so far. */
function countedBy({ past, current }: Member): MetricsSnapshot {
  const sums = new Map<string, [MetricName, readonly string[], Value]>();
  for (const [name, labels, value] of [...past, ...current]) {
    if (!(name in METRICS) || kindOf(name).type === 'gauge') continue;
    const key = `${name}\0${labels.join('\0')}`;
    const before = sums.get(key);
    sums.set(key, [name, labels, before ? added(before[2], value) : value]);
  }
  return [...sums.values()];
}

function added(a: Value, b: Value): Value {
  if (typeof a === 'number' || typeof b === 'number') return Number(a) + Number(b);
  return { counts: a.counts.map((count, i) => count + (b.counts[i] ?? 0)), sum: a.sum + b.sum };
}

/** Metric → labels as text → value. */
type Merged = Map<MetricName, Map<string, Value>>;

function merged(members: readonly Member[]): Merged {
  const all: Merged = new Map();
  for (const { pod, process, past, current } of members) {
    for (const [name, values, value] of [...past, ...current]) {
      // A process of another version may have unknown metrics.
      if (!(name in METRICS)) continue;
      const { of, labels = [] } = kindOf(name);
      const text = labelText([
        ...(of === 'machine' || pod === undefined ? [] : [['pod', pod] as const]),
        ...(of === 'process' ? [['process', process] as const] : []),
        ...labels.map((label, i) => [label, values[i] ?? ''] as const),
      ]);
      let series = all.get(name);
      if (!series) all.set(name, (series = new Map()));
      const before = series.get(text);
      series.set(text, before === undefined ? value : added(before, value));
    }
  }
  addHotShards(all);
  return all;
}

/** Each store's load over the mean: by commands, or without Redis by the pod's pages. */
function addHotShards(all: Merged): void {
  const loads = all.get('orcrawl_redis_commands_per_second') ?? podPages(all);
  if (!loads || loads.size < 2) return;
  const mean = [...loads.values()].reduce<number>((sum, load) => sum + (load as number), 0) / loads.size;
  if (!(mean > 0)) return;
  all.set('orcrawl_hot_shard_ratio', new Map([...loads].map(([text, load]) => [text, (load as number) / mean])));
}

function podPages(all: Merged): Map<string, Value> | undefined {
  const pages = all.get('orcrawl_pages_crawled_total');
  return pages && new Map([...pages].filter(([text]) => text.includes('pod=')));
}

/** `a="1",b="2"`, escaped. */
export function labelText(labels: readonly (readonly [name: string, value: string])[]): string {
  return labels.map(([name, value]) => `${name}="${escaped(value)}"`).join(',');
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function textOf(all: Merged): string {
  const lines: string[] = [];
  for (const name of Object.keys(METRICS) as MetricName[]) {
    const series = all.get(name);
    if (!series) continue;
    lines.push(...metricLines(name, kindOf(name), series));
  }
  return `${lines.join('\n')}\n`;
}

/** One metric; its series by their labels as text. */
export function metricLines(
  name: string,
  { type, help, buckets = [] }: Pick<MetricKind, 'type' | 'help' | 'buckets'>,
  series: Iterable<readonly [labels: string, value: Value]>,
): string[] {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  for (const [labels, value] of series) {
    if (typeof value === 'number') lines.push(`${name}${inBraces(labels)} ${numberText(value)}`);
    else lines.push(...histogramLines(name, labels, value, buckets));
  }
  return lines;
}

function histogramLines(name: string, labels: string, value: Distribution, buckets: readonly number[]): string[] {
  const comma = labels === '' ? '' : `${labels},`;
  let count = 0;
  const lines = value.counts.map((inBucket, i) => {
    count += inBucket;
    return `${name}_bucket{${comma}le="${i < buckets.length ? buckets[i] : '+Inf'}"} ${count}`;
  });
  return [
    ...lines,
    `${name}_sum${inBraces(labels)} ${numberText(value.sum)}`,
    `${name}_count${inBraces(labels)} ${count}`,
  ];
}

const inBraces = (labels: string): string => (labels === '' ? '' : `{${labels}}`);

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
