// What a server keeps: jobs go on after `kill -9`, each page is there once, events come in order; and it minds its disk.
// `npm run measure -- serve-kills` kills more often.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startHousekeeping } from '../../src/serve/jobs/housekeeping.js';
import { openLmdbJobs } from '../../src/serve/jobs/lmdb-store.js';
import type { Outcome } from '../../src/serve/jobs/store.js';
import { Simweb } from '../../src/testing/index.js';
import { silent } from '../support/crawl.js';
import { dataFolder, endedAt, eventually, LOOPBACK, startServe } from '../support/serve.js';
import { killServers } from '../support/serve-kills.js';

let web: Simweb;
beforeAll(async () => {
  web = await Simweb.start({ hosts: 5, pagesPerHost: 40, pageBytes: 1_500 });
});
afterAll(() => web?.close());

it('goes on after kills amid 6 jobs, with each page once and each event in order', async () => {
  const { problems, events } = await killServers({ servers: 1, kills: 5, hosts: 3, pagesPerHost: 25 });
  expect(problems).toEqual([]);
  expect(events).toBe(6 * 27);
}, 900_000);

it('pauses running jobs at the disk limit, says why, and removes the oldest finished ones first', async () => {
  const data = await dataFolder();
  const server = await startServe(data.dir, [...LOOPBACK, '--max-disk', '60k']);
  const small = await server.ask('POST', '/v2/batch/scrape', { urls: [web.url(0)], formats: ['rawHtml'] });
  await endedAt(server, `/v2/batch/scrape/${small.json.id}`);
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
  const state = await endedAt(roomy, where, 180_000);
  expect([state.status, state.completed]).toEqual(['completed', 300]);
  expect(completed).toBeLessThan(300);
  await roomy.stop();
  await data.remove();
}, 400_000);

it('notices the disk limit by what is stored, long before the clock makes it look', async () => {
  const data = await dataFolder();
  const store = await openLmdbJobs(data.dir);
  const job = { owner: 'me', url: 'http://a.example/', request: {}, kind: 'batch' } as const;
  await store.create({ ...job, id: 'old' });
  await store.end('old', 'completed');
  await store.create({ ...job, id: 'running' });
  let looks = 0;
  const reasons: (string | undefined)[] = [];
  const housekeeping = startHousekeeping({
    ...{ store, log: silent, retentionMs: 3_600_000, maxDiskBytes: 1_000, everyMs: 2 ** 30 },
    runner: {
      pause(reason: string | undefined) {
        looks++;
        reasons.push(reason);
      },
    } as never,
    onRemove: async () => undefined,
  });
  const keep = async (key: string, id = 'running'): Promise<void> => {
    const outcomes: Outcome[] = [{ kind: 'document', key, document: 'x'.repeat(100) }];
    await store.pages.put(id, outcomes);
    housekeeping.stored(outcomes);
    // The look that this may have begun.
    await new Promise((resume) => setTimeout(resume, 20));
  };
  await keep('first');
  await eventually(async () => looks === 1, 'the first look');
  for (let page = 0; page < 9; page++) await keep(`page ${page}`);
  expect([looks, reasons[0]]).toEqual([1, undefined]);
  await keep('one more');
  await eventually(async () => looks === 2, 'the look at the limit');
  expect(reasons[1]).toMatch(/the disk limit of 1000 bytes is reached/);
  // The reason is written after the pause, and the finished job is gone by then.
  const jobs = async () => (await store.list()).map(({ id, reason }) => [id, reason]);
  await eventually(async () => (await jobs())[0]?.[1] !== undefined, 'the reason of the pause');
  expect(await jobs()).toEqual([['running', reasons[1]]]);
  for (let page = 0; page < 5; page++) await keep(`under way ${page}`);
  expect(looks).toBe(2);
  housekeeping.close();
  await store.close();
  await data.remove();
});
