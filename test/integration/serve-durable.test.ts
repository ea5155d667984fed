// `kill -9` of the server amid crawls and batches with webhooks: every job goes on, each page is there once, events in order.
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
const received = new Map<string, { type: string; url: string }[]>();

beforeAll(async () => {
  web = await Simweb.start({ hosts: 5, pagesPerHost: 40, pageBytes: 1_500, crossHostLinks: 0, latencyMs: 150 });
  hooks = await startSite((_request, response, body) => {
    const { id, type, data } = JSON.parse(body) as {
      id: string;
      type: string;
      data: { metadata: { sourceURL: string } }[];
    };
    const events = received.get(id) ?? [];
    received.set(id, events);
    events.push({ type, url: data[0]?.metadata.sourceURL ?? '' });
    response.end();
  });
});
afterAll(async () => {
  await web?.close();
  await hooks?.close();
});

const KILLS = 20;

it(`goes on after ${KILLS} kills amid 10 jobs, with each page once and each event in order`, async () => {
  const data = await dataFolder();
  let server: ServerProcess = await startServe(data.dir, [...LOOPBACK, '--concurrency', '20']);
  const jobs: { path: string; id: string; pages: number }[] = [];
  for (let host = 0; host < 5; host++) {
    const webhook = `${hooks.url}/hook`;
    const crawl = await server.ask('POST', '/v2/crawl', {
      url: web.url(host),
      limit: 1_000,
      webhook,
      scrapeOptions: { formats: ['links'] },
    });
    jobs.push({ path: '/v2/crawl', id: crawl.json.id, pages: 40 });
    const urls = Array.from({ length: 60 }, (_, page) => web.url(host, `/_/page?title=p${page}`));
    const batch = await server.ask('POST', '/v2/batch/scrape', { urls, webhook, formats: ['links'] });
    jobs.push({ path: '/v2/batch/scrape', id: batch.json.id, pages: 60 });
  }
  let kills = 0;
  const completed = async () => {
    const states = await Promise.all(jobs.map(async ({ path, id }) => (await server.ask('GET', `${path}/${id}`)).json));
    return states.reduce((sum, state) => sum + Number(state.completed), 0);
  };
  while (kills < KILLS) {
    const before = await completed();
    // Let something happen between two kills, so that they hit work of every kind.
    await eventually(async () => (await completed()) > before || before >= 500, 'a page is done', 60_000);
    await new Promise((resume) => setTimeout(resume, 40 * (kills % 7)));
    await server.kill();
    kills++;
    server = await startServe(data.dir, [...LOOPBACK, '--concurrency', '20']);
  }
  for (const { path, id, pages } of jobs) {
    const state = await ended(server, `${path}/${id}`, 240_000);
    const urls = (state.data as { metadata: { sourceURL: string } }[]).map(({ metadata }) => metadata.sourceURL);
    expect([id, state.status, urls.length, new Set(urls).size]).toEqual([id, 'completed', pages, pages]);
    const name = path.includes('batch') ? 'batch_scrape' : 'crawl';
    await eventually(
      async () => received.get(id)?.at(-1)?.type === `${name}.completed`,
      'the last event came',
      120_000,
    );
    // At least once: an event may come again after a kill, and then nothing before it does.
    const events = received
      .get(id)!
      .filter((event, index, all) => index === 0 || JSON.stringify(event) !== JSON.stringify(all[index - 1]));
    expect(events.map(({ type }) => type)).toEqual([
      `${name}.started`,
      ...urls.map(() => `${name}.page`),
      `${name}.completed`,
    ]);
    expect(events.slice(1, -1).map(({ url }) => url)).toEqual(urls);
  }
  expect((await server.stop()).code).toBe(0);
  await data.remove();
}, 900_000);

it('pauses running jobs at the disk limit, says why, and removes the oldest finished ones first', async () => {
  const data = await dataFolder();
  const server = await startServe(data.dir, [...LOOPBACK, '--max-disk', '60k']);
  const small = await server.ask('POST', '/v2/batch/scrape', { urls: [web.url(0)], formats: ['rawHtml'] });
  await ended(server, `/v2/batch/scrape/${small.json.id}`);
  const urls = Array.from({ length: 300 }, (_, page) => web.url(page % 5, ((page / 5) % 40) | 0));
  const large = await server.ask('POST', '/v2/batch/scrape', { urls, formats: ['rawHtml'], maxConcurrency: 5 });
  const where = `/v2/batch/scrape/${large.json.id}`;
  await eventually(
    async () => /disk limit/.test((await server.ask('GET', where)).json.error ?? ''),
    'the job is paused',
  );
  expect((await server.ask('GET', where)).json.status).toBe('scraping');
  expect((await server.ask('GET', `/v2/batch/scrape/${small.json.id}`)).status).toBe(404);
  const { completed } = (await server.ask('GET', where)).json;
  await server.stop();
  const roomy = await startServe(data.dir, LOOPBACK);
  const state = await ended(roomy, where, 180_000);
  expect([state.status, state.completed]).toEqual(['completed', 300]);
  expect(completed).toBeLessThan(300);
  await roomy.stop();
  await data.remove();
}, 400_000);
