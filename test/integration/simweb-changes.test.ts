// The synthetic web changes: what it serves, what it says of it, and what was true.
import { afterEach, describe, expect, it } from 'vitest';
import { Configuration, HttpCrawler, Log, LogLevel, type HttpCrawlerOptions } from '../../src/index.js';
import { Simweb, type SimwebOptions } from '../../src/testing/index.js';

let web: Simweb | undefined;
afterEach(() => web?.close());

async function started(changes: SimwebOptions['changes'], more: SimwebOptions = {}): Promise<Simweb> {
  web = await Simweb.start({ seed: 4, pagesPerHost: 12, pageBytes: [3_000, 5_000], changes, ...more });
  return web;
}

/** What a crawler that remembers makes of a page, asked so often. */
async function kindsOf(url: string, times: number, options: HttpCrawlerOptions = {}): Promise<string[]> {
  const config = new Configuration({ persistStorage: false });
  const kinds: string[] = [];
  for (let time = 0; time < times; time++) {
    const crawler = new HttpCrawler(
      {
        log: new Log({ level: LogLevel.ERROR }),
        remember: { handleUnchanged: true },
        requestHandler: ({ change }) => void kinds.push(change!.kind),
        ...options,
      },
      config,
    );
    await crawler.run([url]);
    await crawler.teardown();
  }
  return kinds;
}

describe('a synthetic web that changes', () => {
  it('changes pages at moments that it can tell', async () => {
    const { url, changesOf } = await started({ perHour: 36_000 }).then((one) => ({
      url: one.url(0, 3),
      changesOf: () => one.changesOf(0, 3).length,
    }));
    const before = await (await fetch(url)).text();
    const count = changesOf();
    await expect.poll(changesOf, { timeout: 30_000 }).toBeGreaterThan(count);
    expect(await (await fetch(url)).text()).not.toBe(before);
  });

  it('has furniture that is another at every request, and is no change of the page', async () => {
    const { url } = await started({ furniture: true, etags: 'none', lastModified: 'none' }).then((one) => ({
      url: one.url(0, 5),
    }));
    const [first, second] = [await (await fetch(url)).text(), await (await fetch(url)).text()];
    expect(first).not.toBe(second);
    expect(await kindsOf(url, 3)).toEqual(['new', 'same', 'same']);
  });

  it.each(['strong', 'weak'] as const)('has %s ETags that a memory can use', async (etags) => {
    const changing = await started({ etags, lastModified: 'none' });
    const url = changing.url(0, 2);
    expect(await kindsOf(url, 2)).toEqual(['new', 'same']);
    expect(changing.requests({ path: new URL(url).pathname }).map(({ status }) => status)).toEqual([200, 304]);
  });

  it('has a Last-Modified of now, which says nothing', async () => {
    const url = (await started({ etags: 'none', lastModified: 'now' })).url(0, 2);
    expect(await kindsOf(url, 2)).toEqual(['new', 'same']);
  });

  it('has ETags that are wrong: a page that changed is noticed at the latest after twenty visits', async () => {
    const changing = await started({ etags: 'wrong', lastModified: 'none' });
    const config = new Configuration({ persistStorage: false });
    const kinds: string[] = [];
    for (let visit = 0; visit < 23; visit++) {
      if (visit === 2) changing.touch(0, 2);
      const crawler = new HttpCrawler(
        {
          log: new Log({ level: LogLevel.ERROR }),
          remember: { handleUnchanged: true },
          requestHandler: ({ change }) => void kinds.push(change!.kind),
        },
        config,
      );
      await crawler.run([changing.url(0, 2)]);
      await crawler.teardown();
    }
    expect(kinds.filter((kind) => kind === 'changed')).toHaveLength(1);
  });

  it('has near copies, which are marked', async () => {
    const copies = await started({ nearCopies: 0.5 }, { pagesPerHost: 30, pageBytes: [6_000, 9_000] });
    const marked: string[] = [];
    const crawler = new HttpCrawler(
      {
        log: new Log({ level: LogLevel.ERROR }),
        duplicates: 'mark',
        async requestHandler({ change, request, enqueueLinks }) {
          if (change!.duplicateOf) marked.push(request.url);
          await enqueueLinks();
        },
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run(copies.seeds());
    await crawler.teardown();
    expect(marked.length).toBeGreaterThan(2);
    expect(marked.length).toBeLessThan(25);
  });
});

describe('what the synthetic web says of changes, and what is true', () => {
  const lastmods = async (path: string) => {
    const text = await (await fetch(web!.url(0, path))).text();
    return [...text.matchAll(/<(?:lastmod|pubDate|updated)>([^<]+)</g)].map(([, said]) => new Date(said!).getTime());
  };

  it('is in its log: the version of each page as it was, also where the server said another', async () => {
    const changing = await started({ etags: 'wrong', lastModified: 'none' });
    const url = changing.url(0, 2);
    const first = await fetch(url);
    changing.touch(0, 2);
    const second = await fetch(url, { headers: { 'if-none-match': first.headers.get('etag')! } });
    expect([first.status, second.status]).toEqual([200, 304]);
    expect(changing.requests().map(({ version }) => version)).toEqual([0, 1]);
    expect(changing.changesOf(0, 2)).toHaveLength(1);
    await fetch(changing.url(0, '/robots.txt'));
    expect(changing.requests().at(-1)!.version).toBeUndefined();
  });

  it.each(['/sitemaps/0.xml', '/feed.xml', '/atom.xml'])('%s tells the truth, or lies', async (path) => {
    const touchedAt = async (lastmod: 'true' | 'now' | 'stale' | 'none') => {
      await web?.close();
      const changing = await started({ lastmod });
      changing.touch(0, 5);
      const [touched] = changing.changesOf(0, 5);
      // Feeds have whole seconds.
      return { said: await lastmods(path), from: Math.floor(touched! / 1_000) * 1_000 };
    };
    const truth = await touchedAt('true');
    expect(truth.said).toHaveLength(12);
    expect(truth.said.filter((atMs) => atMs >= truth.from)).toHaveLength(1);
    const now = await touchedAt('now');
    expect(now.said.filter((atMs) => atMs >= now.from)).toHaveLength(12);
    const stale = await touchedAt('stale');
    expect(stale.said.filter((atMs) => atMs >= stale.from)).toEqual([]);
    expect((await touchedAt('none')).said).toEqual([]);
  });

  it('has mirrors that repeat a host page by page and change with it, and crawls find them', async () => {
    const mirrored = await started(
      { mirrors: 0.5, etags: 'none', lastModified: 'none' },
      { hosts: 6, pagesPerHost: 30, pageBytes: [6_000, 9_000], crossHostLinks: 0.05, linkNoise: { duplicates: 0 } },
    );
    const mirrors = [1, 2, 3, 4, 5].filter((host) => mirrored.sourceOf(host) !== host);
    expect(mirrors.length).toBeGreaterThan(0);
    expect(mirrors.length).toBeLessThan(5);
    const [mirror] = mirrors as [number];
    const articleOf = async (host: number) =>
      /<article>[^]*<\/article>/
        .exec(await (await fetch(mirrored.url(host, 4))).text())![0]
        .replaceAll(mirrored.origin(host), '');
    const before = await articleOf(mirror);
    expect(before).toBe(await articleOf(mirrored.sourceOf(mirror)));
    mirrored.touch(mirror, 4);
    expect(await articleOf(mirror)).not.toBe(before);
    expect(await articleOf(mirror)).toBe(await articleOf(mirrored.sourceOf(mirror)));
    const copies = new Set<string>();
    const crawler = new HttpCrawler(
      {
        log: new Log({ level: LogLevel.ERROR }),
        allowPrivateAddresses: true,
        duplicates: 'mark',
        async requestHandler({ change, request, enqueueLinks }) {
          if (change!.duplicateOf) copies.add(`${new URL(request.url).host} ${new URL(change!.duplicateOf.url).host}`);
          await enqueueLinks({ strategy: 'all' });
        },
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run(mirrored.seeds());
    await crawler.teardown();
    const hostOf = (host: number) => new URL(mirrored.origin(host)).host;
    const pairs = new Set(
      mirrors.flatMap((host) => [
        `${hostOf(host)} ${hostOf(mirrored.sourceOf(host))}`,
        `${hostOf(mirrored.sourceOf(host))} ${hostOf(host)}`,
      ]),
    );
    expect([...copies].filter((pair) => pairs.has(pair)).length).toBeGreaterThanOrEqual(mirrors.length);
  });

  it.each(['/sitemaps/0.xml', '/feed.xml', '/atom.xml'])(
    'is used by a crawl: by %s it visits what changed',
    async (list) => {
      const changing = await started({ etags: 'none', lastModified: 'none' }, { hosts: 1, pagesPerHost: 18 });
      // Nothing is named in robots.txt: the list alone tells.
      changing.serve('/robots.txt', { status: 404 });
      changing.serve('/sitemap.xml', { status: 404 });
      const config = new Configuration({ persistStorage: false });
      const update = async (seeds: string[]) => {
        changing.reset();
        const changed: string[] = [];
        const crawler = new HttpCrawler(
          {
            log: new Log({ level: LogLevel.ERROR }),
            remember: { revisit: true, hints: [changing.url(0, list)] },
            requestHandler: ({ change, request }) => void (change!.kind === 'changed' && changed.push(request.url)),
          },
          config,
        );
        await crawler.run(seeds);
        await crawler.teardown();
        return { changed, visits: changing.requests().filter(({ page }) => page !== undefined).length };
      };
      const all = Array.from({ length: 18 }, (_, page) => changing.url(0, page));
      expect((await update(all)).visits).toBe(18);
      // Nobody is trusted without a reason: all are visited, and found to be the same.
      expect(await update([])).toEqual({ changed: [], visits: 18 });
      await new Promise((resume) => setTimeout(resume, 1_100));
      changing.touch(0, 7);
      const { changed, visits } = await update([]);
      expect(changed).toEqual([changing.url(0, 7)]);
      expect(visits).toBeLessThan(9);
    },
  );
});
