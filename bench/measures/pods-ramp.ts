// `npm run measure -- pods-ramp`: the same crawl on 1, 2, 4, 8 and 16 pods of this machine: embedded, on Redis by TCP, on
// Redis by unix socket, and on a Redis Cluster of six servers. What a page costs the workers and Redis, how long a link to
// another pod is under way, connections and memory. Beside the most pods, as many crawls of one pod each, at the same time:
// they share the machine as the pods do, but no links, so what they cost more than two pods is the machine's part.
// RAMP_STORES, RAMP_PODS and RAMP_PAGES (per pod) measure a part.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type SimwebProcess, startSimwebProcess } from '../../src/testing/index.js';
import { podOf, until, workersOf } from '../../test/support/pods-crawl.js';
import { cpuMsOf } from '../../test/support/processes.js';
import { startCluster } from '../../test/support/redis-cluster.js';
import { type RedisServer, startRedis } from '../../test/support/redis-server.js';
import type { Figure } from '../measure.js';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const STORES = ['embedded', 'Redis by TCP', 'Redis by unix socket', 'Redis Cluster'] as const;
type Store = (typeof STORES)[number];
const listOf = (name: string): string[] | undefined => process.env[name]?.split(',').map((one) => one.trim());
const stores = STORES.filter((store) => listOf('RAMP_STORES')?.includes(store) ?? true);
const podCounts = listOf('RAMP_PODS')?.map(Number) ?? [1, 2, 4, 8, 16];
/** Per pod, as many before it is measured: V8 compiles for a thousand pages and more, so each worker crawls the same. */
const PAGES_PER_POD = Number(process.env.RAMP_PAGES ?? 1_500);
const HOSTS = 400;
const GOAL = 1.15;
const PATIENCE_MS = 900_000;
/** Hosts of the chain, whose every page leads to a page on the next one. */
const CHAIN_HOSTS = 6;
/** So many links between pods are timed, if they come in time: the crawl goes on meanwhile. */
const HOPS = 40;
/** A worker that gets no CPU to start with does not hold up the others for longer. */
const WARM_WITHIN_MS = 180_000;
const HOPS_WITHIN_MS = 60_000;

export const isPart = stores.length < STORES.length || listOf('RAMP_PODS') !== undefined;

/** One crawl of all the pods, or a crawl of its own for each. */
type Placement = 'together' | 'apart';

interface Cost {
  readonly store: Store;
  readonly pods: number;
  readonly placement: Placement;
  readonly pages: number;
  /** CPU milliseconds per page. */
  readonly workers: number;
  readonly orchestrator: number;
  readonly redis: number;
  /** Milliseconds from the end of a response to the request of its link on another pod. */
  readonly hops: readonly number[];
  readonly connections: number;
  readonly memoryMb: number;
}

/** What a process adds to the memory in use: pages it shares count by their share. */
function memoryMbOf(pid: number): number {
  const [, kb = '0'] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
  return Number(kb) / 1_024;
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** A chain of pages, each with one link, to a host of another pod where there is one. Nothing else is queued there. */
async function startChain(pods: number) {
  const hops: number[] = [];
  let lastEndMs = 0;
  let port = 0;
  let round = 0;
  // Not before the workers are warm and the robots.txt of each host was read.
  let isTiming = false;
  const hosts: string[] = [];
  const urlOf = (n: number): string => `http://${hosts[n % hosts.length]}:${port}/hop/${n}`;
  const server = createServer((request, response) => {
    const [, n] = /^\/hop\/(\d+)$/.exec(request.url ?? '') ?? [];
    if (n === undefined) return void response.writeHead(404).end();
    if (isTiming && Number(n) > round) hops.push(performance.now() - lastEndMs);
    round = Number(n);
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<a href="${urlOf(Number(n) + 1)}">on</a>`, () => (lastEndMs = performance.now()));
  });
  await once(server.listen(0, '0.0.0.0'), 'listening');
  ({ port } = server.address() as AddressInfo);
  for (let n = 1; n < 250 && hosts.length < CHAIN_HOSTS; n++) {
    const host = `127.0.9.${n}`;
    const [first, last] = [hosts[0], hosts.at(-1)].map((one) => one && podOf(`http://${one}/`, pods));
    const own = podOf(`http://${host}/`, pods);
    const isLast = hosts.length === CHAIN_HOSTS - 1;
    if (pods > 1 && (own === last || (isLast && own === first))) continue;
    hosts.push(host);
  }
  const isWarm = () => round >= hosts.length;
  return { seed: urlOf(0), hops, isWarm, time: () => void (isTiming = true), close: () => void server.close() };
}

/** `crawls`: the lines that name the stores in the configuration of each crawl. */
async function startStores(store: Store, pods: number, placement: Placement, folder: string) {
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  const crawlsOf = (places: readonly string[]): string[][] => {
    const lines = places.map((place) => `  - ${place}`);
    return placement === 'together' ? [['pods:', ...lines]] : lines.map((line) => ['pods:', line]);
  };
  if (store === 'embedded') {
    const places = Array.from({ length: pods }, (_, pod) => `path: ${folder}/store${pod}`);
    return { crawls: crawlsOf(places), servers: [], dispose: async () => {} };
  }
  if (store === 'Redis Cluster') {
    const cluster = await startCluster(['--appendfsync', 'always']);
    const nodes = cluster.servers.map(({ url }) => url).join(', ');
    const crawls = [[`cluster: { nodes: [${nodes}] }`, `pod_count: ${pods}`]];
    return { crawls, servers: cluster.servers, dispose: () => cluster.dispose() };
  }
  const servers: RedisServer[] = [];
  const sockets: string[] = [];
  for (let pod = 0; pod < pods; pod++) {
    const socket = join(folder, `${pod}.sock`);
    sockets.push(socket);
    servers.push(await startRedis([...durable, ...(store === 'Redis by unix socket' ? ['--unixsocket', socket] : [])]));
  }
  const urls = store === 'Redis by TCP' ? servers.map(({ url }) => url) : sockets.map((socket) => `unix://${socket}`);
  return {
    crawls: crawlsOf(urls.map((url) => `redis_url: ${url}`)),
    servers,
    async dispose() {
      for (const server of servers) await server.dispose();
    },
  };
}

function connectionsOf({ port }: RedisServer): number {
  const { stdout } = spawnSync('redis-cli', ['-p', String(port), 'CLIENT', 'LIST', 'TYPE', 'normal'], {
    encoding: 'utf8',
  });
  // Without the one that asks.
  return stdout.trim().split('\n').length - 1;
}

async function crawl(store: Store, pods: number, placement: Placement): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-ramp-'));
  const warmUp = PAGES_PER_POD * pods;
  const pages = PAGES_PER_POD * pods;
  const placed = await startStores(store, pods, placement, folder);
  const chain = await startChain(pods);
  const web = await startSimwebProcess({
    // Far more than is crawled: the chain is timed meanwhile, and a web that has come to its end would end the crawl.
    ...{ hosts: HOSTS, pagesPerHost: Math.ceil(((warmUp + pages) * 20) / HOSTS), pageBytes: 20_000, linksPerPage: 30 },
    ...{ crossHostLinks: 0.2, latencyMs: [1, 20], compression: 'none' },
  });
  const seeds = Array.from({ length: HOSTS }, (_, host) => web.url(host));
  if (placement === 'together') seeds.unshift(chain.seed);
  writeFileSync(join(folder, 'seeds.txt'), `${seeds.join('\n')}\n`);
  const orchestrators = placed.crawls.map((lines, n) => {
    const config = join(folder, `crawl${n}.yaml`);
    writeFileSync(config, [...lines, ...settings(folder, n)].join('\n'));
    return spawn(process.execPath, [CLI, 'run', '--config', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  });
  const fetchersOf = async () => (await Promise.all(orchestrators.map((one) => workersOf(one, 'fetcher')))).flat();
  try {
    const isWarm = async () =>
      (await web.served()) >= warmUp && (placement === 'apart' || (await isEachWarm(web, pods)));
    const isChained = () => placement === 'apart' || chain.isWarm();
    const startedMs = performance.now();
    const isLate = () => performance.now() - startedMs > WARM_WITHIN_MS;
    await until(async () => isLate() || (isChained() && (await isWarm())), PATIENCE_MS);
    chain.time();
    const fetchers = await fetchersOf();
    if (fetchers.length !== pods) throw new Error(`${fetchers.length} fetchers for ${pods} pods`);
    const cost = await watch(orchestrators, fetchers, web, placed.servers, pages);
    const hasHops = () => chain.hops.length >= HOPS || orchestrators.some(({ exitCode }) => exitCode !== null);
    if (placement === 'together') await until(hasHops, HOPS_WITHIN_MS).catch(() => undefined);
    return { store, pods, placement, ...cost, hops: chain.hops.slice().sort((a, b) => a - b) };
  } finally {
    // Workers would drain for a while, beside the next crawl.
    for (const pid of await fetchersOf()) process.kill(pid, 'SIGKILL');
    for (const orchestrator of orchestrators) {
      orchestrator.kill('SIGKILL');
      await until(() => orchestrator.exitCode !== null || orchestrator.signalCode !== null);
    }
    chain.close();
    await web.close();
    await placed.dispose();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
  }
}

/** Whether the worker of each pod has had half of its share of the pages. */
async function isEachWarm(web: SimwebProcess, pods: number): Promise<boolean> {
  const served = new Array<number>(pods).fill(0);
  for (let host = 0; host < HOSTS; host++) served[podOf(web.url(host), pods)]! += await web.served(host);
  return served.every((count) => count >= PAGES_PER_POD / 2);
}

function settings(folder: string, crawl: number): string[] {
  return [
    `data_dirs: [${folder}/ssd${crawl}]`,
    `log_dir: ${folder}/logs${crawl}`,
    'log_level: WARNING',
    'fetchers_per_pod: 1',
    'parsers_per_pod: 0',
    'fetcher_workers: 40',
    'enable_cpu_affinity: false',
    'politeness_delay_seconds: 0',
    'email: bench@example.com',
    'seed_file: seeds.txt',
    'allow_private_addresses: true',
    'enable_prometheus: false',
  ];
}

async function watch(
  orchestrators: readonly ChildProcess[],
  fetchers: readonly number[],
  web: SimwebProcess,
  servers: readonly RedisServer[],
  pages: number,
): Promise<Omit<Cost, 'store' | 'pods' | 'placement' | 'hops'>> {
  const served = async (): Promise<number> => {
    const ended = orchestrators.find(({ exitCode }) => exitCode !== null);
    if (ended !== undefined) throw new Error(`orcrawl run ended with ${ended.exitCode}`);
    return web.served();
  };
  const managers = orchestrators.map(({ pid }) => pid!);
  const look = async () => ({
    pages: await served(),
    workers: sumOf(fetchers.map(cpuMsOf)),
    orchestrator: sumOf(managers.map(cpuMsOf)),
    redis: sumOf(servers.map(({ pid }) => cpuMsOf(pid))),
  });
  const first = await look();
  await until(async () => (await served()) >= first.pages + pages, PATIENCE_MS);
  const last = await look();
  const count = last.pages - first.pages;
  return {
    pages: count,
    workers: (last.workers - first.workers) / count,
    orchestrator: (last.orchestrator - first.orchestrator) / count,
    redis: (last.redis - first.redis) / count,
    connections: sumOf(servers.map(connectionsOf)),
    memoryMb: sumOf([...managers, ...fetchers].map(memoryMbOf)),
  };
}

const podsOf = (pods: number): string => `${pods} ${pods === 1 ? 'pod' : 'pods'}`;

function figureOf({ store, pods, placement, pages, workers, orchestrator, redis, hops, ...rest }: Cost): Figure {
  const at = (share: number): string => (hops[Math.floor(hops.length * share)] ?? NaN).toFixed(0);
  const link = pods === 1 ? 'a link' : 'a link to another pod';
  const hop =
    `${link} is fetched after ${at(0.5)} ms (median of ${hops.length}; p95 ${at(0.95)}); ` +
    `${rest.connections} connections; `;
  return {
    what: placement === 'together' ? `${store}, ${podsOf(pods)}` : `${store}, ${pods} crawls of one pod, at once`,
    measured:
      `${Math.round(1_000 / workers)} pages per CPU-s of the workers (${workers.toFixed(2)} CPU-ms per page), ` +
      `Redis ${redis.toFixed(2)} CPU-ms per page, orchestrator ${orchestrator.toFixed(2)}; ` +
      `${placement === 'together' ? hop : ''}${Math.round(rest.memoryMb)} MB; ${pages} pages`,
    goal: '',
  };
}

/** Workers, Redis and orchestrators together: what moves from one to the other is not saved. */
const wholeOf = ({ workers, redis, orchestrator }: Cost): number => workers + redis + orchestrator;

/** What `most` costs beside `least`. A cluster has no part of its own for each of several crawls. */
async function comparisons(store: Store, least: Cost, most: Cost, show: (cost: Cost) => Figure): Promise<Figure[]> {
  const what = `${store}: CPU per page at ${most.pods} pods beside`;
  const times = (other: Cost): string => `${(wholeOf(most) / wholeOf(other)).toFixed(2)} ×`;
  const whole = { what: `${what} ${least.pods}, all processes together`, measured: times(least), goal: `≤ ${GOAL} ×` };
  if (store === 'Redis Cluster') return [whole];
  const apart = await crawl(store, most.pods, 'apart');
  const ours = { what: `${what} ${most.pods} crawls of one pod, at once`, measured: times(apart), goal: `≤ ${GOAL} ×` };
  return [show(apart), whole, ours];
}

export async function measure(): Promise<Figure[]> {
  const figures: Figure[] = [];
  const show = (cost: Cost): Figure => {
    const figure = figureOf(cost);
    console.log(`  ${figure.what}: ${figure.measured}`);
    return figure;
  };
  for (const store of stores) {
    const costs: Cost[] = [];
    for (const pods of podCounts) {
      const cost = await crawl(store, pods, 'together');
      costs.push(cost);
      figures.push(show(cost));
    }
    const [two, most] = [costs.find(({ pods }) => pods === 2), costs.at(-1)];
    if (two !== undefined && most !== undefined && most.pods > 2) {
      figures.push(...(await comparisons(store, two, most, show)));
    }
  }
  return figures;
}
