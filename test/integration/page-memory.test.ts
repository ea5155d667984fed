// The page memory, on disk and without: the same promises.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPageMemory, type PageVisit, type WholeMemory } from '../../src/fresh/memory/memory.js';
import { openLmdbMemory } from '../../src/fresh/memory/memory-lmdb.js';
import { foundPage, newPage } from '../../src/fresh/memory/new-page.js';
import { fingerprintOf } from '../../src/request/fingerprint.js';

const folders: string[] = [];
const open: WholeMemory[] = [];
afterEach(async () => {
  for (const memory of open.splice(0)) await memory.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'page-memory-'));
  folders.push(folder);
  return folder;
}

async function onDisk(folder: string, shared = false): Promise<WholeMemory> {
  const memory = await openLmdbMemory(folder, { shared });
  open.push(memory);
  return memory;
}

function visitOf(url: string, more: Partial<PageVisit['page']> = {}, version?: PageVisit['version']): PageVisit {
  return {
    key: fingerprintOf(url),
    request: fingerprintOf(`request ${url}`),
    page: { ...newPage(1_000, 200), ...more },
    names: { url, etag: '"1"', lastModified: undefined },
    version,
  };
}

describe.each(['memory', 'disk', 'disk, shared'])('the page memory (%s)', (kind) => {
  const make = async () =>
    kind === 'memory' ? createPageMemory() : onDisk(await newFolder(), kind.includes('shared'));

  it('knows a page from the moment its visit was acknowledged, and not before', async () => {
    const memory = await make();
    const visit = visitOf('https://a.example/');
    await memory.stage([visit]);
    expect(memory.find(visit.key)).toBeUndefined();
    memory.settle([visit], true);
    expect(memory.find(visit.key)).toMatchObject({ names: { url: 'https://a.example/', etag: '"1"' } });
    await memory.stage([]);
    expect(memory.find(visit.key)).toMatchObject({ page: { statusCode: 200 }, names: { etag: '"1"' } });
  });

  it('forgets a visit that was refused', async () => {
    const memory = await make();
    const visit = visitOf('https://a.example/');
    await memory.stage([visit]);
    memory.settle([visit], false);
    await memory.stage([]);
    expect(memory.find(visit.key)).toBeUndefined();
  });

  it('does not forget a visit when a link leads to the page', async () => {
    const memory = await make();
    const visit = visitOf('https://a.example/', { nextVisitAt: 5_000 });
    // Found before the visit, settled after it.
    const found = { ...visitOf('https://a.example/'), page: foundPage(2_000, 1), request: fingerprintOf('a link') };
    await memory.stage([found, visit]);
    memory.settle([visit], true);
    memory.settle([found], true);
    expect(memory.find(visit.key)?.page).toMatchObject({ visits: 1, nextVisitAt: 5_000 });
    await memory.stage([]);
    memory.settle([found], true);
    await memory.stage([]);
    expect(memory.find(visit.key)?.page).toMatchObject({ visits: 1, nextVisitAt: 5_000 });
    expect(memory.due(9_000, 10)).toEqual([{ key: visit.key, atSecs: 5_000 }]);
  });

  it('counts the links to a page, once the visit that found them is true', async () => {
    const memory = await make();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => visitOf(`https://${name}.example/`));
    const linking = [
      { ...a!, links: [c!.key] },
      { ...b!, links: [a!.key, c!.key] },
    ];
    await memory.stage(linking);
    expect(memory.inlinksOf(c!.key)).toBe(0);
    memory.settle([linking[0]!], true);
    memory.settle([linking[1]!], false);
    await memory.stage([]);
    expect([a, b, c].map((visit) => memory.inlinksOf(visit!.key))).toEqual([0, 0, 1]);
  });

  it('moves a page that nobody could visit to later, not to sooner', async () => {
    const memory = await make();
    const [now, later] = [2_000, 90_000].map((at) => ({ ...visitOf('https://a.example/'), page: foundPage(at, 1) }));
    for (const found of [now!, later!, now!]) {
      await memory.stage([found]);
      memory.settle([found], true);
    }
    await memory.stage([]);
    expect(memory.find(now!.key)?.page.nextVisitAt).toBe(90_000);
  });

  it('lists all pages, also when there are more than it reads at once', async () => {
    const memory = await make();
    const visits = Array.from({ length: 1_234 }, (_, n) => visitOf(`https://a.example/${n}`));
    await memory.stage(visits);
    memory.settle(visits, true);
    await memory.stage([]);
    const urls = [...memory.pages()].map(({ names }) => names.url);
    expect(new Set(urls).size).toBe(1_234);
    expect(urls.length).toBe(1_234);
  });

  it('gives due pages in the order of their time, and not those that are visited again', async () => {
    const memory = await make();
    const visits = [300, 100, 200].map((nextVisitAt) => visitOf(`https://a.example/${nextVisitAt}`, { nextVisitAt }));
    await memory.stage(visits);
    memory.settle(visits, true);
    await memory.stage([]);
    expect(memory.due(250, 10).map(({ atSecs }) => atSecs)).toEqual([100, 200]);
    const again = visitOf('https://a.example/100', { nextVisitAt: 900 });
    await memory.stage([again]);
    memory.settle([again], true);
    expect(memory.due(250, 10).map(({ atSecs }) => atSecs)).toEqual([200]);
    await memory.plan(fingerprintOf('https://a.example/200'), 800);
    expect(memory.due(250, 10)).toEqual([]);
    expect(memory.due(1_000, 10).map(({ atSecs }) => atSecs)).toEqual([300, 800, 900]);
  });

  it('keeps what a version names, and of the rest the one before', async () => {
    const memory = await make();
    const first = visitOf('https://a.example/', {}, { markdown: '# One', fields: { price: 1 } });
    await memory.stage([first]);
    memory.settle([first], true);
    const second = visitOf('https://a.example/', {}, { markdown: '# Two' });
    await memory.stage([second]);
    memory.settle([second], true);
    await memory.stage([]);
    expect(memory.versionOf(first.key)).toEqual({ markdown: '# Two', fields: { price: 1 } });
  });
});

describe('the page memory on disk', () => {
  it('makes true after a crash what the queue noted, and nothing else', async () => {
    const folder = await newFolder();
    const before = await openLmdbMemory(folder);
    const visits = [1, 2, 3].map((n) => visitOf(`https://a.example/${n}`, { nextVisitAt: n }));
    const noted = await before.stage(visits.slice(0, 2));
    // Written aside, and the end never told. What became of the request does not matter: it may have failed since.
    const unnoted = await before.stage(visits.slice(2));
    expect(unnoted.key).toBe(noted.key);
    await before.close();
    const memory = await onDisk(folder);
    const notes = { [noted.key]: noted.note };
    expect(await memory.recover(notes, () => false)).toBe(2);
    expect(visits.map(({ key }) => memory.find(key) !== undefined)).toEqual([true, true, false]);
    expect(memory.due(10, 10).map(({ atSecs }) => atSecs)).toEqual([1, 2]);
    expect(await memory.recover({ [noted.key]: '99' }, () => true)).toBe(0);
  });

  it('does not take the batch of one opening for that of another', async () => {
    const folder = await newFolder();
    const first = await openLmdbMemory(folder);
    const noted = await first.stage([visitOf('https://a.example/1')]);
    await first.close();
    const second = await openLmdbMemory(folder);
    await second.stage([visitOf('https://a.example/2')]);
    await second.close();
    const memory = await onDisk(folder);
    expect(await memory.recover({ [noted.key]: noted.note }, () => false)).toBe(1);
    expect(memory.find(fingerprintOf('https://a.example/2'))).toBeUndefined();
  });

  it('leaves alone what is open elsewhere', async () => {
    const folder = await newFolder();
    const other = await onDisk(folder);
    await other.stage([visitOf('https://a.example/')]);
    const memory = await onDisk(folder);
    expect(await memory.recover({}, () => true)).toBe(0);
    other.settle([visitOf('https://a.example/')], true);
    await other.stage([]);
    // Another opening sees it when its own view of the file is renewed.
    await vi.waitFor(() => expect(memory.find(fingerprintOf('https://a.example/'))).toBeDefined());
  });

  it.each([
    ['alone', 'alone'],
    ['alone', 'shared'],
    ['shared', 'alone'],
  ])('is opened and written twice in one process (%s, %s) without waiting for itself', async (one, other) => {
    const folder = await newFolder();
    const first = await onDisk(folder, one === 'shared');
    const write = async (memory: WholeMemory, from: number) => {
      for (let n = 0; n < 50; n++) {
        const visit = visitOf(`https://a.example/${from + n}`);
        await memory.stage([visit]);
        memory.settle([visit], true);
      }
    };
    const writing = write(first, 0);
    const second = await onDisk(folder, other === 'shared');
    await Promise.all([writing, write(second, 100)]);
    await Promise.all([first.stage([]), second.stage([])]);
    expect([...second.pages()]).toHaveLength(100);
  });

  it('refuses what another release wrote, by name', async () => {
    const folder = await newFolder();
    await (await openLmdbMemory(folder)).close();
    const { open: openLmdb } = await import('lmdb');
    const environment = openLmdb({ path: folder, noSubdir: false, maxDbs: 6 });
    await environment.openDB({ name: 'notes', encoding: 'json' }).put('version', 99);
    await environment.close();
    await expect(openLmdbMemory(folder)).rejects.toMatchObject({ code: 'QUEUE_VERSION' });
  });
});
