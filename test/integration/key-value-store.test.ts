// One suite over both backends for what users see of a key-value store, then its files on disk.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Configuration } from '../../src/configuration.js';
import { KeyValueStore } from '../../src/store/records/key-value.js';
import { closeStorages } from '../../src/store/opened.js';
import { purgeDefaultStorages } from '../../src/store/purge.js';
import { useState } from '../../src/store/records/use-state.js';
import { TYPESCRIPT } from '../support/processes.js';
import { anotherLook, gather, makeStorage } from './storage-fixtures.js';
import type { StorageFixture } from './storage-fixtures.js';

let fixture: StorageFixture;
const open = (name?: string) => KeyValueStore.open(name, { config: fixture.config });

describe.each(['disk', 'memory'] as const)('a key-value store in %s', (kind) => {
  beforeEach(async () => {
    fixture = await makeStorage(kind);
  });
  afterEach(() => fixture.dispose());

  it('gives values back as they were set', async () => {
    const store = await open();
    for (const value of [{ a: [1, null, 'ü'] }, 'text', 7, false, [], '']) {
      await store.setValue('key', value);
      expect(await store.getValue('key')).toEqual(value);
    }
  });

  it('gives text types back as strings and others as bytes', async () => {
    const store = await open();
    const bytes = Buffer.from([0, 255, 10]);
    await store.setValue('html', '<p>ü', { contentType: 'text/html; charset=utf-8' });
    await store.setValue('png', bytes, { contentType: 'image/png' });
    await store.setValue('odd', bytes, { contentType: 'application/x-odd' });
    await store.setValue('bare', new Uint8Array(bytes));
    await store.setValue('json', '{"a":1}', { contentType: 'application/json' });
    expect(await store.getValue('html')).toBe('<p>ü');
    for (const key of ['png', 'odd', 'bare']) expect(await store.getValue(key)).toEqual(bytes);
    expect(await store.getValue('json')).toEqual({ a: 1 });
  });

  it('takes streams, and keeps the old record when one fails', async () => {
    const store = await open();
    await store.setValue('s', Readable.from(['one ', 'two'], { objectMode: false }), { contentType: 'text/plain' });
    expect(await store.getValue('s')).toBe('one two');
    const broken = Readable.from(
      (async function* () {
        yield 'half';
        throw new Error('source broke');
      })(),
      { objectMode: false },
    );
    await expect(store.setValue('s', broken, { contentType: 'text/plain' })).rejects.toThrow('source broke');
    expect(await store.getValue('s')).toBe('one two');
    expect(await gather(store.keys())).toEqual(['s']);
  });

  it('has one record per key, whatever its type was before', async () => {
    const store = await open();
    await store.setValue('k', '<p>', { contentType: 'text/html' });
    await store.setValue('k', { now: 'json' });
    expect(await store.getValue('k')).toEqual({ now: 'json' });
    expect(await gather(store.keys())).toEqual(['k']);
    await store.setValue('k', null);
    expect(await store.recordExists('k')).toBe(false);
    expect(await store.getValue('k')).toBeNull();
    expect(await store.getValue('k', 'other')).toBe('other');
  });

  it('keeps keys with dots apart from extensions', async () => {
    const store = await open();
    await store.setValue('a', 1);
    await store.setValue('a.json', 2);
    await store.setValue('a.png', 3);
    expect(await Promise.all(['a', 'a.json', 'a.png'].map((key) => store.getValue(key)))).toEqual([1, 2, 3]);
    await store.setValue('a', null);
    expect(await gather(store.keys())).toEqual(['a.json', 'a.png']);
  });

  it('refuses keys that would leave the folder or mean something else', async () => {
    const store = await open();
    for (const key of ['../up', 'a/b', 'a\\b', '', 'a:b', '~x.tmp', 'a\0', 'x'.repeat(257), 'con', 'ü']) {
      await expect(store.setValue(key, 1)).rejects.toMatchObject({ code: 'KEY_INVALID' });
      await expect(store.getValue(key)).rejects.toMatchObject({ code: 'KEY_INVALID' });
    }
    await store.setValue('..', 'stays inside');
    expect(await store.getValue('..')).toBe('stays inside');
    expect(await open('other').then((other) => gather(other.keys()))).toEqual([]);
  });

  it('refuses values that cannot be stored as asked', async () => {
    const store = await open();
    await expect(store.setValue('k', undefined)).rejects.toMatchObject({ code: 'ITEM_INVALID' });
    await expect(store.setValue('k', { a: 1 }, { contentType: 'text/plain' })).rejects.toThrow('must be a string');
    await expect(store.setValue('k', 1n)).rejects.toMatchObject({ code: 'ITEM_INVALID' });
    await expect(store.setValue('k', 1, { type: 'x' } as never)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  it('lists keys in order, from a start, by prefix, with sizes', async () => {
    const store = await open();
    for (const key of ['b2', 'a1', 'b1', 'b3']) await store.setValue(key, key);
    const seen: unknown[] = [];
    await store.forEachKey((key, index, { size }) => void seen.push([key, index, size]), {
      exclusiveStartKey: 'b1',
      prefix: 'b',
    });
    expect(seen).toEqual([
      ['b2', 0, 4],
      ['b3', 1, 4],
    ]);
    expect(await gather(store.entries({ prefix: 'a' }))).toEqual([['a1', 'a1']]);
    expect(await gather(store.values())).toEqual(['a1', 'b1', 'b2', 'b3']);
  });

  it('shares one auto-saved object per key and saves it when told, when closed, and when it changed', async () => {
    const store = await open();
    const [one, two] = await Promise.all([
      store.getAutoSavedValue('state', { n: 0 }),
      store.getAutoSavedValue('state', { n: 99 }),
    ]);
    expect(two).toBe(one);
    one.n = 5;
    await store.persistAutoSaved();
    expect(await store.getValue('state')).toEqual({ n: 5 });
    one.n = 6;
    await closeStorages(fixture.config);
    expect(await store.getValue('state')).toEqual({ n: 6 });
    await store.setValue('state', { m: 1 });
    expect(one).toEqual({ m: 1 });
    await store.setValue('state', null);
    await store.persistAutoSaved();
    expect(await store.recordExists('state')).toBe(false);
  });

  it('saves auto-saved values every interval', async () => {
    fixture.config.set('persistStateIntervalMillis', 5);
    const store = await open();
    (await store.getAutoSavedValue('state', { n: 0 })).n = 1;
    await vi.waitFor(async () => expect(await store.getValue('state')).toEqual({ n: 1 }));
  });

  it('gives useState the same object by name', async () => {
    const { config } = fixture;
    const counts = await useState('counts', { pages: 0 }, { config });
    counts.pages++;
    expect(await useState('counts', { pages: 7 }, { config })).toBe(counts);
    expect(await useState(undefined, { a: 1 }, { config, keyValueStoreName: 'elsewhere' })).toEqual({ a: 1 });
  });

  it('is purged but for its input', async () => {
    const store = await open();
    await store.setValue('INPUT', { seed: 1 });
    await store.setValue('OUTPUT', 1);
    await purgeDefaultStorages(fixture.config);
    expect(await gather(store.keys())).toEqual(['INPUT']);
  });

  it('is gone after drop', async () => {
    const store = await open('named');
    await store.setValue('k', 1);
    await store.drop();
    expect(await (await open('named')).getValue('k')).toBeNull();
  });
});

describe('a key-value store on disk', () => {
  const files = () => readdirSync(join(fixture.folder, 'key_value_stores', 'default')).sort();
  beforeEach(async () => {
    fixture = await makeStorage('disk');
  });
  afterEach(() => fixture.dispose());

  it('is one file per record with the extension of its type, and nothing else', async () => {
    const store = await open();
    await store.setValue('obj', { a: 1 });
    await store.setValue('page', 'x', { contentType: 'text/html' });
    await store.setValue('shot', Buffer.from('x'), { contentType: 'image/jpeg' });
    await store.setValue('raw', Buffer.from('x'));
    expect(files()).toEqual(['obj.json', 'page.html', 'raw.bin', 'shot.jpg']);
    expect(JSON.parse(readFileSync(join(fixture.folder, 'key_value_stores/default/obj.json'), 'utf8'))).toEqual({
      a: 1,
    });
  });

  it('reads files put there by hand, and says which one is broken', async () => {
    const folder = join(fixture.folder, 'key_value_stores', 'default');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'INPUT.json'), '\uFEFF{"a":1}');
    writeFileSync(join(folder, 'bare'), 'x');
    writeFileSync(join(folder, 'bad.json'), '{');
    const store = await open();
    expect(await store.getValue('INPUT')).toEqual({ a: 1 });
    expect(await store.getValue('bare')).toEqual(Buffer.from('x'));
    await expect(store.getValue('bad')).rejects.toThrow(/"bad" is not valid JSON/);
  });

  it('shows the newer record when a process died while it changed a type', async () => {
    const store = await open();
    await store.setValue('k', 'new', { contentType: 'text/plain' });
    const old = join(fixture.folder, 'key_value_stores/default/k.json');
    writeFileSync(old, '"old"');
    utimesSync(old, 1, 1);
    expect(await store.getValue('k')).toBe('new');
    expect(await gather(store.keys())).toEqual(['k']);
    await store.setValue('k', 'newer', { contentType: 'text/plain' });
    expect(files()).toEqual(['k.txt']);
  });

  it('ignores files in the making and removes old ones', async () => {
    const folder = join(fixture.folder, 'key_value_stores', 'default');
    mkdirSync(folder, { recursive: true });
    for (const name of ['~fresh.tmp', '~old.tmp']) writeFileSync(join(folder, name), 'half');
    utimesSync(join(folder, '~old.tmp'), 1, 1);
    const store = await open();
    expect(await gather(store.keys())).toEqual([]);
    expect(files()).toEqual(['~fresh.tmp']);
  });

  it('never shows half a record to who reads while it is written', async () => {
    const writer = await open();
    const reader = await KeyValueStore.open(null, { config: anotherLook(fixture) });
    await writer.setValue('k', { fill: 'a'.repeat(200_000) });
    let writing = true;
    const writes = (async () => {
      for (let n = 0; n < 40; n++) await writer.setValue('k', { fill: String(n % 10).repeat(200_000) });
      writing = false;
    })();
    let reads = 0;
    while (writing) {
      const value = await reader.getValue<{ fill: string }>('k');
      expect(value?.fill.length).toBe(200_000);
      expect(new Set(value?.fill).size).toBe(1);
      reads++;
    }
    await writes;
    expect(reads).toBeGreaterThan(0);
  });

  it('names the folder it cannot write to', async () => {
    const file = join(fixture.folder, 'plain-file');
    writeFileSync(file, '');
    const config = new Configuration({ storageClientOptions: { localDataDirectory: file } });
    await expect(KeyValueStore.open(null, { config })).rejects.toMatchObject({ code: 'STORAGE_UNWRITABLE' });
  });

  it('keeps no process alive', () => {
    const script = join(fixture.folder, 'short.mts');
    const source = join(process.cwd(), 'src');
    writeFileSync(
      script,
      `import { Dataset } from '${source}/store/dataset/dataset.ts';
       import { KeyValueStore } from '${source}/store/records/key-value.ts';
       await Dataset.pushData({ n: 1 });
       await KeyValueStore.getAutoSavedValue('state', { n: 1 });
       console.log(JSON.stringify([await KeyValueStore.getInput(), (await Dataset.getData()).items]));`,
    );
    writeFileSync(join(fixture.folder, 'INPUT.json'), '{"from":"file"}');
    const told = execFileSync(process.execPath, ['--import', TYPESCRIPT, script], {
      cwd: fixture.folder,
      timeout: 60_000,
    });
    expect(JSON.parse(String(told))).toEqual([{ from: 'file' }, [{ n: 1 }]]);
    expect(readdirSync(join(fixture.folder, 'storage'))).toEqual(['datasets', 'key_value_stores']);
  });
});
