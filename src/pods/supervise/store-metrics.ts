// A pod's store as metrics, read by its supervisor and put into the hub like a process's snapshot.
// Promise: an unreachable store is reported as down and leaves no stale numbers.
import type { ServerStats } from '../../frontier/redis/server/server-stats.js';
import { createMetrics, type MetricsSnapshot } from '../../observe/metrics.js';

/** @param parseQueue entries and bytes waiting for parsers, if any. */
export function storeSnapshot(
  stats: ServerStats | undefined,
  parseQueue?: { readonly entries: number; readonly bytes: number },
): MetricsSnapshot {
  const metrics = createMetrics();
  metrics.gauge('orcrawl_store_up', {}).set(stats ? 1 : 0);
  if (!stats) return metrics.snapshot();
  metrics.gauge('orcrawl_redis_commands_per_second', {}).set(stats.commandsPerSecond);
  metrics.gauge('orcrawl_redis_memory_bytes', {}).set(stats.memoryBytes);
  metrics.gauge('orcrawl_redis_memory_limit_bytes', {}).set(stats.memoryLimitBytes);
  metrics.gauge('orcrawl_redis_clients', {}).set(stats.clients);
  metrics.gauge('orcrawl_frontier_size', {}).set(stats.frontierSize);
  metrics.gauge('orcrawl_due_domains', {}).set(stats.dueDomains);
  metrics.gauge('orcrawl_leases', {}).set(stats.leased);
  if (stats.dropped > 0) {
    metrics.counter('orcrawl_requests_skipped_total', { reason: 'domainBudget' }).add(stats.dropped);
  }
  const { frontierSize, leased, retrying, overflow, spilled } = stats;
  const queues = { queued: frontierSize - leased - retrying, retrying, overflow, spilled, parse: parseQueue?.entries };
  for (const [queue, size] of Object.entries(queues)) {
    if (size !== undefined) metrics.gauge('orcrawl_queue_size', { queue }).set(size);
  }
  if (parseQueue) metrics.gauge('orcrawl_queue_size_bytes', { queue: 'parse' }).set(parseQueue.bytes);
  return metrics.snapshot();
}
