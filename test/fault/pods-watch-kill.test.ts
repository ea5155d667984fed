// A watch on pods whose workers and whole run are killed: each change is stored exactly once and posted at least once,
// links between pods are followed, and the budget is kept.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { podsTrial } from '../support/pods-trial.js';

interface Told {
  readonly url: string;
  readonly change: string;
  readonly at: string;
}

const patience = { timeout: 150_000, interval: 300 };
/** Each is a domain of its own, so they are on both pods. */
const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'];

async function listening(server: Server): Promise<number> {
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Two pages per host; the first links to the second and to the next host. */
async function web() {
  const versions = new Map<string, number>();
  const asked: string[] = [];
  const server = createServer(({ url = '', headers }: IncomingMessage, response) => {
    if (url === '/robots.txt') return response.writeHead(404).end();
    const host = headers.host!.split(':')[0]!;
    const page = `${host}${url}`;
    asked.push(page);
    const next = HOSTS[HOSTS.indexOf(host) + 1];
    const links = url === '/0' ? ['/1', ...(next === undefined ? [] : [`http://${next}:${port}/0`])] : [];
    response.setHeader('content-type', 'text/html');
    response.end(
      `<html><body><main><p>The page ${page} says in its version ${versions.get(page) ?? 1} what it has to say.</p></main>` +
        `${links.map((link) => `<a href="${link}">on</a>`).join('')}</body></html>`,
    );
  });
  const port = await listening(server);
  const pages = HOSTS.flatMap((host) => [`${host}/0`, `${host}/1`]);
  return { port, pages, asked, touch: (page: string) => versions.set(page, (versions.get(page) ?? 1) + 1) };
}

async function hook() {
  const posted: Told[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      posted.push(JSON.parse(body) as Told);
      response.end('ok');
    });
  });
  return { posted, port: await listening(server) };
}

/** As any tool reads them. */
async function linesIn(dataDirs: readonly string[]): Promise<Told[]> {
  const all: Told[] = [];
  for (const folder of dataDirs.map((dir) => path.join(dir, 'datasets', 'changes'))) {
    for (const file of (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.jsonl'))) {
      const text = await readFile(path.join(folder, file), 'utf8');
      // The last line may be on its way.
      for (const line of text.split('\n').slice(0, -1)) all.push(JSON.parse(line) as Told);
    }
  }
  return all;
}

/** The workers of a run: its child processes. */
function workersOf(pid: number): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  return rows
    .map((row) => row.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid ? [child!] : []));
}

const nameOf = ({ url }: Told) => url.replace(/^http:\/\/([^:]+):\d+/, '$1');
const keyOf = ({ url, change, at }: Told) => `${change} ${url} ${at}`;

it.each([
  ['embedded', {}],
  ['in Redis', { redis: 2 }],
] as const)('pods %s tell each change once, whoever is killed', { timeout: 600_000 }, async (_, stores) => {
  const { port, pages, asked, touch } = await web();
  const { posted, port: hookPort } = await hook();
  const trial = await podsTrial({
    ...stores,
    embedded: 2,
    seeds: [`http://127.0.0.1:${port}/0`],
    more: [`watch: { budget: 20/s, webhook: "http://127.0.0.1:${hookPort}/changed" }`],
    timeoutMs: 550_000,
  });
  const told = async (kind: string) => (await linesIn(trial.dataDirs)).filter(({ change }) => change === kind);
  let run = trial.run();
  await expect.poll(async () => (await told('new')).map(nameOf).sort(), patience).toEqual(pages);

  touch(pages[0]!);
  await expect.poll(async () => (await told('changed')).map(nameOf), patience).toEqual([pages[0]]);
  for (const worker of workersOf(run.pid)) process.kill(worker, 'SIGKILL');
  touch(pages[3]!);
  await expect.poll(async () => (await told('changed')).map(nameOf).sort(), patience).toEqual([pages[0], pages[3]]);

  const workers = workersOf(run.pid);
  run.signal('SIGKILL');
  await run.ended;
  for (const worker of workers) process.kill(worker, 'SIGKILL');
  touch(pages[6]!);
  run = trial.run('--resume');
  const changed = [pages[0], pages[3], pages[6]].sort();
  await expect.poll(async () => (await told('changed')).map(nameOf).sort(), patience).toEqual(changed);

  // Further visits find nothing more to tell, and keep to the budget.
  const before = asked.length;
  const fromMs = performance.now();
  await expect.poll(() => asked.length, patience).toBeGreaterThan(before + 40);
  expect((asked.length - before) / ((performance.now() - fromMs) / 1000)).toBeLessThan(30);
  expect((await told('new')).map(nameOf).sort()).toEqual(pages);
  await expect
    .poll(async () => {
      const all = new Set(posted.map(keyOf));
      return (await linesIn(trial.dataDirs)).filter((one) => !all.has(keyOf(one)));
    }, patience)
    .toEqual([]);
  run.signal('SIGTERM');
  expect((await run.ended).code).not.toBe(null);
  expect((await told('changed')).map(nameOf).sort()).toEqual(changed);
});
