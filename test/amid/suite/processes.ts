// Starts a program with a small heap and counts the CPU time of it and of the Node processes below it, from /proc.
// Promise: what was started has ended when the promise resolves; what does not end in time is killed and reported.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Of all Node processes of the program together. */
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly isKilled: boolean;
}

export interface RunOptions {
  readonly cwd: string;
  readonly input?: string;
  readonly timeoutMs: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly heapMb?: number;
}

const LOOK_MS = 250;
/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10;

export async function runNode(args: readonly string[], options: RunOptions): Promise<Finished> {
  const startedMs = performance.now();
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:ORCRAWL|CRAWLEE|npm|VITEST|NODE)_?/.test(name),
  );
  const child = spawn(process.execPath, [`--max-old-space-size=${options.heapMb ?? 512}`, ...args], {
    cwd: options.cwd,
    env: { ...Object.fromEntries(inherited), ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    const pieces: Buffer[] = [];
    child[name].on('data', (piece: Buffer) => pieces.push(piece));
    child[name].on('end', () => (output[name] = Buffer.concat(pieces).toString()));
  }
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const cpu = new Map<number, number>();
  const gauge = setInterval(() => count(child, cpu), LOOK_MS);
  let isKilled = false;
  const impatience = setTimeout(() => {
    isKilled = true;
    for (const pid of [...cpu.keys(), child.pid!]) kill(pid);
  }, options.timeoutMs);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once('close', (...how) => resolve(how)),
  );
  clearInterval(gauge);
  clearTimeout(impatience);
  const cpuMs = [...cpu.values()].reduce((sum, ms) => sum + ms, 0);
  return { code, signal, ...output, cpuMs, wallMs: Math.round(performance.now() - startedMs), isKilled };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

/** The CPU time so far of each Node process below; one that ended keeps its last figure. */
function count({ pid }: ChildProcess, cpu: Map<number, number>): void {
  const parents = new Map<number, { parent: number; cpuMs: number }>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      parents.set(Number(name), {
        parent: Number(fields[1]),
        cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
      });
    } catch {
      // Gone meanwhile.
    }
  }
  const isBelow = (one: number): boolean => one === pid || (parents.has(one) && isBelow(parents.get(one)!.parent));
  for (const [one, { cpuMs }] of parents) if (isBelow(one) && isNode(one)) cpu.set(one, cpuMs);
}

/** Browsers burn what time they are given: theirs is bounded by time limits, not counted. */
function isNode(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}
