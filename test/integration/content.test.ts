// Stored pages on real disks: written, rotated, cut back, found again, and read by another project's archive reader.
import { spawnSync } from 'node:child_process';
import { appendFile, mkdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ContentStore } from '../../src/store/content/content.js';
import type { ContentStoreOptions } from '../../src/store/content/options.js';
import type { ContentBatch } from '../../src/store/content/content.js';
import { contentHash, homeDirectory } from '../../src/store/content/names.js';
import { findPage } from '../../src/store/content/reading.js';
import { sortLines } from '../../src/store/content/index-sorting.js';
import { filesIn, folders, readArchive, readIndex } from './content-fixtures.js';
import { page, textOf, urlOf } from './content-pages.js';

type Pages = Parameters<Awaited<ReturnType<typeof ContentStore.open>>['pack']>[0][];

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);
const pages = (from: number, to: number): Pages => numbers(from, to).map((n) => page(n));

/** A store, what it warned of, and the notes that a queue would hold. */
async function openStore(options: ContentStoreOptions) {
  const warnings: string[] = [];
  const notes: Record<string, string> = { ...options.notes };
  const content = await ContentStore.open({
    warn: (message) => warnings.push(message),
    note: async (more) => void Object.assign(notes, more),
    ...options,
  });
  const acknowledge = ({ written }: ContentBatch): void => {
    for (const { writer } of written) {
      notes[writer.key] = writer.note;
      writer.confirm();
    }
  };
  const append = async (list: Pages): Promise<ContentBatch> => {
    const packed = [];
    for (const each of list) packed.push(await content.pack(each));
    return content.append(packed);
  };
  const store = async (list: Pages): Promise<ContentBatch> => {
    const batch = await append(list);
    acknowledge(batch);
    return batch;
  };
  return { content, warnings, notes, append, acknowledge, store };
}

const everyoneIsGone = () => true;

describe('segments', () => {
  it('hold every page once, in the directory its hash names, as warcio and the index both say', async () => {
    const dataDirs = await folders(2);
    const { content, store, warnings } = await openStore({ dataDirs, storeRawHtml: true });
    for (let from = 0; from < 120; from += 40) await store(pages(from, from + 40));
    await content.close();
    const found = new Map<string, number>();
    for (const [index, dataDir] of dataDirs.entries()) {
      const files = await filesIn(dataDir);
      expect(files.map((file) => file.replace(/.*[0-9a-f]{12}/, ''))).toEqual(
        expect.arrayContaining(['.warc.cdxj', '.warc.gz', '.warc.wet.cdxj', '.warc.wet.gz']),
      );
      for (const file of files.filter((name) => name.endsWith('.gz'))) {
        const [first, ...records] = await readArchive(join(dataDir, 'content', file));
        expect(first?.type).toBe('warcinfo');
        for (const { type, url } of records) {
          expect(homeDirectory(contentHash(url), 2)).toBe(index);
          found.set(`${type} ${url}`, (found.get(`${type} ${url}`) ?? 0) + 1);
        }
        const entries = await readIndex(join(dataDir, 'content', file.replace(/\.gz$/, '.cdxj')));
        const places = entries.map(({ url, offset, length }) => ({ url, offset, length }));
        expect(places.sort((a, b) => a.offset! - b.offset!)).toEqual(
          records.map(({ url, offset, length }) => ({ url, offset, length })),
        );
      }
    }
    const expected = numbers(0, 120).flatMap((n) => [`response ${urlOf(n)}`, `conversion ${urlOf(n)}`]);
    expect([...found].sort()).toEqual(expected.map((name) => [name, 1]).sort());
    expect(warnings).toEqual([]);
  });

  it('give every page back by its URL, from sorted indexes and from one that is being written', async () => {
    const dataDirs = await folders(2);
    const { content, store } = await openStore({ dataDirs, storeRawHtml: true, segmentBytes: 12_000 });
    for (let from = 0; from < 200; from += 10) await store(pages(from, from + 10));
    const names = (await Promise.all(dataDirs.map(filesIn))).flat();
    expect(names.filter((name) => name.endsWith('.tail')).length).toBeGreaterThan(0);
    expect(names.filter((name) => name.endsWith('.gz')).length).toBeGreaterThan(8);
    for (const n of numbers(0, 200).filter((each) => each % 4 === 0)) {
      const stored = await findPage(dataDirs, `${urlOf(n)}/?utm_source=x#top`);
      expect(stored).toMatchObject({ url: urlOf(n), statusCode: 200, contentType: 'text/html', depth: n % 5 });
      expect(stored?.fetchedAt).toEqual(new Date(Date.UTC(2026, 0, 1) + n * 1_000));
      expect(stored?.text).toBe(textOf(n));
      expect(stored?.response?.headers).toMatchObject({
        'content-encoding': 'gzip',
        'x-crawler-transfer-encoding': 'chunked',
      });
      expect(gunzipSync(stored!.response!.body).toString()).toBe(`<p>${textOf(n)}</p>`);
    }
    expect(await findPage(dataDirs, 'https://host-1.example/pages/99999')).toBeUndefined();
    expect(await findPage(dataDirs, urlOf(3).replace('https:', 'http:'))).toBeUndefined();
    await content.close();
    for (const dataDir of dataDirs) {
      for (const file of (await filesIn(dataDir)).filter((name) => /cdxj/.test(name))) {
        expect(file).toMatch(/\.cdxj$/);
        const lines = (await readFile(join(dataDir, 'content', file), 'utf8')).split('\n').slice(0, -1);
        expect(lines).toEqual([...lines].sort());
      }
    }
    expect((await findPage(dataDirs, urlOf(7)))?.text).toBe(textOf(7));
  });

  it('give the newest capture, or the newest that has what is wanted', async () => {
    const dataDirs = await folders(1);
    const first = await openStore({ dataDirs, storeRawHtml: true });
    await first.store([page(1), page(1, { fetchedAtMs: Date.UTC(2027, 0, 1), text: 'newer' })]);
    await first.content.close();
    const second = await openStore({ dataDirs });
    await second.store([page(1, { fetchedAtMs: Date.UTC(2028, 0, 1), text: 'newest' })]);
    await second.content.close();
    expect(await findPage(dataDirs, urlOf(1))).toMatchObject({ text: 'newest', response: undefined });
    expect(await findPage(dataDirs, urlOf(1), { having: 'response' })).toMatchObject({ text: 'newer' });
  });

  it('tell pages apart that archives write alike', async () => {
    const dataDirs = await folders(1);
    const { content, store } = await openStore({ dataDirs });
    const alike = [
      'https://example.com/a',
      'http://example.com/a',
      'https://www.example.com/a',
      'https://example.com/A',
    ];
    await store(alike.map((url) => page(1, { url, uniqueKey: url, text: url })));
    for (const url of alike) expect((await findPage(dataDirs, url))?.text).toBe(url);
    await content.close();
    for (const url of alike) expect((await findPage(dataDirs, url))?.text).toBe(url);
  });

  it('say where a page is, and keep its metadata when nothing else is stored', async () => {
    const dataDirs = await folders(1);
    const { content, store } = await openStore({ dataDirs, extractText: false });
    const { places } = await store([page(1, { loadedUrl: 'https://elsewhere.example/' })]);
    expect(places).toEqual([{ dataDir: dataDirs[0], path: undefined, offset: undefined, length: undefined }]);
    await content.close();
    expect(await findPage(dataDirs, urlOf(1))).toMatchObject({
      loadedUrl: 'https://elsewhere.example/',
      statusCode: 200,
    });
    const texts = await openStore({ dataDirs });
    const batch = await texts.store([page(2)]);
    const stored = await findPage(dataDirs, urlOf(2));
    const [{ path, offset, length } = {}] = batch.places;
    expect({ path, offset, length }).toEqual({
      path: stored?.contentPath,
      offset: stored?.offset,
      length: stored?.length,
    });
    await texts.content.close();
  });

  it('are noted before their first byte', async () => {
    const dataDirs = await folders(1);
    const seen: string[][] = [];
    const content = await ContentStore.open({
      dataDirs,
      note: async (notes) => {
        expect(Object.values(notes)).toEqual(['0 0']);
        seen.push(await filesIn(dataDirs[0]!));
      },
    });
    await content.append([await content.pack(page(1))]);
    expect(seen).toEqual([[]]);
    await content.close();
  });

  it('are as before when the queue refuses the note, and the next append asks again', async () => {
    const dataDirs = await folders(1);
    let refusals = 1;
    const { content, append } = await openStore({
      dataDirs,
      note: async () => {
        if (refusals-- > 0) throw new Error('the queue is gone');
      },
    });
    await expect(append([page(1)])).rejects.toThrow('the queue is gone');
    expect(await filesIn(dataDirs[0]!)).toEqual([]);
    await append([page(1)]);
    expect(refusals).toBe(-1);
    await content.close();
  });

  it('forget a batch that was cut back, and take it again', async () => {
    const dataDirs = await folders(1);
    const { content, append, store } = await openStore({ dataDirs, storeRawHtml: true });
    const undo = async ({ written }: ContentBatch): Promise<void> => {
      for (const { writer, before } of written) await writer.cutTo(before);
    };
    await undo(await append(pages(0, 5)));
    await store(pages(0, 5));
    await undo(await append(pages(5, 10)));
    expect(await findPage(dataDirs, urlOf(7))).toBeUndefined();
    await store(pages(5, 12));
    await content.close();
    for (const file of await filesIn(dataDirs[0]!)) {
      const path = join(dataDirs[0]!, 'content', file);
      if (file.endsWith('.gz')) expect(await readArchive(path)).toHaveLength(13);
      else expect(await readIndex(path)).toHaveLength(12);
    }
  });

  it('that were wholly cut back leave no file', async () => {
    const dataDirs = await folders(1);
    const { content, append } = await openStore({ dataDirs });
    for (const { writer, before } of (await append(pages(0, 3))).written) await writer.cutTo(before);
    await content.close();
    expect(await filesIn(dataDirs[0]!)).toEqual([]);
  });

  it('can be synced before an append resolves', async () => {
    const dataDirs = await folders(1);
    for (const layout of ['segments', 'files'] as const) {
      const { content, store } = await openStore({ dataDirs, layout, durability: 'machine' });
      await store(pages(0, 3));
      await content.close();
    }
    expect((await findPage(dataDirs, urlOf(2)))?.text).toBe(textOf(2));
  });
});

describe('one file per page', () => {
  it('is named after the hash of its URL and found by the index', async () => {
    const dataDirs = await folders(2);
    const { content, store } = await openStore({ dataDirs, layout: 'files', storeRawHtml: true });
    const { places } = await store(pages(0, 20));
    for (const n of numbers(0, 20)) {
      const sha256 = contentHash(urlOf(n));
      const dataDir = dataDirs[homeDirectory(sha256, 2)]!;
      const path = join(dataDir, 'content', `${sha256}.txt`);
      expect(places[n]).toMatchObject({ dataDir, path });
      expect(await readFile(path, 'utf8')).toBe(textOf(n));
      expect(await readArchive(path.replace('.txt', '.warc.gz'))).toMatchObject([{ type: 'response', url: urlOf(n) }]);
      const stored = await findPage(dataDirs, urlOf(n));
      expect(stored).toMatchObject({ text: textOf(n), contentPath: path, response: { statusCode: 200 } });
    }
    await content.close();
    expect((await findPage(dataDirs, urlOf(19)))?.text).toBe(textOf(19));
  });
});

describe('after a crash', () => {
  it('what no acknowledgement noted is cut, with its index lines, and reported', async () => {
    const dataDirs = await folders(1);
    for (const layout of ['segments', 'files'] as const) {
      const dead = await openStore({ dataDirs, layout, storeRawHtml: true });
      await dead.store(pages(0, 5));
      await dead.append(pages(5, 8));
      const next = await openStore({ dataDirs, layout, notes: dead.notes, isWriterGone: everyoneIsGone });
      expect(next.content.recovered.map(({ outcome }) => outcome)).toEqual(
        layout === 'files' ? ['cut'] : ['cut', 'cut'],
      );
      expect(next.warnings.join()).toContain('last acknowledged page');
      for (const n of numbers(0, 5)) expect((await findPage(dataDirs, urlOf(n)))?.text).toBe(textOf(n));
      for (const n of numbers(5, 8)) expect(await findPage(dataDirs, urlOf(n))).toBeUndefined();
      for (const file of await filesIn(dataDirs[0]!)) {
        const path = join(dataDirs[0]!, 'content', file);
        if (/content-.*gz$/.test(file)) expect(await readArchive(path)).toHaveLength(6);
      }
      await next.content.close();
      const again = await openStore({ dataDirs, notes: next.notes, isWriterGone: everyoneIsGone });
      expect(again.content.recovered.every(({ outcome }) => outcome === 'whole')).toBe(true);
      await again.content.close();
      for (const file of await filesIn(dataDirs[0]!)) await rm(join(dataDirs[0]!, 'content', file));
    }
  });

  it('a segment that only noted its beginning disappears', async () => {
    const dataDirs = await folders(1);
    const dead = await openStore({ dataDirs });
    await dead.append(pages(0, 5));
    const next = await openStore({ dataDirs, notes: dead.notes, isWriterGone: everyoneIsGone });
    expect(await filesIn(dataDirs[0]!)).toEqual([]);
    // Its writer may also have died between creating the file and writing to it.
    await writeFile(join(dataDirs[0]!, Object.keys(dead.notes)[0]!), '');
    const later = await openStore({ dataDirs, notes: dead.notes, isWriterGone: everyoneIsGone });
    expect(await filesIn(dataDirs[0]!)).toEqual([]);
    await later.content.close();
    await next.content.close();
  });

  it('a torn record is cut, and its line with it, when there is no queue', async () => {
    const dataDirs = await folders(1);
    for (const torn of ['segment', 'index', 'both'] as const) {
      const dead = await openStore({ dataDirs });
      await dead.append(pages(0, 5));
      const [index, segment] = await filesIn(dataDirs[0]!);
      const at = (file: string): string => join(dataDirs[0]!, 'content', file);
      if (torn !== 'index') await truncate(at(segment!), (await stat(at(segment!))).size - 20);
      if (torn !== 'segment') await truncate(at(index!), (await stat(at(index!))).size - 20);
      const next = await openStore({ dataDirs, isWriterGone: everyoneIsGone });
      expect(next.content.recovered).toMatchObject([{ outcome: 'cut' }]);
      expect(next.warnings).toHaveLength(1);
      expect(await readArchive(at(segment!))).toHaveLength(5);
      expect(await readIndex(at(index!.replace('.tail', '')))).toHaveLength(4);
      await next.content.close();
      for (const file of await filesIn(dataDirs[0]!)) await rm(at(file));
    }
  });

  it('what a power cut took of acknowledged pages is reported, and the rest stays readable', async () => {
    const dataDirs = await folders(1);
    const dead = await openStore({ dataDirs });
    await dead.store(pages(0, 5));
    const [, segment] = await filesIn(dataDirs[0]!);
    const path = join(dataDirs[0]!, 'content', segment!);
    await truncate(path, (await stat(path)).size - 20);
    const next = await openStore({ dataDirs, notes: dead.notes, isWriterGone: everyoneIsGone });
    expect(next.content.recovered).toMatchObject([{ outcome: 'short' }]);
    expect(next.warnings.join()).toContain('lost acknowledged pages');
    expect(await readArchive(path)).toHaveLength(5);
    await next.content.close();
    await rm(path);
    await rm(path.replace(/gz$/, 'cdxj'));
    const last = await openStore({ dataDirs, notes: dead.notes, isWriterGone: everyoneIsGone });
    expect(last.content.recovered).toMatchObject([{ outcome: 'missing' }]);
    await last.content.close();
  });

  it('segments of the living and of other queues are left alone', async () => {
    const dataDirs = await folders(1);
    const living = await openStore({ dataDirs });
    await living.append(pages(0, 5));
    const neighbour = await openStore({ dataDirs, notes: living.notes });
    const stranger = await openStore({ dataDirs, notes: { other: '1' }, isWriterGone: everyoneIsGone });
    expect([...neighbour.content.recovered, ...stranger.content.recovered]).toEqual([]);
    expect((await findPage(dataDirs, urlOf(3)))?.text).toBe(textOf(3));
    for (const { content } of [living, neighbour, stranger]) await content.close();
  });

  it('readers pass over a record that is not whole', async () => {
    const dataDirs = await folders(1);
    const { content, store } = await openStore({ dataDirs });
    await store([page(1), page(1, { fetchedAtMs: Date.UTC(2030, 0, 1), text: 'torn' })]);
    const [index, segment] = await filesIn(dataDirs[0]!);
    await truncate(
      join(dataDirs[0]!, 'content', segment!),
      (await stat(join(dataDirs[0]!, 'content', segment!))).size - 9,
    );
    await appendFile(join(dataDirs[0]!, 'content', index!), 'example,host-1)/pages/1 2031');
    expect((await findPage(dataDirs, urlOf(1)))?.text).toBe(textOf(1));
    await content.close();
  });
});

describe('a data directory', () => {
  it('that breaks is left out with a warning, and its pages go to the next', async () => {
    const dataDirs = await folders(3);
    const { content, store, warnings } = await openStore({ dataDirs });
    await store(pages(0, 30));
    await rename(join(dataDirs[1]!, 'content'), join(dataDirs[1]!, 'away'));
    await writeFile(join(dataDirs[1]!, 'content'), 'not a folder');
    // The open descriptor still writes; a new segment cannot be begun.
    await content.close();
    const next = await openStore({ dataDirs });
    const { places } = await next.store(pages(30, 60));
    expect([...warnings, ...next.warnings].join()).toContain(`data directory ${dataDirs[1]} is no longer used`);
    expect(next.content.directoriesInUse).toEqual([dataDirs[0], dataDirs[2]]);
    for (const [n, place] of places.entries()) {
      const home = homeDirectory(contentHash(urlOf(30 + n)), 3);
      expect(place.dataDir).toBe(dataDirs[home === 1 ? 2 : home]);
    }
    await next.content.close();
    await rm(join(dataDirs[1]!, 'content'));
    await rename(join(dataDirs[1]!, 'away'), join(dataDirs[1]!, 'content'));
    for (const n of numbers(0, 60)) expect((await findPage(dataDirs, urlOf(n)))?.text).toBe(textOf(n));
  });

  /** Pages of the second of two directories first, then of the first. */
  const secondThenFirst = (): Pages => {
    const home = (n: number): number => homeDirectory(contentHash(urlOf(n)), 2);
    return pages(0, 40).sort((a, b) => home(pageNumber(b)) - home(pageNumber(a)));
  };
  const pageNumber = ({ url }: { url: string }): number => Number(url.split('/').at(-1));
  const sizes = async (dataDir: string): Promise<number[]> =>
    Promise.all((await filesIn(dataDir)).map(async (file) => (await stat(join(dataDir, 'content', file))).size));

  it('that breaks within a batch leaves the batch whole, and ready to be cut back', async () => {
    const dataDirs = await folders(2);
    // Every segment is full at once: only the batch keeps it open.
    const { content, append, store } = await openStore({ dataDirs, segmentBytes: 1 });
    await rename(join(dataDirs[0]!, 'content'), join(dataDirs[0]!, 'away'));
    const batch = await append(secondThenFirst());
    expect(content.directoriesInUse).toEqual([dataDirs[1]]);
    expect(batch.written).toHaveLength(1);
    for (const { writer, before } of batch.written) await writer.cutTo(before);
    expect(await sizes(dataDirs[1]!)).toEqual([0, 0]);
    await store(secondThenFirst());
    await content.close();
    await rename(join(dataDirs[0]!, 'away'), join(dataDirs[0]!, 'content'));
    for (const n of numbers(0, 40)) expect((await findPage(dataDirs, urlOf(n)))?.text).toBe(textOf(n));
  });

  it('that takes records but not their index lines, or responses but not texts, keeps neither', async () => {
    const dataDirs = await folders(2);
    const blocked: string[] = [];
    const { content, store } = await openStore({
      dataDirs,
      storeRawHtml: true,
      note: async (notes) => {
        const segment = Object.keys(notes)[0]!;
        if (blocked.length > 0 || !segment.endsWith('.wet.gz')) return;
        // A folder in the place of the index: it cannot be opened.
        blocked.push(join(dataDirs[1]!, segment.replace(/gz$/, 'cdxj.tail')));
        await mkdir(blocked[0]!);
      },
    });
    await store(secondThenFirst());
    expect(content.directoriesInUse).toEqual([dataDirs[0]]);
    await rm(blocked[0]!, { recursive: true });
    expect(await sizes(dataDirs[1]!)).toEqual([0, 0, 0]);
    await content.close();
    expect(await filesIn(dataDirs[1]!)).toEqual([]);
    for (const n of [1, 2, 3, 4]) expect((await findPage(dataDirs, urlOf(n)))?.text).toBe(textOf(n));
  });

  it('keeps nothing of a batch that ends with an error', async () => {
    const dataDirs = await folders(2);
    let calls = 0;
    const { content, append } = await openStore({
      dataDirs,
      note: async () => {
        if (++calls === 2) throw new Error('the queue is gone');
      },
    });
    await expect(append(secondThenFirst())).rejects.toThrow('the queue is gone');
    expect(await sizes(dataDirs[1]!)).toEqual([0, 0]);
    await content.close();
    expect(await filesIn(dataDirs[1]!)).toEqual([]);
  });

  it('must be usable at the start, one at least', async () => {
    const [dir] = await folders(1);
    const file = join(dir!, 'file');
    await writeFile(file, '');
    await expect(ContentStore.open({ dataDirs: [file], warn: () => undefined })).rejects.toMatchObject({
      code: 'STORAGE_UNWRITABLE',
    });
    await expect(ContentStore.open({ dataDirs: [], gzipLevel: 11 } as never)).rejects.toThrow(/dataDirs.*gzipLevel/);
  });

  it('that is full is left out; when none is left nothing of the batch stays, and the error says to free space', async () => {
    const dataDirs = await folders(2);
    const mounted = dataDirs.filter(
      (dir) => spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=160k', 'tmpfs', dir]).status === 0,
    );
    try {
      if (mounted.length < 2) {
        // eslint-disable-next-line no-console -- a test that cannot run says why.
        console.warn('not run: mounting a small file system needs root');
        return;
      }
      const { content, store, warnings, notes } = await openStore({ dataDirs });
      let stored = 0;
      const fillUp = async (): Promise<void> => {
        for (;;) {
          await store(pages(stored, stored + 20));
          stored += 20;
        }
      };
      await expect(fillUp()).rejects.toMatchObject({
        code: 'STORAGE_FULL',
        message: expect.stringContaining(dataDirs[1]!),
      });
      expect(warnings.filter((warning) => warning.includes('is no longer used'))).toHaveLength(2);
      expect(content.directoriesInUse).toEqual([]);
      expect(stored).toBeGreaterThan(100);
      await content.close();
      const next = await openStore({ dataDirs, notes, isWriterGone: everyoneIsGone });
      expect(next.content.recovered.every(({ outcome }) => outcome === 'whole')).toBe(true);
      const found = new Set<string>();
      for (const dataDir of dataDirs) {
        for (const file of (await filesIn(dataDir)).filter((name) => name.endsWith('.gz'))) {
          for (const { url } of (await readArchive(join(dataDir, 'content', file))).slice(1)) found.add(url);
        }
      }
      expect([...found].sort()).toEqual(numbers(0, stored).map(urlOf).sort());
      for (const n of [0, 1, 2, stored - 2, stored - 1])
        expect((await findPage(dataDirs, urlOf(n)))?.text).toBe(textOf(n));
      await next.content.close();
    } finally {
      for (const dir of mounted) spawnSync('umount', ['-l', dir]);
    }
  });
});

describe('sorting an index', () => {
  it('gives the order of the bytes, in runs that fit into memory, without half a line', async () => {
    const [dir] = await folders(1);
    const lines = numbers(0, 3_000).map((n) => `${contentHash(String(n)).slice(0, 1 + (n % 30))} ${n} é`);
    await writeFile(join(dir!, 'tail'), `${lines.join('\n')}\nhalf`);
    const keep = (line: string): boolean => !line.startsWith('a');
    await sortLines(join(dir!, 'tail'), join(dir!, 'sorted'), { keep, runBytes: 1_000, mergeBytes: 100 });
    const expected = lines.filter(keep).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect((await readFile(join(dir!, 'sorted'), 'utf8')).split('\n')).toEqual([...expected, '']);
    await expect(stat(join(dir!, 'tail'))).rejects.toThrow('ENOENT');
  });
});
