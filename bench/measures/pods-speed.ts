// What a page costs the workers of a pod in CPU time: `orcrawl run` on one pod, one fetcher on one core, a real Redis
// (`appendfsync always`), the real pages over HTTPS on many hosts with a new connection per page, texts into segments;
// then with the work split between a fetcher and a parser. Between two page counts, after the start and the warm-up.
// PODS_SPEED=plain,split,full,bare chooses parts of it; BENCH_PROFILE_FOLDER=… leaves CPU profiles of the workers.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PodsConfig, readPodsConfig } from '../../src/pods/config/config.js';
import { openPodFrontier } from '../../src/pods/stores/pod-frontier.js';
import type { RedisFrontier } from '../../src/frontier/redis/frontier.js';
import type { PodReading } from '../../src/frontier/redis/pod-operations.js';
import { startRedis, type RedisServer } from '../../test/support/redis-server.js';
import { until, workersOf } from '../../test/support/pods-crawl.js';
import { bareStoring, CONTESTANTS, runContestant } from '../crawl/contestants.js';
import { type BroadWeb, canPin, hasRealPages, startBroadWeb, startWeb } from '../crawl/webs.js';
import type { Figure } from '../measure.js';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const PROFILER = fileURLToPath(new URL('../crawl/cpu-profile.mjs', import.meta.url));
const SHARE = Number(process.env.ORCRAWL_MEASURE_SHARE ?? 1);
/** Enough hosts that a domain's turns are no limit; three URLs per page make about ten new links per visit. */
const HOSTS = 400;
const VARIANTS = 3;
const WARM_UP = Math.round(1_500 * SHARE);
const PAGES = Math.round(6_000 * SHARE);
/** The default of the content store: src/store/content/options.ts. */
const GZIP_LEVEL = 3;
const GOAL = 300;
/** /proc counts CPU time in these. */
const TICK_MS = 10;
const parts = new Set((process.env.PODS_SPEED ?? 'plain,full,split,bare').split(','));
const profileFolder = process.env.BENCH_PROFILE_FOLDER;

interface WorkerCost {
  readonly pages: number;
  readonly wallSecs: number;
  /** CPU milliseconds a page, by process. */
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly newLinks: number;
  readonly resumed: number;
  readonly serverCpuMs: number;
}

/** CPU time of a process and all its threads so far. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function configText(folder: string, redis: RedisServer, parsers: number): string {
  return [
    `pods: [{ redis_url: "${redis.url}" }]`,
    `data_dirs: [${folder}/ssd1, ${folder}/ssd2]`,
    `log_dir: ${folder}/logs`,
    'log_level: WARNING',
    'fetchers_per_pod: 1',
    `parsers_per_pod: ${parsers}`,
    'fetcher_workers: 100',
    // Workers on the first core; the web and Redis have the other one.
    `enable_cpu_affinity: ${canPin}`,
    'cores_per_pod: 1',
    'politeness_delay_seconds: 0',
    'email: bench@example.com',
    'seed_file: seeds.txt',
    'allow_private_addresses: true',
    'enable_prometheus: false',
  ].join('\n');
}

async function crawl(parsers: number, tickets: boolean): Promise<WorkerCost> {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-pods-speed-'));
  const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
  const web = await startBroadWeb(HOSTS, { variants: VARIANTS, tickets });
  writeFileSync(join(folder, 'seeds.txt'), web.seeds().join('\n'));
  writeFileSync(join(folder, 'crawl.yaml'), configText(folder, redis, parsers));
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_EXTRA_CA_CERTS: web.caFile };
  if (profileFolder !== undefined) env.NODE_OPTIONS = `--import ${PROFILER}`;
  const orchestrator = spawn(process.execPath, [CLI, 'run', '--config', join(folder, 'crawl.yaml')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
  });
  try {
    return await watch(orchestrator, folder, redis, web, parsers);
  } finally {
    // Workers would drain for a while, beside the next crawl.
    for (const role of ['fetcher', 'parser']) {
      for (const pid of await workersOf(orchestrator, role)) process.kill(pid, 'SIGKILL');
    }
    orchestrator.kill('SIGKILL');
    await until(async () => orchestrator.exitCode !== null || orchestrator.signalCode !== null);
    await web.close();
    await redis.dispose();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
  }
}

/** The orchestrator makes the store; until then there is none to open. */
async function openStore(config: PodsConfig): Promise<RedisFrontier> {
  const found: RedisFrontier[] = [];
  await until(async () => {
    const opened = await openPodFrontier(config, 0, { as: 'guest', warn: () => undefined }).catch(() => undefined);
    if (opened) found.push(opened);
    return opened !== undefined;
  });
  return found[0]!;
}

async function watch(
  orchestrator: ChildProcess,
  folder: string,
  redis: RedisServer,
  web: BroadWeb,
  parsers: number,
): Promise<WorkerCost> {
  const config = await readPodsConfig(join(folder, 'crawl.yaml'), {}, { workingDir: folder });
  const store = await openStore(config);
  try {
    const counters = async (): Promise<PodReading> => {
      if (orchestrator.exitCode !== null) throw new Error(`orcrawl run ended with ${orchestrator.exitCode}`);
      return store.pod.reading();
    };
    await until(async () => (await counters()).done >= WARM_UP);
    const roles = parsers > 0 ? (['fetcher', 'parser'] as const) : (['fetcher'] as const);
    const workers = new Map<string, number>();
    for (const role of roles) for (const pid of await workersOf(orchestrator, role)) workers.set(role, pid);
    const profile = (): void => {
      if (profileFolder !== undefined) for (const pid of workers.values()) process.kill(pid, 'SIGUSR2');
    };
    profile();
    await web.connections();
    const look = async () => ({
      ...(await counters()),
      server: cpuMsOf(redis.pid),
      cpu: [...workers.values()].map(cpuMsOf),
      atMs: performance.now(),
    });
    const first = await look();
    await until(async () => (await counters()).done >= first.done + PAGES);
    const last = await look();
    const { connections, resumed } = await web.connections();
    profile();
    if (profileFolder !== undefined) await new Promise((resume) => setTimeout(resume, 5_000));
    if (last.failed > 0) throw new Error(`${last.failed} pages failed: not a crawl to measure`);
    const pages = last.done - first.done;
    return {
      pages,
      wallSecs: (last.atMs - first.atMs) / 1_000,
      cpuMs: Object.fromEntries([...workers.keys()].map((role, n) => [role, (last.cpu[n]! - first.cpu[n]!) / pages])),
      newLinks: (last.accepted - first.accepted) / pages,
      resumed: resumed / connections,
      serverCpuMs: (last.server - first.server) / pages,
    };
  } finally {
    await store.close();
  }
}

const sumOf = ({ cpuMs }: WorkerCost): number => Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0);

function figureOf(what: string, cost: WorkerCost, goal: string): Figure {
  const each = Object.entries(cost.cpuMs).map(([role, ms]) => `${role} ${ms.toFixed(2)}`);
  const measured =
    `${Math.round(1_000 / sumOf(cost))} pages per CPU-s of the workers (${each.join(' + ')} CPU-ms per page); ` +
    `${cost.pages} pages in ${cost.wallSecs.toFixed(1)} s, ${cost.newLinks.toFixed(1)} new links per page, ` +
    `${Math.round(cost.resumed * 100)} % of handshakes resumed, Redis ${cost.serverCpuMs.toFixed(2)} CPU-ms per page`;
  // Some minutes pass until all is measured.
  console.log(`  ${what}: ${measured}`);
  return { what, measured, goal };
}

async function bareLoops(): Promise<Figure[]> {
  const web = await startWeb('pages', 'https', false, 24);
  try {
    const bare = CONTESTANTS.find(({ name }) => name === 'bare')!;
    return [bare, bareStoring(GZIP_LEVEL)].map((contestant) => {
      const { cpuMs, pages } = runContestant(contestant, web, { node: process.execPath, concurrency: 100 });
      const measured = `${(cpuMs / pages).toFixed(2)} CPU-ms per page, ${Math.round((1_000 * pages) / cpuMs)} pages per CPU-s`;
      return { what: `context, ${contestant.title}; ${pages} pages, start included`, measured, goal: '' };
    });
  } finally {
    await web.close();
  }
}

export async function measure(): Promise<Figure[]> {
  if (!hasRealPages) throw new Error('../shared/data/pages is not here: there is nothing to measure with');
  if (!existsSync(CLI)) throw new Error('dist/ is missing: run npm run build first');
  const how = `extract_text: true, segments, gzip level ${GZIP_LEVEL}, no raw HTML`;
  const figures: Figure[] = [];
  if (parts.has('plain')) {
    figures.push(figureOf(`fetcher alone; ${how}`, await crawl(0, true), `≥ ${GOAL} pages per CPU-s`));
  }
  if (parts.has('full')) {
    figures.push(figureOf('the same, no tickets: every handshake in full', await crawl(0, false), ''));
  }
  if (parts.has('split')) figures.push(figureOf('fetcher and parser', await crawl(1, true), 'the cost of the split'));
  if (parts.has('bare')) figures.push(...(await bareLoops()));
  return figures;
}
