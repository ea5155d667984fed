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
