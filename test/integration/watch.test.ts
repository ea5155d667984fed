// A watch in this process: finds a site, visits it repeatedly, reports each change once, within its budget.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { budget } from '../../src/cli/commands/watch.js';
import { runWatch } from '../../src/cli/watch/run.js';
import { startOutbox } from '../../src/crawl/watch/outbox.js';
import { loadImportance } from '../../src/crawl/watch/importance-module.js';
import { systemTime } from '../../src/crawl/time.js';
import { type ChangeItem, startWatch, type Watch, type WatchOptions } from '../../src/crawl/watch/watch.js';
import { openMemory } from '../../src/crawl/storage/page-memory.js';
import { Configuration, Log, LogLevel } from '../../src/index.js';
import { fingerprintOf } from '../../src/request/fingerprint.js';
import { Simweb } from '../../src/testing/index.js';
import { MAIN, startNode } from './cli-process.js';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'watch-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function newWeb(pages: number): Promise<Simweb> {
  const web = await Simweb.start({ seed: 8, pagesPerHost: pages, pageBytes: [1_500, 2_500] });
  cleanups.push(() => web.close());
  return web;
}

function watchOf(web: Simweb, folder: string, more: Partial<WatchOptions> = {}): Watch {
  const watch = startWatch({
    seeds: web.seeds(),
    visitsPerHour: 72_000,
    config: new Configuration({ storageClientOptions: { localDataDirectory: folder }, purgeOnStart: false }),
    crawler: { log: new Log({ level: LogLevel.ERROR }) },
    ...more,
  });
  cleanups.push(async () => {
    watch.stop();
    await watch.ended;
  });
  return watch;
}

const itemsOf = async (watch: Watch) => (await (await watch.dataset()).getData()).items as ChangeItem[];
const patience = { timeout: 90_000, interval: 250 };

describe('a watch', () => {
  it('finds every page of a site once, then tells what changes and nothing else', async () => {
    const web = await newWeb(12);
    const watch = watchOf(web, await newFolder(), { diffs: true });
    await expect.poll(() => watch.figures.changes, patience).toBe(12);
    expect(new Set((await itemsOf(watch)).map(({ url }) => url))).toEqual(new Set(web.allUrls()));
    web.touch(0, 4);
    await expect.poll(() => watch.figures.changes, patience).toBe(13);
    const changed = (await itemsOf(watch)).filter(({ change }) => change !== 'new');
    expect(changed).toMatchObject([{ url: web.url(0, 4), change: 'changed', status: 200 }]);
    expect(changed[0]!.diff).toMatch(/^@@ /);
    const visits = watch.figures.visits;
    await expect.poll(() => watch.figures.visits, patience).toBeGreaterThan(visits + 12);
    expect(watch.figures.changes).toBe(13);
  });

  it('weighs each page as a function of the user says', async () => {
    const web = await newWeb(12);
    const folder = await newFolder();
    const asked: { url: string; depth: number; inlinks: number }[] = [];
    const watch = watchOf(web, folder, {
      importance: (page) => {
        asked.push(page);
        return page.url === web.url(0, 5) ? 4_096 : page.url === web.url(0, 6) ? Number.NaN : 1 / 16;
      },
    });
    await expect.poll(() => watch.figures.visits, patience).toBeGreaterThan(30);
    watch.stop();
    await watch.ended;
    expect(new Set(asked.map(({ url }) => url))).toEqual(new Set(web.allUrls()));
    expect(asked.find(({ url }) => url === web.seeds()[0])).toMatchObject({ depth: 0 });
    expect(asked.some(({ inlinks }) => inlinks > 0)).toBe(true);
    const config = new Configuration({ storageClientOptions: { localDataDirectory: folder }, purgeOnStart: false });
    const memory = await openMemory('default', config);
    cleanups.push(() => memory.close());
    const importanceOf = (n: number) => memory.find(fingerprintOf(web.url(0, n)))!.page.importance;
    // What is not a number counts as any other page by default.
    expect([5, 6, 7].map(importanceOf)).toEqual([4_096, 1, expect.closeTo(1 / 16, 2)]);
  });

  it('goes on after a stop: known pages are not new again', async () => {
    const web = await newWeb(8);
    const folder = await newFolder();
    const first = watchOf(web, folder);
    await expect.poll(() => first.figures.changes, patience).toBe(8);
    first.stop();
    await first.ended;
    web.reset();
    web.touch(0, 3);
    const second = watchOf(web, folder);
    await expect.poll(() => second.figures.changes, patience).toBe(9);
    expect((await itemsOf(second)).filter(({ change }) => change === 'new').length).toBe(8);
  });

  it('spends no more than its budget', async () => {
    const web = await newWeb(30);
    const started = Date.now();
    const watch = watchOf(web, await newFolder(), { visitsPerHour: 3_600 });
    await expect.poll(() => web.requests().length, patience).toBeGreaterThan(6);
    watch.stop();
    await watch.ended;
    const secs = (Date.now() - started) / 1000;
    expect(web.requests().filter(({ path: asked }) => asked !== '/robots.txt').length).toBeLessThanOrEqual(secs + 2);
  });

  it('hands changes on in order, again until they are taken, and not again after a restart', async () => {
    const web = await newWeb(5);
    const folder = await newFolder();
    const watch = watchOf(web, folder);
    await expect.poll(() => watch.figures.changes, patience).toBe(5);
    const taken: string[] = [];
    let refusals = 1;
    const open = () =>
      startOutbox({
        key: 'TAKEN',
        dataset: watch.dataset,
        state: watch.state,
        time: systemTime,
        stored: () => watch.figures.changes,
        async take({ url }) {
          if (refusals-- > 0) throw new Error('not now');
          taken.push(url);
        },
        onTrouble: () => undefined,
      });
    const outbox = open();
    await expect.poll(() => taken.length, patience).toBe(5);
    await outbox.close();
    await open().close();
    expect(taken).toEqual((await itemsOf(watch)).map(({ url }) => url));
  });
});

describe('the command', () => {
  it('prints changes while its webhook refuses them, and ends', async () => {
    const web = await newWeb(4);
    const folder = await newFolder();
    const hook = createServer((_request, response) => void response.writeHead(500).end());
    hook.listen(0, '127.0.0.1');
    await once(hook, 'listening');
    cleanups.push(async () => void hook.close());
    const said: string[] = [];
    const print = vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0);
    try {
      const running = runWatch({
        seeds: web.seeds(),
        visitsPerHour: 72_000,
        config: new Configuration({ storageClientOptions: { localDataDirectory: folder }, purgeOnStart: false }),
        folder,
        webhook: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
      });
      const lines = () =>
        said
          .join('')
          .split('\n')
          .filter((line) => line.includes('"change":"new"'));
      await expect.poll(() => lines().length, patience).toBe(4);
      process.emit('SIGTERM');
      await running;
    } finally {
      print.mockRestore();
    }
  });
});

describe('the importance of pages by a module', () => {
  const page = { url: 'https://shop.example/offers/1', depth: 2, inlinks: 3 };

  it.each([
    ['weigh.mjs', 'export const importance = ({ url }) => (url.includes("/offers/") ? 10 : 1);', 10],
    ['weigh.mjs', 'export default ({ depth, inlinks }) => inlinks / depth;', 1.5],
    ['weigh.cjs', 'exports.importance = ({ depth }) => depth;', 2],
    ['weigh.ts', 'export const importance = ({ depth }: { depth: number }): number => depth + 1;', 3],
  ])('%s: %s', async (name, text, expected) => {
    const file = path.join(await newFolder(), name);
    await writeFile(file, text);
    expect((await loadImportance(file))(page)).toBe(expected);
  });

  it('is refused when it does not load, or has no function', async () => {
    const file = path.join(await newFolder(), 'weigh.mjs');
    await expect(loadImportance(file)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    await writeFile(file, 'export const importance = 3;');
    await expect(loadImportance(file)).rejects.toThrow(/neither a function "importance" nor a default one/);
    const refused = await startNode([MAIN, 'watch', 'example.com', '--budget', '1/h', '--importance', 'weigh.mjs'], {
      cwd: await newFolder(),
    }).ended;
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('there is no such file')]);
  });
});

describe('a budget', () => {
  it.each([
    ['500/h', 500],
    ['2/min', 120],
    ['1/s', 3_600],
    ['2400/day', 100],
  ])('%s is %s per hour', (text, perHour) => {
    expect(budget(text)).toBe(perHour);
  });

  it.each(['500', '0/h', 'h', '5/week'])('%s is refused', (text) => {
    expect(() => budget(text)).toThrow(/such as 500\/h/);
  });
});
