// What a batch says of pages that it has seen before, by the memory of crawls: in the library and on the command line.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Configuration, HttpCrawler, Log, LogLevel, WebCrawler, type RunConfig } from '../../src/index.js';
import { Simweb } from '../../src/testing/index.js';
import { inTemporaryFolder, MAIN, startNode } from './cli-process.js';

const WORDS =
  'The orchard lies behind the mill, and whoever comes by in autumn may take as many apples as he can carry.';
let web: Simweb;
let folder: string;

beforeEach(async () => {
  web = await Simweb.start({ pagesPerHost: 1 });
  folder = await mkdtemp(path.join(tmpdir(), 'batch-changes-'));
});
afterEach(async () => {
  await web.close();
  await rm(folder, { recursive: true, force: true });
});

function serve(name: string, price: number, furniture = ''): string {
  const body =
    `<html><body><nav><a href="/">${furniture}Home</a></nav><main><h1>${name}</h1><p>${WORDS}</p>` +
    `<p>The ${name} costs <b class="price">${price}</b> crowns at the market on the first day of the week.</p></main></body></html>`;
  web.serve(`/${name}`, { body });
  return web.url(0, `/${name}`);
}

async function run(urls: Parameters<WebCrawler['runMany']>[0], config: RunConfig = {}) {
  await using crawler = await WebCrawler.open({ storageDir: folder });
  return await crawler.runMany(urls, { remember: true, ...config });
}

describe('a batch that remembers', () => {
  it('says what is new, the same, changed and removed', async () => {
    const urls = [serve('lamp', 12), serve('chair', 40), serve('table', 90)];
    const kinds = async () => (await run(urls)).map(({ change }) => change?.kind);
    expect(await kinds()).toEqual(['new', 'new', 'new']);
    serve('lamp', 12, 'another furniture, ');
    serve('chair', 45);
    web.serve('/table', { status: 410, body: 'gone' });
    const before = Date.now();
    const results = await run(urls);
    expect(results.map(({ change }) => change?.kind)).toEqual(['same', 'changed', 'removed']);
    expect(results[2]!.success).toBe(false);
    const { lastSeen, visits, changes } = results[1]!.change!;
    expect([visits, changes]).toEqual([2, 1]);
    expect(lastSeen!.getTime()).toBeLessThanOrEqual(before);
    expect(JSON.parse(JSON.stringify(results[1]))).toMatchObject({ change: { kind: 'changed', visits: 2 } });
    expect(await kinds()).toEqual(['same', 'same', undefined]);
  });

  it('compares elements that were named wherever they stand', async () => {
    const body = (stock: string) =>
      `<main><h1>Lamp</h1><p>${WORDS}</p></main><div class="sidebar"><ul><li>${stock}</li></ul></div>`;
    web.serve('/stock', { body: body('3 left') });
    const kinds = async () => {
      const [whole] = await run([web.url(0, '/stock')]);
      const [named] = await run([web.url(0, '/stock')], { cssSelector: '.sidebar', remember: { name: 'named' } });
      return [whole!.change?.kind, named!.change?.kind];
    };
    expect(await kinds()).toEqual(['new', 'new']);
    web.serve('/stock', { body: body('2 left') });
    expect(await kinds()).toEqual(['same', 'changed']);
  });

  it('shows the difference of the markdown, and of the fields that were extracted', async () => {
    const url = serve('lamp', 12);
    const config: RunConfig = {
      remember: { versions: true },
      extract: { engine: 'css', fields: { price: { selector: '.price' } } },
    };
    const [first] = await run([url], config);
    expect([first!.change!.diff(), first!.change!.fields]).toEqual([undefined, undefined]);
    serve('lamp', 9);
    const [second] = await run([url], config);
    const diff = second!.change!.diff()!.text;
    expect(diff).toMatch(/^-.*costs .*12.* crowns/m);
    expect(diff).toMatch(/^\+.*costs .*9.* crowns/m);
    expect(JSON.stringify(second!.change!.fields)).toContain('"previous":"12","current":"9"');
  });

  it('shares its memory with crawlers, and keeps one by its name apart', async () => {
    const url = serve('lamp', 12);
    const crawler = new HttpCrawler(
      { log: new Log({ level: LogLevel.ERROR }), remember: true, requestHandler: () => undefined },
      new Configuration({ storageClientOptions: { localDataDirectory: folder } }),
    );
    await crawler.run([url]);
    await crawler.teardown();
    expect((await run([url]))[0]!.change!.kind).toBe('same');
    expect((await run([url], { remember: { name: 'other' } }))[0]!.change!.kind).toBe('new');
    expect((await readdir(path.join(folder, 'page_memory'))).sort()).toEqual(['default', 'other']);
  });

  it('says nothing where nothing can be said, and nothing is kept without the option', async () => {
    const url = serve('lamp', 12);
    web.serve('/broken', { status: 500 });
    const results = await run([url, web.url(0, '/broken'), { url, config: { method: 'POST', body: 'a=1' } }], {
      maxRetries: 0,
    });
    expect(results.map(({ change }) => change?.kind)).toEqual(['new', undefined, undefined]);
    await using crawler = await WebCrawler.open({ storageDir: path.join(folder, 'none') });
    expect((await crawler.run(url)).change).toBeNull();
    expect(await readdir(folder)).not.toContain('none');
    const [refused] = await run([{ url, config: { remember: true } }]);
    expect(refused).toMatchObject({ success: false, errorCode: 'OPTION_INVALID' });
    await expect(run([url], { remember: { name: '../x' } })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  it('lets several batches use one memory at the same time', async () => {
    const urls = ['lamp', 'chair', 'table', 'stool'].map((name) => serve(name, 10));
    await using crawler = await WebCrawler.open({ storageDir: folder });
    const both = await Promise.all(
      [urls.slice(0, 2), urls.slice(2)].map((some) => crawler.runMany(some, { remember: true })),
    );
    expect(both.flat().map(({ change }) => change?.kind)).toEqual(['new', 'new', 'new', 'new']);
    expect((await run(urls)).map(({ change }) => change?.kind)).toEqual(['same', 'same', 'same', 'same']);
  });
});

describe('orcrawl batch --remember', () => {
  it('writes what changed and how, and refuses what it cannot', () =>
    inTemporaryFolder(async (cwd) => {
      const batch = (...flags: string[]) =>
        startNode([MAIN, 'batch', web.url(0, '/lamp'), '-q', ...flags], { cwd }).ended;
      serve('lamp', 12);
      const fields = ['--fields', 'url,change,diff'];
      const first = await batch('--remember', ...fields);
      expect(JSON.parse(first.stdout)).toEqual({ url: web.url(0, '/lamp'), change: 'new', diff: null });
      serve('lamp', 9);
      const second = await batch('--remember', ...fields);
      expect(JSON.parse(second.stdout)).toMatchObject({
        change: 'changed',
        diff: expect.stringMatching(/^@@ /) as string,
      });
      expect(JSON.parse((await batch('--remember')).stdout)).toMatchObject({ change: 'same', statusCode: 200 });
      for (const flags of [
        ['--processes', '2'],
        ['--format', 'markdown'],
      ]) {
        const { code, stderr } = await batch('--remember', ...flags);
        expect([code, stderr]).toEqual([1, expect.stringContaining('--remember')]);
      }
      expect((await batch('--fields', 'url,diff')).code).toBe(1);
    }));
});
