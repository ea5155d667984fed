// POST /v2/crawl and /v1/crawl: a job that follows links, answered with its id once it is kept.
import { randomUUID } from 'node:crypto';
import type { App } from '../app.js';
import { ApiError, setting } from '../errors.js';
import { checked } from '../http/body.js';
import type { Call, Handle } from '../http/router.js';
import { createLinkRule } from '../jobs/link-rules.js';
import { findOrderConflicts } from '../../crawl/order/options.js';
import { DEFAULT_LIMIT, orderOf } from '../jobs/crawl-job.js';
import { pageWish } from '../pages/formats.js';
import { crawlParameters } from './crawl-prompt.js';
import { checkRoom, jobPath, webhookOf } from './jobs.js';
import { withWarning } from './without-effect.js';
import { crawlBody, type CrawlRequest, previewBody } from './schemas.js';

export function crawlRoute(app: App, version: string): Handle {
  return async (call) => {
    const body = checked(crawlBody, await call.json());
    const id = await startCrawl(app, call, body, idempotencyKey(call));
    const warning = withWarning(body, body.scrapeOptions);
    return { json: { success: true, id, url: `${call.base}${jobPath(version, 'crawl')}/${id}`, ...warning } };
  };
}

export async function startCrawl(
  app: App,
  call: Pick<Call, 'token' | 'signal'>,
  body: CrawlRequest,
  key?: string,
): Promise<string> {
  const { webhook, prompt, ...asked } = body;
  const url = app.targets.check(asked.url, 'url');
  const guessed = prompt === undefined ? {} : await crawlParameters(modelOf(app), url, prompt, call.signal);
  const request: CrawlRequest = { ...guessed, ...asked, url };
  pageWish(request.scrapeOptions ?? {}, app.fetcher.abilities);
  checkRules(request);
  await checkRoom(app, call);
  const hook = webhookOf(app, webhook);
  const id = randomUUID();
  const limit = await app.usage.reserve(call.token, request.limit ?? DEFAULT_LIMIT);
  const isCounted = call.token.pagesPerDay !== Infinity;
  const given = { id, kind: 'crawl' as const, owner: call.token.name, url, request: { ...request, limit } };
  const more = { ...(hook && { webhook: hook }), ...(isCounted && { charged: limit }) };
  const job = await app.store.create({ ...given, ...more }, [], key);
  // The same idempotency key: the earlier job was charged.
  if (job.id !== id && isCounted) await app.usage.charge(call.token, -limit);
  app.wake(job.id);
  return job.id;
}

/** Throws a 400 for rules of links, or of the order of pages, that cannot work. */
export function checkRules(request: CrawlRequest): void {
  createLinkRule(request);
  const [conflict] = findOrderConflicts('The crawl', orderOf(request));
  if (conflict) throw new ApiError(400, `${conflict}.`);
}

/** POST /v2/crawl/params-preview: what a crawl of this prompt would be. */
export function previewRoute(app: App): Handle {
  return async (call) => {
    const { url, prompt } = checked(previewBody, await call.json());
    const target = app.targets.check(url, 'url');
    const data = await crawlParameters(modelOf(app), target, prompt, call.signal);
    return { json: { success: true, data: { url: target, ...data } } };
  };
}

function modelOf(app: App): NonNullable<App['model']> {
  if (!app.model) throw setting('A model, which a crawl by "prompt" needs,', '--llm-url and --llm-model');
  return app.model;
}

/** Bounded: it is kept with the job. */
export function idempotencyKey({ request }: Pick<Call, 'request'>): string | undefined {
  const key = request.headers['x-idempotency-key'];
  if (typeof key !== 'string' || key === '') return undefined;
  if (key.length > 200) throw new ApiError(400, 'x-idempotency-key is longer than 200 characters.');
  return key;
}
