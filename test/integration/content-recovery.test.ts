// What recovery makes of the files of a dead writer, state by state: index and segments agree afterwards, what is gone is
// counted, and what is damaged is named.
import { copyFile, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemTime } from '../../src/crawl/time.js';
import { createFileRecovery } from '../../src/pods/supervise/recovery.js';
import { createFrontierClient } from '../../src/frontier/client.js';
import { openLmdbFrontier } from '../../src/frontier/embedded/store/lmdb.js';
import { createRecentFingerprints } from '../../src/frontier/recent.js';
import { createSettler } from '../../src/crawl/run/settler.js';
import { ContentStore } from '../../src/store/content/content.js';
import { recoverContent } from '../../src/store/content/recovery.js';
import { Dataset } from '../../src/store/dataset/dataset.js';
import { Configuration } from '../../src/configuration.js';
import { sortLines } from '../../src/store/content/index-sorting.js';
import { ownerName } from '../../src/store/segments/segment-names.js';
import { recoverVisitSegments } from '../../src/store/dataset/visit-recovery.js';
import { createDiskBackend } from '../../src/store/disk.js';
import { done, entry } from '../../src/testing/conformance/bench.js';
import { filesIn, folders, readArchive, readIndex } from './content-fixtures.js';
import { page, urlOf } from './content-pages.js';

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);
const gone = () => true;
/** This process in an earlier life, as the kernel's start time tells. */
const A_DEAD_ONE = ownerName().replace(/^(\w+-\d+)-\d+/, '$1-1');

/** Acknowledges pages 0 to 19 and leaves 20 to 29 without an answer, as a process does that then ends by itself. */
async function leaveUnanswered(dataDir: string, options: { readonly extractText?: boolean } = {}) {
  const notes: Record<string, string> = {};
  const content = await ContentStore.open({
    dataDirs: [dataDir],
    writerId: A_DEAD_ONE,
    ...options,
    note: async (more) => void Object.assign(notes, more),
    warn: () => undefined,
  });
  const append = async (from: number, to: number) => {
    const packed = [];
    for (const n of numbers(from, to)) packed.push(await content.pack(page(n)));
    return (await content.append(packed)).written;
  };
  for (const { writer } of await append(0, 20)) {
    notes[writer.key] = writer.note;
    writer.confirm();
  }
  await append(20, 30);
  await content.close();
  const [name = ''] = Object.keys(notes).map((key) => key.slice('content/'.length));
  const segment = join(dataDir, 'content', name);
  const sorted = segment.replace(/\.gz$/, '.cdxj');
  return { notes, name, segment, sorted, tail: `${sorted}.tail` };
}

async function recover(dataDir: string, notes: Record<string, string>) {
  const warnings: string[] = [];
  const recovered = await recoverContent([dataDir], { notes, isWriterGone: gone, warn: (text) => warnings.push(text) });
  return { recovered, warnings };
}

/** The pages of a segment; its index must have the same, and in order. */
async function pagesIn(segment: string): Promise<string[]> {
  const records = (await readArchive(segment)).slice(1);
  const index = segment.replace(/\.gz$/, '.cdxj');
  const entries = await readIndex(index);
  const lines = (await readFile(index, 'latin1')).split('\n').slice(0, -1);
  expect(lines).toEqual(lines.toSorted());
  expect(entries.map(({ url, offset }) => `${offset} ${url}`).sort()).toEqual(
    records.map(({ url, offset }) => `${offset} ${url}`).sort(),
  );
  return records.map(({ url }) => url);
}

const FIRST_TWENTY = numbers(0, 20).map(urlOf);

describe('after a settle whose answer never came', () => {
  it('a writer that closes leaves its index unsorted, and recovery cuts index and segment alike', async () => {
    const [dataDir] = (await folders(1)) as [string];
    const { notes, segment } = await leaveUnanswered(dataDir);
    const { recovered } = await recover(dataDir, notes);
    expect(recovered).toMatchObject([{ outcome: 'cut' }]);
    expect(await pagesIn(segment)).toEqual(FIRST_TWENTY);
    expect((await filesIn(dataDir)).length).toBe(2);
    expect((await recover(dataDir, notes)).recovered).toMatchObject([{ outcome: 'whole' }]);
  });

  it('the lines of an index without records are cut too', async () => {
    const [dataDir] = (await folders(1)) as [string];
    const { notes, sorted } = await leaveUnanswered(dataDir, { extractText: false });
    await recover(dataDir, notes);
    expect((await readIndex(sorted)).map(({ url }) => url).sort()).toEqual(FIRST_TWENTY.toSorted());
  });

  it('of a real queue nothing stays that it does not know, although the worker closed in good order', async () => {
    const [queue, dataDir] = (await folders(2)) as [string, string];
    const open = () => openLmdbFrontier(join(queue, 'queue'), { holder: 'a', pacing: { delayMs: 0, turns: 99 } });
    const frontier = await open();
    const client = createFrontierClient(frontier, { id: 'a' });
    await client.add(numbers(0, 30).map((n) => entry(urlOf(n))));
    const content = await ContentStore.open({
      dataDirs: [dataDir],
      notes: {},
      async note(notes) {
        while (!(await client.settle({ settlements: [], notes })).held);
      },
      warn: () => undefined,
    });
    const failures: unknown[] = [];
    const settler = createSettler({
      time: systemTime,
      client,
      recent: createRecentFingerprints(),
      openWriter: () => Promise.reject(new Error('no items here')),
      content: {
        async append(pages) {
          const batch = await content.append(pages);
          // The queue goes away between the writing and the acknowledgement.
          if (pages.length === 10) await frontier.close();
          return batch;
        },
      },
      onFailure: (error) => failures.push(error),
      onFlushed: () => undefined,
    });
    const { leases } = await client.lease({ max: 30 });
    for (const [n, lease] of leases.entries()) {
      if (n === 20) await settler.flush();
      const stored = await content.pack(page(n));
      await settler.settle({ settlement: done(lease), items: [], page: stored, life: 'a' });
    }
    await settler.flush();
    expect(failures).toHaveLength(1);
    await settler.close();
    await content.close();
    const again = await open();
    const { notes } = await again.overview();
    await again.close();
    await recover(dataDir, notes);
    const name = Object.keys(notes)
      .find((key) => key.startsWith('content/'))!
      .slice('content/'.length);
    expect(await pagesIn(join(dataDir, 'content', name))).toHaveLength(20);
  });
});

describe('recovery leaves index and segment agreeing', () => {
  const states: Record<string, (files: Awaited<ReturnType<typeof leaveUnanswered>>) => Promise<void>> = {
    'when the index was sorted with lines that nobody acknowledged': ({ tail, sorted }) => sortLines(tail, sorted),
    'when a sort died between renaming and removing': async ({ tail, sorted }) => {
      await copyFile(tail, `${tail}.copy`);
      await sortLines(tail, sorted);
      await copyFile(`${tail}.copy`, tail);
      await rm(`${tail}.copy`);
    },
    'when a sort died while it wrote': async ({ sorted }) => {
      await writeFile(`${sorted}.0123456789ab.tmp`, 'com,exa');
      await writeFile(`${sorted}.0123456789ab.runs.tmp`, 'com,exa');
    },
    'when the last line and the last record are torn': async ({ tail, segment }) => {
      await truncate(tail, (await stat(tail)).size - 17);
      await truncate(segment, (await stat(segment)).size - 17);
    },
    'when an earlier recovery cut the index and died before the segment': async ({ notes, tail, sorted, segment }) => {
      const kept = Number(Object.values(notes)[0]!.split(' ')[0]);
      const keep = (line: string): boolean => {
        const { length, offset } = JSON.parse(line.slice(line.indexOf('{'))) as { length: string; offset: string };
        return Number(length) + Number(offset) <= kept;
      };
      await sortLines(tail, sorted, { keep });
      expect((await stat(segment)).size).toBeGreaterThan(kept);
    },
  };
  for (const [state, make] of Object.entries(states)) {
    it(state, async () => {
      const [dataDir] = (await folders(1)) as [string];
      const files = await leaveUnanswered(dataDir);
      await make(files);
      await recover(dataDir, files.notes);
      expect(await pagesIn(files.segment)).toEqual(FIRST_TWENTY);
      const left = (await filesIn(dataDir)).filter((name) => !name.endsWith('.tmp'));
      expect(left).toEqual([files.name, files.name.replace(/\.gz$/, '.cdxj')].sort());
    });
  }

  it('when nothing of it was acknowledged: then nothing is left', async () => {
    const [dataDir] = (await folders(1)) as [string];
    const { notes, tail, sorted } = await leaveUnanswered(dataDir);
    await sortLines(tail, sorted);
    await recover(dataDir, Object.fromEntries(Object.keys(notes).map((key) => [key, '0 0'])));
    expect(await filesIn(dataDir)).toEqual([]);
  });
});

describe('what is gone', () => {
  it('is counted in pages and bytes, said once, and its index lines are kept aside', async () => {
    const [dataDir] = (await folders(1)) as [string];
    const { notes, segment, sorted } = await leaveUnanswered(dataDir);
    await recover(dataDir, notes);
    const { size } = await stat(segment);
    const [last] = (await readIndex(sorted)).toSorted((a, b) => b.offset! - a.offset!);
    await truncate(segment, size - 10);
    const recovery = createFileRecovery({ dataDirs: [dataDir] });
    const warnings: string[] = [];
    for (let round = 0; round < 2; round++)
      await recovery.recover({ notes: async () => notes }, (text) => warnings.push(text));
    expect(recovery.losses).toEqual({ files: 1, records: 1, items: 0, bytes: 10 });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/: 1 record in 10 of [\d,]+ acknowledged bytes are missing\. A part/);
    const lost = (await filesIn(dataDir)).filter((name) => name.endsWith('.lost'));
    expect(await readFile(join(dataDir, 'content', lost[0]!), 'utf8')).toContain(last!.url);
    const left = (await filesIn(dataDir)).find((name) => name.endsWith('.gz'))!;
    expect(await pagesIn(join(dataDir, 'content', left))).toHaveLength(19);
  });

  it('is not said of a segment that was noted and never written', async () => {
    const [dataDir] = (await folders(1)) as [string];
    const config = new Configuration({ storageClientOptions: { localDataDirectory: dataDir } });
    const writer = await (await Dataset.open('things', { config })).openVisitWriter('somebody');
    expect(await recoverVisitSegments([createDiskBackend(dataDir)], { [writer.key]: writer.note })).toEqual([
      { key: writer.key, outcome: 'whole', notedBytes: 0, foundBytes: 0 },
    ]);
    await writer.append('{"a":1}\n{"a":2}\n');
    const { note } = writer;
    await writer.close();
    await rm(join(dataDir, 'datasets'), { recursive: true });
    expect(await recoverVisitSegments([createDiskBackend(dataDir)], { [writer.key]: note })).toMatchObject([
      { outcome: 'missing', notedBytes: 16, lostLines: 2 },
    ]);
  });
});

describe('damage inside an index', () => {
  it('is named by file and line, put aside, and the pages around it stay findable', async () => {
    const [dataDir] = (await folders(1)) as [string];
    const { notes, segment, sorted } = await leaveUnanswered(dataDir);
    await recover(dataDir, notes);
    const lines = (await readFile(sorted, 'latin1')).split('\n');
    const broken = lines[7]!;
    lines[7] = broken.slice(0, 40) + '\0'.repeat(30) + broken.slice(70);
    lines.splice(3, 0, 'what is this');
    await writeFile(sorted, lines.join('\n'), 'latin1');
    const warnings: string[] = [];
    const checks = { mayRead: () => true };
    const warn = (text: string) => warnings.push(text);
    const [outcome] = await recoverContent([dataDir], { notes, isWriterGone: gone, warn, checks });
    expect(warnings.slice(0, 2)).toEqual([
      `${sorted}:4: not a valid index line: "what is this"`,
      expect.stringMatching(new RegExp(`^${sorted}:9: not a valid index line: `)),
    ]);
    expect(outcome).toMatchObject({ outcome: 'short', lostLines: 1 });
    expect(await readFile(`${sorted}.damaged`, 'latin1')).toContain('what is this\n');
    expect(await readIndex(sorted)).toHaveLength(19);
    expect((await readArchive(segment)).length).toBe(21);
  });

  it('of an index that a dead writer left unsorted is left out, and the rest is sorted', async () => {
    const [dataDir] = (await folders(1)) as [string];
    const { notes, tail, segment } = await leaveUnanswered(dataDir);
    const text = await readFile(tail, 'latin1');
    await writeFile(tail, `garbage\n${'\xff'.repeat(3_000_000)}\n${text}`, 'latin1');
    const { warnings } = await recover(dataDir, notes);
    expect(warnings[0]).toBe(`${tail}:1: not a valid index line: "garbage"`);
    expect(warnings[1]).toMatch(new RegExp(`^${tail}:2: `));
    expect(await pagesIn(segment)).toEqual(FIRST_TWENTY);
  });
});
