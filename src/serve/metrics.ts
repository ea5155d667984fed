// What the server counts, as text for Prometheus.
import { labelText, metricLines } from '../observe/metrics-hub.js';
import type { App } from './app.js';

export interface ServerMetrics {
  answered(path: string, status: number, ms: number): void;
  render(app: App, sockets: number): Promise<string>;
}

const MAX_SERIES = 500;
const SECONDS = [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 60];

export function createServerMetrics(): ServerMetrics {
  const requests = new Map<string, { readonly counts: number[]; sum: number }>();
  return {
    answered(path, status, ms) {
      const labels = labelText([
        ['path', path],
        ['status', String(status)],
      ]);
      let answered = requests.get(labels);
      if (!answered) {
        if (requests.size >= MAX_SERIES) return;
        requests.set(labels, (answered = { counts: [...SECONDS, Infinity].map(() => 0), sum: 0 }));
      }
      const at = SECONDS.findIndex((limit) => ms / 1000 <= limit);
      answered.counts[at < 0 ? SECONDS.length : at]!++;
      answered.sum += ms / 1000;
    },
    async render(app, sockets) {
      const jobs = await app.store.list();
      const lines: string[] = [];
      const gauge = (name: string, help: string, values: [labels: string, value: number][]): void => {
        lines.push(...metricLines(name, { type: 'gauge', help }, values));
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
      const kind = { type: 'histogram', help: 'Requests answered', buckets: SECONDS } as const;
      lines.push(...metricLines('orcrawl_serve_request_seconds', kind, requests));
      return `${lines.join('\n')}\n`;
    },
  };
}
