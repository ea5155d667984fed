// `orcrawl watch` killed again and again: no visit is forgotten or made early, each change is stored exactly once and
// posted at least once.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Simweb } from '../../src/testing/index.js';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const KILLS = 5;
// A visit that several kills hit alone is given up by the queue, and made again after a minute or two.
const patience = { timeout: 300_000, interval: 200 };

let web: Simweb;
let hook: Server;
let folder: string;
let child: ChildProcess | undefined;
let output = '';
const posted: { url: string; change: string; at: string }[] = [];

beforeAll(async () => {
  web = await Simweb.start({ seed: 9, pagesPerHost: 10, pageBytes: [1_500, 2_500] });
  folder = await mkdtemp(path.join(tmpdir(), 'watch-kill-'));
  hook = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      posted.push(JSON.parse(body));
      response.end('ok');
    });
  });
  hook.listen(0, '127.0.0.1');
  await once(hook, 'listening');
});

afterAll(async () => {
  await kill();
  hook.close();
  await web.close();
  await rm(folder, { recursive: true, force: true });
});

function start(killAt?: string): void {
  const webhook = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/changed`;
  const args = [
    'watch',
    ...web.seeds(),
    '--budget',
    '20/s',
    '--out',
    folder,
    '--delay',
    '0',
    '--webhook',
    webhook,
    '-q',
  ];
  child = spawn(process.execPath, [CLI, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(killAt === undefined ? {} : { ORCRAWL_KILL_AT: killAt }) },
  });
  child.stderr!.on('data', (piece: Buffer) => (output += piece.toString()));
}

async function kill(): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** The JSON lines as any tool reads them: \`cat *.jsonl\`. */
async function lines(): Promise<{ url: string; change: string; at: string }[]> {
  const dataset = path.join(folder, 'datasets', 'changes');
  const files = (await readdir(dataset).catch(() => [])).filter((name) => name.endsWith('.jsonl')).sort();
  const texts = await Promise.all(files.map((name) => readFile(path.join(dataset, name), 'utf8')));
  return texts.flatMap((text) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  );
}

it('a watch that is killed again and again tells each change once', { timeout: 900_000 }, async () => {
  start();
  await expect.poll(async () => (await lines()).length, patience).toBe(10);
  // At the named points, between a visit's items, its memory and its acknowledgement, and at any moment.
  const points = ['memory.before-stage:1', 'memory.after-stage:1', 'frontier.after-settle:3', undefined, undefined];
  for (let round = 0; round < KILLS; round++) {
    await kill();
    start(points[round]);
    web.touch(0, round);
    if (points[round] !== undefined) {
      await once(child!, 'exit');
      expect(child!.signalCode).toBe('SIGKILL');
      start();
    } else {
      await new Promise((resume) => setTimeout(resume, 2_000 + 700 * round));
      await kill();
      start();
    }
    const isTold = async () => (await lines()).filter(({ change }) => change === 'changed').length;
    await expect.poll(isTold, { ...patience, message: output }).toBe(round + 1);
  }
  // Further visits find nothing more to tell.
  const asked = web.requests().length;
  await expect.poll(() => web.requests().length, patience).toBeGreaterThan(asked + 30);
  await expect.poll(() => posted.length, patience).toBeGreaterThanOrEqual(10 + KILLS);
  await kill();
  const told = await lines();
  expect(
    told
      .filter(({ change }) => change === 'new')
      .map(({ url }) => url)
      .sort(),
  ).toEqual([...web.allUrls()].sort());
  // In any order: a line that was seen and not yet acknowledged when its process died is told by a later visit.
  const changed = told.filter(({ change }) => change === 'changed').map(({ url }) => url);
  expect(changed.sort()).toEqual(Array.from({ length: KILLS }, (_, page) => web.url(0, page)).sort());
  // At least once by webhook: whatever is in the lines was posted.
  const key = (one: { url: string; change: string; at: string }) => `${one.change} ${one.url} ${one.at}`;
  const all = new Set(posted.map(key));
  for (const one of told) expect(all.has(key(one))).toBe(true);
});
