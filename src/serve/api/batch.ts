// POST /v2/batch/scrape and /v1/batch/scrape: a list of URLs as one job, or more URLs for one that runs.
// A body of JSON lines (one URL per line after the line of options) may be of any length.
import { randomUUID } from 'node:crypto';
import type { App } from '../app.js';
import { ApiError } from '../errors.js';
import { checked, parseJson, readLines } from '../http/body.js';
import type { Call, Handle } from '../http/router.js';
import { pageWish } from '../pages/formats.js';
import { idempotencyKey } from './crawl.js';
import { checkRoom, jobOf, jobPath, webhookOf } from './jobs.js';
import { withWarning } from './without-effect.js';
import { batchBody, type BatchRequest, MAX_BATCH_URLS } from './schemas.js';

const MAX_LINE = 100_000;
const APPEND_EVERY = 1_000;

export function batchRoute(app: App, version: string): Handle {
  return async (call) => {
    const isLines = /^application\/(?:x-)?(?:ndjson|jsonl)/.test(call.request.headers['content-type'] ?? '');
    const { id, invalidURLs, request } = isLines ? await fromLines(app, call) : await fromBody(app, call);
    const url = `${call.base}${jobPath(version, 'batch')}/${id}`;
    return { json: { success: true, id, url, ...(invalidURLs && { invalidURLs }), ...withWarning(request) } };
  };
}

interface Started {
  readonly id: string;
  /** The job of an earlier request with the same idempotency key. */
  readonly isEarlier?: boolean;
  readonly invalidURLs?: string[];
  /** The options, for what is to be said of them. */
  readonly request?: BatchRequest | undefined;
}

async function fromBody(app: App, call: Call): Promise<Started> {
  const { urls, ...request } = checked(batchBody, await call.json());
  return { ...(await startBatch(app, call, urls, request, idempotencyKey(call))), request };
}

export async function startBatch(
  app: App,
  call: Pick<Call, 'token' | 'signal'>,
  urls: readonly string[],
  { ignoreInvalidURLs = false, appendToId, webhook, ...request }: BatchRequest,
  key?: string,
): Promise<Started> {
  pageWish(request, app.fetcher.abilities);
  const { valid, invalid } = sorted(app, urls, ignoreInvalidURLs);
  const more = ignoreInvalidURLs ? { invalidURLs: invalid } : {};
  if (appendToId !== undefined) {
    const job = await jobOf(app, { params: { id: appendToId }, token: call.token }, 'batch');
    await app.usage.charge(call.token, valid.length);
    if (!(await app.store.pages.append(job.id, valid))) {
      throw new ApiError(409, 'The job has ended: nothing can be appended to it.', 'JOB_ENDED');
    }
    app.wake(job.id);
    return { id: job.id, ...more };
  }
  if (valid.length === 0) throw new ApiError(400, 'None of the URLs is valid.', 'URL_INVALID');
  const hook = webhookOf(app, webhook);
  await checkRoom(app, call);
  await app.usage.charge(call.token, valid.length);
  const given = { id: randomUUID(), kind: 'batch' as const, owner: call.token.name, url: valid[0]!, request };
  const job = await app.store.create({ ...given, ...(hook && { webhook: hook }) }, valid, key);
  app.wake(job.id);
  const isEarlier = job.id !== given.id;
  if (isEarlier) await app.usage.charge(call.token, -valid.length);
  return { id: job.id, isEarlier, ...more };
}

function sorted(app: App, urls: readonly string[], mayBeInvalid: boolean): { valid: string[]; invalid: string[] } {
  const valid: string[] = [];
  const invalid: string[] = [];
  urls.forEach((url, index) => {
    try {
      valid.push(app.targets.check(url, `urls[${index}]`));
    } catch (error) {
      if (!mayBeInvalid) throw error;
      invalid.push(url);
    }
  });
  return { valid, invalid };
}

/** The first line is the body without `urls`; every further one is a URL, as JSON or bare. */
async function fromLines(app: App, call: Call): Promise<Started> {
  let started: Started | undefined;
  let request: BatchRequest | undefined;
  let waiting: string[] = [];
  const invalid: string[] = [];
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const options = { ...request!, ignoreInvalidURLs: true, ...(started && { appendToId: started.id }) };
    const made = await startBatch(app, call, waiting, options, started ? undefined : idempotencyKey(call));
    invalid.push(...(made.invalidURLs ?? []).slice(0, MAX_BATCH_URLS - invalid.length));
    started ??= made;
    waiting = [];
  };
  for await (const line of readLines(call.request, MAX_LINE)) {
    if (line.trim() === '') continue;
    if (request === undefined && line.trimStart().startsWith('{')) {
      const { urls, ...options } = checked(batchBody, { urls: ['line'], ...(parseJson(line) as object) });
      request = options;
      if (urls[0] !== 'line') waiting.push(...urls);
      continue;
    }
    request ??= {};
    waiting.push(line.trimStart().startsWith('"') ? String(parseJson(line)) : line.trim());
    if (waiting.length >= APPEND_EVERY) await flush();
    // All of them are in that job already, or will be.
    if (started?.isEarlier) return { id: started.id, request };
  }
  await flush();
  if (!started) throw new ApiError(400, 'The body has no URLs.', 'URL_INVALID');
  return { id: started.id, invalidURLs: invalid, request };
}
