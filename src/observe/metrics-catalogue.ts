// Every metric by name: its type, help text, labels, and how values of several processes are combined.
// Promise: names, units and suffixes follow Prometheus' rules; a test checks them with promtool.

export interface MetricKind {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Besides `pod` (and `process`), which the endpoint adds. */
  readonly labels?: readonly string[];
  /** `pod`: values of a pod's processes are added up. `process`: each keeps its own. `machine`: no pod. */
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
  orcrawl_errors_total: {
    type: 'counter',
    of: 'pod',
    labels: ['type'],
    help: 'Failed attempts, by http_STATUS or error code.',
  },
  orcrawl_retries_total: {
    type: 'counter',
    of: 'pod',
    labels: ['type'],
    help: 'Failed attempts that are followed by another, by http_STATUS or error code.',
  },
  orcrawl_requests_failed_total: {
    type: 'counter',
    of: 'pod',
    labels: ['type'],
    help: 'Requests that failed for good, by http_STATUS or error code.',
  },
  orcrawl_worker_losses_total: {
    type: 'counter',
    of: 'pod',
    help: 'Requests that failed because they ended their worker.',
  },
  orcrawl_budget_dropped_links_total: {
    type: 'counter',
    of: 'pod',
    help: 'Links dropped because their domain had max_urls_per_domain already.',
  },
  orcrawl_fetches_total: {
    type: 'counter',
    of: 'pod',
    labels: ['fetch_type', 'result'],
    help: 'Requests sent, for a page or a robots.txt, by status or error code.',
  },
  orcrawl_requests_skipped_total: {
    type: 'counter',
    of: 'pod',
    labels: ['reason'],
    help: 'Requests skipped, by reason.',
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
    labels: ['fetch_type'],
    buckets: FETCH_SECONDS,
    help: 'From sending a request, for a page or a robots.txt, to the end of its response or its failure.',
  },
  orcrawl_parse_duration_seconds: {
    type: 'histogram',
    of: 'pod',
    buckets: PARSE_SECONDS,
    help: 'From a captured page to its links, text and handler.',
  },
  orcrawl_content_size_bytes: { type: 'histogram', of: 'pod', buckets: CONTENT_BYTES, help: 'Bodies as received.' },
  orcrawl_links_found_total: { type: 'counter', of: 'pod', help: 'Links on pages, before filtering.' },
  orcrawl_links_sent_total: {
    type: 'counter',
    of: 'pod',
    labels: ['to'],
    help: 'Links sent to a store, of this pod or another.',
  },
  orcrawl_active_workers: { type: 'gauge', of: 'pod', labels: ['role'], help: 'Pages in progress now.' },
  orcrawl_slow_fetches: { type: 'gauge', of: 'pod', help: 'Fetches that receive almost nothing now.' },
  orcrawl_slow_fetches_ended_total: {
    type: 'counter',
    of: 'pod',
    help: 'Slow fetches aborted because others needed their slots; their requests returned to the queue.',
  },
  orcrawl_slow_requests_put_back_total: {
    type: 'counter',
    of: 'pod',
    help: 'Times a request to a slow host returned to the queue unsent.',
  },
  orcrawl_processes: { type: 'gauge', of: 'pod', labels: ['role'], help: 'Running processes.' },
  orcrawl_process_restarts_total: {
    type: 'counter',
    of: 'pod',
    labels: ['role'],
    help: 'Processes restarted after they ended.',
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
    help: 'Times a fetcher paused because the parse queue was above its soft or hard limit.',
  },
  orcrawl_pod_assignment_errors_total: {
    type: 'counter',
    of: 'pod',
    help: 'URLs that were about to be added to the wrong pod.',
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
    help: 'Pages per second that the process fetched or parsed, over its last interval.',
  },
  orcrawl_process_resident_memory_bytes: { type: 'gauge', of: 'process', help: 'Resident memory of the process.' },
  orcrawl_process_open_fds: { type: 'gauge', of: 'process', help: 'Open files and sockets of the process.' },
  orcrawl_process_open_fds_by_kind: {
    type: 'gauge',
    of: 'process',
    labels: ['kind'],
    help: 'Open files and sockets of the process: redis, http, https, tcp, unix, pipe, file, other.',
  },
  orcrawl_process_cpu_seconds_total: {
    type: 'counter',
    of: 'process',
    help: 'CPU time of the process, user and system.',
  },
  orcrawl_queue_size: { type: 'gauge', of: 'pod', labels: ['queue'], help: 'Requests waiting, by queue.' },
  orcrawl_queue_size_bytes: { type: 'gauge', of: 'pod', labels: ['queue'], help: 'Bytes waiting, by queue.' },
  orcrawl_frontier_size: { type: 'gauge', of: 'pod', help: 'Accepted requests that have not ended.' },
  orcrawl_due_domains: { type: 'gauge', of: 'pod', help: 'Domains that are due now.' },
  orcrawl_leases: { type: 'gauge', of: 'pod', help: 'Requests leased to processes.' },
  orcrawl_store_up: { type: 'gauge', of: 'pod', help: '1 if the pod’s store answers, else 0.' },
  orcrawl_redis_commands_per_second: {
    type: 'gauge',
    of: 'pod',
    help: 'Commands per second of the pod’s Redis, including those inside scripts.',
  },
  orcrawl_redis_memory_bytes: { type: 'gauge', of: 'pod', help: 'Memory used by the pod’s Redis.' },
  orcrawl_redis_memory_limit_bytes: {
    type: 'gauge',
    of: 'pod',
    help: 'maxmemory of the pod’s Redis; 0 without a limit.',
  },
  orcrawl_redis_cpu_seconds_total: { type: 'counter', of: 'pod', help: 'CPU time of the pod’s Redis.' },
  orcrawl_redis_keyspace_hits_total: {
    type: 'counter',
    of: 'pod',
    help: 'Lookups in the pod’s Redis that found a key.',
  },
  orcrawl_redis_keyspace_misses_total: {
    type: 'counter',
    of: 'pod',
    help: 'Lookups in the pod’s Redis that found no key.',
  },
  orcrawl_redis_hit_ratio: { type: 'gauge', of: 'pod', help: 'Share of lookups in the pod’s Redis that found a key.' },
  orcrawl_redis_clients: { type: 'gauge', of: 'pod', help: 'Connections to the pod’s Redis.' },
  orcrawl_hot_shard_ratio: { type: 'gauge', of: 'pod', help: 'Load of the pod’s store over the mean of all pods.' },
  orcrawl_machine_cpu_seconds_total: {
    type: 'counter',
    of: 'machine',
    labels: ['mode'],
    help: 'CPU time of the machine, by mode.',
  },
  orcrawl_machine_memory_total_bytes: { type: 'gauge', of: 'machine', help: 'Memory of the machine.' },
  orcrawl_machine_memory_free_bytes: { type: 'gauge', of: 'machine', help: 'Unused memory.' },
  orcrawl_machine_memory_available_bytes: { type: 'gauge', of: 'machine', help: 'Available memory.' },
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
    help: 'Free space on the disk under a data directory.',
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
  orcrawl_machine_disk_reads_total: { type: 'counter', of: 'machine', labels: ['device'], help: 'Reads from a disk.' },
  orcrawl_machine_disk_writes_total: { type: 'counter', of: 'machine', labels: ['device'], help: 'Writes to a disk.' },
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
  orcrawl_machine_network_received_packets_total: {
    type: 'counter',
    of: 'machine',
    labels: ['device'],
    help: 'Packets received by an interface.',
  },
  orcrawl_machine_network_sent_packets_total: {
    type: 'counter',
    of: 'machine',
    labels: ['device'],
    help: 'Packets sent by an interface.',
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
