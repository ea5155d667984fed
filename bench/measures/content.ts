// What storing a page costs in CPU time, by gzip level, and what finding one costs among many.
// Pages are the real ones of ../shared/data/pages where they are, else made up; the text is scanPage's.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { ContentPage } from '../../src/store/content/page.js';
import type { ContentStoreOptions } from '../../src/store/content/options.js';
import type { Figure } from '../measure.js';

const PAGES = new URL('../../../shared/data/pages/', import.meta.url);
const dist = (file: string): string => new URL(`../../dist/${file}`, import.meta.url).href;
const source = (file: string): string => new URL(`../../src/${file}`, import.meta.url).href;
const { scanPage } = (await import(dist('index.js'))) as typeof import('../../src/index.js');
const { ContentStore } = (await import(
  source('store/content.ts')
)) as typeof import('../../src/store/content/content.js');
const { findPage } = (await import(
  source('store/content-reading.ts')
)) as typeof import('../../src/store/content/reading.js');

/** As many as a settle takes. */
const BATCH = 64;
const ROUNDS = 5;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function readPages(): { source: string; gzipped: Buffer[] } {
  if (!existsSync(PAGES)) return { source: 'made-up pages: ../shared/data/pages is not here', gzipped: [] };
  const files = readdirSync(PAGES).filter((file) => file.endsWith('.html.gz'));
  return { source: '../shared/data/pages', gzipped: files.map((file) => readFileSync(new URL(file, PAGES))) };
}

function contentPages(gzipped: readonly Buffer[]): ContentPage[] {
  if (gzipped.length === 0) return Array.from({ length: 130 }, (_, n) => made(n, `word${n} `.repeat(1_500)));
  return gzipped.map((body, n) => ({
    ...made(n, scanPage(gunzipSync(body), { url: 'https://example.com/' }).text),
    response: {
      statusCode: 200,
      headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' },
      body,
      bodyIs: 'as-received',
    },
  }));
}

function made(n: number, text: string): ContentPage {
  const url = `https://host-${n % 97}.example/section/${n % 13}/page-${n}`;
  return { url, uniqueKey: url, statusCode: 200, fetchedAtMs: Date.now(), contentType: 'text/html', depth: 3, text };
}

async function inFolders<T>(use: (dataDirs: string[]) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'orcrawl-measure-'));
  try {
    return await use([join(folder, 'ssd1'), join(folder, 'ssd2')]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** CPU milliseconds and bytes on disk per page. */
async function storeAll(pages: readonly ContentPage[], options: Omit<ContentStoreOptions, 'dataDirs'>) {
  return inFolders(async (dataDirs) => {
    const store = await ContentStore.open({ dataDirs, note: async () => undefined, ...options });
    const start = cpuMs();
    for (let from = 0; from < pages.length; from += BATCH) {
      const packed = [];
      for (const page of pages.slice(from, from + BATCH)) packed.push(await store.pack(page));
      await store.append(packed);
    }
    const ms = (cpuMs() - start) / pages.length;
    await store.close();
    return { ms, bytes: (await bytesIn(dataDirs)) / pages.length };
  });
}

async function bytesIn(dataDirs: readonly string[]): Promise<number> {
  let sum = 0;
  for (const dataDir of dataDirs) {
    const folder = join(dataDir, 'content');
    for (const file of await readdir(folder)) sum += (await stat(join(folder, file))).size;
  }
  return sum;
}

/** Each contender once a round, so that a busy moment hits all; the best round counts, as noise only ever slows. */
async function compare(
  pages: readonly ContentPage[],
  contenders: Record<string, Omit<ContentStoreOptions, 'dataDirs'>>,
) {
  const best = new Map<string, { ms: number; bytes: number }>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, options] of Object.entries(contenders)) {
      const found = await storeAll(pages, options);
      if (found.ms < (best.get(name)?.ms ?? Infinity)) best.set(name, found);
    }
  }
  return best;
}

/** Small pages, so that the index is most of the work: what sorting and finding cost by the page. */
async function measureIndex(count: number): Promise<Figure[]> {
  return inFolders(async (dataDirs) => {
    const segmentBytes = 8 * 1024 * 1024;
    const store = await ContentStore.open({ dataDirs, segmentBytes });
    for (let from = 0; from < count; from += 1_000) {
      const packed = [];
      for (let n = from; n < from + 1_000; n++) packed.push(await store.pack(made(n, `page ${n}`)));
      await store.append(packed);
    }
    await store.close();
    const indexes = (await Promise.all(dataDirs.map((dir) => readdir(join(dir, 'content'))))).flat();
    const segments = indexes.filter((file) => file.endsWith('.cdxj')).length;
    const start = cpuMs();
    const lookups = 200;
    for (let k = 0; k < lookups; k++) {
      const n = (k * 7_919) % count;
      const page = await findPage(dataDirs, made(n, '').url);
      if (page?.text !== `page ${n}`) throw new Error(`page ${n} was not found`);
    }
    const lookupMs = (cpuMs() - start) / lookups;
    return [
      {
        what: `finding one of ${count.toLocaleString('en')} pages in ${segments} sorted indexes`,
        measured: `${lookupMs.toFixed(2)} CPU-ms`,
        goal: 'no goal set',
      },
    ];
  });
}

async function measureSort(lines: number): Promise<Figure> {
  const { sortLines } = (await import(
    source('store/index-sorting.ts')
  )) as typeof import('../../src/store/content/index-sorting.js');
  const { indexLine } = (await import(source('store/cdxj.ts'))) as typeof import('../../src/store/content/cdxj.js');
  const { writeFile } = await import('node:fs/promises');
  return inFolders(async ([folder = '']) => {
    const place = { digest: 'A'.repeat(32), filename: 'segment.warc.wet.gz', offset: 1, length: 1 };
    const text = Array.from({ length: lines }, (_, n) => indexLine({ ...made((n * 7_919) % lines, ''), ...place }));
    const { mkdir } = await import('node:fs/promises');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'tail'), text.join(''));
    const start = cpuMs();
    await sortLines(join(folder, 'tail'), join(folder, 'sorted'));
    const us = ((cpuMs() - start) * 1000) / lines;
    return {
      what: `sorting an index of ${lines.toLocaleString('en')} lines, per line`,
      measured: `${us.toFixed(1)} CPU-µs`,
      goal: 'no goal set',
    };
  });
}

export async function measure(): Promise<Figure[]> {
  const { source, gzipped } = readPages();
  const pages = contentPages(gzipped);
  // Several times the same pages under other URLs: enough work for the clock of CPU time.
  const many = Array.from({ length: 4 }, (_, k) =>
    pages.map((page, n) => ({ ...page, ...{ url: `${page.url}/${k}`, uniqueKey: `${page.url}/${k}/${n}` } })),
  ).flat();
  const textBytes = pages.reduce((sum, { text }) => sum + Buffer.byteLength(text ?? ''), 0) / pages.length;
  const contenders: Record<string, Omit<ContentStoreOptions, 'dataDirs'>> = {
    'text, gzip level 1': { gzipLevel: 1 },
    'text, gzip level 3 (default)': { gzipLevel: 3 },
    'text, gzip level 6': { gzipLevel: 6 },
    'text, level 3, synced (durability: machine)': { durability: 'machine' },
    'metadata alone': { extractText: false },
    'text and response as received, level 3': { storeRawHtml: true },
  };
  const figures = [...(await compare(many, contenders))].map(([name, { ms, bytes }]): Figure => {
    const goal = `text of ${Math.round(textBytes)} bytes per page, ${source}`;
    return { what: name, measured: `${ms.toFixed(3)} CPU-ms, ${Math.round(bytes)} bytes on disk per page`, goal };
  });
  return [...figures, await measureSort(200_000), ...(await measureIndex(100_000))];
}
