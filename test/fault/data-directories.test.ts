// Data directories that are deleted, fill up in the middle of a record, fail or become read-only while a crawl writes to
// them: nothing is acknowledged that is not there, what was there before and is gone is counted, and the end says so.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createItemWriters } from '../../src/pods/worker/item-writers.js';
import { ContentStore } from '../../src/store/content/content.js';
import { auditContent } from '../../src/store/content/audit.js';
import { recoverContent } from '../../src/store/content/recovery.js';
import { createDataDirectories, makeDirectory } from '../../src/store/content/data-directories.js';
import { createSegmentFile } from '../../src/store/segments/segment-file.js';
import { Simweb } from '../../src/testing/index.js';
import { folders } from '../integration/content-fixtures.js';
import { page } from '../integration/content-pages.js';
import { until } from '../support/pods-crawl.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { redisMissing } from '../support/redis-server.js';
import { mountDevice, mountSmallDisk, resizeDisk } from '../support/small-disks.js';

const HANDLER = `export default async ({ request, pushData, enqueueLinks }) => {
  await pushData({ url: request.url });
  await enqueueLinks({ strategy: 'all' });
};\n`;
const PAGES_PER_HOST = 60;
const PAGES = 6 * PAGES_PER_HOST;

async function itemsIn(dirs: readonly string[]): Promise<string[]> {
  const urls: string[] = [];
  for (const dir of dirs) {
    const folder = join(dir, 'datasets', 'default');
    for (const file of await readdir(folder).catch(() => [])) {
      const lines = (await readFile(join(folder, file), 'utf8')).split('\n').filter(Boolean);
      urls.push(...lines.map((line) => (JSON.parse(line) as { url: string }).url));
    }
  }
  return urls.sort();
}

async function slowTrial(more: readonly string[]) {
  const web = await Simweb.start({ hosts: 6, pagesPerHost: PAGES_PER_HOST, pageBytes: 2_000, latencyMs: [20, 60] });
  const trial = await podsTrial({
    redis: redisMissing ? 0 : 1,
    seeds: web.seeds(),
    more: ['handler: ./handler.mjs', 'state_dir: state', 'fetcher_workers: 8', ...more],
  });
  await writeFile(join(trial.folder, 'handler.mjs'), HANDLER);
  return { web, trial };
}

/** `…; INCOMPLETE: 12 stored records and 3 items (…)` as numbers. */
function lossesIn(stdout: string): { records: number; items: number } {
  const number = (pattern: RegExp): number => Number(pattern.exec(lastLine(stdout))?.[1]?.replaceAll(',', '') ?? 0);
  return { records: number(/([\d,]+) stored records?/), items: number(/([\d,]+) items?/) };
}

describe('a data directory that is deleted in mid-run', () => {
  it('is left out; the others go on, and the end counts what is gone and is not 0', async () => {
    const { web, trial } = await slowTrial([]);
    await using _web = web;
    const run = trial.run();
    await until(async () => web.served() > 100);
    await rm(trial.dataDirs[1]!, { recursive: true, force: true });
    const { code, stdout, stderr } = await run.ended;
    expect(lastLine(stdout), stderr).toMatch(/^360 pages: nothing is left to crawl; INCOMPLETE: /);
    expect(code).toBe(6);
    const { records, items } = lossesIn(stdout);
    const stored = await trial.stored();
    expect(new Set(stored).size).toBe(stored.length);
    expect(records).toBeGreaterThan(0);
    expect(stored.length + records).toBe(PAGES);
    expect((await itemsIn(trial.dataDirs)).length + items).toBe(PAGES);
    const again = await trial.run('--resume').ended;
    expect([again.code, lossesIn(again.stdout)]).toEqual([6, { records, items }]);
    expect(await trial.log(0)).toMatch(/data directory \S*ssd2 is no longer used \(STORAGE_LOST/);
  });

  it('ends the crawl with 6 when it was the only one, and nothing is lost when it is brought back', async () => {
    const { web, trial } = await slowTrial(['data_dirs: [only]']);
    await using _web = web;
    const run = trial.run();
    await until(async () => web.served() > 100);
    // Moved away, as by somebody who tidies up: its files live on, and nobody finds them.
    await rename(join(trial.folder, 'only'), join(trial.folder, 'elsewhere'));
    const { code, stdout, stderr } = await run.ended;
    expect([code, lastLine(stdout)], stderr).toEqual([
      6,
      expect.stringMatching(/stopped by a failure; .*INCOMPLETE: /),
    ]);
    expect(stderr).toMatch(/pod 0 stopped: no writable data directory/);
    const { records, items } = lossesIn(stdout);
    expect(existsSync(join(trial.folder, 'only', 'content'))).toBe(false);
    expect(records).toBeGreaterThan(0);
    // What was written and not acknowledged when it was moved is still in there.
    expect((await itemsIn([join(trial.folder, 'elsewhere')])).length).toBeGreaterThanOrEqual(items);
    await rename(join(trial.folder, 'elsewhere'), join(trial.folder, 'only'));
    const again = await trial.run('--resume').ended;
    expect([again.code, lastLine(again.stdout)], again.stderr).toEqual([0, '360 pages: nothing is left to crawl']);
    const urls = await itemsIn([join(trial.folder, 'only')]);
    expect([new Set(urls).size, urls.length]).toEqual([PAGES, PAGES]);
    const audit = await auditContent([join(trial.folder, 'only')]);
    expect([audit.problems, audit.records]).toEqual([[], PAGES]);
  });
});

describe('a file that is deleted while it is written', () => {
  it.each(['unlinked', 'renamed', 'replaced', 'cut'])(
    '(%s) refuses the append, and does not come back',
    async (how) => {
      const [folder] = (await folders(1)) as [string];
      const path = join(folder, 'segment');
      const file = createSegmentFile(path);
      await file.append(Buffer.from('one\n'));
      if (how === 'unlinked') await rm(path);
      if (how === 'renamed') await rename(path, `${path}.old`);
      if (how === 'replaced') await rm(path).then(() => writeFile(path, 'xx'));
      if (how === 'cut') await writeFile(path, '');
      const append = () => file.append(Buffer.from('two\n'));
      await expect(append()).rejects.toMatchObject({ code: 'STORAGE_LOST', message: expect.stringContaining(path) });
      await expect(append()).rejects.toMatchObject({ code: 'STORAGE_LOST' });
      if (how === 'unlinked' || how === 'renamed') expect(existsSync(path)).toBe(false);
      await file.close();
    },
  );
});

const warned = () => {
  const warnings: string[] = [];
  return { warnings, warn: (text: string) => void warnings.push(text) };
};

/** A store with a queue of its own, which knows what was acknowledged. */
async function openStore(dataDirs: readonly string[], more: { durability?: 'machine' } = {}) {
  const { warnings, warn } = warned();
  const notes: Record<string, string> = {};
  const note = async (some: Readonly<Record<string, string>>) => void Object.assign(notes, some);
  const content = await ContentStore.open({ dataDirs, note, warn, ...more });
  let next = 0;
  /** Appends pages of incompressible text and acknowledges them. */
  const store = async (pages: number, textBytes: number): Promise<void> => {
    const packed = [];
    for (let n = 0; n < pages; n++) {
      const text = Array.from({ length: textBytes / 8 }, () => Math.random().toString(36).slice(2, 10)).join('');
      packed.push(await content.pack(page(next + n, { text })));
    }
    const { written } = await content.append(packed);
    next += pages;
    for (const { writer } of written) {
      notes[writer.key] = writer.note;
      writer.confirm();
    }
  };
  return { content, notes, warnings, store, stored: () => next };
}

async function wholeAfter(dataDirs: readonly string[], notes: Record<string, string>, pages: number): Promise<void> {
  await recoverContent(dataDirs, { notes, isWriterGone: () => true, warn: () => undefined });
  const audit = await auditContent(dataDirs);
  expect(audit.problems).toEqual([]);
  expect(audit.records).toBe(pages);
}

describe('a disk', () => {
  it('that fills up in the middle of a record keeps none of it, and the next takes the page', async (context) => {
    const [folder] = (await folders(1, 'suite')) as [string];
    const dirs = ['small', 'large'].map((name) => join(folder, name));
    const refusal = mountSmallDisk(dirs[0]!, 96) ?? mountSmallDisk(dirs[1]!, 4_096);
    if (refusal !== undefined) return context.skip(refusal);
    const { content, notes, warnings, store, stored } = await openStore(dirs);
    for (let batch = 0; batch < 20; batch++) await store(3, 12_000);
    expect(warnings[0]).toMatch(/small is no longer used \(STORAGE_FULL, ENOSPC\); 1 left/);
    for (const [key, note] of Object.entries(notes)) {
      const path = dirs.map((dir) => join(dir, key)).find((file) => existsSync(file))!;
      expect((await stat(path)).size).toBe(Number(note.split(' ')[0]));
    }
    await content.close();
    resizeDisk(dirs[0]!, 4_096);
    await wholeAfter(dirs, notes, stored());
  });

  it('that becomes read-only is left out; what was acknowledged is there when it is mounted again', async (context) => {
    const [folder] = (await folders(1, 'suite')) as [string];
    const dirs = ['one', 'other'].map((name) => join(folder, name));
    const disk = mountDevice(dirs[0]!);
    if (typeof disk === 'string') return context.skip(disk);
    const { content, notes, warnings, store, stored } = await openStore(dirs, { durability: 'machine' });
    await store(10, 1_000);
    disk.turnReadOnly();
    await store(10, 1_000);
    expect(warnings[0]).toMatch(/one is no longer used \(STORAGE_UNWRITABLE, EROFS\); 1 left/);
    await content.close();
    disk.repair();
    await wholeAfter(dirs, notes, stored());
  });

  it('that fails with EIO when it is synced is left out, and nothing of the batch was acknowledged there', async (context) => {
    const [folder] = (await folders(1, 'suite')) as [string];
    const dirs = ['failing', 'sound'].map((name) => join(folder, name));
    const disk = mountDevice(dirs[0]!);
    if (typeof disk === 'string') return context.skip(disk);
    const { content, notes, warnings, store, stored } = await openStore(dirs, { durability: 'machine' });
    await store(20, 1_000);
    expect(warnings).toEqual([]);
    disk.fail();
    for (let batch = 0; batch < 40 && warnings.length === 0; batch++) await store(20, 40_000);
    await store(20, 1_000);
    expect(warnings[0]).toMatch(/failing is no longer used \(STORAGE_UNWRITABLE, EIO\); 1 left/);
    await content.close();
    const lines = Object.values(notes).reduce((sum, note) => sum + Number(note.split(' ')[1]), 0);
    expect(lines).toBe(stored());
  });
});

describe('items', () => {
  it('take turns over the directories, and move on from one that is full or gone', async (context) => {
    const [folder] = (await folders(1, 'suite')) as [string];
    const dirs = ['a', 'b', 'c'].map((name) => join(folder, name));
    const refusal = mountSmallDisk(dirs[0]!, 64);
    if (refusal !== undefined) return context.skip(refusal);
    for (const dir of dirs) await makeDirectory(dir);
    const { warnings, warn } = warned();
    const items = createItemWriters(createDataDirectories(dirs, warn), 0);
    const placeOf = async (key: string) =>
      dirs.findIndex((dir) => existsSync(join(dir, 'datasets', key.slice('dataset/'.length))));
    const line = Buffer.from(`${JSON.stringify({ text: 'x'.repeat(20_000) })}\n`);
    const first = await items.open(undefined);
    await first.append(line);
    expect(await placeOf(first.key)).toBe(0);
    await first.append(line);
    await expect(first.append(line).then(() => first.append(line))).rejects.toMatchObject({ code: 'STORAGE_FULL' });
    expect([first.full, first.note.split(' ')[1]]).toEqual([true, String(first.length / line.length)]);
    expect((await stat(join(dirs[0]!, 'datasets', first.key.slice('dataset/'.length)))).size).toBe(first.length);
    const second = await items.open(undefined);
    await second.append(line);
    expect(await placeOf(second.key)).toBe(1);
    await rm(dirs[1]!, { recursive: true });
    await expect(second.append(line)).rejects.toMatchObject({ code: 'STORAGE_LOST' });
    expect(second.full).toBe(true);
    const third = await items.open(undefined);
    await third.append(line);
    expect(await placeOf(third.key)).toBe(2);
    await rm(dirs[2]!, { recursive: true });
    await mkdir(dirs[2]!);
    await expect(items.open('others')).rejects.toMatchObject({ code: 'STORAGE_LOST' });
    expect(warnings).toHaveLength(3);
    await items.close();
  });

  it('of a crawl are spread over the data directories, each once', async () => {
    const { web, trial } = await slowTrial(['fetchers_per_pod: 2']);
    await using _web = web;
    const { code, stderr } = await trial.run().ended;
    expect(code, stderr).toBe(0);
    for (const dir of trial.dataDirs) expect((await itemsIn([dir])).length).toBeGreaterThan(0);
    const urls = await itemsIn(trial.dataDirs);
    expect([new Set(urls).size, urls.length]).toEqual([PAGES, PAGES]);
  });
});
