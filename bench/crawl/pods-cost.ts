// What a page costs the workers of one pod and its store in CPU time: `orcrawl run`, one fetcher on one core, the real
// pages over HTTPS on many hosts with a new connection per page, texts into segments. Between two page counts, after the
// start and the warm-up.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until, workersOf } from '../../test/support/pods-crawl.js';
import { cpuMsOf } from '../../test/support/processes.js';
import { startCluster } from '../../test/support/redis-cluster.js';
import { startRedis } from '../../test/support/redis-server.js';
import { type BroadWeb, canPin, startBroadWeb } from './webs.js';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const PROFILER = fileURLToPath(new URL('../crawl/cpu-profile.mjs', import.meta.url));
const SHARE = Number(process.env.ORCRAWL_MEASURE_SHARE ?? 1);
/** Enough hosts that a domain's turns are no limit; three URLs per page make about ten new links per visit. */
export const HOSTS = 400;
export const VARIANTS = 3;
export const WARM_UP = Math.round(1_500 * SHARE);
export const PAGES = Math.round(6_000 * SHARE);
const profileFolder = process.env.BENCH_PROFILE_FOLDER;

export type PodStore = 'Redis' | 'Redis Cluster' | 'embedded';

export interface PodsCost {
  readonly pages: number;
  readonly wallSecs: number;
  /** CPU milliseconds a page, by process. */
  readonly workersMs: Readonly<Record<string, number>>;
  readonly storeMs: number;
  readonly newLinks: number;
  readonly resumed: number;
}

/** What `orcrawl status` says of the pod. */
interface Reading {
  readonly done: number;
  readonly failed: number;
  readonly accepted: number;
}

/** The servers of a pod's store, and the lines that name them in a configuration. */
interface Placed {
  readonly lines: readonly string[];
  readonly pids: readonly number[];
  dispose(): Promise<void>;
}

async function startStore(store: PodStore, folder: string): Promise<Placed> {
  if (store === 'embedded') {
    return { lines: [`pods: [{ path: "${folder}/store" }]`], pids: [], dispose: async () => {} };
  }
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  if (store === 'Redis') {
    const redis = await startRedis(durable);
    return { lines: [`pods: [{ redis_url: "${redis.url}" }]`], pids: [redis.pid], dispose: () => redis.dispose() };
  }
  const cluster = await startCluster(durable);
  const nodes = cluster.servers.map(({ url }) => url).join(', ');
  return {
    lines: [`cluster: { nodes: [${nodes}] }`, 'pod_count: 1'],
    pids: cluster.servers.map(({ pid }) => pid),
    dispose: () => cluster.dispose(),
  };
}

function configText(folder: string, store: readonly string[], parsers: number): string {
  return [
    ...store,
    `data_dirs: [${folder}/ssd1, ${folder}/ssd2]`,
    `log_dir: ${folder}/logs`,
    'log_level: WARNING',
    'fetchers_per_pod: 1',
    `parsers_per_pod: ${parsers}`,
    'fetcher_workers: 100',
    // Workers on the first core; the web and the store have the other one.
    `enable_cpu_affinity: ${canPin}`,
    'cores_per_pod: 1',
    'politeness_delay_seconds: 0',
    'email: bench@example.com',
    'seed_file: seeds.txt',
    'allow_private_addresses: true',
    'enable_prometheus: false',
  ].join('\n');
}

export interface PodsCrawl {
  readonly store?: PodStore;
  readonly parsers?: number;
  /** Whether TLS sessions can be resumed. */
  readonly tickets?: boolean;
}

export async function podsCost({ store = 'Redis', parsers = 0, tickets = true }: PodsCrawl = {}): Promise<PodsCost> {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-pods-cost-'));
  const placed = await startStore(store, folder);
  const web = await startBroadWeb(HOSTS, { variants: VARIANTS, tickets });
  const config = join(folder, 'crawl.yaml');
  writeFileSync(join(folder, 'seeds.txt'), web.seeds().join('\n'));
  writeFileSync(config, configText(folder, placed.lines, parsers));
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_EXTRA_CA_CERTS: web.caFile };
  if (profileFolder !== undefined) env.NODE_OPTIONS = `--import ${PROFILER}`;
  const orchestrator = spawn(process.execPath, [CLI, 'run', '--config', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env,
  });
  const roles = parsers > 0 ? ['fetcher', 'parser'] : ['fetcher'];
  try {
    return await watch(orchestrator, config, roles, placed.pids, web);
  } finally {
    // Workers would drain for a while, beside the next crawl.
    for (const role of roles) for (const pid of await pidsOf(orchestrator, role)) process.kill(pid, 'SIGKILL');
    orchestrator.kill('SIGKILL');
    await until(async () => orchestrator.exitCode !== null || orchestrator.signalCode !== null);
    await web.close();
    await placed.dispose();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
  }
}

const pidsOf = (orchestrator: ChildProcess, role: string): Promise<number[]> =>
  workersOf(orchestrator, role as 'fetcher' | 'parser');

/** Undefined until the pod can be read. */
async function readingOf(config: string): Promise<Reading | undefined> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [CLI, 'status', '--config', config, '--json']);
    return (JSON.parse(stdout) as { pods: { reading?: Reading }[] }).pods[0]?.reading;
  } catch {
    return undefined;
  }
}

async function watch(
  orchestrator: ChildProcess,
  config: string,
  roles: readonly string[],
  servers: readonly number[],
  web: BroadWeb,
): Promise<PodsCost> {
  let connections = 0;
  let resumed = 0;
  /** Pages count when they are done: a fetcher may be ahead of its parser. The reading is as old at both looks. */
  const look = async () => {
    let reading: Reading | undefined;
    while (reading === undefined) {
      if (orchestrator.exitCode !== null) throw new Error(`orcrawl run ended with ${orchestrator.exitCode}`);
      reading = await readingOf(config);
    }
    const since = await web.connections();
    connections += since.connections;
    resumed += since.resumed;
    return {
      ...reading,
      ...{ connections, resumed },
      store: servers.reduce((sum, pid) => sum + cpuMsOf(pid), 0),
      workers: [...workers.values()].map(cpuMsOf),
      atMs: performance.now(),
    };
  };
  const workers = new Map<string, number>();
  while ((await look()).done < WARM_UP);
  for (const role of roles) for (const pid of await pidsOf(orchestrator, role)) workers.set(role, pid);
  const profile = (): void => {
    if (profileFolder !== undefined) for (const pid of workers.values()) process.kill(pid, 'SIGUSR2');
  };
  profile();
  const first = await look();
  let last = await look();
  while (last.done < first.done + PAGES) last = await look();
  profile();
  if (profileFolder !== undefined) await new Promise((resume) => setTimeout(resume, 5_000));
  if (last.failed > 0) throw new Error(`${last.failed} pages failed: not a crawl to measure`);
  const pages = last.done - first.done;
  const per = (from: number, to: number): number => (to - from) / pages;
  return {
    pages,
    wallSecs: (last.atMs - first.atMs) / 1_000,
    workersMs: Object.fromEntries(roles.map((role, n) => [role, per(first.workers[n]!, last.workers[n]!)])),
    storeMs: per(first.store, last.store),
    newLinks: per(first.accepted, last.accepted),
    // A handshake ends after its connection was counted, or begins before the first look.
    resumed: Math.min(1, (last.resumed - first.resumed) / (last.connections - first.connections)),
  };
}
