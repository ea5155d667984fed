// A whole crawl on pods for tests and measures: real Redis servers, a synthetic web, `orcrawl run` as a user runs it,
// killed here and there if the plan says so; and a report of what the server saw, the stores hold and the disks have.
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { podOfDomain } from '../../src/pods/topology.js';
import { contentHash, homeDirectory } from '../../src/store/content/names.js';
import { auditVisits } from '../../src/politeness/audit.js';
import { Request } from '../../src/request/request.js';
import { domainOf } from '../../src/request/url.js';
import { type SimwebProcess, startSimwebProcess } from '../../src/testing/index.js';
import type { RedisCluster } from './redis-cluster.js';
import { type RedisServer, startRedis } from './redis-server.js';

export type Victim = 'fetcher' | 'parser' | 'orchestrator' | 'redis';

export interface PodsPlan {
  readonly pods: number;
  readonly fetchers?: number;
  readonly parsers?: number;
  readonly embedded?: boolean;
  /** All pods live in it; it is the caller's to end. */
  readonly cluster?: RedisCluster;
  readonly hosts: number;
  readonly pagesPerHost: number;
  readonly delaySecs?: number;
  readonly maxPages?: number;
  /** Killed one after the other, spread over the crawl. */
  readonly kills?: readonly Victim[];
  readonly random?: () => number;
  /** More lines for the YAML file. */
  readonly more?: string;
  readonly flags?: readonly string[];
  readonly metricsPort?: number;
  readonly seeds?: readonly string[];
  /** Called once, when the first pages are served. */
  readonly during?: (crawl: RunningCrawl) => Promise<void>;
  readonly patienceMs?: number;
}

export interface RunningCrawl {
  readonly folder: string;
  readonly servers: readonly RedisServer[];
  readonly web: SimwebProcess;
  readonly orchestrator: ChildProcess;
  workers(role: 'fetcher' | 'parser'): Promise<number[]>;
}

export interface PodsReport {
  readonly exitCode: number | null;
  readonly output: string;
  readonly expected: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly missing: number;
  /** Pages in a data directory that their hash does not name. */
  readonly wrongDirectory: number;
  readonly byDirectory: readonly number[];
  /** Domains in the store of a pod that does not own them. */
  readonly misplaced: number;
  readonly domainsByPod: readonly number[];
  /** Between the end of one response and the start of the next request of a host, as the server saw it. */
  readonly smallestGapMs: number;
  readonly violations: number;
  /** One of them, with the lines of the visit log around it. */
  readonly violation: unknown;
  readonly audited: number;
  readonly served: number;
  readonly kills: Readonly<Record<Victim, number>>;
  readonly seconds: number;
  readonly logs: readonly string[];
  readonly errors: readonly string[];
}

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const PATIENCE_MS = 120_000;

export async function crawlOnPods(plan: PodsPlan): Promise<PodsReport> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'orcrawl-pods-'));
  const servers =
    plan.embedded || plan.cluster
      ? []
      : await Promise.all(
          Array.from({ length: plan.pods }, () => startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])),
        );
  const web = await startSimwebProcess({
    hosts: plan.hosts,
    pagesPerHost: plan.pagesPerHost,
    pageBytes: 2_000,
    linksPerPage: 12,
    crossHostLinks: 0.2,
    latencyMs: [1, 20],
    compression: 'none',
  });
  let orchestrator: ChildProcess | undefined;
  let output = '';
  const startedMs = performance.now();
  const start = (flags: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [CLI, 'run', '--config', path.join(folder, 'crawl.yaml'), ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, CRAWLER_DEBUG_POD_ASSIGNMENT: 'true' },
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-20_000);
      });
    }
    return child;
  };
  const kills: Record<Victim, number> = { fetcher: 0, parser: 0, orchestrator: 0, redis: 0 };
  try {
    await writeFile(path.join(folder, 'seeds.txt'), `${(plan.seeds ?? [...web.seeds()]).join('\n')}\n`);
    await writeFile(path.join(folder, 'crawl.yaml'), configText(plan, folder, servers));
    orchestrator = start(plan.flags ?? []);
    const expected = [...web.allUrls()];
    if (plan.during) {
      await until(async () => (await web.served()) > 0, plan.patienceMs);
      const current = orchestrator;
      await plan.during({ folder, servers, web, orchestrator: current, workers: (role) => workersOf(current, role) });
    }
    const random = plan.random ?? Math.random;
    for (const [n, victim] of (plan.kills ?? []).entries()) {
      const share = ((expected.length + plan.hosts) * 0.9 * (n + random())) / plan.kills!.length;
      await until(async () => (await web.served()) >= share || orchestrator!.exitCode !== null, plan.patienceMs);
      if (orchestrator.exitCode !== null) break;
      kills[victim] += await strike(victim);
    }
    const code = await exitOf(orchestrator, plan.patienceMs ?? PATIENCE_MS);
    return { exitCode: code, ...(await inspect(plan, folder, servers, web, expected)), output, kills, ...times() };
  } finally {
    if (orchestrator && orchestrator.exitCode === null) {
      orchestrator.kill('SIGKILL');
      await exitOf(orchestrator, PATIENCE_MS).catch(() => undefined);
    }
    await web.close();
    for (const server of servers) await server.dispose();
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  }

  function times() {
    return { seconds: Math.round((performance.now() - startedMs) / 100) / 10 };
  }

  async function strike(victim: Victim): Promise<number> {
    const pick = <T>(list: readonly T[]): T | undefined =>
      list[Math.floor((plan.random ?? Math.random)() * list.length)];
    switch (victim) {
      case 'fetcher':
      case 'parser': {
        const pid = pick(await workersOf(orchestrator!, victim));
        if (pid === undefined) return 0;
        process.kill(pid, 'SIGKILL');
        return 1;
      }
      case 'redis': {
        const server = pick(servers);
        if (!server) return 0;
        await server.stop('SIGKILL');
        await server.start();
        return 1;
      }
      case 'orchestrator': {
        orchestrator!.kill('SIGKILL');
        await exitOf(orchestrator!, PATIENCE_MS);
        orchestrator = start(['--resume', ...(plan.flags ?? []).filter((flag) => flag !== '--fresh')]);
        return 1;
      }
      default:
        return victim satisfies never;
    }
  }
}

function configText(plan: PodsPlan, folder: string, servers: readonly RedisServer[]): string {
  const stores = plan.cluster
    ? [`cluster: { nodes: [${plan.cluster.servers.map(({ url }) => url).join(', ')}] }`, `pod_count: ${plan.pods}`]
    : plan.embedded
      ? Array.from({ length: plan.pods }, (_, pod) => `  - path: ${folder}/store${pod}`)
      : servers.map(({ url }) => `  - redis_url: ${url}`);
  return [
    ...(plan.cluster ? [] : ['pods:']),
    ...stores,
    `data_dirs: [${folder}/ssd1, ${folder}/ssd2]`,
    `log_dir: ${folder}/logs`,
    `fetchers_per_pod: ${plan.fetchers ?? 1}`,
    `parsers_per_pod: ${plan.parsers ?? 0}`,
    'fetcher_workers: 40',
    'enable_cpu_affinity: false',
    `politeness_delay_seconds: ${plan.delaySecs ?? 0}`,
    'email: test@example.com',
    'seed_file: seeds.txt',
    'allow_private_addresses: true',
    `enable_prometheus: ${plan.metricsPort !== undefined}`,
    `prometheus_port: ${plan.metricsPort ?? 8001}`,
    'lease_seconds: 20',
    ...(plan.maxPages === undefined ? [] : [`max_pages: ${plan.maxPages}`]),
    plan.more ?? '',
  ].join('\n');
}

async function inspect(
  plan: PodsPlan,
  folder: string,
  servers: readonly RedisServer[],
  web: SimwebProcess,
  expected: readonly string[],
) {
  const byUrl = new Map<string, number>();
  const byDirectory = [0, 0];
  let wrongDirectory = 0;
  for (const [index, name] of ['ssd1', 'ssd2'].entries()) {
    for (const key of await storedKeys(path.join(folder, name, 'content'))) {
      byUrl.set(key, (byUrl.get(key) ?? 0) + 1);
      byDirectory[index]!++;
      if (homeDirectory(contentHash(key), 2) !== index) wrongDirectory++;
    }
  }
  const stored = [...byUrl.values()].reduce((sum, count) => sum + count, 0);
  const domainsByPod: number[] = [];
  let misplaced = 0;
  for (const [pod, server] of servers.entries()) {
    const domains = await domainsIn(server);
    domainsByPod.push(domains.length);
    misplaced += domains.filter((domain) => podOfDomain(domain, plan.pods) !== pod).length;
  }
  const audit = await auditVisits(path.join(folder, 'logs', 'visits'));
  const logs = (await readdir(path.join(folder, 'logs'), { recursive: true })).filter((name) => name.endsWith('.log'));
  const errors: string[] = [];
  for (const file of logs) {
    const text = await readFile(path.join(folder, 'logs', file), 'utf8');
    errors.push(...text.split('\n').filter((line) => line.includes('"level":"ERROR"')));
  }
  const missing = expected.filter((url) => !byUrl.has(new Request({ url }).uniqueKey)).length;
  return {
    expected: expected.length,
    stored,
    duplicates: stored - byUrl.size,
    missing,
    wrongDirectory,
    byDirectory,
    misplaced,
    domainsByPod,
    smallestGapMs: await smallestGap(web),
    violations: audit.violationCount,
    violation: audit.violations[0] && (await linesAround(path.join(folder, 'logs', 'visits'), audit.violations[0])),
    audited: audit.requests,
    served: await web.served(),
    logs: logs.sort(),
    errors,
  };
}

/** What the visit log says of a domain in the seconds before and after a violation. */
async function linesAround(folder: string, violation: { domain: string; startMs: number; gapMs: number }) {
  const lines: string[] = [];
  for (const file of await readdir(folder, { recursive: true })) {
    if (!file.endsWith('.tsv')) continue;
    for (const line of (await readFile(path.join(folder, file), 'utf8')).split('\n')) {
      const [start, , domain] = line.split('\t');
      if (domain === violation.domain && Math.abs(Number(start) - violation.startMs) < 2_000) lines.push(line);
    }
  }
  return { ...violation, lines: lines.sort() };
}

/** The unique keys in all indexes of a content folder. */
export async function storedKeys(folder: string): Promise<string[]> {
  const keys: string[] = [];
  for (const file of await readdir(folder).catch(() => [])) {
    if (!/\.cdxj(\.tail)?$/.test(file) || file.includes('.fates.')) continue;
    for (const line of (await readFile(path.join(folder, file), 'utf8')).split('\n')) {
      if (line === '') continue;
      const entry = JSON.parse(line.slice(line.indexOf('{'))) as { url: string; key?: string };
      keys.push(entry.key ?? new Request({ url: entry.url }).uniqueKey);
    }
  }
  return keys;
}

/** Every domain the store of a pod ever accepted a URL of. */
async function domainsIn({ url }: RedisServer): Promise<string[]> {
  const { Redis } = createRequire(import.meta.url)('ioredis') as typeof import('ioredis');
  const client = new Redis(url);
  try {
    const domains: string[] = [];
    for (const key of await client.keysBuffer('d:*')) domains.push(...(await client.hkeys(key)));
    return domains;
  } finally {
    client.disconnect();
  }
}

async function smallestGap(web: SimwebProcess): Promise<number> {
  const lastEnd = new Map<number, number>();
  let smallest = Infinity;
  for (const { host, startMs, endMs } of await web.requests({})) {
    smallest = Math.min(smallest, startMs - (lastEnd.get(host) ?? -Infinity));
    lastEnd.set(host, Math.max(endMs ?? startMs, lastEnd.get(host) ?? 0));
  }
  return smallest;
}

/** The pids of an orchestrator's workers of one role, by the name they give themselves. */
export async function workersOf({ pid }: Pick<ChildProcess, 'pid'>, role: string): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const found: number[] = [];
  for (const child of children.split(' ').filter(Boolean)) {
    const title = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '');
    if (title.startsWith(`orcrawl ${role}`)) found.push(Number(child));
  }
  return found;
}

async function exitOf(child: ChildProcess, patienceMs: number): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the crawl did not end in ${patienceMs} ms`)), patienceMs);
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}

export async function until(condition: () => boolean | Promise<boolean>, patienceMs = PATIENCE_MS): Promise<void> {
  for (const deadlineMs = performance.now() + patienceMs; !(await condition());) {
    if (performance.now() > deadlineMs) throw new Error('the crawl made no progress');
    await new Promise((resume) => setTimeout(resume, 50));
  }
}

/** Of an URL, the pod that owns it. */
export function podOf(url: string, pods: number): number {
  return podOfDomain(domainOf(url), pods);
}
