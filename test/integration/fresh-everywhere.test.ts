// Near copies and hints where crawls run: by the same code on the command line and on pods.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { chooseStart } from '../../src/cli/crawl/folder.js';
import { runCrawl } from '../../src/cli/crawl/run.js';
import { systemTime } from '../../src/crawl/time.js';
import { createHintReader } from '../../src/crawl/watch/hint-reader.js';
import { createSiteHints } from '../../src/fresh/hints/site-hints.js';
import { createPageMemory } from '../../src/fresh/memory/memory.js';
import { newPage } from '../../src/fresh/memory/new-page.js';
import { fingerprintOf } from '../../src/request/fingerprint.js';
import { podsTrial } from '../support/pods-trial.js';

const WORDS =
  'amber basin cedar delta ember fjord grove haven inlet jetty knoll lagoon meadow north orchard prairie'.split(' ');

/** Sixty words that only this post has. */
function textOf(post: number): string {
  return Array.from({ length: 60 }, (_, n) => `${WORDS[(post * 7 + n * n) % 16]}${(post * 31 + n * 17) % 97}`).join(
    ' ',
  );
}

/** Posts with print versions: the version of each links to a page that nothing else leads to. */
async function blog(posts: number) {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const [, name = '', query] = /^\/([^?]*)(\?.*)?$/.exec(url) ?? [];
    response.setHeader('content-type', 'text/html');
    if (name === 'robots.txt') return response.writeHead(404).end();
    if (name === 'sitemap.xml') {
      const now = new Date().toISOString();
      response.setHeader('content-type', 'application/xml');
      return response.end(`<urlset><url><loc>${origin}/1</loc><lastmod>${now}</lastmod></url></urlset>`);
    }
    const n = Number(name);
    if (n === 0) {
      const all = Array.from({ length: posts }, (_, i) => `<a href="/${i + 1}">post ${i + 1}</a>`).join(' ');
      return response.end(`<html><body><main><p>${textOf(0)}</p></main>${all}</body></html>`);
    }
    const link = n > 1_000 ? '' : query ? `<a href="/${1_000 + n}">deep</a>` : `<a href="/${n}?print=1">print</a>`;
    response.end(`<html><body><main><article><p>${textOf(n)}</p></article></main>${link}</body></html>`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, asked };
}

async function crawled(origin: string, duplicates: 'mark' | 'skip') {
  const folder = await mkdtemp(path.join(tmpdir(), 'fresh-copies-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const settings = { urls: [`${origin}/0`], format: 'jsonl' as const, delay: 0, concurrency: 1, duplicates };
  const report = await runCrawl(settings, { folder, mode: await chooseStart(folder, {}) }, { quiet: true });
  const text = await readFile(path.join(folder, 'pages.jsonl'), 'utf8');
  const items = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { url: string; duplicateOf?: string; change?: string });
  return { report, items };
}

it('crawl --duplicates mark stores all pages, and names what they repeat', { timeout: 120_000 }, async () => {
  const { origin } = await blog(5);
  const { items } = await crawled(origin, 'mark');
  expect(items).toHaveLength(16);
  const copies = items.filter(({ duplicateOf }) => duplicateOf !== undefined);
  expect(copies.map(({ url, duplicateOf }) => [url, duplicateOf]).sort()).toEqual(
    [1, 2, 3, 4, 5].map((n) => [`${origin}/${n}?print=1`, `${origin}/${n}`]),
  );
  expect(items[0]).not.toHaveProperty('change');
});

it(
  'crawl --duplicates skip does not follow the links of print versions, and finds what marks them',
  { timeout: 120_000 },
  async () => {
    const { origin, asked } = await blog(40);
    const { items, report } = await crawled(origin, 'skip');
    expect(items.map(({ url }) => url).sort()).toEqual(Array.from({ length: 41 }, (_, n) => `${origin}/${n}`).sort());
    expect(report.copies).toMatchObject([{ site: `${new URL(origin).host} ?print=1` }]);
    expect(asked.filter((url) => /^\/1\d\d\d/.test(url))).toEqual([]);
  },
);

it('a pod with duplicates: skip stores none of them', { timeout: 300_000 }, async () => {
  const { origin, asked } = await blog(5);
  const { run, stored } = await podsTrial({ seeds: [`${origin}/0`], more: ['duplicates: skip'], timeoutMs: 200_000 });
  expect((await run().ended).code).toBe(0);
  expect(await stored()).toEqual([0, 1, 2, 3, 4, 5].map((n) => `${origin}/${n}`));
  expect(asked.filter((url) => /^\/1\d\d\d/.test(url))).toEqual([]);
});

it('a watch on pods reads the sitemaps of its sites', { timeout: 300_000 }, async () => {
  const { origin, asked } = await blog(3);
  const { run } = await podsTrial({ seeds: [`${origin}/0`], more: ['watch: { budget: 20/s }'], timeoutMs: 200_000 });
  const running = run();
  await expect.poll(() => asked.includes('/sitemap.xml'), { timeout: 150_000, interval: 250 }).toBe(true);
  running.signal('SIGTERM');
  await running.ended;
});

it('what a list says has changed is due now, and private sites are read only if they are named', async () => {
  const { origin, asked } = await blog(1);
  const memory = createPageMemory();
  const key = fingerprintOf(`${origin}/1`);
  const nowSecs = Math.floor(Date.now() / 1000);
  const page = { ...newPage(nowSecs - 1_000, 200), nextVisitAt: nowSecs + 50_000 };
  memory.settle([{ key, request: key, page, names: { url: `${origin}/1` } }], true);
  const hints = createSiteHints(memory, () => nowSecs);
  const readerOf = (isNamed: boolean) => {
    const reader = createHintReader({ memory, hints, time: systemTime, isNamed, spend: () => undefined });
    onTestFinished(() => reader.close());
    reader.addOrigin(origin);
    reader.look();
    return reader;
  };
  await readerOf(false).close();
  expect(asked).toEqual([]);
  readerOf(true);
  await expect.poll(() => memory.find(key)!.page.nextVisitAt, { timeout: 30_000 }).toBeLessThanOrEqual(nowSecs + 1);
});
