// `kill -9` in the middle of adds, leases and settles, on real processes: what a call confirmed is there,
// nothing is leased after it was done, and the next process continues at once.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { openLmdbFrontier } from '../../src/frontier/embedded/store/lmdb.js';
import { addsUp, entry } from '../../src/testing/conformance/bench.js';
import { TYPESCRIPT } from '../support/processes.js';

const WORKER = fileURLToPath(new URL('frontier-worker.ts', import.meta.url));
const PAGES = 4_000;
const pacing = { delayMs: 0, turns: 20 };

interface Worker {
  readonly process: ChildProcess;
  /** Resolves to all its lines when it has ended. */
  readonly ended: Promise<string[]>;
  /** Resolves when it has said a line that starts so. */
  said(start: string): Promise<void>;
}

const folders: string[] = [];
const workers: Worker[] = [];

afterEach(async () => {
  for (const { process: child, ended } of workers.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function start(folder: string, access: string, holder: string, role = 'crawl', pages = PAGES): Worker {
  const args = ['--import', TYPESCRIPT, WORKER, folder, access, holder, role, String(pages)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const errors: Buffer[] = [];
  const waiting: { start: string; resolve: () => void }[] = [];
  child.stderr!.on('data', (chunk: Buffer) => errors.push(chunk));
  const reader = createInterface({ input: child.stdout! });
  reader.on('line', (line) => {
    lines.push(line);
    for (const each of waiting) if (line.startsWith(each.start)) each.resolve();
  });
  const ended = Promise.all([
    new Promise<void>((resolve) => reader.once('close', resolve)),
    new Promise<void>((resolve) => child.once('close', () => resolve())),
  ]).then(() => lines);
  const failure = ended.then(() => {
    throw new Error(`worker ${holder} ended early: ${Buffer.concat(errors).toString()}`);
  });
  failure.catch(() => undefined);
  const worker: Worker = {
    process: child,
    ended,
    said: (text) =>
      lines.some((line) => line.startsWith(text))
        ? Promise.resolve()
        : Promise.race([new Promise<void>((resolve) => waiting.push({ start: text, resolve })), failure]),
  };
  workers.push(worker);
  return worker;
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'orcrawl-kill-'));
  folders.push(made);
  return made;
}

const pauses = (seed: number) => {
  let state = seed;
  return (maxMs: number): Promise<void> => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const ms = (state / 2_147_483_648) * maxMs;
    return new Promise((resolve) => setTimeout(resolve, ms));
  };
};

/** The second words of the lines that start with the first. */
const facts = (lines: readonly string[], word: string): string[] =>
  lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(' ')[1]!);

describe('a killed owner', () => {
  it('loses nothing that was confirmed, and its successor goes on at once, over and over', async () => {
    const path = folder();
    const pause = pauses(7);
    const done = new Set<string>();
    let added = 0;
    let kills = 0;
    for (let life = 1; ; life++) {
      const worker = start(path, 'owner', `life-${life}`);
      const isLast = life > 15;
      if (!isLast) {
        // The instant of death is any after the first confirmed call.
        await worker.said('open');
        await pause(120);
        worker.process.kill('SIGKILL');
        kills++;
      }
      const lines = await worker.ended;
      const [accepted, leased] = lines[0]!.split(' ').slice(1).map(Number);
      expect(accepted).toBeGreaterThanOrEqual(added);
      expect(leased).toBe(0);
      for (const page of facts(lines, 'leased')) expect(done.has(page), `page ${page} was done before`).toBe(false);
      for (const page of facts(lines, 'done')) done.add(page);
      added = Math.max(accepted!, ...facts(lines, 'added').map(Number));
      if (isLast) {
        expect(lines.at(-1)).toBe('exhausted');
        break;
      }
    }
    expect(kills).toBe(15);
    const frontier = await openLmdbFrontier(path, { holder: 'judge', pacing });
    const { counters, notes } = await frontier.overview();
    expect(counters).toMatchObject({ accepted: PAGES, done: PAGES });
    expect(addsUp(counters)).toBe(true);
    expect(notes['length']).toBeDefined();
    const all = Array.from({ length: PAGES }, (_, n) => entry(`page ${n}`).fingerprint);
    expect((await frontier.find(all)).every((found) => found?.state === 'done')).toBe(true);
    await frontier.close();
  });

  it('is refused the queue while it lives, by pid', async () => {
    const path = folder();
    const worker = start(path, 'owner', 'first', 'crawl', 1_000_000);
    await worker.said('added');
    const refused = openLmdbFrontier(path, { holder: 'second', pacing });
    await expect(refused).rejects.toMatchObject({ code: 'QUEUE_IN_USE' });
    await expect(refused).rejects.toThrow(`process ${worker.process.pid}`);
    worker.process.kill('SIGKILL');
    await worker.ended;
    const frontier = await openLmdbFrontier(path, { holder: 'second', pacing });
    expect((await frontier.overview()).counters.leased).toBe(0);
    await frontier.close();
  });
});

describe('processes that share a queue', () => {
  it('lease nothing twice, and take over from one that is killed', async () => {
    const path = folder();
    const pages = 3_000;
    const helpers = ['b', 'c'].map((holder) => start(path, 'shared', holder, 'help', pages));
    await Promise.all(helpers.map((helper) => helper.said('open')));
    start(path, 'shared', 'a', 'crawl', pages);
    const victim = helpers[0]!;
    await victim.said('done');
    victim.process.kill('SIGKILL');
    const outputs = await Promise.all(workers.map(({ ended }) => ended));
    expect(outputs.map((lines) => lines.at(-1) === 'exhausted')).toEqual([false, true, true]);

    const ids = outputs.flatMap((lines) =>
      lines.filter((line) => line.startsWith('leased')).map((line) => line.split(' ')[2]),
    );
    expect(new Set(ids).size).toBe(ids.length);
    // The victim may have been killed between a settle and saying so; nobody else may be missing or double.
    const ends = outputs.flatMap((lines) => facts(lines, 'done'));
    expect(new Set(ends).size).toBe(ends.length);
    expect(ends.length).toBeGreaterThanOrEqual(pages - 30);
    const frontier = await openLmdbFrontier(path, { holder: 'judge', pacing });
    expect((await frontier.overview()).counters).toMatchObject({ accepted: pages, done: pages });
    await frontier.close();
  });
});
