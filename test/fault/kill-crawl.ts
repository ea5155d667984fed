// Crawls a synthetic web with processes that are killed with `kill -9` at random moments, and reports what
// the server saw and what the dataset holds. Used by the fault test and by `npm run measure -- kill`.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SETTLE_BATCH } from '../../src/crawl/run/settler.js';
import { Request } from '../../src/index.js';
import { startSimwebProcess } from '../../src/testing/index.js';

export interface KillPlan {
  readonly pages: number;
  readonly kills: number;
  readonly workers: number;
  readonly maxConcurrency: number;
  readonly random: () => number;
}

export interface KillReport {
  readonly pages: number;
  readonly kills: number;
  /** Pages of the server's map without an item. */
  readonly missing: number;
  readonly duplicateItems: number;
  readonly refetched: number;
  /** The most that a kill may cost: the running requests and one settle batch. */
  readonly refetchBound: number;
  /** Longest time from a restart to its first request at the server. */
  readonly longestRestartMs: number;
}

const WORKER = fileURLToPath(new URL('./crawl-worker.mjs', import.meta.url));
const PATIENCE_MS = 60_000;

export async function crawlUnderFire(plan: KillPlan): Promise<KillReport> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'orcrawl-kill-'));
  const hosts = 10;
  await using web = await startSimwebProcess({
    hosts,
    pagesPerHost: Math.ceil(plan.pages / hosts),
    pageBytes: [1000, 3000],
    linksPerPage: [10, 20],
    crossHostLinks: 0.2,
    latencyMs: [2, 20],
  });
  const access = plan.workers > 1 ? 'shared' : 'owner';
  const start = () => startWorker({ folder, seeds: [web.url(0)], access, maxConcurrency: plan.maxConcurrency });
  const workers: ChildProcess[] = [];
  try {
    let longestRestartMs = 0;
    let kills = 0;
    const total = [...web.allUrls()].length;
    for (let worker = 0; worker < plan.workers; worker++) workers.push(start());
    while (kills < plan.kills) {
      // Kills are spread over the crawl: each waits for its share of the pages.
      const share = (total * 0.9 * (kills + plan.random())) / plan.kills;
      await until(async () => (await web.served()) >= share);
      const victim = Math.floor(plan.random() * workers.length);
      const dead = workers[victim]!;
      if (dead.exitCode !== null) break;
      dead.kill('SIGKILL');
      await ended(dead);
      kills++;
      const before = await web.served();
      const restartedAt = performance.now();
      workers[victim] = start();
      await until(async () => (await web.served()) > before || workers[victim]!.exitCode !== null);
      longestRestartMs = Math.max(longestRestartMs, performance.now() - restartedAt);
    }
    await Promise.all(workers.map(ended));
    const items = await readItems(folder);
    const urls = new Set(items);
    const missing = [...web.allUrls()].filter((url) => !urls.has(keyOf(url))).length;
    return {
      pages: total,
      kills,
      missing,
      duplicateItems: items.length - urls.size,
      refetched: (await web.served()) - total,
      refetchBound: kills * (plan.maxConcurrency + SETTLE_BATCH),
      longestRestartMs: Math.round(longestRestartMs),
    };
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
    await Promise.all(workers.map(ended));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function startWorker(options: object): ChildProcess {
  return spawn(process.execPath, [WORKER, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit'] });
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; !(await condition());) {
    if (performance.now() > deadline) throw new Error('the crawl made no progress');
    await new Promise((resume) => setTimeout(resume, 10));
  }
}

/** Fragments and tracking parameters do not make another page. */
function keyOf(url: string): string {
  return new Request({ url }).uniqueKey;
}

/** The pages of all items, read as `cat *.jsonl` would. */
async function readItems(folder: string): Promise<string[]> {
  const dataset = path.join(folder, 'datasets', 'default');
  const urls: string[] = [];
  for (const file of await readdir(dataset)) {
    if (!file.endsWith('.jsonl')) continue;
    const lines = (await readFile(path.join(dataset, file), 'utf8')).split('\n').filter(Boolean);
    for (const line of lines) urls.push(keyOf((JSON.parse(line) as { url: string }).url));
  }
  return urls;
}
