// One run of one fault class: its folder, web, servers, disks and programs, all removed at the end, and the verdict.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type RedisServer, redisMissing, startRedis } from '../../support/redis-server.js';
import { type CaseFacts, checkCase, type StoreFacts, type Verdict, type WebPlan } from './case.js';
import { clockMissing } from './shifted-clock.js';
import { childrenOf, type Helper, type Program, type ProgramOptions, startHelper, startProgram } from './program.js';

export type Placement = 'library' | 'batch' | 'pods' | 'browser';
export type Need = 'redis' | 'root' | 'browser' | 'clock';

export interface FaultClass {
  /** `placement/what-happens` */
  readonly name: string;
  readonly placement: Placement;
  readonly needs?: readonly Need[];
  /** CI takes it every time (`always`), or now and then (`sample`): it takes few seconds. */
  readonly inCi?: 'always' | 'sample';
  readonly act: (bench: Bench) => Promise<void>;
}

export interface Web extends Helper {
  readonly plan: WebPlan;
  served(): Promise<number>;
  /** Resolves when so many pages were asked for. */
  untilServed(pages: number): Promise<void>;
  behave(...rules: readonly Misbehaviour[]): Promise<void>;
}

/** The first `times` requests for each page that it names do not go well. */
export interface Misbehaviour {
  readonly host?: number;
  /** Pages whose number leaves `rest` (0) when divided by it; all by default. */
  readonly every?: number;
  readonly rest?: number;
  readonly notRoot?: boolean;
  readonly times: number;
  readonly act: 'hang' | 'drip' | 'reset' | 'cut' | 'status' | 'script';
  readonly ms?: number;
}

export interface Bench {
  readonly folder: string;
  readonly random: () => number;
  /** Of the web, unless a scenario plans another one. */
  readonly pages: number;
  /** Set by the scenario. */
  delayMs: number;
  mayBeIncomplete: boolean;
  readonly excused: (readonly [number, number])[];
  readonly stores: StoreFacts[];
  web(plan?: Partial<{ hosts: number; pages: number }> | WebPlan, latencyMs?: readonly [number, number]): Promise<Web>;
  redis(settings?: readonly string[], env?: Readonly<Record<string, string>>): Promise<RedisServer>;
  /** A proxy before a Redis that plays the network's tricks. */
  proxy(target: number): Promise<Helper>;
  start(args: readonly string[], options: ProgramOptions): Program;
  /** A small disk at a new folder; resizable and removable. */
  disk(name: string, sizeKb: number): Promise<string>;
  remount(folder: string, options: string): void;
  /** Kills by the scenario and by kill points. */
  countKill(): void;
  kill(pid: number | undefined): void;
  until(condition: () => boolean | Promise<boolean>, what: string, limitMs?: number): Promise<void>;
  pause(ms: number): Promise<void>;
  pick<T>(list: readonly T[]): T | undefined;
  /** Fails the run: what was promised did not happen. */
  expect(isTrue: boolean, what: string): void;
  onEnd(act: () => unknown): void;
}

export interface Report {
  readonly name: string;
  readonly seed: number;
  readonly kills: number;
  readonly seconds: number;
  readonly verdict: Verdict | undefined;
  /** Expectations of the scenario that did not hold, or why it broke off. */
  readonly complaints: readonly string[];
  /** How its processes ended, for whoever has to find out why. */
  readonly ends: readonly string[];
}

/** Why a class cannot run here; undefined when it can. */
export function missingFor({ needs = [] }: FaultClass): string | undefined {
  for (const need of needs) {
    if (need === 'redis' && redisMissing) return redisMissing;
    if (need === 'root' && process.getuid?.() !== 0) return 'mounting a small disk needs root';
    if (need === 'browser' && !existsSync('/usr/bin/chromium')) return 'chromium is not installed';
    if (need === 'clock' && clockMissing) return clockMissing;
  }
  return undefined;
}

export interface RunOptions {
  /** The folder, the servers and the disks stay. */
  readonly isKept?: boolean;
  /** Of each of the hosts; fewer take less time, and give a fault fewer moments to strike at. */
  readonly pagesPerHost?: number;
}

const HOSTS = 14;

export async function runClass(one: FaultClass, seed: number, options: RunOptions = {}): Promise<Report> {
  const { isKept = false, pagesPerHost = 22 } = options;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'orcrawl-fault-'));
  const startedMs = performance.now();
  const programs: Program[] = [];
  const endings: (() => unknown)[] = [];
  const complaints: string[] = [];
  const random = randomFrom(seed);
  let web: Web | undefined;
  let kills = 0;
  const bench: Bench = {
    folder,
    random,
    pages: HOSTS * pagesPerHost,
    delayMs: 0,
    mayBeIncomplete: false,
    excused: [],
    stores: [],
    async web(plan = {}, latencyMs = [3, 25]) {
      web = await startWeb(
        'shape' in plan ? plan : { shape: 'tree', hosts: HOSTS, pages: pagesPerHost, ...plan },
        latencyMs,
      );
      return web;
    },
    async redis(settings = ['--appendonly', 'yes', '--appendfsync', 'always'], env) {
      const server = await startRedis(settings, env);
      endings.push(() => server.dispose());
      return server;
    },
    async proxy(target) {
      const helper = await startHelper('redis-proxy.mjs', { target });
      endings.push(() => helper.close());
      return helper;
    },
    start(args, options) {
      const program = startProgram(args, options);
      programs.push(program);
      return program;
    },
    async disk(name, sizeKb) {
      const at = path.join(folder, name);
      await mkdir(at, { recursive: true });
      const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKb}k`, 'tmpfs', at]);
      if (status !== 0) throw new Error(`no small disk: ${String(stderr)}`);
      endings.push(() => spawnSync('umount', ['-l', at]));
      return at;
    },
    remount(at, options) {
      const { status, stderr } = spawnSync('mount', ['-o', `remount,${options}`, at]);
      if (status !== 0) throw new Error(`remount ${options}: ${String(stderr)}`);
    },
    countKill: () => void kills++,
    kill(pid) {
      if (pid === undefined) return;
      try {
        process.kill(pid, 'SIGKILL');
        kills++;
      } catch {
        // Gone meanwhile.
      }
    },
    async until(condition, what, limitMs = 90_000) {
      for (const deadlineMs = performance.now() + limitMs; !(await condition());) {
        if (performance.now() > deadlineMs) throw new Error(`waited in vain: ${what}`);
        await delay(20);
      }
    },
    pause: (ms) => delay(ms),
    pick: (list) => list[Math.floor(random() * list.length)],
    expect(isTrue, what) {
      if (!isTrue) complaints.push(what);
    },
    onEnd: (act) => void endings.push(act),
  };

  async function startWeb(plan: WebPlan, latencyMs: readonly [number, number]): Promise<Web> {
    const logFile = path.join(folder, 'requests.jsonl');
    const helper = await startHelper('server.mjs', { plan, latencyMs, seed, logFile });
    endings.push(() => helper.close());
    const served = async () => (await helper.call('served')) as number;
    return {
      ...helper,
      plan,
      served,
      untilServed: (pages) => bench.until(async () => (await served()) >= pages, `${pages} pages served`),
      behave: async (...rules) => void (await helper.call('behave', { rules })),
    };
  }

  let verdict: Verdict | undefined;
  try {
    await one.act(bench);
    await web!.call('save');
    verdict = await checkCase(folder, caseFacts());
  } catch (error) {
    complaints.push(`broke off: ${(error as Error).message}`);
  } finally {
    for (const program of programs) {
      const below = childrenOf(program.pid);
      await program.kill();
      for (const pid of below) killQuietly(pid);
    }
    if (!isKept) for (const end of endings.reverse()) await end();
    if (!isKept) await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
  return {
    name: one.name,
    seed,
    kills,
    seconds: Math.round((performance.now() - startedMs) / 100) / 10,
    verdict,
    complaints,
    ends: programs.map((program) => endOf(program)),
  };

  function caseFacts(): CaseFacts {
    return {
      plan: web!.plan,
      port: web!.port,
      logFile: path.join(folder, 'requests.jsonl'),
      delayMs: bench.delayMs,
      stores: bench.stores,
      runs: programs.map((program) => program.facts()),
      excused: bench.excused,
      mayBeIncomplete: bench.mayBeIncomplete,
    };
  }
}

function endOf(program: Program): string {
  const { name, code, end, stdout, stderr } = program.facts();
  const last = (text: string) => text.trimEnd().split('\n').slice(-3).join(' | ').slice(-600);
  return `${name}: ${end}, exit ${code}; out: ${last(stdout)}; err: ${last(stderr)}`;
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

/** A sequence of its own for each seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
