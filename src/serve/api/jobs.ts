// What crawls and batches share: how a job is answered, read in pages, cancelled, and its errors.
// Promise: a token sees its own jobs only; an answer is at most 10 MB, and `next` leads to the rest.
import type { App } from '../app.js';
import { ApiError } from '../errors.js';
import type { Call, Handle } from '../http/router.js';
import { OWNER_NAME } from '../http/tokens.js';
import type { Job, JobKind } from '../jobs/store.js';
import type { WebhookWish } from './schemas.js';

export const MAX_PAGE_BYTES = 9_000_000;
const MAX_PAGE_ITEMS = 1_000;
const MAX_JOBS_PER_TOKEN = 200;

/** Where jobs of a kind live in a version of the API. */
export const jobPath = (version: string, kind: JobKind): string =>
  `/${version}/${kind === 'batch' ? 'batch/scrape' : kind}`;

export async function jobOf(app: App, { params, token }: Pick<Call, 'params' | 'token'>, kind: JobKind): Promise<Job> {
  const id = params.id ?? '';
  const job = /^[\w-]{1,100}$/.test(id) ? await app.store.read(id) : undefined;
  // The SDK's older class asks for batches at the path of crawls.
  const isKind = job?.kind === kind || (kind === 'crawl' && job?.kind === 'batch');
  if (!job || !isKind || (job.owner !== token.name && token.name !== OWNER_NAME)) {
    throw new ApiError(404, 'There is no such job. It may have expired.', 'JOB_NOT_FOUND');
  }
  return job;
}

/** Room for one more job of a token. */
export async function checkRoom(app: App, { token }: Pick<Call, 'token'>): Promise<void> {
  const running = (await app.store.list()).filter((job) => job.owner === token.name && job.status === 'scraping');
  if (running.length >= MAX_JOBS_PER_TOKEN) {
    const message = `The token "${token.name}" has ${running.length} jobs that are not done. Wait for some of them.`;
    throw new ApiError(429, message, 'TOO_MANY_JOBS', undefined, 10);
  }
}

export function webhookOf(app: App, wish: WebhookWish | undefined): Exclude<WebhookWish, string> | undefined {
  if (wish === undefined) return undefined;
  const webhook = typeof wish === 'string' ? { url: wish } : wish;
  return { ...webhook, url: app.targets.check(webhook.url, 'webhook.url') };
}

export function statusRoute(app: App, kind: JobKind, version: string): Handle {
  return async (call) => {
    const job = await jobOf(app, call, kind);
    const skip = wholeNumber(call.url.searchParams.get('skip'), 0);
    const limit = Math.min(wholeNumber(call.url.searchParams.get('limit'), MAX_PAGE_ITEMS), MAX_PAGE_ITEMS);
    const page = await app.store.pages.results(job.id, skip, {
      maxItems: Math.max(1, limit),
      maxBytes: MAX_PAGE_BYTES,
    });
    const next =
      page.next === undefined ? undefined : `${call.base}${jobPath(version, kind)}/${job.id}?skip=${page.next}`;
    const head = JSON.stringify({ success: true, ...summaryOf(app, job), ...(next && { next }) });
    return { raw: `${head.slice(0, -1)},"data":[${page.documents.join(',')}]}` };
  };
}

/** A job without its documents. */
export function summaryOf(app: App, job: Job): Record<string, unknown> {
  return {
    status: job.status,
    total: Math.max(job.total, job.completed),
    completed: job.completed,
    creditsUsed: job.completed,
    expiresAt: new Date((job.endedAtMs ?? Date.now()) + app.retentionMs).toISOString(),
    ...(job.reason !== undefined && { error: job.reason }),
  };
}

export function cancelRoute(app: App, kind: JobKind): Handle {
  return async (call) => {
    const job = await jobOf(app, call, kind);
    const isEnded = await app.store.end(job.id, 'cancelled');
    if (!isEnded && job.status !== 'cancelled') {
      throw new ApiError(409, `The job is ${job.status} already.`, 'JOB_ENDED');
    }
    if (isEnded) await app.usage.settle((await app.store.read(job.id)) ?? job);
    app.wake(job.id);
    return { json: { success: true, status: 'cancelled' } };
  };
}

export function errorsRoute(app: App, kind: JobKind): Handle {
  return async (call) => {
    const job = await jobOf(app, call, kind);
    return { json: { ...(await app.store.pages.errors(job.id)) } };
  };
}

export function activeRoute(app: App): Handle {
  return async ({ token }) => {
    const jobs = (await app.store.list()).filter((job) => {
      return (
        job.kind === 'crawl' && job.status === 'scraping' && (job.owner === token.name || token.name === OWNER_NAME)
      );
    });
    const crawls = jobs.map(({ id, owner, url, request, createdAtMs }) => ({
      id,
      teamId: owner,
      url,
      created_at: new Date(createdAtMs).toISOString(),
      options: request,
    }));
    return { json: { success: true, crawls } };
  };
}

export function wholeNumber(text: string | null, otherwise: number): number {
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : otherwise;
}
