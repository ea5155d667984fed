// `orcrawl export` as a person uses it: items of several folders, pages of a content store, and what it refuses.
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { DuckDBInstance } from '@duckdb/node-api';
import { ContentStore } from '../../src/store/content/content.js';
import { Simweb } from '../../src/testing/index.js';
import { orcrawlHere } from '../support/cli-here.js';
import { MAIN, startNode, until } from './cli-process.js';
import { folders } from './content-fixtures.js';
import { page, urlOf } from './content-pages.js';

let dirs: string[];
const run = (...args: string[]) => orcrawlHere(['export', ...args], { cwd: dirs[0]! });

describe('orcrawl export', () => {
  beforeAll(async () => {
    dirs = await folders(2, 'suite');
    for (const [n, dir] of dirs.entries()) {
      await mkdir(join(dir, 'datasets', 'default'), { recursive: true });
      const lines = [0, 1, 2].map((m) => `${JSON.stringify({ n: n * 3 + m, name: `item ${n * 3 + m}` })}\n`);
      await writeFile(join(dir, 'datasets', 'default', '000001-direct-000000000000.jsonl'), lines.join(''));
    }
    const content = await ContentStore.open({ dataDirs: dirs });
    await content.append([await content.pack(page(1))]);
    await content.close();
  });

  it('joins the items of all folders, in the format of the file', async () => {
    const out = join(dirs[0]!, 'out');
    const [parquet, csv, fields] = await Promise.all([
      run(...dirs, '--out', join(out, 'items.parquet')),
      startNode([MAIN, 'export', ...dirs, '--format', 'csv'], { cwd: dirs[0]! }).ended,
      run(...dirs, '--fields', 'name'),
    ]);
    expect(parquet).toMatchObject({ code: 0, stdout: expect.stringContaining('items.parquet: ') as string });
    const bytes = await readFile(join(out, 'items.parquet'));
    expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', bytes.length - 4)]).toEqual(['PAR1', 'PAR1']);
    expect(await readdir(out)).toEqual(['items.parquet']);
    expect(csv.stdout.split('\n')).toHaveLength(8);
    expect(fields.stdout.split('\n')[5]).toBe('{"name":"item 5"}');
  });

  it('is not needed where Parquet is the format of the crawl itself', async () => {
    await using web = await Simweb.start({ hosts: 1, pagesPerHost: 12 });
    const [cwd] = await folders(1, 'suite');
    const args = ['crawl', web.url(0), '--allow-private', '--delay', '0', '--format', 'parquet', '--out', 'out'];
    const { code, stderr } = await startNode([MAIN, ...args], { cwd: cwd! }).ended;
    expect(code, stderr).toBe(0);
    const duck = await (await DuckDBInstance.create(':memory:')).connect();
    const rows = async (sql: string) => (await duck.runAndReadAll(sql)).getRowObjectsJson();
    const file = join(cwd!, 'out', 'pages.parquet');
    expect(await rows(`select status, count(distinct url)::int as pages from '${file}' group by all`)).toEqual([
      { status: expect.anything() as unknown, pages: 12 },
    ]);
    const types = await rows(`select column_name, column_type from (describe select url, status from '${file}')`);
    expect(types).toEqual([
      { column_name: 'url', column_type: 'VARCHAR' },
      { column_name: 'status', column_type: 'BIGINT' },
    ]);
    duck.closeSync();
  });

  it('has the pages of a crawl, and refuses what it cannot do in one line', async () => {
    const [pages, absent, format, field] = await Promise.all([
      run(...dirs, '--pages', '--fields', 'url,kind,status_code'),
      run(...dirs, '--dataset', 'other'),
      run(...dirs, '--out', 'items.xls'),
      run(...dirs, '--pages', '--fields', 'colour'),
    ]);
    expect(JSON.parse(pages.stdout)).toEqual({ url: urlOf(1), kind: 'text', status_code: 200 });
    expect(absent).toMatchObject({ code: 1, stderr: expect.stringContaining('--dataset default') as string });
    expect(format).toMatchObject({ code: 1, stderr: expect.stringContaining('.parquet') as string });
    expect(field).toMatchObject({ code: 1, stderr: expect.stringContaining('choose from url') as string });
  });

  it('leaves nothing behind on Ctrl-C', async () => {
    const [dir] = await folders(1, 'suite');
    const dataset = join(dir!, 'datasets', 'default');
    await mkdir(dataset, { recursive: true });
    const item = `${JSON.stringify({ name: 'an item of some length', values: [1, 2, 3] })}\n`;
    await writeFile(join(dataset, '000001-direct-000000000000.jsonl'), item.repeat(400_000));
    const out = join(dir!, 'out');
    const exporting = startNode([MAIN, 'export', dir!, '--out', join(out, 'items.parquet')], { cwd: dir! });
    // Its draft is there before the items are looked at.
    await until(() => existsSync(out) && readdirSync(out).length > 0, 'it writes');
    exporting.signal('SIGINT');
    expect(await exporting.ended).toMatchObject({ code: 130 });
    expect(await readdir(out)).toEqual([]);
  });
});
