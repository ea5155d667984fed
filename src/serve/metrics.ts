// What the server counts, as text for Prometheus.
import type { App } from './app.js';

export interface ServerMetrics {
  answered(path: string, status: number, ms: number): void;
  render(app: App, sockets: number): Promise<string>;
}

const MAX_SERIES = 500;
const BUCKETS_MS = [5, 25, 100, 250, 1_000, 2_500, 10_000, 60_000];

interface Cell {
  count: number;
  sumMs: number;
  readonly buckets: number[];
}

export function createServerMetrics(): ServerMetrics {
  const cells = new Map<string, Cell>();
  return {
    answered(path, status, ms) {
      const labels = `path="${path}",status="${status}"`;
      let cell = cells.get(labels);
      if (!cell) {
        if (cells.size >= MAX_SERIES) return;
        cells.set(labels, (cell = { count: 0, sumMs: 0, buckets: BUCKETS_MS.map(() => 0) }));
      }
      cell.count++;
      cell.sumMs += ms;
      BUCKETS_MS.forEach((limit, index) => ms <= limit && cell.buckets[index]!++);
    },
    async render(app, sockets) {
      const jobs = await app.store.list();
      const lines: string[] = [];
      const gauge = (name: string, help: string, values: [labels: string, value: number][]): void => {
        lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`);
        for (const [labels, value] of values) lines.push(`${name}${labels ? `{${labels}}` : ''} ${value}`);
      };
      const statuses = ['scraping', 'completed', 'failed', 'cancelled'] as const;
      gauge(
        'orcrawl_serve_jobs',
        'Jobs kept, by status',
        statuses.map((status) => [`status="${status}"`, jobs.filter((job) => job.status === status).length]),
      );
      gauge('orcrawl_serve_jobs_running', 'Jobs that run in this process', [['', app.runner.running.size]]);
      gauge('orcrawl_serve_job_pages', 'Documents kept', [['', jobs.reduce((sum, job) => sum + job.completed, 0)]]);
      gauge('orcrawl_serve_job_bytes', 'Bytes of documents kept', [
        ['', jobs.reduce((sum, job) => sum + job.bytes, 0)],
      ]);
      gauge('orcrawl_serve_webhook_events_due', 'Webhook events not delivered yet', [
        ['', jobs.reduce((sum, job) => sum + (job.delivery ? job.events - job.delivery.next : 0), 0)],
      ]);
      gauge('orcrawl_serve_scrapes', 'Scrapes under way and waiting', [
        ['state="active"', app.turns.active],
        ['state="waiting"', app.turns.waiting],
      ]);
      gauge('orcrawl_serve_sockets', 'WebSockets that watch a job', [['', sockets]]);
      gauge('process_resident_memory_bytes', 'Resident memory', [['', process.memoryUsage.rss()]]);
      const name = 'orcrawl_serve_request_seconds';
      lines.push(`# HELP ${name} Requests answered`, `# TYPE ${name} histogram`);
      for (const [labels, { count, sumMs, buckets }] of cells) {
        BUCKETS_MS.forEach((limit, index) =>
          lines.push(`${name}_bucket{${labels},le="${limit / 1000}"} ${buckets[index]}`),
        );
        lines.push(
          `${name}_bucket{${labels},le="+Inf"} ${count}`,
          `${name}_sum{${labels}} ${sumMs / 1000}`,
          `${name}_count{${labels}} ${count}`,
        );
      }
      return `${lines.join('\n')}\n`;
    },
  };
}
