// The jobs of a server as the console sees them.
import path from 'node:path';
import { startBatch } from '../api/batch.js';
import { MAX_BATCH_URLS, type BatchRequest, type CrawlRequest } from '../api/schemas.js';
import type { App } from '../app.js';
import { ApiError } from '../errors.js';
import type { Job } from '../jobs/store.js';
import type { ConsoleSource } from './source.js';

export function serverSource(app: App, dataDir: string): ConsoleSource {
  const { store, runner } = app;
  return {
    mode: 'server',
    version: app.version,
    browser: app.fetcher.abilities.browser,
    store,
    folder: path.join(dataDir, 'console'),
    async live(id) {
      const running = runner.running.get(id);
      return running && ((await running.run.figures?.().catch(() => undefined)) ?? { queued: 0, concurrency: 0 });
    },
    actions: {
      async cancel(job) {
        if (!(await store.end(job.id, 'cancelled'))) throw new ApiError(409, 'The job has ended already.', 'JOB_ENDED');
        await app.usage.settle((await store.read(job.id)) ?? job);
        app.wake(job.id);
      },
      async resume(job) {
        if (runner.running.has(job.id)) {
          throw new ApiError(409, 'The job is still stopping. Try again in a moment.', 'JOB_STOPPING', undefined, 1);
        }
        await store.change(job.id, ({ status }) =>
          status === 'cancelled' ? { status: 'scraping', endedAtMs: undefined, reason: undefined } : undefined,
        );
        app.wake(job.id);
      },
      async retry(job, token, signal) {
        const { errors } = await store.pages.errors(job.id);
        const urls = [...new Set(errors.map(({ url }) => url))].slice(0, MAX_BATCH_URLS);
        const { id } = await startBatch(app, { token, signal }, urls, {
          ...scrapeOptionsOf(job),
          ignoreInvalidURLs: true,
        });
        return id;
      },
    },
  };
}

/** How the pages of a job were asked for. */
function scrapeOptionsOf({ kind, request }: Job): BatchRequest {
  if (kind === 'crawl') return (request as CrawlRequest).scrapeOptions ?? {};
  const { appendToId: _, webhook: __, ...options } = request as BatchRequest;
  return options;
}
