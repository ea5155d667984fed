// What a page costs on this machine, measured on loopback with the synthetic web and saved for `orcrawl plan`.
// Promise: needs no network, cleans up after itself, and counts only this process's CPU, not the server's.
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { type MachineConstants, SHARED_CONSTANTS } from '../pods/operate/plan.js';
import { UsageError } from './exit-codes.js';
import { shown } from './terminal.js';

export interface MachineFigures extends MachineConstants {
  readonly measuredAt: string;
  readonly node: string;
}

/** The cost per KB is the slope between these page sizes. */
const SMALL_PAGE_KB = 8;
const LARGE_PAGE_KB = 200;
const WARM_UP_PAGES = 150;
const PAGES = 600;
const CONCURRENCY = 100;
const HOSTS = 20;

/** @param say called with each step */
export async function measureMachine(say: (step: string) => void): Promise<MachineFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'orcrawl-bench-'));
  try {
    await crawlCost(folder, SMALL_PAGE_KB, WARM_UP_PAGES);
    say(`${PAGES} pages of ${SMALL_PAGE_KB} KB over HTTPS, one connection each …`);
    const small = await crawlCost(folder, SMALL_PAGE_KB, PAGES);
    say(`${PAGES} pages of ${LARGE_PAGE_KB} KB …`);
    const large = await crawlCost(folder, LARGE_PAGE_KB, PAGES);
    say('compressing text, writing to disk …');
    const cpuMsPerKb = Math.max(0, (large - small) / (LARGE_PAGE_KB - SMALL_PAGE_KB));
    return {
      pageCpuMs: rounded(Math.max(0, small - cpuMsPerKb * SMALL_PAGE_KB)),
      cpuMsPerKb: rounded(cpuMsPerKb),
      gzipMsPerTextKb: rounded(gzipCost()),
      fetcherRssMb: Math.round(process.memoryUsage.rss() / 1e6),
      diskMbPerSecond: Math.round(await diskSpeed(folder)),
      measuredAt: new Date().toISOString(),
      node: process.version,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const rounded = (value: number): number => Number(value.toPrecision(4));

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** CPU of this process for a page, from queue to stored text. */
async function crawlCost(folder: string, pageKb: number, pages: number): Promise<number> {
  const { startSimwebProcess } = await import('../testing/index.js');
  const { Configuration } = await import('../configuration.js');
  const { Log, LogLevel } = await import('../observe/log.js');
  const { HttpCrawler } = await import('../crawl/crawlers.js');
  const web = await startSimwebProcess({
    seed: 3,
    hosts: HOSTS,
    pagesPerHost: Math.ceil(pages / HOSTS),
    pageBytes: pageKb * 1000,
    tls: true,
    keepAlive: false,
  });
  try {
    const storage = await mkdtemp(join(folder, 'crawl-'));
    const config = new Configuration({ storageClientOptions: { localDataDirectory: storage } });
    const crawler = new HttpCrawler(
      {
        log: new Log({ level: LogLevel.ERROR }),
        minConcurrency: CONCURRENCY,
        maxConcurrency: CONCURRENCY,
        allowPrivateAddresses: ['127.0.0.0/8'],
        // The certificate is self-signed; the handshake still verifies its signature.
        ignoreSslErrors: true,
        async requestHandler({ request, content, pushData, enqueueLinks }) {
          // The synthetic page is nearly all text; a real one has this share.
          const text = content.text.slice(0, pageKb * 1000 * SHARED_CONSTANTS.textKbPerKb);
          await pushData({ url: request.loadedUrl, title: content.title, text });
          await enqueueLinks();
        },
      },
      config,
    );
    const before = cpuMs();
    const { requestsFinished } = await crawler.run(Array.from({ length: HOSTS }, (_, host) => web.url(host)));
    await crawler.teardown();
    if (requestsFinished < pages / 2) throw new UsageError(`only ${requestsFinished} of ${pages} pages were crawled`);
    return (cpuMs() - before) / requestsFinished;
  } finally {
    await web.close();
  }
}

/** CPU-ms per KB of text, at the compression level of segments (docs/decisions/012-content-segments.md). */
function gzipCost(): number {
  const text = Buffer.from(sampleText(12_000));
  const rounds = 300;
  const before = cpuMs();
  for (let i = 0; i < rounds; i++) gzipSync(text, { level: 3, strategy: constants.Z_DEFAULT_STRATEGY });
  return (cpuMs() - before) / rounds / (text.length / 1000);
}

/** Random words that repeat as words do: compresses by half, like real text. */
function sampleText(length: number): string {
  let seed = 1;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const letters = 'etaoinshrdlucmfwypvbgkjqxz';
  const words = Array.from({ length: 2_000 }, () =>
    Array.from({ length: 2 + random(9) }, () => letters[Math.min(random(26), random(26))]).join(''),
  );
  let text = '';
  while (text.length < length) text += `${words[Math.min(random(2_000), random(2_000), random(2_000))]} `;
  return text.slice(0, length);
}

/** Written and synced, in pieces of a megabyte. */
async function diskSpeed(folder: string): Promise<number> {
  const megabytes = 64;
  const piece = Buffer.alloc(1e6, 'orcrawl');
  const file = await open(join(folder, 'disk'), 'w');
  try {
    const started = performance.now();
    for (let i = 0; i < megabytes; i++) await file.write(piece);
    await file.sync();
    return (megabytes * 1000) / (performance.now() - started);
  } finally {
    await file.close();
  }
}

/** The default file for the figures. */
export function figuresFile(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'orcrawl', 'machine.json');
}

export async function saveFigures(file: string, figures: MachineFigures): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(figures, null, 2)}\n`);
}

const NUMBERS = ['pageCpuMs', 'cpuMsPerKb', 'gzipMsPerTextKb', 'fetcherRssMb', 'diskMbPerSecond'] as const;

/** The saved figures; undefined if nothing was measured yet. */
export async function loadFigures(file: string): Promise<MachineFigures | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const again = `${shown(file)} is not a valid machine file: run orcrawl bench --quick again`;
  let figures: Partial<MachineFigures>;
  try {
    figures = JSON.parse(text) as Partial<MachineFigures>;
  } catch {
    throw new UsageError(again);
  }
  if (!NUMBERS.every((name) => typeof figures?.[name] === 'number' && figures[name] >= 0)) throw new UsageError(again);
  return figures as MachineFigures;
}
