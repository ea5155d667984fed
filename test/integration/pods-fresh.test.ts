// What the workers of a pod in Redis know together: near copies that another worker saw, what sitemaps say of remembered
// pages, and how many pages link to a watched one.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openLmdbMemory } from '../../src/fresh/memory/memory-lmdb.js';
import { podMemoryFolder } from '../../src/pods/worker/pod-memory.js';
import { fingerprintOf } from '../../src/request/fingerprint.js';
import { podsTrial } from '../support/pods-trial.js';

const patience = { timeout: 300_000 };
const WORDS =
  'amber basin cedar delta ember fjord grove haven inlet jetty knoll lagoon meadow north orchard prairie'.split(' ');

/** Sixty words that only this page has. */
const textOf = (page: number): string =>
  Array.from({ length: 60 }, (_, n) => `${WORDS[(page * 7 + n * n) % 16]}${(page * 31 + n * 17) % 97}`).join(' ');

const wait = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

/** A server for all hosts of this machine; robots.txt is missing unless it is answered. */
async function serving(answer: (page: string, request: IncomingMessage, response: ServerResponse) => unknown) {
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    response.setHeader('content-type', 'text/html');
    void answer(`${headers.host!.split(':')[0]}${url}`, request, response);
  }).listen(0, '0.0.0.0');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

it('a worker of a pod finds near copies of what another worker saw', patience, async () => {
  const count = 12;
  const port = await serving(async (page, { url }, response) => {
    if (url === '/robots.txt') return response.writeHead(404).end();
    const host = Number(/^127\.0\.0\.(\d+)/.exec(page)![1]);
    // Copies come late: by then each original is known.
    await wait(host > 100 ? 4_000 : 100);
    const menu = host > 100 ? '<nav><a href="/imprint">Imprint</a></nav>' : '';
    response.end(`<html><body>${menu}<main><p>${textOf(host % 100)}</p></main></body></html>`);
  });
  const hosts = (from: number) => Array.from({ length: count }, (_, n) => `http://127.0.0.${from + n}:${port}/page`);
  const { finished, stored } = await podsTrial({
    redis: 1,
    seeds: [...hosts(1), ...hosts(101)],
    more: ['duplicates: skip', 'fetchers_per_pod: 2', 'fetcher_workers: 6'],
    timeoutMs: 250_000,
  });
  expect((await finished()).code).toBe(0);
  expect(await stored()).toEqual(hosts(1).sort());
});

it('a pod reads sitemaps before it visits again what it remembers', patience, async () => {
  const pages = 30;
  const changed = new Set<number>();
  const asked: number[] = [];
  const port = await serving((_, { url = '', headers }, response) => {
    const origin = `http://127.0.0.1:${port}`;
    if (url === '/robots.txt') return response.end(`Sitemap: ${origin}/map.xml\n`);
    if (url === '/map.xml') {
      const lastmod = (n: number) => (changed.has(n) ? new Date().toISOString() : '2020-01-01T00:00:00Z');
      const lines = Array.from({ length: pages }, (__, n) => n + 1).map(
        (n) => `<url><loc>${origin}/${n}</loc><lastmod>${lastmod(n)}</lastmod></url>`,
      );
      response.setHeader('content-type', 'application/xml');
      return response.end(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${lines.join('')}</urlset>`);
    }
    const n = Number(url.slice(1));
    if (n > 0) {
      asked.push(n);
      return response.end(`<main><p>${textOf(n)} in version ${changed.has(n) ? 2 : 1}</p></main>`);
    }
    // Only the list of all pages has a validator: unchanged, it leads nowhere.
    response.setHeader('etag', '"1"');
    if (headers['if-none-match'] === '"1"') return response.writeHead(304).end();
    const links = Array.from({ length: pages }, (__, at) => `<a href="/${at + 1}">page ${at + 1}</a>`);
    response.end(`<main><p>${textOf(0)}</p></main>${links.join(' ')}`);
  });
  const { finished } = await podsTrial({
    redis: 1,
    seeds: [`http://127.0.0.1:${port}/0`],
    more: ['remember: true'],
    timeoutMs: 100_000,
  });
  const crawled = async () => {
    expect((await finished('--fresh')).code).toBe(0);
    return asked.splice(0).sort((a, b) => a - b);
  };
  expect(await crawled()).toHaveLength(pages);
  // Nobody is trusted without a reason: all are visited, and found to be what the sitemap says.
  expect(await crawled()).toHaveLength(pages);
  await wait(2_000);
  changed.add(7).add(8);
  const visited = await crawled();
  expect(visited).toEqual(expect.arrayContaining([7, 8]));
  expect(visited.length).toBeLessThan(pages / 2);
});

it('a watch on pods counts the links to a page for its importance', patience, async () => {
  const pages = 7;
  const asked: string[] = [];
  const port = await serving((_, { url = '' }, response) => {
    if (url === '/robots.txt' || url === '/sitemap.xml') return response.writeHead(404).end();
    asked.push(url);
    const links = url === '/0' ? Array.from({ length: pages }, (__, n) => `/${n}`) : ['/1', 'http://127.0.0.77:9/'];
    const anchors = links.map((link) => `<a href="${link}">on</a>`).join(' ');
    response.end(`<html><body><main><p>${textOf(Number(url.slice(1)))}</p></main>${anchors}</body></html>`);
  });
  const trial = await podsTrial({
    redis: 1,
    seeds: [`http://127.0.0.1:${port}/0`],
    more: ['watch: { budget: 20/s, importance: inlinks }'],
    timeoutMs: 250_000,
  });
  const running = trial.run();
  const visitsOf = (page: string) => asked.filter((url) => url === page).length;
  await expect
    .poll(() => Math.min(visitsOf('/1'), visitsOf('/2')), { timeout: 200_000, interval: 250 })
    .toBeGreaterThan(3);
  running.signal('SIGTERM');
  await running.ended;
  const folder = podMemoryFolder({ dataDirs: trial.dataDirs, pods: [{}] as never }, 0);
  const memory = await openLmdbMemory(folder, { shared: true });
  onTestFinished(() => memory.close());
  const keyOf = (n: number) => fingerprintOf(`http://127.0.0.1:${port}/${n}`);
  // Every page but itself links to the first, and only the start to the second.
  expect([memory.inlinksOf(keyOf(1)), memory.inlinksOf(keyOf(2))]).toEqual([pages - 1, 1]);
  expect(memory.find(keyOf(1))!.page.importance).toBeGreaterThan(5);
  expect(memory.find(keyOf(2))!.page.importance).toBeLessThan(3);
});

it('a watch on pods weighs pages as the handler module says', patience, async () => {
  const asked: string[] = [];
  const port = await serving((_, { url = '' }, response) => {
    if (url === '/robots.txt' || url === '/sitemap.xml') return response.writeHead(404).end();
    asked.push(url);
    const anchors = ['/0', '/1', '/2'].map((link) => `<a href="${link}">on</a>`).join(' ');
    response.end(`<html><body><main><p>${textOf(Number(url.slice(1)))}</p></main>${anchors}</body></html>`);
  });
  const trial = await podsTrial({
    redis: 1,
    seeds: [`http://127.0.0.1:${port}/0`],
    more: ['handler: ./weigh.mjs', 'watch: { budget: 20/s, importance: handler }'],
    timeoutMs: 250_000,
  });
  const file = path.join(trial.folder, 'weigh.mjs');
  const handler = 'export default async ({ enqueueLinks }) => { await enqueueLinks(); };\n';
  await writeFile(file, handler);
  const refused = await trial.refused();
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('exports no function "importance"')]);
  await writeFile(
    file,
    `${handler}export const importance = ({ url, inlinks }) => (url.endsWith('/1') ? 100 + inlinks : 1 / 16);\n`,
  );
  const running = trial.run();
  const visitsOf = (page: string) => asked.filter((url) => url === page).length;
  await expect
    .poll(() => Math.min(visitsOf('/1'), visitsOf('/2')), { timeout: 200_000, interval: 250 })
    .toBeGreaterThan(3);
  running.signal('SIGTERM');
  await running.ended;
  const folder = podMemoryFolder({ dataDirs: trial.dataDirs, pods: [{}] as never }, 0);
  const memory = await openLmdbMemory(folder, { shared: true });
  onTestFinished(() => memory.close());
  const importanceOf = (n: number) => memory.find(fingerprintOf(`http://127.0.0.1:${port}/${n}`))!.page.importance;
  expect(importanceOf(1)).toBeGreaterThan(95);
  expect(importanceOf(2)).toBeCloseTo(1 / 16, 2);
});
