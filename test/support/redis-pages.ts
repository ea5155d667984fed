// What the pages of a real crawl cost Redis: `orcrawl run` with two pods on two servers, from its start to its end, with
// seeds, robots.txt, heartbeats and polls. Counted by the servers themselves, not by the crawler.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackStateNumbers } from '../../src/frontier/redis/state-numbers.js';
import { type SimwebProcess, startSimwebProcess } from '../../src/testing/index.js';
import { type RedisServer, startRedis } from './redis-server.js';

export interface PagesPlan {
  readonly hosts: number;
  /** Ten times as many URLs in all as pages are visited: then a page has ten new links on average. */
  readonly pagesPerHost: number;
  readonly maxPages: number;
}

/** Sums over both servers. */
export interface PagesCost {
  readonly exitCode: number | null;
  readonly output: string;
  readonly pages: number;
  readonly seconds: number;
  /** URLs that were new. */
  readonly accepted: number;
  /** Commands sent by clients: a script call is one. */
  readonly sent: number;
  readonly inScripts: number;
  readonly serverCpuMs: number;
  /** How often each command ran, in scripts or not. */
  readonly commands: ReadonlyMap<string, number>;
  /** Percentiles of a script call's time by the clock, the slower server's. */
  readonly scriptMs: { readonly p50: number; readonly p99: number };
  readonly links: {
    /** On the pages that were served. */
    readonly onPages: number;
    /** Without the repeats on each page. */
    readonly distinct: number;
    /** That reached a store, seeds and robots.txt included. */
    readonly offered: number;
  };
  /** CPU of one SADD in a Lua loop after the crawl: what this machine costs now. */
  readonly saddMicros: number;
}

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const LINKS_A_PAGE = 100;

interface ServerReading {
  readonly cpuMs: number;
  readonly calls: ReadonlyMap<string, number>;
  readonly accepted: number;
  readonly done: number;
  readonly offered: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Crawls and reports; the servers are new, so whatever they count is the crawl's. */
export async function crawlOnTwoServers(plan: PagesPlan): Promise<PagesCost> {
  const folder = mkdtempSync(join(os.tmpdir(), 'orcrawl-pages-'));
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  const servers = [await startRedis(durable), await startRedis(durable)];
  const web = await startSimwebProcess({
    hosts: plan.hosts,
    pagesPerHost: plan.pagesPerHost,
    pageBytes: 16_000,
    linksPerPage: LINKS_A_PAGE,
    crossHostLinks: 0.2,
    compression: 'none',
  });
  try {
    const seeds = Array.from({ length: plan.hosts }, (_, host) => web.url(host));
    writeFileSync(join(folder, 'seeds.txt'), `${seeds.join('\n')}\n`);
    writeFileSync(join(folder, 'crawl.yaml'), configOf(plan, folder, servers));
    const before = await Promise.all(servers.map(reading));
    const startedMs = performance.now();
    let output = '';
    const child = spawn(process.execPath, [CLI, 'run', '--config', join(folder, 'crawl.yaml')]);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    const [exitCode] = (await once(child, 'exit')) as [number | null];
    const seconds = (performance.now() - startedMs) / 1_000;
    const after = await Promise.all(servers.map(reading));
    const commands = countedBetween(before, after);
    const inside = commandsOfScripts();
    const sum = (of: (one: ServerReading) => number): number => after.reduce((all, one) => all + of(one), 0);
    const total = (which: (name: string) => boolean): number =>
      [...commands].reduce((all, [name, count]) => (which(name) ? all + count : all), 0);
    return {
      ...{ exitCode, output, seconds, commands },
      pages: sum(({ done }) => done),
      accepted: sum(({ accepted }) => accepted),
      sent: total((name) => !inside.has(name)),
      inScripts: total((name) => inside.has(name)),
      serverCpuMs: sum(({ cpuMs }) => cpuMs) - before.reduce((all, { cpuMs }) => all + cpuMs, 0),
      scriptMs: {
        p50: Math.max(...after.map(({ p50Ms }) => p50Ms)),
        p99: Math.max(...after.map(({ p99Ms }) => p99Ms)),
      },
      links: { ...(await linksServed(web)), offered: sum(({ offered }) => offered) },
      saddMicros: await yardstick(servers[0]!),
    };
  } finally {
    await web.close();
    for (const server of servers) await server.dispose();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

function configOf(plan: PagesPlan, folder: string, servers: readonly RedisServer[]): string {
  return [
    'pods:',
    ...servers.map(({ url }) => `  - redis_url: ${url}`),
    `data_dirs: [${folder}/data]`,
    `log_dir: ${folder}/logs`,
    'fetchers_per_pod: 1',
    'parsers_per_pod: 0',
    'enable_cpu_affinity: false',
    'politeness_delay_seconds: 0',
    'email: measure@example.com',
    'seed_file: seeds.txt',
    'allow_private_addresses: true',
    'prometheus_port: 0',
    `max_pages: ${plan.maxPages}`,
  ].join('\n');
}

async function withClient<T>({ url }: RedisServer, use: (client: import('ioredis').Redis) => Promise<T>): Promise<T> {
  const { Redis } = createRequire(import.meta.url)('ioredis') as typeof import('ioredis');
  const client = new Redis(url, { protocol: 2 });
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

function reading(server: RedisServer): Promise<ServerReading> {
  return withClient(server, async (client) => {
    const info = await client.info('everything');
    const number = (pattern: RegExp): number => Number(pattern.exec(info)?.[1] ?? 0);
    const calls = new Map<string, number>();
    for (const [, name, count] of info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) calls.set(name!, Number(count));
    const { accepted, done, offered } = unpackStateNumbers(await client.hgetBuffer('state', 'numbers'));
    return {
      cpuMs: cpuSecondsIn(info) * 1_000,
      ...{ calls, accepted, done, offered },
      p50Ms: number(/^latency_percentiles_usec_evalsha:p50=([\d.]+)/m) / 1_000,
      p99Ms: number(/^latency_percentiles_usec_evalsha:.*?,p99=([\d.]+)/m) / 1_000,
    };
  });
}

function cpuSecondsIn(info: string): number {
  return ['user', 'sys'].reduce(
    (sum, kind) => sum + Number(new RegExp(`^used_cpu_${kind}:(.+)$`, 'm').exec(info)![1]),
    0,
  );
}

/** A reading's own commands are not the crawl's: its connection's INFO, its INFO and its HGET. */
const OF_A_READING = new Map([
  ['info', 2],
  ['hget', 1],
]);

function countedBetween(before: readonly ServerReading[], after: readonly ServerReading[]): Map<string, number> {
  const commands = new Map<string, number>();
  after.forEach(({ calls }, i) => {
    for (const [name, count] of calls) {
      const more = count - (before[i]!.calls.get(name) ?? 0) - (OF_A_READING.get(name) ?? 0);
      if (more > 0) commands.set(name, (commands.get(name) ?? 0) + more);
    }
  });
  return commands;
}

const LUA = new URL('../../src/frontier/redis/lua/', import.meta.url);
/** Sent by clients now and then, and also used in scripts that run once or once a second: all count as sent. */
const ALSO_SENT = new Set(['get', 'set', 'hgetall']);

/** The server counts a command of a script like one of a client. Few are both: those are told here. */
function commandsOfScripts(): Set<string> {
  const names = new Set<string>();
  for (const file of readdirSync(LUA)) {
    const text = readFileSync(new URL(file, LUA), 'utf8');
    for (const [, name] of text.matchAll(/(?:call|each500)\('([A-Z]+)'/g)) names.add(name!.toLowerCase());
  }
  for (const name of ALSO_SENT) names.delete(name);
  return names;
}

async function linksServed(web: SimwebProcess): Promise<{ onPages: number; distinct: number }> {
  let onPages = 0;
  let distinct = 0;
  for (const { host, page, status } of await web.requests({})) {
    if (page === undefined || status !== 200) continue;
    const links = web.linksOf(host, page).map((url) => url.replace(/#.*$/, ''));
    onPages += links.length;
    distinct += new Set(links).size;
  }
  return { onPages, distinct };
}

function yardstick(server: RedisServer): Promise<number> {
  return withClient(server, async (client) => {
    const script = "for i = 1, 2000 do redis.call('SADD', 'c:' .. i % 200, ARGV[1] * 2000000007 + i * 1000003) end";
    const before = cpuSecondsIn(await client.info('cpu'));
    for (let i = 0; i < 50; i++) await client.eval(script, 0, i);
    return (cpuSecondsIn(await client.info('cpu')) - before) * 10;
  });
}
