// `orcrawl watch`, on the command line and on pods, killed again and again while its pages change; judged by a server and
// a reader of JSON lines of their own, which share no code with the watch.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openLmdbMemory } from '../../src/fresh/memory/memory-lmdb.js';
import { startRedis } from '../../test/support/redis-server.js';
import type { Figure } from '../measure.js';
import { randomFrom } from './schedule-simulation.js';

/** Of each way to watch. */
const KILLS = Number(process.env.FRESH_KILLS ?? 20);
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'];
const PAGES_PER_HOST = 6;
const TOUCH_MS = 600;
const PATIENCE_MS = 240_000;

interface Told {
  readonly url: string;
  readonly change: string;
  readonly at: string;
  readonly diff?: string;
}

interface Page {
  version: number;
  isGone: boolean;
  /** Versions that were sent in full, or confirmed. */
  readonly sent: Set<number>;
  /** When it was asked for, in seconds since 1970. */
  readonly askedAt: number[];
}

interface Web {
  readonly port: number;
  readonly pages: ReadonlyMap<string, Page>;
  touch(random: () => number): void;
  close(): Promise<void>;
}

/** On each host the first page links to all of them, and to the next host. Some have validators, some come and go. */
async function startWeb(hosts: readonly string[]): Promise<Web> {
  const names = hosts.flatMap((host) => Array.from({ length: PAGES_PER_HOST }, (_, n) => `${host}/${n}`));
  const pages = new Map(
    names.map((name) => [name, { version: 1, isGone: false, sent: new Set<number>(), askedAt: [] as number[] }]),
  );
  const server = createServer(({ url = '', headers }, response) => {
    const host = headers.host!.split(':')[0]!;
    const page = pages.get(host + url);
    if (!page) return response.writeHead(404).end();
    page.askedAt.push(Date.now() / 1000);
    if (page.isGone) return response.writeHead(404, { 'content-type': 'text/html' }).end('gone');
    page.sent.add(page.version);
    const number = Number(url.slice(1));
    const tag = `"v${page.version}"`;
    if (number % 2 === 1) response.setHeader('etag', tag);
    if (number % 2 === 1 && headers['if-none-match'] === tag) return response.writeHead(304).end();
    const next = hosts[hosts.indexOf(host) + 1];
    const links = number > 0 ? [] : Array.from({ length: PAGES_PER_HOST }, (_, n) => `/${n}`);
    if (number === 0 && next !== undefined) links.push(`http://${next}:${port}/0`);
    response.setHeader('content-type', 'text/html');
    response.end(
      `<html><body><nav>${links.map((link) => `<a href="${link}">on</a>`).join('')}</nav><main><h1>Page ${number}</h1>` +
        `<p>The page ${host}${url} says in its version ${page.version} what it has to say to whoever reads it.</p>` +
        `</main><footer>${Math.random()}</footer></body></html>`,
    );
  });
  const port = await listen(server);
  return {
    port,
    pages,
    touch(random) {
      const name = names[Math.floor(random() * names.length)]!;
      const page = pages.get(name)!;
      // The last page of each host comes and goes; the others are there, in ever new versions.
      if (name.endsWith(`/${PAGES_PER_HOST - 1}`)) page.isGone = !page.isGone;
      else page.version++;
    },
    close: () => closed(server),
  };
}

async function startHook(): Promise<{ readonly port: number; readonly posted: Set<string>; close(): Promise<void> }> {
  const posted = new Set<string>();
  let count = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      // One in ten is not taken.
      if (++count % 10 === 0) return response.writeHead(503).end();
      posted.add(keyOf(JSON.parse(body) as Told));
      response.end();
    });
  });
  const port = await listen(server);
  return { port, posted, close: () => closed(server) };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
}

const keyOf = ({ url, change, at }: Told): string => `${change} ${url} ${at}`;
const nameOf = ({ url }: Told): string => url.replace(/^http:\/\/([^:/]+):\d+/, '$1');

/** A way to watch: how it is started, who can be killed, where it writes. */
interface Way {
  readonly hosts: readonly string[];
  start(isFirst: boolean): ChildProcess;
  /** Folders of datasets, and of page memories. */
  readonly datasets: readonly string[];
  readonly memories: readonly string[];
  /** Whether a kill may take one worker only. */
  readonly hasWorkers: boolean;
  close(): Promise<void>;
}

async function alone(folder: string, web: Web, hook: number): Promise<Way> {
  const args = ['watch', `http://127.0.0.1:${web.port}/0`, '--budget', '15/s', '--out', folder, '--delay', '0'];
  args.push('--diff', '--no-hints', '-q', '--webhook', `http://127.0.0.1:${hook}/`);
  return {
    hosts: HOSTS.slice(0, 1),
    start: () => spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] }),
    datasets: [path.join(folder, 'datasets', 'changes')],
    memories: [path.join(folder, 'page_memory', 'default')],
    hasWorkers: false,
    close: async () => undefined,
  };
}

async function onPods(folder: string, web: Web, hook: number, redis: boolean): Promise<Way> {
  const servers = redis
    ? await Promise.all([1, 2].map(() => startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])))
    : [];
  const stores = redis ? servers.map(({ url }) => `  - redis_url: ${url}`) : ['  - path: store0', '  - path: store1'];
  const yaml = `pods:\n${stores.join('\n')}
data_dirs: [${folder}/ssd1, ${folder}/ssd2]
log_dir: ${folder}/logs
seed_file: seeds.txt
email: test@example.com
politeness_delay_seconds: 0
fetcher_workers: 10
fetchers_per_pod: 1
allow_private_addresses: true
enable_cpu_affinity: false
enable_prometheus: false
lease_seconds: 20
watch: { budget: 15/s, diff: true, webhook: "http://127.0.0.1:${hook}/" }
`;
  await writeFile(path.join(folder, 'crawl.yaml'), yaml);
  await writeFile(path.join(folder, 'seeds.txt'), `http://127.0.0.1:${web.port}/0\n`);
  return {
    hosts: HOSTS,
    start: (isFirst) =>
      spawn(process.execPath, [MAIN, 'run', '--config', 'crawl.yaml', ...(isFirst ? [] : ['--resume'])], {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, CRAWLER_STUCK_SECONDS: '5' },
      }),
    datasets: [1, 2].map((n) => path.join(folder, `ssd${n}`, 'datasets', 'changes')),
    memories: [0, 1].map((pod) => path.join(folder, 'ssd1', 'page_memory', `pod_${pod}_of_2`)),
    hasWorkers: true,
    async close() {
      for (const server of servers) await server.dispose();
    },
  };
}

async function linesOf(folders: readonly string[]): Promise<Told[]> {
  const all: Told[] = [];
  for (const folder of folders) {
    for (const file of (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.jsonl'))) {
      const text = await readFile(path.join(folder, file), 'utf8').catch(() => '');
      for (const line of text.split('\n').slice(0, -1)) all.push(JSON.parse(line) as Told);
    }
  }
  return all.sort((one, other) => one.at.localeCompare(other.at));
}

interface Row {
  readonly visits: number;
  readonly nextVisitAt: number;
}

/** What is remembered, read from a copy while nobody writes. */
async function memoryOf(folders: readonly string[]): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  for (const folder of folders.filter((name) => existsSync(name))) {
    const copy = await mkdtemp(path.join(tmpdir(), 'fresh-kills-copy-'));
    try {
      await cp(folder, copy, { recursive: true });
      const memory = await openLmdbMemory(copy);
      for (const { page, names } of memory.pages()) {
        rows.set(names.url.replace(/^http:\/\/([^:/]+):\d+/, '$1'), page);
      }
      await memory.close();
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  }
  return rows;
}

function workersOf(pid: number): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  return rows
    .map((row) => row.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid ? [child!] : []));
}

export interface KillFigures {
  readonly kills: number;
  readonly lines: number;
  readonly touches: number;
  readonly faults: string[];
  /** Requests that no remembered visit accounts for: those under way at a kill. */
  readonly beyond: number;
  readonly requests: number;
}

type Kind = 'watch' | 'pods' | 'pods in Redis';

export async function killWatch(kind: Kind, kills: number, seed: number): Promise<KillFigures> {
  const random = randomFrom(seed);
  const folder = await mkdtemp(path.join(tmpdir(), 'fresh-kills-'));
  const web = await startWeb(kind === 'watch' ? HOSTS.slice(0, 1) : HOSTS);
  const hook = await startHook();
  const way = await (kind === 'watch'
    ? alone(folder, web, hook.port)
    : onPods(folder, web, hook.port, kind === 'pods in Redis'));
  const faults: string[] = [];
  let touches = 0;
  let child: ChildProcess | undefined;
  let said = '';
  const start = (isFirst: boolean) => {
    child = way.start(isFirst);
    child.stderr!.on('data', (piece: Buffer) => (said = (said + piece.toString()).slice(-4_000)));
  };
  const requests = () => [...web.pages.values()].reduce((sum, { askedAt }) => sum + askedAt.length, 0);
  const killAll = async () => {
    const whole = child!;
    if (whole.exitCode !== null || whole.signalCode !== null) {
      faults.push(`it ended by itself (${whole.exitCode ?? whole.signalCode}): ${said}`);
      return;
    }
    const ended = once(whole, 'exit');
    const workers = way.hasWorkers ? workersOf(whole.pid!) : [];
    whole.kill('SIGKILL');
    for (const worker of workers) killed(worker);
    await ended;
    await Promise.all(workers.map(gone));
  };
  /** What is told, as a reader of the lines sees it: by page, the last version, or that it is gone. */
  const told = async () => {
    const last = new Map<string, number | 'gone'>();
    for (const line of await linesOf(way.datasets)) last.set(nameOf(line), versionOf(line) ?? 'gone');
    return last;
  };
  let isFound = false;
  const touching = setInterval(() => {
    // Not before all are told as new: those lines do not say which version they saw.
    if (!isFound) return void told().then((last) => (isFound = last.size === web.pages.size));
    web.touch(random);
    touches++;
  }, TOUCH_MS);
  let remembered = new Map<string, Row>();
  try {
    start(true);
    for (let kill = 0; kill < kills; kill++) {
      // Half of them while it works, half at any moment, also of its start.
      if (kill === 0 || random() < 0.5) {
        const before = requests();
        await until(
          () => requests() > before + 3,
          () => `no visit before kill ${kill}: ${said}`,
        );
        await wait(random() * 1_500);
      } else await wait(300 + random() * 5_000);
      const workers = way.hasWorkers && random() < 0.5 ? workersOf(child!.pid!) : [];
      if (workers.length > 0) killed(workers[Math.floor(random() * workers.length)]!);
      else {
        const diedAt = Date.now() / 1000;
        await killAll();
        noteEarly(remembered, web, diedAt);
        const now = await memoryOf(way.memories);
        for (const [name, row] of remembered) {
          const visits = now.get(name)?.visits ?? 0;
          if (visits < row.visits) faults.push(`a visit of ${name} is forgotten: ${row.visits}, then ${visits}`);
        }
        remembered = now;
        marks.set(remembered, Date.now() / 1000);
        start(false);
      }
    }
    clearInterval(touching);
    await until(
      async () => {
        const last = await told();
        return [...web.pages].every(([name, page]) => last.get(name) === (page.isGone ? 'gone' : page.version));
      },
      async () => `not all is told: ${differences(web, await told())} ${said}`,
    );
    const marked = requests();
    await until(
      () => requests() > marked + 2 * web.pages.size,
      () => `visits ended: ${said}`,
    );
    const all = await linesOf(way.datasets);
    await until(
      () => all.every((line) => hook.posted.has(keyOf(line))),
      () => 'not all is posted',
    );
    await killAll();
    noteEarly(remembered, web, Infinity);
    const lines = await linesOf(way.datasets);
    faults.push(...faultsOf(lines, web));
    const final = await memoryOf(way.memories);
    const visits = [...final.values()].reduce((sum, row) => sum + row.visits, 0);
    return { kills, lines: lines.length, touches, faults, beyond: requests() - visits, requests: requests() };
  } finally {
    clearInterval(touching);
    if (child && child.exitCode === null && child.signalCode === null) await killAll();
    await web.close();
    await hook.close();
    await way.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }

  function noteEarly(before: Map<string, Row>, { pages }: Web, toSecs: number): void {
    const fromSecs = marks.get(before);
    if (fromSecs === undefined) return;
    for (const [name, { nextVisitAt }] of before) {
      const first = pages.get(name)?.askedAt.find((at) => at >= fromSecs && at <= toSecs);
      if (first !== undefined && first < nextVisitAt) {
        faults.push(`${name} was visited ${(nextVisitAt - first).toFixed(1)} s early`);
      }
    }
  }
}

/** When a memory was read. */
const marks = new WeakMap<Map<string, Row>, number>();

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

/** A killed process may write until it is gone. */
async function gone(pid: number): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (state === '' || / Z /.test(state)) return;
    await wait(20);
  }
}

/** The version that a line tells of; undefined for a page that is gone, 1 where no difference is told. */
function versionOf({ change, diff = '' }: Told): number | undefined {
  if (change === 'removed') return undefined;
  const found = /^\+.*\bversion (\d+)\b/m.exec(diff)?.[1];
  return found === undefined ? 1 : Number(found);
}

/** Each change once, none left out: what a line says was before is what the line before told. */
function faultsOf(lines: readonly Told[], { pages }: Web): string[] {
  const faults: string[] = [];
  const last = new Map<string, number | 'gone'>();
  for (const line of lines) {
    const name = nameOf(line);
    const before = last.get(name);
    const now = versionOf(line) ?? 'gone';
    const page = pages.get(name);
    if (!page) faults.push(`${name} does not exist`);
    if (line.change === 'new' && before !== undefined && before !== 'gone') faults.push(`${name} is new twice`);
    if (line.change === 'removed' && (before === undefined || before === 'gone')) faults.push(`${name} is gone twice`);
    if (line.change === 'changed') {
      const was = Number(/^-.*\bversion (\d+)\b/m.exec(line.diff ?? '')?.[1]);
      if (was !== before) faults.push(`${name} changed from ${was}, but ${String(before)} was told`);
      if (typeof now === 'number' && !page?.sent.has(now)) faults.push(`${name}: version ${now} was never sent`);
    }
    last.set(name, now);
  }
  return faults;
}

function differences({ pages }: Web, last: ReadonlyMap<string, number | 'gone'>): string {
  return [...pages]
    .filter(([name, page]) => last.get(name) !== (page.isGone ? 'gone' : page.version))
    .map(([name, page]) => `${name}: ${page.isGone ? 'gone' : page.version}, told ${String(last.get(name))}`)
    .join('; ');
}

async function until(is: () => boolean | Promise<boolean>, problem: () => string | Promise<string>): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await is())) {
    if (performance.now() > endMs) throw new Error(await problem());
    await wait(200);
  }
}

/** FRESH_WAYS for some of them: the rows of the others stay. */
export const isPart = process.env.FRESH_WAYS !== undefined;

export async function measure(): Promise<Figure[]> {
  const figures: Figure[] = [];
  const kinds = (process.env.FRESH_WAYS?.split(',') ?? ['watch', 'pods', 'pods in Redis']) as Kind[];
  for (const kind of kinds) {
    const found = await killWatch(kind, KILLS, Number(process.env.FRESH_SEED ?? 11));
    for (const fault of found.faults) console.log(`  ${kind}: ${fault}`);
    figures.push({
      what: `${kind}: changes told twice or lost, visits forgotten or early`,
      measured: `${found.faults.length} (${found.kills} kills amid ${found.touches} changes of the web, ${found.lines} changes told; ${found.beyond} of ${found.requests} requests were cut off by a kill)`,
      goal: '0',
    });
  }
  return figures;
}
