// Hints of sites: pages that a truthful sitemap leaves alone are not visited; one that lies is not believed.
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { Configuration, HttpCrawler } from '../../src/index.js';

const PAGES = 30;
const PAST = '2020-01-01T00:00:00Z';
const patience = { timeout: 300_000 };
let server: Server | undefined;
let folder: string | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** A site of pages that have no validators, and a sitemap that says when each changed. */
async function site(lastmodOf: (n: number) => string) {
  const versions = new Map<number, number>();
  const asked: string[] = [];
  server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const origin = `http://127.0.0.1:${(server!.address() as AddressInfo).port}`;
    if (url === '/robots.txt') return response.end(`Sitemap: ${origin}/map.xml\n`);
    if (url === '/map.xml') {
      const lines = Array.from(
        { length: PAGES },
        (_, n) => `<url><loc>${origin}/${n}</loc><lastmod>${lastmodOf(n)}</lastmod></url>`,
      );
      response.setHeader('content-type', 'application/xml');
      return response.end(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${lines.join('')}</urlset>`);
    }
    const n = Number(url.slice(1));
    response.setHeader('content-type', 'text/html');
    response.end(
      `<main><p>Page ${n} has a sentence of its own, and its version is ${versions.get(n) ?? 1}.</p></main>`,
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pagesAsked = () => asked.splice(0).filter((url) => /^\/\d+$/.test(url));
  return { origin, versions, pagesAsked };
}

async function update(origin: string, seeds: boolean): Promise<string[]> {
  const found: string[] = [];
  const config = new Configuration({ storageClientOptions: { localDataDirectory: folder! } });
  const crawler = new HttpCrawler(
    {
      remember: { revisit: true, hints: true },
      async requestHandler({ request, change }) {
        if (change?.kind !== 'same') found.push(`${change?.kind} ${new URL(request.url).pathname}`);
      },
    },
    config,
  );
  await crawler.run(seeds ? Array.from({ length: PAGES }, (_, n) => `${origin}/${n}`) : []);
  return found;
}

it('leaves alone what a truthful sitemap says is the same, and visits what it says changed', patience, async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fresh-hints-'));
  const changed = new Set<number>();
  const { origin, versions, pagesAsked } = await site((n) =>
    changed.has(n) ? new Date(Date.now() + 60_000).toISOString() : PAST,
  );
  expect(await update(origin, true)).toHaveLength(PAGES);
  expect(pagesAsked()).toHaveLength(PAGES);
  // Nobody is trusted without a reason: all are visited, and found to be what was said.
  expect(await update(origin, false)).toEqual([]);
  expect(pagesAsked()).toHaveLength(PAGES);
  for (const n of [7, 8]) {
    changed.add(n);
    versions.set(n, 2);
  }
  expect((await update(origin, false)).sort()).toEqual(['changed /7', 'changed /8']);
  const asked = pagesAsked();
  expect(asked).toContain('/7');
  expect(asked.length).toBeLessThan(PAGES / 2);
});

it('does not believe a sitemap that was wrong', patience, async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fresh-hints-'));
  const { origin, versions, pagesAsked } = await site(() => PAST);
  await update(origin, true);
  await update(origin, false);
  pagesAsked();
  // All change, and the sitemap does not say so: the few that are looked at, others every second, tell.
  for (let n = 0; n < PAGES; n++) versions.set(n, 2);
  let found = 0;
  for (let round = 0; round < 40 && found === 0; round++) {
    found += (await update(origin, false)).length;
    await new Promise((resume) => setTimeout(resume, 300));
  }
  expect(found).toBeGreaterThan(0);
  pagesAsked();
  await update(origin, false);
  expect(pagesAsked()).toHaveLength(PAGES);
});
