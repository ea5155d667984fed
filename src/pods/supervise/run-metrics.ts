// One metrics endpoint for all processes on this machine: workers, stores and the machine itself.
// Promise: metrics never stop a crawl; a port in use causes one warning.
import { createMetrics, type MetricsSnapshot } from '../../observe/metrics.js';
import { createMetricsHub } from '../../observe/metrics-hub.js';
import { type EndpointOptions, serveMetrics } from '../../observe/metrics-server.js';
import { addProcessMetrics, machineMetrics } from '../../observe/metrics-system.js';
import type { PodReading } from '../../frontier/redis/pod-operations.js';
import type { PodsConfig } from '../config/types.js';
import type { FromWorker, WorkerPlace } from '../messages.js';
import type { PodSupervisor } from './pod-supervisor.js';
import type { ServerFigures } from '../stores/pod-view.js';
import { portsOf } from '../topology.js';

export interface RunMetrics {
  hear(place: WorkerPlace, pid: number | undefined, message: FromWorker): void;
  retire(place: WorkerPlace): void;
  /** Where the metrics are; undefined if they are not served. */
  readonly url: string | undefined;
  /** Called with every reading of the pods. */
  look(supervisors: readonly PodSupervisor[], readingOf: (pod: number) => PodReading | undefined): void;
  /** The last figures of a pod's server, and its load over the mean. */
  serverOf(pod: number): { readonly figures: ServerFigures; readonly hot: number } | undefined;
  close(): Promise<void>;
}

/** Warn about a pod whose store load is this many times the mean; the alert in monitoring/rules.yml says the same. */
export const HOT_SHARD = 3;
const MIN_OPS_TO_JUDGE = 1_000;

export async function openRunMetrics(
  config: PodsConfig,
  warn: (message: string) => void,
  probes?: EndpointOptions['probes'],
): Promise<RunMetrics> {
  const hub = createMetricsHub();
  const servers = new Map<number, ServerFigures | undefined>();
  const hot = new Set<number>();
  let hasWarnedOfMemory = false;
  let readMs = -Infinity;
  let reading = false;
  const own = createMetrics();
  addProcessMetrics(own, () => 0, undefined, portsOf(config));
  const endpoint = config.enablePrometheus
    ? await serveMetrics({
        render: () => {
          hub.put({ process: 'machine', life: 0 }, machineMetrics(config.dataDirs));
          return hub.render();
        },
        probes,
        host: config.prometheusHost,
        port: config.prometheusPort,
        warn,
      }).catch((error: unknown) => {
        warn(`no metrics: ${(error as Error).message}`);
        return undefined;
      })
    : undefined;

  async function readServers(supervisors: readonly PodSupervisor[]): Promise<void> {
    if (reading || performance.now() - readMs < config.globalMetricsUpdateInterval * 1_000) return;
    reading = true;
    readMs = performance.now();
    await Promise.all(
      supervisors.map(async ({ pod }) => servers.set(pod.index, await pod.serverFigures().catch(() => undefined))),
    );
    reading = false;
    for (const { pod } of supervisors) {
      const ratio = hotRatio(pod.index);
      const isHot = ratio > HOT_SHARD && (servers.get(pod.index)?.opsPerSec ?? 0) > MIN_OPS_TO_JUDGE;
      if (isHot && !hot.has(pod.index)) {
        warn(`pod ${pod.index} is a hot shard: its store works ${ratio.toFixed(1)} times as hard as the mean of all`);
      }
      if (isHot) hot.add(pod.index);
      else hot.delete(pod.index);
    }
  }

  function hotRatio(pod: number): number {
    const known = [...servers.values()].flatMap((one) => (one ? [one.opsPerSec] : []));
    const mean = known.reduce((sum, ops) => sum + ops, 0) / Math.max(1, known.length);
    return mean === 0 ? 1 : (servers.get(pod)?.opsPerSec ?? 0) / mean;
  }

  function podMetrics({ pod, workers }: PodSupervisor, now: PodReading | undefined): MetricsSnapshot {
    const metrics = createMetrics();
    metrics.gauge('orcrawl_store_up', {}).set(now ? 1 : 0);
    for (const role of ['fetcher', 'parser'] as const) {
      const own = workers.filter(({ place }) => place.role === role);
      metrics.gauge('orcrawl_processes', { role }).set(own.filter(({ pid }) => pid !== undefined).length);
      const restarts = own.reduce((sum, worker) => sum + worker.restarts, 0);
      metrics.counter('orcrawl_process_restarts_total', { role }).add(restarts);
      const blocks = own.reduce((sum, worker) => sum + worker.blockedLoops, 0);
      metrics.counter('orcrawl_blocked_loops_total', { role }).add(blocks);
    }
    if (now) {
      metrics.counter('orcrawl_worker_losses_total', {}).add(now.lostWorkers);
      metrics.counter('orcrawl_budget_dropped_links_total', {}).add(now.dropped);
      metrics.gauge('orcrawl_queue_size', { queue: 'frontier' }).set(now.queued);
      metrics.gauge('orcrawl_queue_size', { queue: 'retrying' }).set(now.retrying);
      metrics.gauge('orcrawl_queue_size', { queue: 'parse' }).set(now.parsing);
      metrics.gauge('orcrawl_queue_size', { queue: 'outbox' }).set(now.outbox);
      metrics.gauge('orcrawl_queue_size', { queue: 'spilled' }).set(now.spilled);
      metrics.gauge('orcrawl_queue_size_bytes', { queue: 'parse' }).set(now.parseBytes);
      metrics.gauge('orcrawl_frontier_size', {}).set(now.queued + now.retrying + now.leased);
      metrics.gauge('orcrawl_due_domains', {}).set(now.dueDomains);
      metrics.gauge('orcrawl_leases', {}).set(now.leased - now.parsing);
    }
    const server = servers.get(pod.index);
    if (server) {
      metrics.gauge('orcrawl_redis_commands_per_second', {}).set(server.opsPerSec);
      metrics.gauge('orcrawl_redis_memory_bytes', {}).set(server.memoryBytes);
      metrics.gauge('orcrawl_redis_memory_limit_bytes', {}).set(server.memoryLimitBytes);
      metrics.gauge('orcrawl_redis_clients', {}).set(server.clients);
      metrics.counter('orcrawl_redis_cpu_seconds_total', {}).add(server.cpuSeconds);
      metrics.counter('orcrawl_redis_keyspace_hits_total', {}).add(server.hits);
      metrics.counter('orcrawl_redis_keyspace_misses_total', {}).add(server.misses);
      const lookups = server.hits + server.misses;
      if (lookups > 0) metrics.gauge('orcrawl_redis_hit_ratio', {}).set(server.hits / lookups);
      metrics.gauge('orcrawl_hot_shard_ratio', {}).set(hotRatio(pod.index));
    }
    return metrics.snapshot();
  }

  return {
    url: endpoint?.url,
    hear({ role, pod, id }, pid, message) {
      if (message.kind !== 'beat' || message.metrics === undefined) return;
      hub.put({ pod, process: `${role}_${id}`, life: pid ?? 0 }, message.metrics);
    },
    retire: ({ role, pod, id }) => hub.retire({ pod, process: `${role}_${id}` }),
    look(supervisors, readingOf) {
      const rssBytes = process.memoryUsage.rss();
      if (rssBytes > config.orchestratorMemoryLimit && !hasWarnedOfMemory) {
        hasWarnedOfMemory = true;
        warn(`the orchestrator uses ${Math.round(rssBytes / 1024 ** 2)} MB, more than orchestrator_memory_limit`);
      }
      void readServers(supervisors);
      if (endpoint === undefined) return;
      const figures = own.snapshot().filter(([name]) => name !== 'orcrawl_process_pages_per_second');
      hub.put({ process: 'orchestrator', life: process.pid }, figures);
      for (const supervisor of supervisors) {
        const { index } = supervisor.pod;
        hub.put({ pod: index, process: 'orchestrator_0', life: 0 }, podMetrics(supervisor, readingOf(index)));
      }
    },
    serverOf(pod) {
      const figures = servers.get(pod);
      return figures && { figures, hot: hotRatio(pod) };
    },
    async close() {
      await endpoint?.close();
    },
  };
}
