// The index of near duplicates and the page memory at ten million pages: bytes, time of a lookup, time to open, memory.
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Figure } from '../measure.js';
import { createNearIndex } from '../../src/fresh/duplicates/near-index.js';
import { simhashOf } from '../../src/fresh/duplicates/simhash.js';
import { openLmdbMemory } from '../../src/fresh/memory/memory-lmdb.js';
import { newPage } from '../../src/fresh/memory/new-page.js';
import { KEY_BYTES, ROW_BYTES } from '../../src/fresh/memory/page-row.js';
import type { PageVisit } from '../../src/fresh/memory/memory.js';

/** FRESH_PAGES for a smaller run. */
const PAGES = Number(process.env.FRESH_PAGES ?? 10_000_000);

/** FRESH_PARTS=index: the rows of the memory stay. */
export const isPart = process.env.FRESH_PARTS === 'index';

export async function measure(): Promise<Figure[]> {
  return [...measureIndex(), ...(isPart ? [] : memoryFigures(await openFull(PAGES), PAGES))];
}

function hashOf(page: number): { hi: number; lo: number } {
  const mix = (seed: number) => {
    let mixed = Math.imul(page + seed, 0x9e3779b1);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca77);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae3d);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  return { hi: mix(1), lo: mix(0x5bd1e995) };
}

/** As many as a page has. */
const WEAKEST = simhashOf('orcas hunt in pods').weakest;

function measureIndex(): Figure[] {
  const index = createNearIndex();
  const started = process.cpuUsage();
  for (let page = 0; page < PAGES; page++) index.add(hashOf(page), page);
  const filled = process.cpuUsage(started);
  const lookups = 100_000;
  const from = process.cpuUsage();
  let found = 0;
  for (let n = 0; n < lookups; n++) {
    const { hi, lo } = hashOf((n * 97) % PAGES);
    found += index.find({ hi: (hi ^ 0x10001) >>> 0, lo: (lo ^ 0x80) >>> 0 }).length > 0 ? 1 : 0;
  }
  const searched = process.cpuUsage(from);
  const asPage = process.cpuUsage();
  for (let n = 0; n < lookups / 10; n++) index.find({ ...hashOf(PAGES + n), weakest: WEAKEST });
  const searchedAsPage = process.cpuUsage(asPage);
  const micros = ({ user, system }: NodeJS.CpuUsage, count: number) => `${((user + system) / count).toFixed(1)} µs`;
  return [
    {
      what: `index of ${PAGES.toLocaleString('en')} pages: bytes per page`,
      measured: (index.bytes / PAGES).toFixed(1),
      goal: '≤ 60',
    },
    { what: 'found again with 3 of 64 bits turned', measured: `${found} of ${lookups}`, goal: 'all' },
    {
      what: 'CPU per lookup; per page added',
      measured: `${micros(searched, lookups)}; ${micros(filled, PAGES)}`,
      goal: 'constant',
    },
    {
      what: 'CPU to look up a page that repeats none, with all combinations of its five weakest bits',
      measured: micros(searchedAsPage, lookups / 10),
      goal: 'constant',
    },
  ];
}

export interface OpenedMemory {
  readonly openMs: number;
  /** Memory of the process beside the mapped file, after 100,000 lookups. */
  readonly moreBytes: number;
  readonly fileBytes: number;
}

/** Writes a page memory, and opens it again. */
export async function openFull(pages: number): Promise<OpenedMemory> {
  const folder = await mkdtemp(path.join(tmpdir(), 'fresh-memory-'));
  try {
    const written = await openLmdbMemory(folder);
    for (let from = 0; from < pages; from += 10_000) {
      const visits: PageVisit[] = [];
      for (let page = from; page < Math.min(pages, from + 10_000); page++) {
        const key = hashOf(page);
        visits.push({
          key,
          request: key,
          page: { ...newPage(1, 200), simhash: key },
          names: { url: `https://h/${page}` },
        });
      }
      written.settle(visits, true);
      await written.stage([]);
    }
    await written.close();
    const { size } = await stat(path.join(folder, 'data.mdb'));
    const before = await anonymousBytes();
    const started = performance.now();
    const memory = await openLmdbMemory(folder);
    memory.find(hashOf(5));
    const openMs = performance.now() - started;
    for (let n = 0; n < 100_000; n++) memory.find(hashOf((n * 7919) % pages));
    const after = await anonymousBytes();
    await memory.close();
    return { openMs, moreBytes: after - before, fileBytes: size };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function memoryFigures({ openMs, moreBytes, fileBytes }: OpenedMemory, pages: number): Figure[] {
  return [
    {
      what: 'page memory: packed bytes per URL, without names and validators',
      measured: String(KEY_BYTES + ROW_BYTES),
      goal: '≤ 64',
    },
    {
      what: `page memory of ${pages.toLocaleString('en')} pages: time to open and find a page`,
      measured: `${openMs.toFixed(0)} ms`,
      goal: '≤ 5 s',
    },
    {
      what: 'memory beside the mapped file after 100,000 lookups',
      measured: `${(moreBytes / 2 ** 20).toFixed(0)} MB`,
      goal: '≤ 200 MB',
    },
    {
      what: 'file on disk per page, with a URL of about 16 characters',
      measured: `${(fileBytes / pages).toFixed(0)} bytes`,
      goal: '',
    },
  ];
}

async function anonymousBytes(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8');
  return 1024 * Number(/^RssAnon:\s*(\d+)/m.exec(status)?.[1] ?? 0);
}
