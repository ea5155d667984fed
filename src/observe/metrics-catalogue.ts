// Every metric by name: its kind, what it says, its labels, and how the readings of several processes become one.
// Promise: names, units and endings follow Prometheus' rules, which a test checks with promtool.

export interface MetricKind {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Beside `pod` (and `process`), which the endpoint adds. */
  readonly labels?: readonly string[];
  /** `pod`: readings of a pod's processes are added up. `process`: each keeps its own. `machine`: no pod at all. */
  readonly of: 'pod' | 'process' | 'machine';
  /** Upper bounds of a histogram, ascending. */
  readonly buckets?: readonly number[];
}

// From a cached answer on the same machine to the default timeouts.
const FETCH_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const PARSE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const WRITE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const CONTENT_BYTES = [1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6];

export const METRICS = {
  orcrawl_pages_crawled_total: { type: 'counter', of: 'pod', help: 'Visits that ended done with a stored response.' },
  orcrawl_errors_total: { type: 'counter', of: 'pod', labels: ['type'], help: 'Failed attempts, by error code.' },
  orcrawl_requests_skipped_total: {
    type: 'counter',
    of: 'pod',
    labels: ['reason'],
    help: 'Requests left out, by reason.',
  },
  orcrawl_limits_reached_total: {
    type: 'counter',
    of: 'pod',
    labels: ['limit'],
    help: 'Times a page, an answer or a file reached a limit, by its name in docs/limits.md.',
  },
  orcrawl_fetch_duration_seconds: {
    type: 'histogram',
    of: 'pod',
    buckets: FETCH_SECONDS,
    help: 'From sending a request to the end of its response.',
  },
  orcrawl_parse_duration_seconds: {
    type: 'histogram',
    of: 'pod',
    buckets: PARSE_SECONDS,
    help: 'From a captured page to its links, text and handler.',
  },
  orcrawl_content_size_bytes: { type: 'histogram', of: 'pod', buckets: CONTENT_BYTES, help: 'Bodies as received.' },
  orcrawl_links_found_total: { type: 'counter', of: 'pod', help: 'Links of pages, before anything was left out.' },
  orcrawl_links_sent_total: {
    type: 'counter',
    of: 'pod',
    labels: ['to'],
    help: 'Links sent to a store, to the own pod or another.',
  },
  orcrawl_active_workers: { type: 'gauge', of: 'pod', labels: ['role'], help: 'Pages in work at this moment.' },
  orcrawl_slow_fetches: { type: 'gauge', of: 'pod', help: 'Fetches that receive next to nothing at this moment.' },
  orcrawl_slow_fetches_ended_total: {
    type: 'counter',
    of: 'pod',
    help: 'Slow fetches ended because others needed their slots; their requests went back to the queue.',
  },
  orcrawl_slow_requests_put_back_total: {
    type: 'counter',
    of: 'pod',
    help: 'Times a request to a slow host went back to the queue unasked.',
  },
  orcrawl_processes: { type: 'gauge', of: 'pod', labels: ['role'], help: 'Processes that run.' },
  orcrawl_process_restarts_total: {
    type: 'counter',
    of: 'pod',
    labels: ['role'],
    help: 'Processes started again after they ended.',
  },
  orcrawl_blocked_loops_total: {
    type: 'counter',
    of: 'pod',
    labels: ['role'],
    help: 'Times the event loop of a process was blocked for longer than a third of what it is killed for.',
  },
  orcrawl_backpressure_events_total: {
    type: 'counter',
    of: 'pod',
    labels: ['limit'],
    help: 'Times a fetcher held back because the parse queue was above its soft or hard limit.',
  },
  orcrawl_pod_assignment_errors_total: {
    type: 'counter',
    of: 'pod',
    help: 'URLs that were about to be added to a pod that does not own them.',
  },
  orcrawl_cross_pod_write_seconds: {
    type: 'histogram',
    of: 'pod',
    labels: ['target'],
    buckets: WRITE_SECONDS,
    help: 'Time to add a batch of links to another pod.',
  },
  orcrawl_process_pages_per_second: {
    type: 'gauge',
    of: 'process',
    help: 'Pages crawled by the process a second, over its last interval.',
  },
  orcrawl_process_resident_memory_bytes: { type: 'gauge', of: 'process', help: 'Resident memory of the process.' },
  orcrawl_process_open_fds: { type: 'gauge', of: 'process', help: 'Open files and sockets of the process.' },
  orcrawl_process_cpu_seconds_total: {
    type: 'counter',
    of: 'process',
    help: 'CPU time of the process, user and system.',
  },
  orcrawl_queue_size: { type: 'gauge', of: 'pod', labels: ['queue'], help: 'Requests waiting, by queue.' },
  orcrawl_queue_size_bytes: { type: 'gauge', of: 'pod', labels: ['queue'], help: 'Bytes waiting, by queue.' },
  orcrawl_frontier_size: { type: 'gauge', of: 'pod', help: 'Requests accepted that have not ended.' },
  orcrawl_due_domains: { type: 'gauge', of: 'pod', help: 'Domains that may be asked now.' },
  orcrawl_leases: { type: 'gauge', of: 'pod', help: 'Requests handed out to processes.' },
  orcrawl_store_up: { type: 'gauge', of: 'pod', help: '1 when the pod’s store answers, else 0.' },
  orcrawl_redis_commands_per_second: {
    type: 'gauge',
    of: 'pod',
    help: 'Commands the pod’s Redis processed a second, those inside scripts included.',
  },
  orcrawl_redis_memory_bytes: { type: 'gauge', of: 'pod', help: 'Memory the pod’s Redis uses.' },
  orcrawl_redis_memory_limit_bytes: {
    type: 'gauge',
    of: 'pod',
    help: 'maxmemory of the pod’s Redis; 0 without a limit.',
  },
  orcrawl_redis_clients: { type: 'gauge', of: 'pod', help: 'Connections to the pod’s Redis.' },
  orcrawl_hot_shard_ratio: { type: 'gauge', of: 'pod', help: 'Load of the pod’s store over the mean of all pods.' },
  orcrawl_machine_cpu_seconds_total: {
    type: 'counter',
    of: 'machine',
    labels: ['mode'],
    help: 'CPU time of the machine, by mode.',
  },
  orcrawl_machine_memory_total_bytes: { type: 'gauge', of: 'machine', help: 'Memory of the machine.' },
  orcrawl_machine_memory_available_bytes: { type: 'gauge', of: 'machine', help: 'Memory that can still be given out.' },
  orcrawl_machine_disk_size_bytes: {
    type: 'gauge',
    of: 'machine',
    labels: ['path'],
    help: 'Size of the disk under a data directory.',
  },
  orcrawl_machine_disk_free_bytes: {
    type: 'gauge',
    of: 'machine',
    labels: ['path'],
    help: 'Room left on the disk under a data directory.',
  },
  orcrawl_machine_disk_read_bytes_total: {
    type: 'counter',
    of: 'machine',
    labels: ['device'],
    help: 'Bytes read from a disk.',
  },
  orcrawl_machine_disk_written_bytes_total: {
    type: 'counter',
    of: 'machine',
    labels: ['device'],
    help: 'Bytes written to a disk.',
  },
  orcrawl_machine_disk_io_seconds_total: {
    type: 'counter',
    of: 'machine',
    labels: ['device'],
    help: 'Time a disk was busy.',
  },
  orcrawl_machine_network_received_bytes_total: {
    type: 'counter',
    of: 'machine',
    labels: ['device'],
    help: 'Bytes received by an interface.',
  },
  orcrawl_machine_network_sent_bytes_total: {
    type: 'counter',
    of: 'machine',
    labels: ['device'],
    help: 'Bytes sent by an interface.',
  },
} as const satisfies Record<string, MetricKind>;

export type MetricName = keyof typeof METRICS;

type NamesOf<Type extends MetricKind['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];

export type CounterName = NamesOf<'counter'>;
export type GaugeName = NamesOf<'gauge'>;
export type HistogramName = NamesOf<'histogram'>;

/** The values of a metric's labels, by label: exactly those the catalogue names. */
export type LabelsOf<Name extends MetricName> = (typeof METRICS)[Name] extends { labels: readonly (infer Label)[] }
  ? { readonly [L in Label & string]: string }
  : Readonly<Record<never, never>>;

export const kindOf = (name: MetricName): MetricKind => METRICS[name];
