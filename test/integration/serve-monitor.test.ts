// Monitors of the server, as the unmodified SDK uses them: made, checked, changed, removed; and after `kill -9`.
import Firecrawl from 'firecrawl';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  dataFolder,
  eventually,
  html,
  LOOPBACK,
  type Server,
  type Site,
  startServe,
  startSite,
} from '../support/serve.js';
import { startServeHere } from '../support/serve-here.js';

type Check = Awaited<ReturnType<Firecrawl['getMonitorCheck']>>;
const DAILY = { cron: '0 9 * * *', timezone: 'Europe/Berlin' };
const ALLOW = { allowPrivate: ['127.0.0.0/8'] };

/** Pages by path: a text, or a status. */
const pages = new Map<string, string | number>();
const hooks: { type: string; success: boolean; id: string; data: Record<string, unknown>[] }[] = [];
let holdMs = 0;
let site: Site;
let data: Awaited<ReturnType<typeof dataFolder>>;
let server: Server;
let sdk: Firecrawl;

beforeAll(async () => {
  site = await startSite((request, response, body) => {
    const path = request.url ?? '/';
    if (path === '/hook') {
      hooks.push(JSON.parse(body) as (typeof hooks)[number]);
      return void response.end();
    }
    const page = pages.get(path) ?? 404;
    const links = [...pages.keys()].filter((one) => one !== path).map((one) => `<a href="${one}">${one}</a>`);
    setTimeout(() => {
      if (typeof page === 'number') response.writeHead(page).end('no');
      else
        response
          .setHeader('content-type', 'text/html')
          .end(html(path, `<p>${page}</p>${path === '/' ? links.join(' ') : ''}`));
    }, holdMs);
  });
});
afterAll(() => site?.close());

beforeEach(async () => {
  pages.clear();
  hooks.length = 0;
  holdMs = 0;
  data = await dataFolder();
});
afterEach(async () => {
  await server?.stop();
  await data.remove();
});

async function serveHere(): Promise<void> {
  server = await startServeHere(data.dir, ALLOW);
  sdk = new Firecrawl({ apiKey: server.token, apiUrl: server.url });
}

const sentence = (what: string): string =>
  `The ${what} of this page is told in one long sentence, so that there is something to read in it.`;

async function checkedNow(id: string): Promise<Check> {
  const { id: checkId } = await sdk.runMonitor(id);
  return ended(id, checkId);
}

async function ended(id: string, checkId: string): Promise<Check> {
  let check: Check | undefined;
  await eventually(async () => {
    check = await sdk.getMonitorCheck(id, checkId);
    return !['queued', 'running'].includes(check.status);
  }, 'the check ends');
  return check!;
}

const statuses = (check: Check): Record<string, string> =>
  Object.fromEntries(check.pages.map(({ url, status }) => [new URL(url).pathname, status]));

it('checks the pages of a scrape target: new, same, changed with a diff, removed, and errors', async () => {
  await serveHere();
  for (const path of ['/a', '/b', '/c']) pages.set(path, sentence(`beginning of ${path}`));
  pages.set('/d', 503);
  const urls = ['/a', '/b', '/c', '/d'].map((path) => site.url + path);
  const monitor = await sdk.createMonitor({
    name: 'prices',
    schedule: DAILY,
    targets: [{ type: 'scrape', urls }],
    webhook: { url: `${site.url}/hook`, metadata: { team: 'a' } },
  });
  expect(monitor).toMatchObject({ name: 'prices', status: 'active', schedule: DAILY, retentionDays: 30 });
  expect(Date.parse(monitor.nextRunAt!)).toBeGreaterThan(Date.now());

  const first = await checkedNow(monitor.id);
  expect(first).toMatchObject({ monitorId: monitor.id, trigger: 'manual', status: 'partial' });
  expect(statuses(first)).toEqual({ '/a': 'new', '/b': 'new', '/c': 'new', '/d': 'error' });
  expect(first.summary).toEqual({ totalPages: 4, same: 0, changed: 0, new: 3, removed: 0, error: 1 });

  pages.set('/b', sentence('end of /b'));
  pages.set('/c', 404);
  const second = await checkedNow(monitor.id);
  expect(statuses(second)).toEqual({ '/a': 'same', '/b': 'changed', '/c': 'removed', '/d': 'error' });
  const changed = second.pages.find(({ status }) => status === 'changed')!;
  expect(changed.diff!.text).toMatch(/^-.*beginning of \/b/m);
  expect(changed.diff!.text).toMatch(/^\+.*end of \/b/m);
  expect((changed.diff!.json as { files: unknown[] }).files).toHaveLength(1);
  const { pages: only } = await sdk.getMonitorCheck(monitor.id, second.id, { status: 'changed' });
  expect(only.map(({ url }) => url)).toEqual([`${site.url}/b`]);
  const inParts = await sdk.getMonitorCheck(monitor.id, second.id, { limit: 1 });
  expect(inParts.pages.map(({ id }) => id)).toEqual(second.pages.map(({ id }) => id));

  await eventually(async () => hooks.filter(({ type }) => type === 'monitor.check.completed').length === 2, 'told');
  expect(hooks.filter(({ type, id }) => type === 'monitor.page' && id === second.id)).toHaveLength(4);
  expect(hooks.at(-1)).toMatchObject({
    id: second.id,
    success: false,
    metadata: { team: 'a' },
    data: [{ monitorId: monitor.id, checkId: second.id, status: 'partial', summary: { changed: 1, removed: 1 } }],
  });

  await eventually(async () => (await sdk.getMonitor(monitor.id)).currentCheckId === null, 'the check is settled');
  expect((await sdk.getMonitor(monitor.id)).lastCheckSummary).toEqual(second.summary);
  expect((await sdk.listMonitorChecks(monitor.id)).map(({ id }) => id)).toEqual([second.id, first.id]);
  expect(await sdk.listMonitorChecks(monitor.id, { limit: 1, offset: 1 })).toMatchObject([{ id: first.id }]);
}, 120_000);

it('checks a crawl target: pages that come and go, and pages that only lost their links', async () => {
  await serveHere();
  for (const path of ['/', '/one', '/two']) pages.set(path, sentence(`content of ${path}`));
  const { id } = await sdk.createMonitor({
    name: 'docs',
    schedule: { text: 'every 30 minutes' },
    targets: [{ id: 'docs', type: 'crawl', url: `${site.url}/`, crawlOptions: { limit: 10 } }],
  });
  expect((await sdk.getMonitor(id)).schedule.cron).toBe('*/30 * * * *');
  expect(statuses(await checkedNow(id))).toEqual({ '/': 'new', '/one': 'new', '/two': 'new' });
  pages.delete('/one');
  pages.set('/three', sentence('content of /three'));
  const second = await checkedNow(id);
  expect(statuses(second)).toMatchObject({ '/one': 'removed', '/two': 'same', '/three': 'new' });
  expect(second.pages.every(({ targetId }) => targetId === 'docs')).toBe(true);
  expect(statuses(await checkedNow(id))).toEqual({ '/': 'same', '/two': 'same', '/three': 'same' });
}, 120_000);

it('pauses, changes and removes a monitor', async () => {
  await serveHere();
  pages.set('/a', sentence('content'));
  const targets = [{ type: 'scrape' as const, urls: [`${site.url}/a`] }];
  const { id } = await sdk.createMonitor({ name: 'a', schedule: DAILY, targets });
  const paused = await sdk.updateMonitor(id, { status: 'paused', name: 'b' });
  expect(paused).toMatchObject({ status: 'paused', name: 'b', nextRunAt: null, schedule: DAILY });
  expect((await sdk.updateMonitor(id, { status: 'active', schedule: { text: 'hourly' } })).nextRunAt).toMatch(/:00:00/);
  expect(await sdk.listMonitors({ limit: 5 })).toMatchObject([{ id, name: 'b' }]);
  const check = await checkedNow(id);
  expect(await sdk.deleteMonitor(id)).toBe(true);
  await expect(sdk.getMonitor(id)).rejects.toThrow(/no such monitor/);
  await expect(sdk.getMonitorCheck(id, check.id)).rejects.toThrow(/no such monitor/);
  expect(await sdk.listMonitors()).toEqual([]);
}, 120_000);

it('refuses what it cannot honour, and says what', async () => {
  await serveHere();
  const targets = [{ type: 'scrape' as const, urls: [`${site.url}/a`] }];
  const good = { name: 'a', schedule: DAILY, targets };
  const refused: [object, RegExp][] = [
    [{ targets: [{ type: 'search', queries: ['x'] }] }, /targets\[0\]: this server does not monitor searches/],
    [{ notification: { email: { recipients: ['a@b.example'] } } }, /notification\.email: .* no e-mail/],
    [{ goal: 'cheaper' }, /goal, judgeEnabled/],
    [{ schedule: { text: 'every 45 minutes' } }, /schedule: "text" can be like/],
    [{ schedule: { cron: '61 * * * *' } }, /schedule: "61" is not a minute/],
    [{ schedule: { cron: '0 0 30 2 *' } }, /matches no day/],
    [{ schedule: {} }, /either "cron" or "text"/],
    [{ schedule: { ...DAILY, timezone: 'Mars/Base' } }, /not a time zone/],
    [{ webhook: { url: `${site.url}/hook`, events: ['monitor.else'] } }, /webhook\.events/],
    [
      { targets: [{ type: 'scrape', urls: ['http://10.0.0.1/'] }] },
      /targets\[0\]\.urls\[0\]: 10\.0\.0\.1 is not a public/,
    ],
  ];
  for (const [more, message] of refused) {
    await expect(sdk.createMonitor({ ...good, ...more } as never)).rejects.toThrow(message);
  }
  expect(await sdk.listMonitors()).toEqual([]);
  holdMs = 1_000;
  const { id } = await sdk.createMonitor(good);
  await sdk.runMonitor(id);
  await expect(sdk.runMonitor(id)).rejects.toThrow(/is running/);
}, 120_000);

it('goes on after kill -9: the check completes once, with each change told once', async () => {
  const paths = Array.from({ length: 60 }, (_, index) => `/p${index}`);
  for (const path of paths) pages.set(path, sentence(`beginning of ${path}`));
  const flags = [...LOOPBACK, '--concurrency', '5'];
  let running = await startServe(data.dir, flags);
  const connect = (): Firecrawl => (sdk = new Firecrawl({ apiKey: running.token, apiUrl: running.url }));
  server = { ...running, stop: () => running.stop() };
  connect();
  const targets = [{ type: 'scrape' as const, urls: paths.map((path) => site.url + path) }];
  const { id } = await sdk.createMonitor({
    name: 'many',
    schedule: DAILY,
    targets,
    webhook: { url: `${site.url}/hook` },
  });
  expect((await checkedNow(id)).summary).toMatchObject({ new: 60, totalPages: 60 });

  for (const path of paths) pages.set(path, sentence(`end of ${path}`));
  holdMs = 300;
  const { id: checkId } = await sdk.runMonitor(id);
  for (const count of [10, 30]) {
    const isSoFar = async () => (await sdk.getMonitorCheck(id, checkId)).summary.totalPages >= count;
    await eventually(isSoFar, 'some pages are kept');
    expect((await sdk.getMonitorCheck(id, checkId)).status).toBe('running');
    await running.kill();
    running = await startServe(data.dir, flags);
    connect();
  }
  const check = await ended(id, checkId);
  expect(check.summary).toMatchObject({ changed: 60, totalPages: 60 });
  expect(new Set(check.pages.map(({ url }) => url)).size).toBe(60);
  expect((await sdk.listMonitorChecks(id)).length).toBe(2);
  await eventually(async () => (await sdk.getMonitor(id)).currentCheckId === null, 'the check is settled');
  expect((await sdk.getMonitor(id)).lastCheckSummary).toEqual(check.summary);
  const isEnd = (hook: (typeof hooks)[number]): boolean =>
    hook.type === 'monitor.check.completed' && hook.id === checkId;
  await eventually(async () => hooks.some(isEnd), 'the end is told');
  expect(hooks.filter(isEnd)).toHaveLength(1);
}, 240_000);
