// Who crawls, and how one of them is run: alone, in a process of its own, pinned to the first core. All crawl the same
// pages: starting up weighs on a short crawl (Crawlee cost 17 CPU-ms per page over 450 pages and 11 over 3,000).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crawleeFolder } from './peers.js';
import { canPin, CRAWLER_CORE, type Web } from './webs.js';

export interface Contestant {
  readonly name: string;
  readonly title: string;
  readonly file: string;
  readonly order: Readonly<Record<string, unknown>>;
}

export const CONTESTANTS: readonly Contestant[] = [
  {
    name: 'orcrawl-content',
    title: 'orcrawl, `content`, LMDB queue, disk dataset',
    file: 'orcrawl.mjs',
    order: { handler: 'content', persist: true },
  },
  {
    name: 'orcrawl-cheerio',
    title: 'orcrawl, `$`, LMDB queue, disk dataset',
    file: 'orcrawl.mjs',
    order: { handler: 'cheerio', persist: true },
  },
  { name: 'bare', title: 'bare loop', file: 'bare.mjs', order: {} },
  {
    name: 'crawlee-memory',
    title: 'Crawlee CheerioCrawler, memory',
    file: 'crawlee.mjs',
    order: { persist: false },
  },
  {
    name: 'crawlee-disk',
    title: 'Crawlee CheerioCrawler, disk',
    file: 'crawlee.mjs',
    order: { persist: true },
  },
];

/** The least that storing texts of pages can cost: the bare loop, and their compression. */
export const bareStoring = (gzipLevel: number): Contestant => ({
  name: 'bare-storing',
  title: `bare loop, texts at gzip level ${gzipLevel}`,
  file: 'bare.mjs',
  order: { gzipLevel },
});

/** What one run of a contestant cost. */
export interface Cost {
  readonly pages: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly rssMb: number;
}

export interface RunSettings {
  readonly node: string;
  readonly concurrency: number;
  readonly nodeFlags?: readonly string[];
  /** Shows what the contestant prints. */
  readonly verbose?: boolean;
}

const RUN_TIMEOUT_MS = 1_800_000;

export function runContestant(contestant: Contestant, web: Web, settings: RunSettings): Cost {
  const { node, concurrency, nodeFlags = [], verbose = false } = settings;
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-bench-'));
  const file = fileURLToPath(new URL(contestant.file, import.meta.url));
  const modules = contestant.file === 'crawlee.mjs' ? crawleeFolder() : undefined;
  const order = { ...contestant.order, seeds: web.seeds(), concurrency, folder, modules };
  const command = [node, ...nodeFlags, file];
  if (canPin) command.unshift('taskset', '-c', String(CRAWLER_CORE));
  const env: NodeJS.ProcessEnv = { ...process.env, BENCH_ORDER: JSON.stringify(order) };
  if (web.caFile !== undefined) env['NODE_EXTRA_CA_CERTS'] = web.caFile;
  try {
    const { status, stdout, stderr } = spawnSync(command[0]!, command.slice(1), {
      env,
      cwd: folder,
      encoding: 'utf8',
      timeout: RUN_TIMEOUT_MS,
      maxBuffer: 256 * 1024 * 1024,
    });
    if (verbose) console.log(stdout, stderr);
    if (status !== 0) throw new Error(`${contestant.name} ended with ${status}\n${stdout.slice(-2000)}\n${stderr}`);
    const cost = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Cost;
    const expected = web.hosts * web.pagesPerHost;
    if (cost.pages !== expected) throw new Error(`${contestant.name} handled ${cost.pages} of ${expected} pages`);
    return cost;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
