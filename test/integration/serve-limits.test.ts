// What many clients cost a server: named tokens and their limits, 200 scrapes beside a crawl, thousands of silent sockets.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Simweb } from '../../src/testing/index.js';
import { dataFolder, ended, eventually, type ServerProcess, startServe } from './serve-fixtures.js';

const SECRET = 'a-long-random-secret-of-team-a';

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
  expect((await ended(server, `/v2/crawl/${crawl.json.id}`)).completed).toBe(2);
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
  expect((await server.ask('POST', '/v2/scrape', { url: web.url(0), formats: ['links'] })).status).toBe(200);
  await server.stop();
  await web.close();
  await data.remove();
});

it('answers 200 clients beside a crawl of 10,000 pages and 5,000 silent sockets', async () => {
  const web = await Simweb.start({ hosts: 50, pagesPerHost: 200, pageBytes: 3_000, process: 'own' } as never).catch(
    () => Simweb.start({ hosts: 50, pagesPerHost: 200, pageBytes: 3_000 }),
  );
  const data = await dataFolder();
  const server = await startServe(data.dir);
  await scrapes(server, web, 50);
  const alone = await scrapes(server, web, 200);
  const crawl = await server.ask('POST', '/v2/crawl', {
    url: web.url(0),
    limit: 10_000,
    allowExternalLinks: true,
    crawlEntireDomain: true,
    scrapeOptions: { formats: ['links'] },
  });
  await eventually(
    async () => (await server.ask('GET', `/v2/crawl/${crawl.json.id}?limit=1`)).json.completed > 50,
    'the crawl is under way',
  );
  const beside = await scrapes(server, web, 200);
  const before = await rss(server);
  const sockets = await silent(server, 5_000);
  const after = await rss(server);
  expect((await scrapes(server, web, 20)).failed).toBe(0);
  for (const socket of sockets) socket.destroy();
  console.log(JSON.stringify({ alone, beside, rssMb: before / 1e6, with5000SocketsMb: after / 1e6 }));
  expect([alone.failed, beside.failed]).toEqual([0, 0]);
  expect(before).toBeLessThan(600e6);
  expect(after - before).toBeLessThan(200e6);
  await server.ask('DELETE', `/v2/crawl/${crawl.json.id}`);
  expect((await server.stop()).code).toBe(0);
  await web.close();
  await data.remove();
}, 600_000);

async function scrapes(server: ServerProcess, web: Simweb, count: number): Promise<{ p95Ms: number; failed: number }> {
  const times: number[] = [];
  let failed = 0;
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const startedMs = performance.now();
      const { status } = await server.ask('POST', '/v2/scrape', {
        url: web.url(index % 50, index % 200),
        formats: ['markdown'],
      });
      times.push(performance.now() - startedMs);
      if (status !== 200) failed++;
    }),
  );
  times.sort((one, other) => one - other);
  return { p95Ms: Math.round(times[Math.floor(count * 0.95)]!), failed };
}

async function rss({ process: { pid } }: ServerProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024;
}

async function silent({ url }: ServerProcess, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let made = 0; made < count; made += 250) {
    const some = Array.from({ length: 250 }, () => connect(Number(port), hostname).on('error', () => undefined));
    await Promise.all(
      some.map((socket) => new Promise((resolve) => socket.once('connect', resolve).once('error', resolve))),
    );
    sockets.push(...some);
  }
  return sockets;
}
