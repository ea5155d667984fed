// A repeated crawl: pages are requested conditionally, and changes are reported.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CheerioCrawler, Configuration, HttpCrawler, type HttpCrawlerOptions } from '../../src/index.js';
import { Simweb } from '../../src/testing/index.js';

let web: Simweb;
const folders: string[] = [];
beforeAll(async () => {
  web = await Simweb.start({ seed: 24, pagesPerHost: 30, pageBytes: [2_000, 4_000] });
});
afterAll(() => web.close());
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'remember-'));
  folders.push(folder);
  return folder;
}

interface Seen {
  readonly url: string;
  readonly kind: string | undefined;
  readonly status: number;
}

/** One crawl over a folder; returns what its handler saw, by URL. */
async function crawl(folder: string, seeds: string[], options: HttpCrawlerOptions = {}): Promise<Seen[]> {
  const seen: Seen[] = [];
  const crawler = new HttpCrawler(
    {
      remember: { revisit: true },
      async requestHandler({ request, response, change, enqueueLinks }) {
        seen.push({ url: request.url, kind: change?.kind, status: response.statusCode });
        await enqueueLinks();
      },
      ...options,
    },
    new Configuration({ storageClientOptions: { localDataDirectory: folder }, purgeOnStart: true }),
  );
  await crawler.run(seeds);
  await crawler.teardown();
  return seen.sort((a, b) => (a.url < b.url ? -1 : 1));
}

describe('a crawl that remembers', () => {
  it('finds everything new at first, and nothing to handle on an unchanged web', async () => {
    const folder = await newFolder();
    const first = await crawl(folder, web.seeds());
    expect(first.length).toBe(30);
    expect(new Set(first.map(({ kind }) => kind))).toEqual(new Set(['new']));
    web.reset();
    expect(await crawl(folder, web.seeds())).toEqual([]);
    const asked = web.requests().filter(({ path: asked }) => !asked.endsWith('robots.txt'));
    expect(asked.length).toBe(30);
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([304]));
  });

  it('handles what changed, and follows its links', async () => {
    const folder = await newFolder();
    await crawl(folder, web.seeds());
    web.touch(0, 3);
    const seen = await crawl(folder, web.seeds());
    expect(seen).toMatchObject([{ url: web.url(0, 3), kind: 'changed' }]);
  });

  it('tells what was removed, and that it came back', async () => {
    const folder = await newFolder();
    web.serve('/shop', { body: '<p>Orcas hunt in pods, and each pod has its own calls.</p>' });
    await crawl(folder, [web.url(0, '/shop')]);
    web.serve('/shop', { status: 404, body: 'gone' });
    expect(await crawl(folder, [web.url(0, '/shop')])).toMatchObject([{ kind: 'removed', status: 404 }]);
    expect(await crawl(folder, [web.url(0, '/shop')])).toMatchObject([{ kind: 'same', status: 404 }]);
    web.serve('/shop', { body: '<p>Orcas hunt in pods again.</p>' });
    expect(await crawl(folder, [web.url(0, '/shop')])).toMatchObject([{ kind: 'new', status: 200 }]);
  });

  it('takes a page whose furniture changed for the same', async () => {
    const folder = await newFolder();
    const page = (ad: number) =>
      `<html><body><nav><a href="/?token=${ad}">Home</a></nav><article><h1>Orcas</h1><p>Orcas hunt in pods, and each pod has
       its own calls, which mothers teach their young.</p><p>They are found in every ocean, from the Arctic to the
       Antarctic, and eat fish, seals and whales.</p><p>${ad} views</p></article><footer>Page ${ad}</footer></body></html>`;
    web.serve('/orcas', { body: page(1) });
    await crawl(folder, [web.url(0, '/orcas')], { maxCrawlDepth: 0 });
    web.serve('/orcas', { body: page(2_345) });
    expect(await crawl(folder, [web.url(0, '/orcas')], { maxCrawlDepth: 0 })).toMatchObject([{ kind: 'same' }]);
    web.serve('/orcas', { body: page(3).replace('every ocean', 'most oceans') });
    expect(await crawl(folder, [web.url(0, '/orcas')], { maxCrawlDepth: 0 })).toMatchObject([{ kind: 'changed' }]);
  });

  it('calls the handler for a 304 when asked to', async () => {
    const folder = await newFolder();
    const remember = { handleUnchanged: true };
    await crawl(folder, [web.url(0, 5)], { remember, maxCrawlDepth: 0 });
    const seen = await crawl(folder, [web.url(0, 5)], { remember, maxCrawlDepth: 0 });
    expect(seen).toMatchObject([{ kind: 'same', status: 304 }]);
  });

  it('does not believe a 304 of another version', async () => {
    const folder = await newFolder();
    web.serve('/v', { headers: { 'content-type': 'text/html', etag: '"1"' }, body: '<p>One version of the page</p>' });
    await crawl(folder, [web.url(0, '/v')]);
    web.serve('/v', { status: 304, headers: { etag: '"2"' } });
    web.reset();
    const crawling = crawl(folder, [web.url(0, '/v')]);
    await expect.poll(() => web.requests({ path: '/v' }).length, { timeout: 30_000 }).toBeGreaterThan(0);
    web.serve('/v', { headers: { 'content-type': 'text/html', etag: '"2"' }, body: '<p>Another version of it</p>' });
    expect(await crawling).toMatchObject([{ kind: 'changed', status: 200 }]);
  });

  it('shows what changed, in the markdown and in fields', async () => {
    const folder = await newFolder();
    const told: unknown[] = [];
    const options: HttpCrawlerOptions = {
      remember: { versions: true },
      requestHandler: () => undefined,
      onChange: ({ change, content }) => {
        const price = /\d[\d.]*/.exec(content.text)?.[0];
        told.push({ kind: change.kind, diff: change.diff()?.text, fields: change.diffFields({ price }) });
      },
    };
    const page = (price: string) =>
      `<article><h1>Lamp</h1><p>A lamp for reading in bed.</p><p>${price} EUR</p></article>`;
    web.serve('/lamp', { body: page('12.50') });
    await crawl(folder, [web.url(0, '/lamp')], options);
    web.serve('/lamp', { body: page('9.90') });
    await crawl(folder, [web.url(0, '/lamp')], options);
    expect(told).toMatchObject([
      { kind: 'new', diff: undefined, fields: undefined },
      { kind: 'changed', fields: { price: { previous: '12.50', current: '9.90' } } },
    ]);
    expect((told[1] as { diff: string }).diff).toContain('-12.50 EUR\n+9.90 EUR');
  });

  it('marks near duplicates, and skips them with their links', async () => {
    const text = Array.from(
      { length: 120 },
      (_, n) => `Orcas of pod ${n % 17} hunt ${n % 7} herring in bay ${n % 11}.`,
    );
    const page = (note: string) => `<article><h1>Orcas</h1><p>${text.join(' ')}</p><p>${note}</p></article>`;
    web.serve('/one', { body: `${page('First.')}<a href="/two">two</a>` });
    web.serve('/two', { body: `${page('Second.')}<a href="/three">three</a>` });
    web.serve('/three', { body: '<p>Something quite different, about the making of clocks in Geneva.</p>' });
    const of: (string | undefined)[] = [];
    const requestHandler: HttpCrawlerOptions['requestHandler'] = async ({ change, enqueueLinks }) => {
      of.push(change!.duplicateOf?.url);
      await enqueueLinks();
    };
    await crawl(await newFolder(), [web.url(0, '/one')], { duplicates: 'mark', requestHandler });
    expect(of).toEqual([undefined, web.url(0, '/one'), undefined]);
    of.length = 0;
    const skipped: unknown[] = [];
    const onSkippedRequest = (one: unknown) => void skipped.push(one);
    await crawl(await newFolder(), [web.url(0, '/one')], { duplicates: 'skip', requestHandler, onSkippedRequest });
    expect(of).toEqual([undefined]);
    expect(skipped).toEqual([{ url: web.url(0, '/two'), reason: 'nearDuplicate' }]);
  });

  it('keeps its memory without a disk as long as its configuration', async () => {
    const config = new Configuration({ persistStorage: false });
    const kinds: (string | undefined)[] = [];
    for (const _round of [1, 2]) {
      const crawler = new CheerioCrawler(
        { remember: true, requestHandler: ({ change }) => void kinds.push(change?.kind) },
        config,
      );
      await crawler.run([web.url(0, 7)]);
      await crawler.teardown();
    }
    expect(kinds).toEqual(['new']);
  });

  it('refuses what it cannot do, by name', () => {
    expect(() => new HttpCrawler({ onChange: () => undefined })).toThrow(/"onChange" needs "remember"/);
    expect(() => new HttpCrawler({ remember: { nmae: 'x' } as never })).toThrow(/"remember" must be/);
  });
});
