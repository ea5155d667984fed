// What a page costs a script and its store in CPU time: the crawl of pods-cost.ts by one process with an HttpCrawler.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuMsWithChildren } from '../../test/support/processes.js';
import { startPostgres } from '../../test/support/postgres-server.js';
import { HOSTS, PAGES, VARIANTS, WARM_UP } from './pods-cost.js';
import { canPin, CRAWLER_CORE, startBroadWeb } from './webs.js';

const SCRIPT = fileURLToPath(new URL('./broad-script.mjs', import.meta.url));

export interface ScriptCost {
  readonly pages: number;
  readonly wallSecs: number;
  /** CPU milliseconds per page. */
  readonly scriptMs: number;
  readonly storeMs: number;
}

/** What the script says at a page, and what its store had taken then. */
interface Look {
  readonly pages: number;
  readonly cpuMs: number;
  readonly atMs: number;
  readonly storeMs: number;
}

export async function scriptCost(place: 'folder' | 'Postgres'): Promise<ScriptCost> {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-script-cost-'));
  const postgres = place === 'Postgres' ? await startPostgres([], true) : undefined;
  const web = await startBroadWeb(HOSTS, { variants: VARIANTS, tickets: true });
  try {
    const [first, last] = await looks({
      place: postgres?.url ?? folder,
      storeMs: () => (postgres === undefined ? 0 : cpuMsWithChildren(postgres.pid)),
      seeds: web.seeds(),
      caFile: web.caFile,
    });
    const pages = last.pages - first.pages;
    return {
      pages,
      wallSecs: (last.atMs - first.atMs) / 1_000,
      scriptMs: (last.cpuMs - first.cpuMs) / pages,
      storeMs: (last.storeMs - first.storeMs) / pages,
    };
  } finally {
    await web.close();
    await postgres?.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Order {
  readonly place: string;
  readonly storeMs: () => number;
  readonly seeds: readonly string[];
  readonly caFile: string | undefined;
}

/** At the end of the warm-up, and at the end of what is measured. */
async function looks({ place, storeMs, seeds, caFile }: Order): Promise<[Look, Look]> {
  const child = fork(SCRIPT, [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
    ...(canPin && { execPath: 'taskset', execArgv: ['-c', String(CRAWLER_CORE), process.execPath] }),
    env: {
      ...process.env,
      NODE_EXTRA_CA_CERTS: caFile,
      BENCH_PLACE: place,
      BENCH_FROM: String(WARM_UP),
      BENCH_TO: String(WARM_UP + PAGES),
      BENCH_SEEDS: seeds.join(' '),
    },
  });
  const found: Look[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`the script ended with ${code} after ${found.length} looks`)));
      child.on('message', (said) => {
        found.push({ ...(said as Omit<Look, 'storeMs'>), storeMs: storeMs() });
        if (found.length === 2) resolve();
      });
    });
    return [found[0]!, found[1]!];
  } finally {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
  }
}
