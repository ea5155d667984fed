// Batches: how full 100 permits are kept against 200 ms of latency beside a bare loop, the gaps a rate limiter leaves,
// and a container whose memory fills up.
// Servers and batches run in processes of their own.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from '../measure.js';

const script = (name: string) => fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));
export const STEP = script('many-step');
const SERVER = script('many-server');
const BARE = script('many-bare');
const LIMITED = script('many-limited');
const MEMORY = script('many-memory');

interface Served {
  readonly served: number;
  readonly meanOpen: number;
}

export async function withServer<T>(latencyMs: number, use: (port: number) => Promise<T>): Promise<[T, Served]> {
  const server = spawn(process.execPath, [SERVER, String(latencyMs)], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const port = Number(await firstLine(server.stdout));
    const used = await use(port);
    server.stdin.end();
    return [used, JSON.parse(await firstLine(server.stdout)) as Served];
  } finally {
    server.kill('SIGKILL');
  }
}

function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => stream.once('data', (data: Buffer) => resolve(String(data).trim())));
}

export async function run(
  script: string,
  nodeArgs: readonly string[],
  args: readonly string[],
): Promise<Partial<Record<string, number>>> {
  const child = spawn(process.execPath, [...nodeArgs, script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (data: Buffer) => (text += String(data)));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${script} ended with code ${String(code)}`);
  return JSON.parse(text) as Partial<Record<string, number>>;
}

/** A cgroup with a memory limit under our own, where the machine lets us make one (v1 or v2); undefined elsewhere. */
function makeCgroup(limitBytes: number): { readonly procs: string; readonly what: string; remove(): void } | undefined {
  const membership = readFileSync('/proc/self/cgroup', 'utf8');
  const v1 = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(membership)?.[1];
  const v2 = /^0::(.*)$/m.exec(membership)?.[1];
  const root = v1 === undefined ? `/sys/fs/cgroup${v2 ?? ''}` : `/sys/fs/cgroup/memory${v1}`;
  const folder = path.join(root, `orcrawl-measure-${process.pid}`);
  try {
    mkdirSync(folder);
  } catch {
    return undefined;
  }
  const remove = () => rmdirSync(folder);
  try {
    const limitFile = v1 === undefined ? 'memory.max' : 'memory.limit_in_bytes';
    writeFileSync(path.join(folder, limitFile), String(limitBytes));
    return { procs: path.join(folder, 'cgroup.procs'), what: `cgroup ${v1 === undefined ? 'v2' : 'v1'}`, remove };
  } catch {
    remove();
    return undefined;
  }
}

async function underMemoryLimit(): Promise<Figure> {
  const what = '2,000 URLs, memory filled and freed every 1.7 s in a container of 600 MB';
  const goal = 'pauses, resumes, loses nothing, never stops';
  const cgroup = makeCgroup(600 * 1e6);
  if (!cgroup) return { what, measured: 'not measured: no cgroup can be made here', goal };
  try {
    const seen = await run(MEMORY, ['--expose-gc'], [cgroup.procs, '495']);
    const { succeeded, pauses, resumes, highest, openWhilePaused, endedWhileFull, mostOpen } = seen;
    const paused = `paused ${pauses} and resumed ${resumes} times, highest ${Math.round(highest!)} %`;
    const measured = `${paused}; ${mostOpen} open at most, ${openWhilePaused} when full, ${endedWhileFull} ended while full; ${succeeded} succeeded (${cgroup.what})`;
    return { what, measured, goal };
  } finally {
    cgroup.remove();
  }
}

export async function measure(): Promise<Figure[]> {
  const [, bare] = await withServer(200, (port) => run(BARE, [], [String(port), '5000', '100']));
  const [full, { meanOpen, served }] = await withServer(200, (port) =>
    run(STEP, [], ['full', String(port), '5000', '100']),
  );
  const limited = await run(LIMITED, [], []);
  return [
    {
      what: '5,000 URLs, 100 permits, 200 ms: mean of open requests at the server, first and last second left out',
      measured: `${meanOpen.toFixed(1)} (${served} served, ${full.succeeded} succeeded); bare loop just before: ${bare.meanOpen.toFixed(1)}; load ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores`,
      goal: '≥ 90',
    },
    {
      what: '50 URLs of one domain at once, base delay 200 ms: least gap from a response to the next request',
      measured: `${limited.leastGapMs!.toFixed(1)} ms (${limited.requests} requests; 429 twice: ${limited.attempts} attempts; ${limited.succeeded} of 60 succeeded; 10 other domains done after ${Math.round(limited.othersMs!)} of ${Math.round(limited.wholeMs!)} ms)`,
      goal: '≥ 200 ms',
    },
    await underMemoryLimit(),
  ];
}
