// Three servers on one Redis: a job started at one is read, watched and cancelled at another; when servers die it goes on.
import { spawn } from 'node:child_process';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Simweb } from '../../src/testing/index.js';
import {
  dataFolder,
  ended,
  eventually,
  LOOPBACK,
  type ServerProcess,
  type Site,
  startServe,
  startSite,
} from './serve-fixtures.js';

let web: Simweb;
let hooks: Site;
let redisUrl: string;
let stopRedis: () => Promise<void>;
const received = new Map<string, { type: string; url: string }[]>();

beforeAll(async () => {
  web = await Simweb.start({ hosts: 4, pagesPerHost: 50, pageBytes: 1_500, crossHostLinks: 0, latencyMs: 200 });
  hooks = await startSite((_request, response, body) => {
    const { id, type, data } = JSON.parse(body) as {
      id: string;
      type: string;
      data: { metadata: { sourceURL: string } }[];
    };
    received.set(id, [...(received.get(id) ?? []), { type, url: data[0]?.metadata.sourceURL ?? '' }]);
    response.end();
  });
  const port = await freePort();
  const redis = spawn(
    'redis-server',
    [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--maxmemory-policy',
      'noeviction',
      '--appendonly',
      'no',
    ],
    { stdio: 'ignore' },
  );
  redisUrl = `redis://127.0.0.1:${port}`;
  stopRedis = () => new Promise((resolve) => void (redis.once('close', () => resolve()), redis.kill('SIGKILL')));
  await eventually(() => canConnect(port), 'Redis listens');
}, 60_000);
afterAll(async () => {
  await web?.close();
  await hooks?.close();
  await stopRedis?.();
});

it('goes on without a restart of the job when servers are killed in turn', async () => {
  const folders = await Promise.all([dataFolder(), dataFolder(), dataFolder()]);
  const start = (index: number) =>
    startServe(folders[index]!.dir, [...LOOPBACK, '--redis', redisUrl, '--concurrency', '6']);
  const servers: ServerProcess[] = [await start(0), await start(1), await start(2)];
  const jobs: { path: string; id: string; pages: number }[] = [];
  for (let host = 0; host < 4; host++) {
    const webhook = `${hooks.url}/hook`;
    const crawl = await servers[host % 3]!.ask('POST', '/v2/crawl', {
      url: web.url(host),
      limit: 1_000,
      webhook,
      scrapeOptions: { formats: ['links'] },
    });
    jobs.push({ path: '/v2/crawl', id: crawl.json.id, pages: 50 });
    const urls = Array.from({ length: 50 }, (_, page) => web.url(host, `/_/page?title=p${page}`));
    const batch = await servers[host % 3]!.ask('POST', '/v2/batch/scrape', { urls, webhook, formats: ['links'] });
    jobs.push({ path: '/v2/batch/scrape', id: batch.json.id, pages: 50 });
  }
  for (let kill = 0; kill < 6; kill++) {
    const dying = kill % 3;
    const living = servers[(dying + 1) % 3]!;
    const completed = async () => {
      const states = await Promise.all(
        jobs.map(async ({ path, id }) => (await living.ask('GET', `${path}/${id}`)).json),
      );
      return states.reduce((sum, state) => sum + Number(state.completed), 0);
    };
    const before = await completed();
    await servers[dying]!.kill();
    await eventually(async () => (await completed()) > before || before >= 400, 'the others go on', 60_000);
    servers[dying] = await start(dying);
  }
  for (const { path, id, pages } of jobs) {
    const state = await ended(servers[1]!, `${path}/${id}`, 240_000);
    const urls = (state.data as { metadata: { sourceURL: string } }[]).map(({ metadata }) => metadata.sourceURL);
    expect([path, state.status, urls.length, new Set(urls).size]).toEqual([path, 'completed', pages, pages]);
    const name = path.includes('batch') ? 'batch_scrape' : 'crawl';
    await eventually(
      async () => received.get(id)?.at(-1)?.type === `${name}.completed`,
      'the last event came',
      120_000,
    );
    const events = received
      .get(id)!
      .filter((event, index, all) => index === 0 || JSON.stringify(event) !== JSON.stringify(all[index - 1]));
    expect(events.map(({ type }) => type)).toEqual([
      `${name}.started`,
      ...urls.map(() => `${name}.page`),
      `${name}.completed`,
    ]);
  }

  const slow = await servers[0]!.ask('POST', '/v2/crawl', { url: web.url(0), delay: 1 });
  await eventually(
    async () => (await servers[2]!.ask('GET', `/v2/crawl/${slow.json.id}`)).json.completed > 0,
    'it runs',
  );
  expect((await servers[1]!.ask('DELETE', `/v2/crawl/${slow.json.id}`)).json).toMatchObject({ status: 'cancelled' });
  expect((await servers[2]!.ask('GET', `/v2/crawl/${slow.json.id}`)).json.status).toBe('cancelled');
  for (const server of servers) expect((await server.stop()).code).toBe(0);
  for (const { remove } of folders) await remove();
}, 900_000);

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => void (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}
