// `orcrawl crawl --update`: a second crawl asks what changed, stores only that, and its report adds up.
import { readFile, rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chooseStart } from '../../src/cli/crawl/folder.js';
import { runCrawl } from '../../src/cli/crawl/run.js';
import type { CrawlReport } from '../../src/cli/crawl/report.js';
import { Simweb } from '../../src/testing/index.js';

let web: Simweb;
const folders: string[] = [];
beforeAll(async () => {
  web = await Simweb.start({ seed: 5, pagesPerHost: 40, pageBytes: [2_000, 3_000], statusMix: { missing: 0.1 } });
});
afterAll(() => web.close());
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'crawl-update-'));
  folders.push(folder);
  return folder;
}

async function crawl(folder: string, update: boolean): Promise<CrawlReport> {
  const mode = await chooseStart(folder, update ? { update } : {});
  const settings = { urls: web.seeds(), format: 'jsonl' as const, delay: 0, ...(update ? { update } : {}) };
  return runCrawl(settings, { folder, mode }, { quiet: true });
}

const items = async (folder: string) =>
  (await readFile(path.join(folder, 'pages.jsonl'), 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

function addsUp({ update, pagesThisRun }: CrawlReport): void {
  const { new: fresh, changed, same, gone, missing } = update!;
  expect(fresh + changed + same + gone + missing).toBe(pagesThisRun);
}

describe('crawl --update', () => {
  it('stores nothing of an unchanged site, and no body comes twice', async () => {
    const folder = await newFolder();
    const first = await crawl(folder, true);
    addsUp(first);
    expect(first.update).toMatchObject({ changed: 0, same: 0, gone: 0 });
    const before = await items(folder);
    web.reset();
    const second = await crawl(folder, true);
    addsUp(second);
    expect(second.update).toMatchObject({ new: 0, changed: 0, gone: 0, same: first.update!.new, notVisited: 0 });
    expect(await items(folder)).toEqual(before);
    const bodies = web.requests().filter(({ status, path: asked }) => status === 200 && asked !== '/robots.txt');
    expect(bodies.map(({ path: asked }) => asked)).toEqual([]);
  });

  it('stores what changed and what is new, and lists what is gone', async () => {
    const folder = await newFolder();
    web.serve('/lamp', { body: '<article><p>A lamp for reading in bed.</p></article>' });
    web.serve('/list', { body: '<p>All our lamps, old and new, in one list.</p><a href="/lamp">lamp</a>' });
    const settings = { urls: [web.url(0, '/list')], format: 'jsonl' as const, delay: 0, update: true };
    const run = async () =>
      runCrawl(settings, { folder, mode: await chooseStart(folder, { update: true }) }, { quiet: true });
    expect((await run()).update).toMatchObject({ new: 2, same: 0 });
    web.serve('/lamp', { status: 410, body: 'gone' });
    web.serve('/list', { body: '<p>All our chairs in one list.</p><a href="/chair">chair</a>' });
    web.serve('/chair', { body: '<article><p>A chair to sit on.</p></article>' });
    const second = await run();
    addsUp(second);
    expect(second.update).toMatchObject({
      new: 1,
      changed: 1,
      gone: 1,
      urls: { new: [web.url(0, '/chair')], changed: [web.url(0, '/list')], gone: [web.url(0, '/lamp')] },
    });
    expect((await items(folder)).map(({ url, change }) => [new URL(url).pathname, change])).toEqual([
      ['/list', 'new'],
      ['/lamp', 'new'],
      ['/list', 'changed'],
      ['/chair', 'new'],
    ]);
    expect(JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8')).update).toMatchObject({ gone: 1 });
    const listed = (await readFile(path.join(folder, 'changes.jsonl'), 'utf8')).split('\n').filter(Boolean);
    expect(listed.length).toBe(3);
  });

  it('knows the pages of a crawl that was made without a memory', async () => {
    const folder = await newFolder();
    const first = await crawl(folder, false);
    const before = await items(folder);
    web.touch(0, 1);
    const second = await crawl(folder, true);
    addsUp(second);
    expect(second.update).toMatchObject({ new: 0, changed: 1, gone: 0, urls: { changed: [web.url(0, 1)] } });
    expect(second.pages).toBe(first.pages);
    expect((await items(folder)).length).toBe(before.length + 1);
    web.reset();
    const third = await crawl(folder, true);
    expect(third.update).toMatchObject({ new: 0, changed: 0 });
    expect(web.requests().filter(({ status, path: asked }) => status === 200 && asked !== '/robots.txt')).toEqual([]);
  });

  it('is refused together with --resume and --fresh', async () => {
    await expect(chooseStart('nowhere', { update: true, fresh: true })).rejects.toThrow(/--update alone/);
  });
});
