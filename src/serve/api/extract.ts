// POST /v2/extract and /v1/extract: one answer from some pages, as a job that is asked for by its id.
import { randomUUID } from 'node:crypto';
import type { App } from '../app.js';
import { ApiError, setting } from '../errors.js';
import { checked } from '../http/body.js';
import type { Handle } from '../http/router.js';
import { withWarning } from './without-effect.js';
import { checkRoom, jobOf, webhookOf } from './jobs.js';
import { extractBody } from './schemas.js';

export function extractRoute(app: App): Handle {
  return async (call) => {
    const { urls, webhook, ...body } = checked(extractBody, await call.json());
    if (!app.model) throw setting('A model, which "extract" needs,', '--llm-url and --llm-model');
    if (!body.prompt && !body.schema) throw new ApiError(400, 'Extraction needs a "prompt", a "schema", or both.');
    if (urls.some((url) => url.includes('*'))) {
      throw new ApiError(
        400,
        'Patterns of URLs are not supported here. Use /v2/map to list the pages first.',
        'URL_INVALID',
      );
    }
    const targets = urls.map((url, index) => app.targets.check(url, `urls[${index}]`));
    const hook = webhookOf(app, webhook);
    await checkRoom(app, call);
    await app.usage.charge(call.token, targets.length);
    const given = {
      id: randomUUID(),
      kind: 'extract' as const,
      owner: call.token.name,
      url: targets[0]!,
      request: body,
    };
    const job = await app.store.create({ ...given, ...(hook && { webhook: hook }) }, targets);
    app.wake(job.id);
    return { json: { success: true, id: job.id, urlTrace: [], ...withWarning(body, body.scrapeOptions) } };
  };
}

export function extractStatusRoute(app: App): Handle {
  return async (call) => {
    const job = await jobOf(app, call, 'extract');
    const { documents } = await app.store.pages.results(job.id, 0, { maxItems: 1, maxBytes: Infinity });
    const found = documents[0] === undefined ? {} : (JSON.parse(documents[0]) as Record<string, unknown>);
    const status = job.status === 'scraping' ? 'processing' : job.status;
    const expiresAt = new Date((job.endedAtMs ?? Date.now()) + app.retentionMs).toISOString();
    return {
      json: {
        success: job.status !== 'failed',
        status,
        expiresAt,
        data: [],
        ...found,
        ...(job.reason && { error: job.reason }),
      },
    };
  };
}
