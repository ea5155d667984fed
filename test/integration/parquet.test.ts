// Parquet as others read it: DuckDB reads what a dataset and a content store were exported as.
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContentStore } from '../../src/store/content/content.js';
import { PAGE_COLUMNS, pageRows } from '../../src/store/content/page-rows.js';
import { Dataset } from '../../src/store/dataset/dataset.js';
import { exportPieces } from '../../src/store/dataset/export.js';
import { folders } from './content-fixtures.js';
import { page, urlOf } from './content-pages.js';
import { makeStorage, type StorageFixture } from './storage-fixtures.js';

let folder: string;
let storage: StorageFixture;
let duck: DuckDBConnection;

async function ask(sql: string): Promise<Record<string, unknown>[]> {
  return (await duck.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
}

/** Column names and types, as DuckDB has them. */
async function typesOf(file: string): Promise<Record<string, unknown>> {
  const rows = await ask(`describe select * from '${file}'`);
  return Object.fromEntries(rows.map((row) => [String(row['column_name']), row['column_type']]));
}

async function exported(items: readonly Record<string, unknown>[], name: string): Promise<string> {
  const dataset = await Dataset.open(name, { config: storage.config });
  for (let at = 0; at < items.length; at += 1_000) await dataset.pushData(items.slice(at, at + 1_000));
  const file = join(folder, `${name}.parquet`);
  await pipeline(dataset.exportStream('parquet'), createWriteStream(file));
  return file;
}

describe('Parquet', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orcrawl-parquet-'));
    storage = await makeStorage('disk');
    duck = await (await DuckDBInstance.create(':memory:')).connect();
  });
  afterAll(async () => {
    duck.closeSync();
    await storage.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  it('has the types of the items, and every value', async () => {
    const file = await exported(
      [
        {
          url: 'https://a.example/ü',
          rank: 1,
          price: 2,
          isNew: true,
          seenAt: '2026-11-16T10:00:00.123Z',
          tags: ['a', 'b'],
          sizes: [],
          mixed: 'x',
          nothing: null,
          offer: { currency: '€', steps: [1, { deep: null }] },
        },
        { rank: 2 ** 52, price: 0.5, isNew: false, seenAt: '1969-01-01T00:00:00.000Z', tags: [], sizes: [1, null, 3] },
        { url: '', rank: null, mixed: 3, tags: ['\u{1F433}', null], constructor: 'late', 'a.b "c"': '2026-01-01' },
      ],
      'types',
    );
    expect(await typesOf(file)).toEqual({
      url: 'VARCHAR',
      rank: 'BIGINT',
      price: 'DOUBLE',
      isNew: 'BOOLEAN',
      seenAt: 'TIMESTAMP WITH TIME ZONE',
      tags: 'VARCHAR[]',
      sizes: 'BIGINT[]',
      mixed: 'JSON',
      nothing: 'VARCHAR',
      offer: 'JSON',
      constructor: 'VARCHAR',
      'a.b "c"': 'VARCHAR',
    });
    const rows = await ask(`select * exclude (seenAt), epoch_ms(seenAt) as at_ms from '${file}'`);
    expect(rows).toEqual([
      {
        url: 'https://a.example/ü',
        rank: '1',
        price: 2,
        isNew: true,
        tags: ['a', 'b'],
        sizes: [],
        mixed: '"x"',
        nothing: null,
        offer: '{"currency":"€","steps":[1,{"deep":null}]}',
        constructor: null,
        'a.b "c"': null,
        at_ms: String(Date.parse('2026-11-16T10:00:00.123Z')),
      },
      expect.objectContaining({
        url: null,
        rank: String(2 ** 52),
        price: 0.5,
        isNew: false,
        tags: [],
        sizes: ['1', null, '3'],
        constructor: null,
        at_ms: String(Date.parse('1969-01-01T00:00:00.000Z')),
      }),
      expect.objectContaining({
        url: '',
        rank: null,
        mixed: '3',
        tags: ['\u{1F433}', null],
        constructor: 'late',
        'a.b "c"': '2026-01-01',
      }),
    ]);
  });

  it('has row groups with bounds, so that readers pass over what they do not need, and finds any text', async () => {
    // Text that UTF-16 and UTF-8 order differently is where wrong bounds lose rows.
    const items = Array.from({ length: 70_000 }, (_, n) => ({ n, text: n % 2 === 0 ? '\uFFEE' : '\u{1F433}' }));
    const file = await exported(items, 'groups');
    const groups = await ask(
      `select row_group_id, row_group_num_rows as num, stats_min_value as low, compression
       from parquet_metadata('${file}') where path_in_schema = 'n' order by 1`,
    );
    expect(groups).toMatchObject([
      { num: '65536', low: '0' },
      { num: '4464', low: '65536' },
    ]);
    expect(['SNAPPY', 'ZSTD']).toContain(groups[0]!['compression']);
    const sum = items.reduce((total, { n }) => total + n, 0);
    expect(await ask(`select count(*) as n, sum(n)::bigint as total from '${file}'`)).toEqual([
      { n: '70000', total: String(sum) },
    ]);
    expect(await ask(`select count(*) as n from '${file}' where text = '\u{1F433}'`)).toEqual([{ n: '35000' }]);
    expect(await ask(`select count(*) as n from '${file}' where text > '\uFFEF'`)).toEqual([{ n: '35000' }]);
  });

  it('has every value in its place over pages, whether values repeat, cease to repeat, or never do', async () => {
    // Two thirds of a group repeat a few long texts, then each is new: the dictionary is left in mid-group.
    const long = (n: number): string => `${'long text '.repeat(40)}${n}`;
    const itemOf = (n: number) => ({
      n,
      turning: n < 8_000 ? long(n % 5) : long(n),
      unique: `https://a.example/${n}/ü`,
      zero: n % 3 === 0 ? -0.5 : n % 3 === 1 ? 0 : 1.5,
      ...(n % 7 === 0 ? {} : { flag: n % 2 === 0 }),
      list: n % 5 === 0 ? [] : n % 5 === 1 ? [n, null, -n] : [n % 4],
      texts: n < 9_000 ? [long(n % 3), 'x'] : [long(n), null, long(-n)],
    });
    const items = Array.from({ length: 12_000 }, (_, n) => itemOf(n));
    const file = await exported(items, 'pages');
    const encodings = await ask(
      `select path_in_schema as path, encodings from parquet_metadata('${file}') where path_in_schema in ('turning', 'unique', 'n')`,
    );
    expect(encodings).toEqual([
      { path: 'n', encodings: 'PLAIN' },
      { path: 'turning', encodings: 'PLAIN, RLE_DICTIONARY' },
      { path: 'unique', encodings: 'PLAIN' },
    ]);
    const rows = await ask(`select * from '${file}'`);
    expect(rows).toHaveLength(items.length);
    for (const [at, row] of rows.entries()) {
      const { n, flag = null, list, ...rest } = items[at]!;
      const numbers = list.map((one) => (one === null ? null : String(one)));
      // Row by row: a difference of all would take minutes to print.
      if (JSON.stringify(row) !== JSON.stringify({ ...row, n: String(n), flag, list: numbers, ...rest }))
        expect(row).toEqual({ n: String(n), flag, list: numbers, ...rest });
    }
  });

  it('keeps the sign of zero, and columns without any value', async () => {
    const zeros = [-0, 0, -0, 0, 0.5].map((zero) => ({ zero, none: null }));
    const batches = async function* () {
      yield zeros;
    };
    const file = join(folder, 'zeros.parquet');
    await pipeline(Readable.from(exportPieces('parquet', batches, {})), createWriteStream(file));
    const rows = await ask(`select (1 / zero)::varchar as sign, none from '${file}' where zero = 0`);
    expect(rows.map(({ sign, none }) => [sign, none])).toEqual([
      ['-inf', null],
      ['inf', null],
      ['-inf', null],
      ['inf', null],
    ]);
  });

  it('is read whole by readers of JSON, whatever a page put into one item', async () => {
    const file = await exported(
      [
        { url: 'plain', data: { text: '\u{1F433} ü' } },
        { url: 'halves', data: { text: 'a\ud83d \udc33 \\ud83d \\\ud83d', 'b\udc33': 1 }, text: 'a\ud83d' },
        { url: 'nul', data: { text: 'a\0b' }, text: 'a\0b' },
      ],
      'odd',
    );
    const rows = await ask(`select url, data->>'text' as read, text from '${file}' where json_valid(data)`);
    expect(rows).toEqual([
      { url: 'plain', read: '\u{1F433} ü', text: null },
      { url: 'halves', read: 'a\ufffd \ufffd \\ud83d \\\ufffd', text: 'a\ufffd' },
      { url: 'nul', read: 'a\0b', text: 'a\0b' },
    ]);
  });

  it('is a valid file when there are no items', async () => {
    const file = await exported([], 'none');
    expect(await ask(`select count(*) as n from '${file}'`)).toEqual([{ n: '0' }]);
  });

  it('takes the chosen fields in their order, and refuses items with endless fields', async () => {
    const dataset = await Dataset.open('types', { config: storage.config });
    const file = join(folder, 'fields.parquet');
    const stream = dataset.exportStream('parquet', { fields: ['price', 'absent', 'rank'] });
    await pipeline(stream, createWriteStream(file));
    expect(Object.entries(await typesOf(file))).toEqual([
      ['price', 'DOUBLE'],
      ['absent', 'VARCHAR'],
      ['rank', 'BIGINT'],
    ]);
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field ${n}`, n]));
    await expect(exported([wide], 'wide')).rejects.toMatchObject({ code: 'TABLE_TOO_WIDE' });
  });

  it('refuses to write what was not there when it looked for the columns', async () => {
    let look = 0;
    const batches = async function* () {
      yield [{ n: look++ === 0 ? 1 : 'one' }];
    };
    const pieces = Readable.from(exportPieces('parquet', batches, {}), { objectMode: false });
    await expect(pipeline(pieces, createWriteStream(join(folder, 'changed')))).rejects.toThrow(/changed while/);
  });

  it('has the metadata of stored pages', async () => {
    const dataDirs = await folders(2);
    const content = await ContentStore.open({ dataDirs, storeRawHtml: true });
    const packed = [];
    for (let n = 1; n <= 50; n++) packed.push(await content.pack(page(n, n === 50 ? { response: undefined } : {})));
    await content.append(packed);
    await content.close();
    const file = join(folder, 'pages.parquet');
    const rows = () => pageRows(dataDirs, (message) => expect.fail(message));
    await pipeline(Readable.from(exportPieces('parquet', rows, {}, PAGE_COLUMNS)), createWriteStream(file));
    const counts = `select kind, count(*) as n, count(distinct url) as urls from '${file}' group by 1 order by 1`;
    expect(await ask(counts)).toEqual([
      { kind: 'response', n: '49', urls: '49' },
      { kind: 'text', n: '50', urls: '50' },
    ]);
    const [found] = await ask(
      `select status_code, depth, epoch_ms(fetched_at) as at_ms, filename, "offset", length
       from '${file}' where url = '${urlOf(7)}' and kind = 'text'`,
    );
    expect(found).toMatchObject({ status_code: '200', depth: '2', at_ms: String(Date.UTC(2026, 0, 1, 0, 0, 7)) });
    expect(Number(found!['offset'])).toBeGreaterThan(0);
    expect(String(found!['filename'])).toMatch(/\.warc\.wet\.gz$/);
    expect((await stat(file)).size).toBeLessThan(50_000);
  });
});
