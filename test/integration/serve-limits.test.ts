// What many clients cost a server: named tokens and their limits, scrapes beside a crawl, thousands of silent sockets.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { CrawlError } from '../../src/index.js';
import { openTokens } from '../../src/serve/http/tokens.js';
import { Simweb } from '../../src/testing/index.js';
import { dataFolder, endedAt, startServe } from '../support/serve.js';
import { crawlUnderWay, rssOf, scrapesAtOnce, silentSockets } from '../support/serve-load.js';

const SECRET = 'a-long-random-secret-of-team-a';

it.each([
  [`tokens:\n  - name: a\n   token: ${SECRET}\n`, 'line 3'],
  [`tokens: [{ name: a, token: "${SECRET} }]\n`, 'line 2'],
  [`tokens:\n  - { name: a, token: *${SECRET} }\n`, 'aliases are not allowed'],
])('names the place of a mistake in tokens.yaml, and shows nothing of it', async (text, place) => {
  const data = await dataFolder();
  await mkdir(data.dir, { recursive: true });
  await writeFile(path.join(data.dir, 'tokens.yaml'), text);
  const error = await openTokens(data.dir, () => undefined).catch((caught: unknown) => caught as CrawlError);
  expect(error).toMatchObject({ code: 'OPTION_INVALID' });
  expect((error as CrawlError).message).toContain(place);
  expect((error as CrawlError).message).not.toContain(SECRET.slice(0, 12));
  await data.remove();
});

it('holds named tokens to their limits and to their own jobs', async () => {
  const web = await Simweb.start({ hosts: 1, pagesPerHost: 20 });
  const data = await dataFolder();
  await mkdir(data.dir, { recursive: true });
  await writeFile(
    path.join(data.dir, 'tokens.yaml'),
    `tokens:\n  - { name: team-a, token: ${SECRET}, concurrency: 2, pagesPerDay: 5 }\n`,
  );
  let server = await startServe(data.dir);
  const asTeam = (method: string, where: string, body?: unknown) =>
    server.ask(method, where, body, { authorization: `Bearer ${SECRET}` });
  const crawl = await asTeam('POST', '/v2/crawl', { url: web.url(0), limit: 2 });
  expect(crawl.status).toBe(200);
  const owners = await server.ask('POST', '/v2/crawl', { url: web.url(0), limit: 3 });
  expect((await asTeam('GET', `/v2/crawl/${owners.json.id}`)).status).toBe(404);
  expect((await asTeam('DELETE', `/v2/crawl/${owners.json.id}`)).status).toBe(404);
  const monitor = { name: 'x', schedule: { text: 'daily' }, targets: [{ type: 'scrape', urls: [web.url(0)] }] };
  const watched = (await server.ask('POST', '/v2/monitor', monitor)).json.data;
  const own = (await asTeam('POST', '/v2/monitor', monitor)).json.data;
  for (const [method, at] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/run'],
    ['GET', '/checks'],
  ]) {
    const answer = await asTeam(method!, `/v2/monitor/${watched.id}${at}`, method === 'GET' ? undefined : {});
    expect([method, at, answer.status]).toEqual([method, at, 404]);
  }
  expect((await asTeam('GET', '/v2/monitor')).json.data.map(({ id }: { id: string }) => id)).toEqual([own.id]);
  expect((await server.ask('GET', '/v2/monitor')).json.data).toHaveLength(2);
  expect((await endedAt(server, `/v2/crawl/${crawl.json.id}`)).completed).toBe(2);
  for (let page = 0; page < 3; page++) {
    expect((await asTeam('POST', '/v2/scrape', { url: web.url(0, page), formats: ['links'] })).status).toBe(200);
    // The count outlives the process.
    if (page === 1) {
      await server.kill();
      server = await startServe(data.dir);
    }
  }
  const over = await asTeam('POST', '/v2/scrape', { url: web.url(0), formats: ['links'] });
  expect(over).toMatchObject({ status: 429, json: { code: 'LIMIT_REACHED' } });
  expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await asTeam('POST', `/v2/monitor/${own.id}/run`, {})).status).toBe(429);
  expect((await server.ask('POST', '/v2/scrape', { url: web.url(0), formats: ['links'] })).status).toBe(200);
  await server.stop();
  await web.close();
  await data.remove();
});

it('answers 60 clients beside a crawl and 2,000 silent sockets', async () => {
  const web = await Simweb.start({ hosts: 20, pagesPerHost: 100, pageBytes: 3_000, crossHostLinks: 0.1 });
  const data = await dataFolder();
  const server = await startServe(data.dir);
  const urlOf = (index: number) => web.url(index % 20, index % 100);
  expect((await scrapesAtOnce(server, 60, urlOf)).failed).toBe(0);
  const beforeBytes = rssOf(server);
  const sockets = await silentSockets(server, 2_000);
  // A fifth of what 10,000 may cost beside a crawl: `npm run measure -- serve-load`.
  expect(rssOf(server) - beforeBytes).toBeLessThan(40e6);
  const crawl = await crawlUnderWay(server, web.url(0), 2_000);
  expect((await scrapesAtOnce(server, 60, urlOf)).failed).toBe(0);
  for (const socket of sockets) socket.destroy();
  await server.ask('DELETE', crawl);
  expect((await server.stop()).code).toBe(0);
  await web.close();
  await data.remove();
}, 600_000);
