// /v2/monitor: pages that are checked for changes on a schedule, and what their checks found.
// Promise: a token sees its own monitors only; what cannot be honoured is refused by name when the monitor is made.
import { createHash, randomUUID } from 'node:crypto';
import type { App } from '../app.js';
import { ApiError } from '../errors.js';
import { checked } from '../http/body.js';
import type { Call, Handle, Route } from '../http/router.js';
import { OWNER_NAME, type Token } from '../http/tokens.js';
import type { Job } from '../jobs/store.js';
import { LIMITS, limitReached } from '../../limits.js';
import { checkAnswer, monitorAnswer } from '../monitor/answers.js';
import { trackedOptions } from '../monitor/check-job.js';
import { type CheckRequest, type Monitor, PAGE_STATUSES, type Schedule, type Target } from '../monitor/monitor.js';
import { type GivenSchedule, nextRun, resolveSchedule } from '../monitor/schedule.js';
import { pageWish } from '../pages/formats.js';
import { checkRules } from './crawl.js';
import { MAX_PAGE_BYTES, wholeNumber } from './jobs.js';
import { createMonitorBody, type GivenTarget, type MonitorRequest, updateMonitorBody } from './monitor-schemas.js';

const DEFAULT_RETENTION_DAYS = 30;
const MAX_LISTED = 100;

export function monitorRoutes(app: App): Route[] {
  const route = (method: string, path: string, handle: Handle): Route => ({
    method,
    path: `/v2/monitor${path}`,
    handle,
  });
  return [
    route('POST', '', createRoute(app)),
    route('GET', '', listRoute(app)),
    route('GET', '/:id', async (call) => answer(await monitorOf(app, call))),
    route('PATCH', '/:id', updateRoute(app)),
    route('DELETE', '/:id', removeRoute(app)),
    route('POST', '/:id/run', runRoute(app)),
    route('GET', '/:id/checks', checksRoute(app)),
    route('GET', '/:id/checks/:checkId', checkRoute(app)),
  ];
}

const answer = (monitor: Monitor) => ({ json: { success: true, data: monitorAnswer(monitor) } });

const mayUse = ({ owner }: Monitor, { name }: Token): boolean => owner === name || name === OWNER_NAME;

async function monitorOf(app: App, { params, token }: Pick<Call, 'params' | 'token'>): Promise<Monitor> {
  const id = params.id ?? '';
  const monitor = isId(id) ? await app.store.monitors.read(id) : undefined;
  if (!monitor || !mayUse(monitor, token)) throw new ApiError(404, 'There is no such monitor.', 'MONITOR_NOT_FOUND');
  return monitor;
}

const isId = (text: string): boolean => /^[\w-]{1,100}$/.test(text);

function createRoute(app: App): Handle {
  return async (call) => {
    const body = checked(createMonitorBody, await call.json());
    const nowMs = Date.now();
    const parts = partsOf(app, body);
    const { name, schedule, targets } = { ...parts, name: body.name } as Pick<Monitor, 'name' | 'schedule' | 'targets'>;
    if ((await app.store.monitors.list()).length >= LIMITS.monitors.max) {
      limitReached('monitors');
      const message = `This server has ${LIMITS.monitors.max} monitors already. Remove one.`;
      throw new ApiError(429, message, 'LIMIT_REACHED');
    }
    const monitor: Monitor = {
      ...parts,
      ...{ id: randomUUID(), name, schedule, targets, ...ownerOf(call.token) },
      status: 'active',
      retentionDays: body.retentionDays ?? DEFAULT_RETENTION_DAYS,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      nextRunAtMs: nextRun(schedule, nowMs),
    };
    await app.store.monitors.change(monitor.id, () => monitor);
    return answer(monitor);
  };
}

const ownerOf = ({ name, pagesPerDay }: Token): Pick<Monitor, 'owner' | 'pagesPerDay'> => ({
  owner: name,
  pagesPerDay: pagesPerDay === Infinity ? null : pagesPerDay,
});

function updateRoute(app: App): Handle {
  return async (call) => {
    const { id } = await monitorOf(app, call);
    const body = checked(updateMonitorBody, await call.json());
    const parts = partsOf(app, body);
    const nowMs = Date.now();
    const changed = await app.store.monitors.change(id, (before) => {
      if (!before) return undefined;
      const after: Monitor = { ...before, ...parts, updatedAtMs: nowMs };
      const isSame = !parts.schedule && after.status === before.status;
      const nextRunAtMs = isSame ? before.nextRunAtMs : nextRun(after.schedule, nowMs);
      return { ...after, nextRunAtMs: after.status === 'paused' ? undefined : nextRunAtMs };
    });
    if (!changed) throw new ApiError(404, 'There is no such monitor.', 'MONITOR_NOT_FOUND');
    return answer(changed);
  };
}

/** What a body says, checked. */
function partsOf(app: App, body: MonitorRequest): Partial<Monitor> {
  const { name, status, webhook, retentionDays } = body;
  if (body.notification?.email && body.notification.email.enabled !== false) {
    throw new ApiError(400, 'notification.email: this server sends no e-mail. Use "webhook".', 'NOT_CONFIGURED');
  }
  if ((body.goal ?? '') !== '' || body.judgeEnabled) {
    const message = 'goal, judgeEnabled: this server does not judge changes. Leave them out; the diffs are there.';
    throw new ApiError(400, message, 'NOT_CONFIGURED');
  }
  return {
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
    ...(retentionDays !== undefined && { retentionDays }),
    ...(body.schedule && { schedule: scheduleOf(body.schedule) }),
    ...(body.targets && { targets: targetsOf(app, body.targets) }),
    ...(webhook && { webhook: { ...webhook, url: app.targets.check(webhook.url, 'webhook.url') } }),
    ...(webhook === null && { webhook: undefined }),
  };
}

function scheduleOf(given: GivenSchedule): Schedule {
  try {
    return resolveSchedule(given);
  } catch (error) {
    throw new ApiError(400, `schedule: ${(error as Error).message}.`);
  }
}

function targetsOf(app: App, given: readonly GivenTarget[]): Target[] {
  const targets = given.map((target, index) => targetOf(app, target, `targets[${index}]`));
  if (new Set(targets.map(({ id }) => id)).size < targets.length)
    throw new ApiError(400, 'targets: two have the same id.');
  return targets;
}

function targetOf(app: App, target: GivenTarget, at: string): Target {
  if (target.type === 'search') {
    throw new ApiError(400, `${at}: this server does not monitor searches. Use "scrape" or "crawl".`, 'NOT_CONFIGURED');
  }
  pageWish(trackedOptions(target.scrapeOptions, '', ''), app.fetcher.abilities);
  if (target.type === 'scrape') {
    const urls = [...new Set(target.urls.map((url, index) => app.targets.check(url, `${at}.urls[${index}]`)))];
    return { ...target, urls, id: target.id ?? idOf(urls) };
  }
  const url = app.targets.check(target.url, `${at}.url`);
  const { scrapeOptions, ...crawlOptions } = target.crawlOptions ?? {};
  checkRules({ ...crawlOptions, url });
  const options = target.scrapeOptions ?? scrapeOptions;
  pageWish(trackedOptions(options, '', ''), app.fetcher.abilities);
  return { ...target, crawlOptions, url, ...(options && { scrapeOptions: options }), id: target.id ?? idOf([url]) };
}

/** The same for the same pages: a target that is sent again without its id goes on with what is known of it. */
const idOf = (urls: readonly string[]): string =>
  createHash('sha256').update(urls.join('\n')).digest('hex').slice(0, 24);

function listRoute(app: App): Handle {
  return async ({ token, url }) => {
    const all = (await app.store.monitors.list()).filter((monitor) => mayUse(monitor, token));
    return { json: { success: true, data: part(all, url).map(monitorAnswer) } };
  };
}

function part<T>(all: readonly T[], { searchParams }: URL): readonly T[] {
  const offset = wholeNumber(searchParams.get('offset'), 0);
  return all.slice(offset, offset + Math.min(wholeNumber(searchParams.get('limit'), MAX_LISTED), MAX_LISTED));
}

function removeRoute(app: App): Handle {
  return async (call) => {
    const { id } = await monitorOf(app, call);
    await app.store.monitors.remove(id);
    // Those that ended go with the next tidying.
    for (const check of await checksOf(app, id)) {
      if (await app.store.end(check.id, 'cancelled')) app.wake(check.id);
    }
    return { json: { success: true } };
  };
}

async function checksOf(app: App, monitorId: string): Promise<Job[]> {
  const isOf = ({ kind, request }: Job): boolean =>
    kind === 'check' && (request as CheckRequest).monitorId === monitorId;
  return (await app.store.list()).filter(isOf);
}

function runRoute(app: App): Handle {
  return async (call) => {
    const { id } = await monitorOf(app, call);
    const left = await app.usage.left(call.token);
    if (left < 1) await app.usage.charge(call.token, 1);
    const check = await app.monitors.runNow(id, left);
    if (!check) throw new ApiError(409, 'A check of this monitor is running.', 'CHECK_RUNNING');
    return { json: { success: true, data: checkAnswer(check, false) } };
  };
}

function checksRoute(app: App): Handle {
  return async (call) => {
    const { id } = await monitorOf(app, call);
    const checks = part((await checksOf(app, id)).reverse(), call.url);
    return {
      json: { success: true, data: checks.map((check) => checkAnswer(check, app.runner.running.has(check.id))) },
    };
  };
}

function checkRoute(app: App): Handle {
  return async (call) => {
    const monitor = await monitorOf(app, call);
    const checkId = call.params.checkId ?? '';
    const check = isId(checkId) ? await app.store.read(checkId) : undefined;
    if (check?.kind !== 'check' || (check.request as CheckRequest).monitorId !== monitor.id) {
      throw new ApiError(404, 'There is no such check. It may have expired.', 'CHECK_NOT_FOUND');
    }
    const query = call.url.searchParams;
    const status = query.get('status');
    if (status !== null && !PAGE_STATUSES.some((one) => one === status)) {
      throw new ApiError(400, `status: one of ${PAGE_STATUSES.join(', ')}.`);
    }
    const limit = Math.max(1, Math.min(wholeNumber(query.get('limit'), MAX_LISTED), MAX_LISTED));
    const { pages, next } = await pagesOf(app, check.id, wholeNumber(query.get('skip'), 0), limit, status);
    const more = new URLSearchParams({ skip: String(next), limit: String(limit), ...(status !== null && { status }) });
    const head = JSON.stringify({
      ...checkAnswer(check, app.runner.running.has(check.id)),
      next: next === undefined ? null : `${call.base}/v2/monitor/${monitor.id}/checks/${check.id}?${more}`,
    });
    return { raw: `{"success":true,"data":${head.slice(0, -1)},"pages":[${pages.join(',')}]}}` };
  };
}

/** Pages from a place among all pages of the check on; with a status, those that have it. */
async function pagesOf(
  app: App,
  id: string,
  from: number,
  limit: number,
  status: string | null,
): Promise<{ pages: string[]; next: number | undefined }> {
  const pages: string[] = [];
  let bytes = 0;
  for (let place: number | undefined = from; place !== undefined;) {
    const some = await app.store.pages.results(id, place, { maxItems: limit, maxBytes: MAX_PAGE_BYTES });
    for (const text of some.documents) {
      const isWanted = status === null || (JSON.parse(text) as { status: string }).status === status;
      if (isWanted && pages.length > 0 && (pages.length >= limit || bytes + text.length > MAX_PAGE_BYTES)) {
        return { pages, next: place };
      }
      if (isWanted) {
        pages.push(text);
        bytes += text.length;
      }
      place++;
    }
    if (some.next === undefined) return { pages, next: undefined };
  }
  return { pages, next: undefined };
}
