// What a crawl on pods leaves behind: archives that other tools read, pages that are found again, items of a handler.
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findPage } from '../../src/store/content/reading.js';
import { Request } from '../../src/request/request.js';
import { Simweb } from '../../src/testing/index.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { redisMissing } from '../support/redis-server.js';
import { readLines } from './cli-process.js';
import { readArchive, readIndex } from './content-fixtures.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`archives of Redis pods are skipped: ${redisMissing}`);

describe.skipIf(redisMissing)('archives of a pod', () => {
  it.each([0, 1])(
    'hold responses as received, for warcio to read and the index to find, with %i parsers',
    async (parsers) => {
      await using web = await Simweb.start({ hosts: 3, pagesPerHost: 4, pageBytes: 3_000, compression: 'gzip' });
      const { finished, dataDirs } = await podsTrial({
        redis: 1,
        seeds: web.seeds(),
        // Limits so low that fetchers have to wait for the parser.
        more: [
          'store_raw_html: true',
          `parsers_per_pod: ${parsers}`,
          'parse_queue_soft_limit: 1',
          'parse_queue_hard_limit: 2',
        ],
      });
      const { code, stdout } = await finished();
      expect([code, lastLine(stdout)]).toEqual([0, '12 pages: nothing is left to crawl']);

      const archived: string[] = [];
      for (const folder of dataDirs.map((dir) => path.join(dir, 'content'))) {
        for (const file of (await readdir(folder)).filter((name) => name.endsWith('.gz'))) {
          const records = (await readArchive(path.join(folder, file))).filter(({ type }) => type !== 'warcinfo');
          archived.push(...records.map(({ type, url }) => `${type} ${url}`));
          const entries = await readIndex(path.join(folder, file.replace(/\.gz$/, '.cdxj')));
          const place = ({ offset, length }: { offset?: number; length?: number }) => `${offset}+${length}`;
          expect(entries.map(place).sort()).toEqual(records.map(place).sort());
        }
      }
      const urls = [...web.allUrls()];
      expect(archived.sort()).toEqual(urls.flatMap((url) => [`response ${url}`, `conversion ${url}`]).sort());

      for (const url of urls) {
        const { response } = (await findPage(dataDirs, url, { having: 'response' }))!;
        const sent = Buffer.from(await (await fetch(url)).arrayBuffer());
        expect(response!.headers).toMatchObject({ 'content-encoding': 'gzip' });
        expect(gunzipSync(response!.body).equals(sent)).toBe(true);
        const text = (await findPage(dataDirs, url, { having: 'text' }))?.text;
        expect(text!.length).toBeGreaterThan(100);
      }
    },
  );
});

describe('a handler module', () => {
  it.each(['handlers.ts', 'handlers.mjs'])('%s adds items, chooses links, and may fail a page', async (name) => {
    await using web = await Simweb.start({ hosts: 2, pagesPerHost: 6, pageBytes: 1_000 });
    const { folder, finished, stored } = await podsTrial({
      embedded: 2,
      seeds: [web.url(0), web.url(1)],
      more: [`handler: ./${name}`, 'http_max_retries: 0'],
    });
    const typed = name.endsWith('.ts') ? ': { url: string }' : '';
    await writeFile(
      path.join(folder, name),
      `export const router = async ({ request, content, pushData, enqueueLinks }) => {
        const item${typed} = { url: request.url, title: content.title };
        await pushData(item);
        if (request.url === ${JSON.stringify(web.url(1))}) throw new Error('not this one');
        await enqueueLinks({ strategy: 'same-hostname' });
      };\n`,
    );
    const { code, stdout } = await finished();
    expect([code, lastLine(stdout)]).toEqual([0, '6 pages: nothing is left to crawl']);
    const key = (url: string): string => new Request({ url }).uniqueKey;
    const expected = [...web.allUrls()].filter((url) => url.startsWith(web.origin(0)));
    expect(await stored()).toEqual(expected.map(key).sort());
    const items: { url: string }[] = [];
    for (const dir of ['ssd1', 'ssd2']) {
      const datasets = path.join(folder, dir, 'datasets', 'default');
      const files = (await readdir(datasets).catch(() => [])).filter((file) => file.endsWith('.jsonl'));
      for (const file of files) items.push(...(await readLines<{ url: string }>(datasets, file)));
    }
    expect(items.map(({ url }) => url).sort()).toEqual(expected.sort());
  });
});
