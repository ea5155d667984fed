// The Grafana dashboard that compose provisions: the crawl at a glance, then pod by pod, then the machine.
// Promise: every panel uses a metric from the catalogue; the compiler checks it.
import type { MetricName } from '../../observe/metrics-catalogue.js';

interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly queries: readonly (readonly [expression: string, legend: string])[];
}

const rate = (name: MetricName, by: string): string => `sum by (${by}) (rate(${name}[1m]))`;
const quantile = (share: number, name: MetricName, by = ''): string =>
  `histogram_quantile(${share}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${name}_bucket[5m])))`;
const of = (name: MetricName): string => name;

const ROWS: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    'The crawl',
    [
      {
        title: 'Pages per second',
        unit: 'short',
        queries: [[`sum(rate(${of('orcrawl_pages_crawled_total')}[1m]))`, 'all pods']],
      },
      { title: 'Pages', unit: 'short', queries: [[`sum(${of('orcrawl_pages_crawled_total')})`, 'crawled']] },
      { title: 'Errors by type', unit: 'short', queries: [[rate('orcrawl_errors_total', 'type'), '{{type}}']] },
      {
        title: 'Fetch duration',
        unit: 's',
        queries: [
          [quantile(0.5, 'orcrawl_fetch_duration_seconds'), 'median'],
          [quantile(0.99, 'orcrawl_fetch_duration_seconds'), '99 %'],
        ],
      },
      {
        title: 'Parse duration',
        unit: 's',
        queries: [
          [quantile(0.5, 'orcrawl_parse_duration_seconds'), 'median'],
          [quantile(0.99, 'orcrawl_parse_duration_seconds'), '99 %'],
        ],
      },
      {
        title: 'Content size',
        unit: 'bytes',
        queries: [
          [quantile(0.5, 'orcrawl_content_size_bytes'), 'median'],
          [quantile(0.95, 'orcrawl_content_size_bytes'), '95 %'],
        ],
      },
    ],
  ],
  [
    'Pod by pod',
    [
      {
        title: 'Pages per second',
        unit: 'short',
        queries: [[rate('orcrawl_pages_crawled_total', 'pod'), 'pod {{pod}}']],
      },
      {
        title: 'Hot shards: load over the mean',
        unit: 'short',
        queries: [[of('orcrawl_hot_shard_ratio'), 'pod {{pod}}']],
      },
      {
        title: 'Cross-pod write latency, 99 %',
        unit: 's',
        queries: [[quantile(0.99, 'orcrawl_cross_pod_write_seconds', 'target'), 'to pod {{target}}']],
      },
      { title: 'Frontier', unit: 'short', queries: [[of('orcrawl_frontier_size'), 'pod {{pod}}']] },
      { title: 'Due domains', unit: 'short', queries: [[of('orcrawl_due_domains'), 'pod {{pod}}']] },
      { title: 'Leases', unit: 'short', queries: [[of('orcrawl_leases'), 'pod {{pod}}']] },
      { title: 'Queues', unit: 'short', queries: [[`sum by (queue) (${of('orcrawl_queue_size')})`, '{{queue}}']] },
      {
        title: 'Backpressure',
        unit: 'short',
        queries: [[rate('orcrawl_backpressure_events_total', 'pod, limit'), 'pod {{pod}} {{limit}}']],
      },
      { title: 'Active workers', unit: 'short', queries: [[of('orcrawl_active_workers'), 'pod {{pod}} {{role}}']] },
      { title: 'Slow fetches', unit: 'short', queries: [[of('orcrawl_slow_fetches'), 'pod {{pod}}']] },
    ],
  ],
  [
    'Stores',
    [
      {
        title: 'Redis commands per second',
        unit: 'short',
        queries: [[of('orcrawl_redis_commands_per_second'), 'pod {{pod}}']],
      },
      { title: 'Redis memory', unit: 'bytes', queries: [[of('orcrawl_redis_memory_bytes'), 'pod {{pod}}']] },
      { title: 'Redis clients', unit: 'short', queries: [[of('orcrawl_redis_clients'), 'pod {{pod}}']] },
    ],
  ],
  [
    'Processes and machine',
    [
      {
        title: 'Pages per second, by process',
        unit: 'short',
        queries: [[of('orcrawl_process_pages_per_second'), '{{pod}} {{process}}']],
      },
      {
        title: 'Memory, by process',
        unit: 'bytes',
        queries: [[of('orcrawl_process_resident_memory_bytes'), '{{pod}} {{process}}']],
      },
      { title: 'Restarts', unit: 'short', queries: [[of('orcrawl_process_restarts_total'), 'pod {{pod}} {{role}}']] },
      { title: 'CPU', unit: 'short', queries: [[rate('orcrawl_machine_cpu_seconds_total', 'mode'), '{{mode}}']] },
      {
        title: 'Memory available',
        unit: 'bytes',
        queries: [[of('orcrawl_machine_memory_available_bytes'), 'available']],
      },
      {
        title: 'Free space on the data disks',
        unit: 'bytes',
        queries: [[of('orcrawl_machine_disk_free_bytes'), '{{path}}']],
      },
      {
        title: 'Disks',
        unit: 'Bps',
        queries: [
          [rate('orcrawl_machine_disk_written_bytes_total', 'device'), '{{device}} written'],
          [rate('orcrawl_machine_disk_read_bytes_total', 'device'), '{{device}} read'],
        ],
      },
      {
        title: 'Network',
        unit: 'Bps',
        queries: [
          [rate('orcrawl_machine_network_received_bytes_total', 'device'), '{{device}} in'],
          [rate('orcrawl_machine_network_sent_bytes_total', 'device'), '{{device}} out'],
        ],
      },
    ],
  ],
];

const COLUMNS = 3;
const WIDTH = 24 / COLUMNS;
const HEIGHT = 8;

/** The dashboard as Grafana reads it. */
export function dashboard(): object {
  const panels: object[] = [];
  let y = 0;
  for (const [title, row] of ROWS) {
    panels.push({ id: panels.length + 1, type: 'row', title, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] });
    y += 1;
    row.forEach((panel, index) => {
      const gridPos = {
        x: (index % COLUMNS) * WIDTH,
        y: y + Math.floor(index / COLUMNS) * HEIGHT,
        w: WIDTH,
        h: HEIGHT,
      };
      panels.push(timeSeries(panels.length + 1, panel, gridPos));
    });
    y += Math.ceil(row.length / COLUMNS) * HEIGHT;
  }
  return {
    uid: 'orcrawl',
    title: 'orcrawl',
    schemaVersion: 39,
    refresh: '10s',
    time: { from: 'now-1h', to: 'now' },
    panels,
  };
}

function timeSeries(id: number, { title, unit, queries }: Panel, gridPos: object): object {
  const datasource = { type: 'prometheus', uid: 'prometheus' };
  return {
    id,
    type: 'timeseries',
    title,
    gridPos,
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(([expr, legendFormat], index) => ({
      datasource,
      expr,
      legendFormat,
      refId: String.fromCharCode(65 + index),
    })),
  };
}
