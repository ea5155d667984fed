// One suite over both backends for what users see of a dataset, then what only the disk can show:
// the files themselves, crashes, and several processes in one folder.
import { spawn, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Configuration } from '../../src/configuration.js';
import { Dataset } from '../../src/store/dataset/dataset.js';
import { KeyValueStore } from '../../src/store/records/key-value.js';
import { serializeItems } from '../../src/store/dataset/items.js';
import { beforeFirstUse } from '../../src/first-use.js';
import { closeStorages } from '../../src/store/opened.js';
import { purgeDefaultStorages } from '../../src/store/purge.js';
import { recoverVisitSegments } from '../../src/store/dataset/visit-recovery.js';
import { createDiskBackend } from '../../src/store/disk.js';
import { TYPESCRIPT } from '../support/processes.js';
import { anotherLook, makeStorage } from './storage-fixtures.js';
import type { StorageFixture } from './storage-fixtures.js';

const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, index) => ({ n: from + index }));
let fixture: StorageFixture;
const open = (name?: string) => Dataset.open(name, { config: fixture.config });

describe.each(['disk', 'memory'] as const)('a dataset in %s', (kind) => {
  beforeEach(async () => {
    fixture = await makeStorage(kind);
  });
  afterEach(() => fixture.dispose());

  it('gives items back in the order they were pushed, alone or in arrays', async () => {
    const dataset = await open();
    await dataset.pushData({ n: 0 });
    await dataset.pushData([{ n: 1 }, { n: 2 }]);
    await dataset.pushData([]);
    const page = await dataset.getData();
    expect(page).toMatchObject({ items: numbered(3), total: 3, offset: 0, count: 3, desc: false });
  });

  it('keeps every item of pushes made at the same time', async () => {
    const dataset = await open();
    await Promise.all(numbered(500).map((item) => dataset.pushData(item)));
    const { items } = await dataset.getData();
    expect(items.map(({ n }) => n).sort((a, b) => a - b)).toEqual(numbered(500).map(({ n }) => n));
  });

  it('pages forwards and backwards across marks and segments', async () => {
    const dataset = await open();
    await dataset.pushData(numbered(3_000));
    const visits = await dataset.openVisitWriter('w');
    await visits.append(serializeItems(numbered(2_000, 3_000)));
    await visits.close();
    for (const [offset, limit] of [
      [0, 5],
      [1_023, 3],
      [2_998, 4],
      [4_990, 50],
      [5_000, 5],
      [9_999, 5],
    ] as const) {
      const all = numbered(5_000);
      const forwards = await dataset.getData({ offset, limit });
      expect(forwards.items).toEqual(all.slice(offset, offset + limit));
      expect(forwards.total).toBe(5_000);
      const backwards = await dataset.getData({ offset, limit, desc: true });
      expect(backwards.items).toEqual(all.toReversed().slice(offset, offset + limit));
    }
  });

  it('counts what was added since it last counted', async () => {
    const dataset = await open();
    for (let round = 1; round <= 3; round++) {
      await dataset.pushData(numbered(1_500));
      expect((await dataset.getInfo()).itemCount).toBe(round * 1_500);
      expect((await dataset.getData({ offset: round * 1_500 - 1 })).items).toEqual([{ n: 1_499 }]);
    }
  });

  it('shows chosen fields, and leaves out hidden fields and empty items', async () => {
    const dataset = await open();
    await dataset.pushData([{ a: 1, b: 2, '#debug': 3 }, {}, { '#debug': 4 }]);
    const items = async (options: object) => (await dataset.getData(options)).items;
    expect(await items({ fields: ['b', 'missing'] })).toEqual([{ b: 2 }, {}, {}]);
    expect(await items({ skipHidden: true })).toEqual([{ a: 1, b: 2 }, {}, {}]);
    expect(await items({ skipEmpty: true })).toEqual([{ a: 1, b: 2, '#debug': 3 }, { '#debug': 4 }]);
    expect(await items({ clean: true })).toEqual([{ a: 1, b: 2 }]);
  });

  it('is walked by forEach, map, reduce, values, entries and for await', async () => {
    const dataset = await open();
    await dataset.pushData(numbered(4));
    const seen: unknown[] = [];
    await dataset.forEach((item, index) => void seen.push([index, item.n]), { offset: 1 });
    expect(seen).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
    expect(await dataset.map(({ n }) => n * 2)).toEqual([0, 2, 4, 6]);
    expect(await dataset.reduce((sum, { n }) => sum + n, 10)).toBe(16);
    expect(await dataset.reduce((memo, item) => ({ n: memo.n + item.n }))).toEqual({ n: 6 });
    const values: unknown[] = [];
    for await (const item of dataset) values.push(item);
    expect(values).toEqual(numbered(4));
    const entries: unknown[] = [];
    for await (const entry of dataset.entries({ offset: 2 })) entries.push(entry);
    expect(entries).toEqual([
      [2, { n: 2 }],
      [3, { n: 3 }],
    ]);
    expect((await dataset.values({ limit: 1 })).items).toEqual([{ n: 0 }]);
  });

  it('passes on what an iteratee throws', async () => {
    const dataset = await open();
    await dataset.pushData(numbered(2));
    await expect(dataset.forEach(() => Promise.reject(new Error('enough')))).rejects.toThrow('enough');
  });

  it('exports records as JSON, CSV and JSON lines', async () => {
    const dataset = await open();
    await dataset.pushData([
      { a: 1, b: 'x,"y"' },
      { a: null, c: { d: [1] } },
    ]);
    await dataset.exportToJSON('all');
    await dataset.exportToCSV('first');
    await dataset.exportToCSV('every', { collectAllKeys: true });
    await dataset.exportToJSONL('lines', { fields: ['a'] });
    const store = await KeyValueStore.open(null, { config: fixture.config });
    expect(await store.getValue('all')).toEqual(await dataset.export());
    expect(await store.getValue('first')).toBe('a,b\n1,"x,""y"""\n,\n');
    expect(await store.getValue('every')).toBe('a,b,c\n1,"x,""y""",\n,,"{""d"":[1]}"\n');
    expect(await store.getValue('lines')).toBe('{"a":1}\n{"a":null}\n');
  });

  it('exports an empty dataset as an empty document', async () => {
    const dataset = await open('empty');
    await dataset.exportToJSON('json', { toKVS: 'out' });
    await dataset.exportToCSV('csv', { toKVS: 'out' });
    const store = await KeyValueStore.open('out', { config: fixture.config });
    expect(await store.getValue('json')).toEqual([]);
    expect(await store.getValue('csv')).toBe('');
  });

  it('refuses items that are not objects or cannot be JSON, and stores nothing of that push', async () => {
    const dataset = await open();
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    for (const bad of ['text', 7, null, undefined, [[]], new Date(), { n: 1n }, circle, [{ ok: 1 }, 'no']]) {
      await expect(dataset.pushData(bad as never)).rejects.toMatchObject({ code: 'ITEM_INVALID' });
    }
    await expect(dataset.pushData([{ ok: 1 }, 'no'] as never)).rejects.toThrow('at index 1');
    await expect(dataset.pushData({ big: 'x'.repeat(9 * 1024 * 1024) })).rejects.toThrow('too large');
    expect((await dataset.getData()).total).toBe(0);
  });

  it('refuses names that would leave the folder', async () => {
    for (const name of ['..', '.', '../x', 'a/b', 'a\\b', '', '/etc', '.hidden', 'nul', 'x'.repeat(200), 'a\0b']) {
      await expect(open(name)).rejects.toMatchObject({ code: 'KEY_INVALID' });
    }
  });

  it('refuses options it does not know, by name', async () => {
    const dataset = await open();
    await expect(dataset.getData({ ofset: 1 } as never)).rejects.toThrow('did you mean "offset"?');
    await expect(dataset.getData({ limit: -1 })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  it('is one object for everybody who opens it, until it is dropped', async () => {
    const [one, two] = await Promise.all([open('shared'), open('shared')]);
    expect(two).toBe(one);
    await one.pushData({ n: 1 });
    await one.drop();
    const again = await open('shared');
    expect(again).not.toBe(one);
    expect((await again.getData()).total).toBe(0);
  });

  it('can be used again after it was closed', async () => {
    const dataset = await open();
    await dataset.pushData({ n: 0 });
    await closeStorages(fixture.config);
    await dataset.pushData({ n: 1 });
    expect((await dataset.getData()).items).toEqual(numbered(2));
  });

  it('is emptied by purgeDefaultStorages only if it is the default one', async () => {
    const dataset = await open();
    const named = await open('named');
    await dataset.pushData({ n: 0 });
    await named.pushData({ n: 0 });
    await purgeDefaultStorages({ config: fixture.config });
    await dataset.pushData({ n: 5 });
    expect((await dataset.getData()).items).toEqual([{ n: 5 }]);
    expect((await named.getData()).total).toBe(1);
  });

  it('waits for the first-use hook, which runs once and may purge', async () => {
    await (await open()).pushData({ n: 0 });
    const second = kind === 'disk' ? anotherLook(fixture) : fixture.config;
    let runs = 0;
    beforeFirstUse(async (config) => {
      runs++;
      await purgeDefaultStorages({ config });
    });
    try {
      const [dataset] = await Promise.all([
        Dataset.open(null, { config: second }),
        Dataset.open('x', { config: second }),
      ]);
      expect(runs).toBe(1);
      expect((await dataset.getData()).total).toBe(0);
    } finally {
      beforeFirstUse(undefined);
    }
  });

  it('lets a visit writer take back what was not acknowledged', async () => {
    const dataset = await open();
    const writer = await dataset.openVisitWriter('worker/1');
    await writer.append('{"n":0}\n');
    const noted = writer.length;
    await writer.append('{"n":1}\n{"n":2}\n');
    expect((await dataset.getData()).total).toBe(3);
    await writer.cutTo(noted);
    await writer.append('{"n":9}\n{"n":8}\n');
    expect((await dataset.getData()).items).toEqual([{ n: 0 }, { n: 9 }, { n: 8 }]);
    await writer.close();
    await expect(writer.append('{}\n')).rejects.toMatchObject({ code: 'STORAGE_UNWRITABLE' });
  });

  it('tells a visit writer that its dataset was emptied', async () => {
    const dataset = await open();
    const writer = await dataset.openVisitWriter('w');
    await writer.append('{"n":0}\n');
    expect(writer.full).toBe(false);
    await dataset.clear();
    expect(writer.full).toBe(true);
    await expect(writer.append('{"n":1}\n')).rejects.toMatchObject({ code: 'STORAGE_UNWRITABLE' });
    const next = await dataset.openVisitWriter('w');
    expect(next.key).not.toBe(writer.key);
    await next.append('{"n":2}\n');
    expect((await dataset.getData()).items).toEqual([{ n: 2 }]);
  });
});

describe('a dataset on disk', () => {
  const segmentFiles = (name = 'default') => readdirSync(join(fixture.folder, 'datasets', name)).sort();
  const allText = (name = 'default') =>
    segmentFiles(name)
      .map((file) => readFileSync(join(fixture.folder, 'datasets', name, file), 'utf8'))
      .join('');

  beforeEach(async () => {
    fixture = await makeStorage('disk');
  });
  afterEach(() => fixture.dispose());

  it('is lines of JSON and nothing else in its folder', async () => {
    const dataset = await open();
    await dataset.pushData([{ text: 'two\nlines \u2028' }, { n: 1 }]);
    const writer = await dataset.openVisitWriter('w');
    await writer.append(serializeItems({ n: 2 }));
    expect(segmentFiles().every((file) => file.endsWith('.jsonl'))).toBe(true);
    const lines = allText().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ text: 'two\nlines \u2028' }, { n: 1 }, { n: 2 }]);
  });

  it('is continued in the same file after it was closed', async () => {
    for (let run = 0; run < 3; run++) {
      const config = anotherLook(fixture);
      await (await Dataset.open('runs', { config })).pushData({ run });
      await closeStorages(config);
    }
    expect(segmentFiles('runs')).toHaveLength(1);
    expect(allText('runs')).toBe('{"run":0}\n{"run":1}\n{"run":2}\n');
  });

  it('gives two live writers two files and loses nothing', async () => {
    const [a, b] = [anotherLook(fixture), anotherLook(fixture)];
    const [one, two] = [await Dataset.open(null, { config: a }), await Dataset.open(null, { config: b })];
    await Promise.all(numbered(100).flatMap((item) => [one.pushData(item), two.pushData(item)]));
    expect(segmentFiles()).toHaveLength(2);
    expect((await one.getData()).total).toBe(200);
    await closeStorages(a);
    await closeStorages(b);
    expect(allText().split('\n')).toHaveLength(201);
  });

  it('cuts half a line that a dead process left, and only then', async () => {
    await (await open()).pushData(numbered(2));
    const folder = join(fixture.folder, 'datasets', 'default');
    const [file] = segmentFiles() as [string];
    appendFileSync(join(folder, file), '{"n":2,"half');
    // Its owner, this process, is alive: the tail may be a line in the making.
    await Dataset.open(null, { config: anotherLook(fixture) });
    expect(allText()).toContain('half');
    // A process number beyond the kernel's limit belongs to nobody.
    const dead = file.replace(/-\d+-\d+-\d+\.jsonl$/, '-99999999-1-0.jsonl');
    expect(dead).not.toBe(file);
    renameSync(join(folder, file), join(folder, dead));
    const dataset = await Dataset.open(null, { config: anotherLook(fixture) });
    expect(allText()).toBe('{"n":0}\n{"n":1}\n');
    await dataset.pushData({ n: 2 });
    expect((await dataset.getData()).items).toEqual(numbered(3));
  });

  it('does not count half a line', async () => {
    const dataset = await open();
    await dataset.pushData(numbered(2));
    const path = join(fixture.folder, 'datasets', 'default', segmentFiles()[0] as string);
    appendFileSync(path, '{"n":2');
    expect((await dataset.getData()).items).toEqual(numbered(2));
    appendFileSync(path, '}\n');
    expect((await dataset.getData()).items).toEqual(numbered(3));
  });

  it('names the file of a line that is not JSON', async () => {
    const dataset = await open();
    writeFileSync(join(fixture.folder, 'datasets', 'default', '000001-edited.jsonl'), 'oops\n');
    await expect(dataset.getData()).rejects.toThrow(/000001-edited\.jsonl.*oops/);
  });

  it('cuts visit segments back to their notes and leaves others alone', async () => {
    const dataset = await open('items');
    const [a, b, c] = [
      await dataset.openVisitWriter('a'),
      await dataset.openVisitWriter('b'),
      await dataset.openVisitWriter('c'),
    ];
    for (const writer of [a, b, c]) await writer.append('{"n":0}\n{"n":1}\n');
    const outcomes = await recoverVisitSegments([createDiskBackend(fixture.folder)], {
      [a.key]: '8',
      [b.key]: 0,
      'dataset/items/000009-visit-gone-00.jsonl': 5,
      'dataset/../../etc/000009-visit-x-00.jsonl': 0,
      'dataset/items/../000009-visit-x-00.jsonl': 0,
      'run:state': 'interrupted',
    });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['cut', 'cut', 'missing']);
    expect((await dataset.getData()).items).toEqual([{ n: 0 }, { n: 0 }, { n: 1 }]);
  });

  it('reports a segment shorter than its note and leaves whole lines only', async () => {
    const dataset = await open();
    const writer = await dataset.openVisitWriter('a');
    await writer.append('{"n":0}\n{"n":1}\n');
    const path = join(fixture.folder, 'datasets', 'default', writer.key.split('/')[2] as string);
    writeFileSync(path, '{"n":0}\n{"n"');
    const [outcome] = await recoverVisitSegments([createDiskBackend(fixture.folder)], { [writer.key]: 16 });
    expect(outcome).toEqual({ key: writer.key, outcome: 'short', notedBytes: 16, foundBytes: 12 });
    expect(readFileSync(path, 'utf8')).toBe('{"n":0}\n');
  });

  it('names the folder it cannot write to and what to do', async () => {
    const file = join(fixture.folder, 'plain-file');
    writeFileSync(file, '');
    const config = new Configuration({ storageClientOptions: { localDataDirectory: file } });
    const failure = Dataset.open(null, { config });
    await expect(failure).rejects.toMatchObject({ code: 'STORAGE_UNWRITABLE' });
    await expect(failure).rejects.toThrow(new RegExp(`${file}.*ORCRAWL_STORAGE_DIR`));
  });

  it('takes many datasets at once with few descriptors', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `many-${index}`);
    for (let round = 0; round < 2; round++) {
      await Promise.all(names.map(async (name) => (await open(name)).pushData({ round })));
    }
    const targets =
      process.platform === 'linux'
        ? readdirSync('/proc/self/fd').map((fd) => {
            try {
              return readlinkSync(`/proc/self/fd/${fd}`);
            } catch {
              return '';
            }
          })
        : [];
    expect(targets.filter((target) => target.startsWith(fixture.folder)).length).toBeLessThanOrEqual(64);
    for (const name of names) expect((await (await open(name)).getData()).items).toEqual([{ round: 0 }, { round: 1 }]);
  });

  it.skipIf(process.platform === 'win32')('is as before after a write that did not fit, and goes on', () => {
    const script = join(fixture.folder, 'filler.mts');
    writeFileSync(
      script,
      `import { Dataset } from '${join(process.cwd(), 'src')}/store/dataset/dataset.ts';
       const dataset = await Dataset.open();
       await dataset.pushData({ n: 1 });
       const failed = await dataset.pushData({ big: 'x'.repeat(200_000) }).catch((error) => error.code);
       await dataset.pushData({ n: 2 });
       console.log(failed);`,
    );
    // The shell limits the size of files to 50 blocks, so the write ends half-way as on a full disk.
    const told = execFileSync(
      'sh',
      ['-c', `ulimit -f 50; exec "$0" --import "$1" "$2"`, process.execPath, TYPESCRIPT, script],
      {
        env: { ...process.env, ORCRAWL_STORAGE_DIR: fixture.folder },
      },
    );
    expect(String(told)).toBe('STORAGE_FULL\n');
    expect(allText()).toBe('{"n":1}\n{"n":2}\n');
  });

  it('loses no resolved push and shows no half line after kill -9', async () => {
    const script = join(fixture.folder, 'pusher.mts');
    const source = join(process.cwd(), 'src');
    writeFileSync(
      script,
      `import { Dataset } from '${source}/store/dataset/dataset.ts';
       const life = Number(process.argv[2]);
       const dataset = await Dataset.open();
       for (let n = 0; ; n++) {
         await Promise.all([0, 1, 2].map((k) => dataset.pushData({ life, n: n * 3 + k, pad: 'x'.repeat(20_000) })));
         process.stdout.write(n * 3 + 2 + '\\n');
       }`,
    );
    const confirmed: number[] = [];
    for (let life = 0; life < 3; life++) {
      const child = spawn(process.execPath, ['--import', TYPESCRIPT, script, String(life)], {
        env: { ...process.env, ORCRAWL_STORAGE_DIR: fixture.folder },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'close');
      let told = '';
      child.stdout.on('data', (chunk: Buffer) => {
        told += String(chunk);
        if (told.split('\n').length > 20 + life * 7) child.kill('SIGKILL');
      });
      await ended;
      confirmed.push(Math.max(...told.split('\n').slice(0, -1).map(Number)));
    }
    const dataset = await open();
    const text = execFileSync('sh', ['-c', `cat ${join(fixture.folder, 'datasets', 'default')}/*.jsonl`], {
      maxBuffer: 1 << 30,
    }).toString();
    const items = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { life: number; n: number });
    expect((await dataset.getData({ limit: 1 })).total).toBe(items.length);
    expect(segmentFiles()).toHaveLength(1);
    confirmed.forEach((last, life) => {
      const numbers = items.filter((item) => item.life === life).map(({ n }) => n);
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(last).toBeGreaterThan(0);
      for (let n = 0; n <= last; n++) expect(numbers).toContain(n);
    });
  });
});
