// The metrics of one worker, collected from its parts' counters and sent with its beats.
import type { SlowFigures } from '../../dispatch/slow-share.js';
import { type LimitName, LIMITS, limitsReached } from '../../limits.js';
import type { FetchEvent } from '../../crawl/run/report/fetch-events.js';
import { createMetrics, type MetricsSnapshot } from '../../observe/metrics.js';
import { addProcessMetrics } from '../../observe/metrics-system.js';
import type { WorkerPlace } from '../messages.js';

export interface WorkerMetricsParts {
  readonly place: WorkerPlace;
  /** Pages that ended here; a fetcher with parsers ends none. */
  readonly pages: () => number;
  /** Pages that this process fetched or parsed. */
  readonly handled: () => number;
  /** Ports of the stores, to tell connections apart. */
  readonly redisPorts: ReadonlySet<number>;
  readonly skipped: () => ReadonlyMap<string, number>;
  readonly active: () => number;
  readonly misplaced: () => number;
  readonly foundLinks: () => number;
  readonly ownLinks: () => number;
  readonly sentLinks: () => number;
  /** Undefined if slow hosts are not limited. */
  readonly slowHosts: () => SlowFigures | undefined;
  readonly pressure: () => { readonly soft: number; readonly hard: number };
}

export interface WorkerMetrics {
  fetched(fetch: FetchEvent): void;
  /** The size of a response's body as received. */
  received(bytes: number): void;
  /** An attempt failed, with this status if there was a response. */
  failed(code: string, statusCode: number | undefined, isRetried: boolean): void;
  parsed(ms: number): void;
  sent(pod: number, ms: number): void;
  snapshot(): MetricsSnapshot;
}

export function createWorkerMetrics(parts: WorkerMetricsParts): WorkerMetrics {
  const { place } = parts;
  const metrics = createMetrics();
  const durations = {
    page: metrics.histogram('orcrawl_fetch_duration_seconds', { fetch_type: 'page' }),
    robots: metrics.histogram('orcrawl_fetch_duration_seconds', { fetch_type: 'robots' }),
  };
  const parses = metrics.histogram('orcrawl_parse_duration_seconds', {});
  const sizes = metrics.histogram('orcrawl_content_size_bytes', {});
  metrics.total('orcrawl_pages_crawled_total', {}, parts.pages);
  metrics.total('orcrawl_pod_assignment_errors_total', {}, parts.misplaced);
  metrics.total('orcrawl_links_found_total', {}, parts.foundLinks);
  metrics.total('orcrawl_links_sent_total', { to: 'own' }, parts.ownLinks);
  metrics.total('orcrawl_links_sent_total', { to: 'other' }, parts.sentLinks);
  metrics.total('orcrawl_backpressure_events_total', { limit: 'soft' }, () => parts.pressure().soft);
  metrics.total('orcrawl_backpressure_events_total', { limit: 'hard' }, () => parts.pressure().hard);
  metrics.gauge('orcrawl_slow_fetches', {}, () => parts.slowHosts()?.slow ?? 0);
  metrics.total('orcrawl_slow_fetches_ended_total', {}, () => parts.slowHosts()?.ended ?? 0);
  metrics.total('orcrawl_slow_requests_put_back_total', {}, () => parts.slowHosts()?.putBack ?? 0);
  metrics.gauge('orcrawl_active_workers', { role: place.role }, parts.active);
  addProcessMetrics(metrics, parts.handled, undefined, parts.redisPorts);
  const told = new Map<string, number>();

  /** Codes and reasons appear as they happen. */
  function addGrowth(key: string, total: number, add: (by: number) => void): void {
    const before = told.get(key) ?? 0;
    if (total > before) add(total - before);
    told.set(key, total);
  }

  return {
    fetched({ kind, tookMs, result }) {
      durations[kind].observe(tookMs / 1_000);
      metrics.counter('orcrawl_fetches_total', { fetch_type: kind, result }).add();
    },
    received: (bytes) => sizes.observe(bytes),
    failed(code, statusCode, isRetried) {
      const type = code.startsWith('HTTP_') && statusCode !== undefined ? `http_${statusCode}` : code;
      metrics.counter('orcrawl_errors_total', { type }).add();
      metrics.counter(isRetried ? 'orcrawl_retries_total' : 'orcrawl_requests_failed_total', { type }).add();
    },
    parsed: (ms) => parses.observe(ms / 1_000),
    sent: (pod, ms) =>
      metrics.histogram('orcrawl_cross_pod_write_seconds', { target: String(pod) }).observe(ms / 1_000),
    snapshot() {
      for (const [reason, count] of parts.skipped()) {
        addGrowth(`skip ${reason}`, count, (by) => {
          metrics.counter('orcrawl_requests_skipped_total', { reason }).add(by);
          // Embedded pods keep the budget in their workers; of Redis pods the store counts.
          if (reason === 'BUDGET_DOMAIN') metrics.counter('orcrawl_budget_dropped_links_total', {}).add(by);
        });
      }
      for (const limit of Object.keys(LIMITS) as LimitName[]) {
        addGrowth(`limit ${limit}`, limitsReached(limit), (by) =>
          metrics.counter('orcrawl_limits_reached_total', { limit }).add(by),
        );
      }
      return metrics.snapshot();
    },
  };
}
