// A program under test as a process: what it wrote, how it ended, its workers; and helpers that talk over IPC.
// Promise: every process started here is gone after `end`.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RunFacts } from './case.js';

export interface Program {
  readonly pid: number;
  readonly isRunning: boolean;
  readonly code: number | null;
  stdout(): string;
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  /** SIGKILL by the scenario; resolves when it is gone. */
  kill(): Promise<void>;
  /** Waits until it ended by itself; after the time limit it counts as hung and is killed. */
  ended(limitMs?: number): Promise<number | null>;
  /** The pids of its children whose command line starts with `title` or contains it. */
  children(title: string): number[];
  facts(): RunFacts;
}

export interface ProgramOptions {
  readonly name: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Before node, e.g. `['bash', '-c', 'ulimit …; exec "$0" "$@"']`. */
  readonly before?: readonly string[];
}

/** Generous: the machine is shared, and a hang is a hang in ten minutes, too. */
const LIMIT_MS = 150_000;
const KEPT_CHARACTERS = 20_000;

export const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

export function startProgram(args: readonly string[], options: ProgramOptions): Program {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:ORCRAWL|CRAWLEE|npm|VITEST)_?/.test(name));
  const [command, ...rest] = [...(options.before ?? []), process.execPath, ...args] as [string, ...string[]];
  const child = spawn(command, rest, {
    cwd: options.cwd,
    env: { ...Object.fromEntries(inherited), NO_COLOR: '1', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] = (texts[name] + text).slice(-KEPT_CHARACTERS);
    });
  }
  let end: RunFacts['end'] = 'itself';
  const isGone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid!,
    get isRunning() {
      return isRunning();
    },
    get code() {
      return child.exitCode;
    },
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    signal: (name) => void child.kill(name),
    async kill() {
      if (isRunning()) end = 'killed';
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await isGone;
    },
    async ended(limitMs = LIMIT_MS) {
      let timer: NodeJS.Timeout | undefined;
      const isLate = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(true), limitMs);
      });
      if (await Promise.race([isGone.then(() => false), isLate])) {
        end = 'hung';
        child.kill('SIGCONT');
        child.kill('SIGKILL');
        await isGone;
      }
      clearTimeout(timer);
      return child.exitCode;
    },
    children: (title) => childrenOf(child.pid!).filter((pid) => commandLine(pid).includes(title)),
    facts: () => ({
      name: options.name,
      code: child.exitCode,
      end: end === 'itself' && child.signalCode === 'SIGKILL' ? 'killed' : end,
      ...texts,
    }),
  };
}

/** All processes below one. */
export function childrenOf(pid: number): number[] {
  const texts = threadsOf(pid).map((thread) => read(`/proc/${pid}/task/${thread}/children`));
  const direct = texts.join(' ').split(' ').filter(Boolean).map(Number);
  return direct.flatMap((child) => [child, ...childrenOf(child)]);
}

/** Any thread may have started a process. */
function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

export const commandLine = (pid: number): string => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export interface Helper {
  readonly port: number;
  call(name: string, message?: object): Promise<unknown>;
  close(): void;
}

/**
 * Starts a plain .mjs helper of `web/` that first says its port and then answers calls.
 *
 * @param before what runs node, e.g. `['ip', 'netns', 'exec', 'there']`
 */
export async function startHelper(file: string, argument: object, before: readonly string[] = []): Promise<Helper> {
  const script = fileURLToPath(new URL(`../web/${file}`, import.meta.url));
  const [command, ...rest] = [...before, process.execPath, script, JSON.stringify(argument)];
  const child: ChildProcess = spawn(command as string, rest, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let calls = 0;
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => {
      const error = new Error(`${file} ended with ${code}`);
      reject(error);
      for (const one of waiting.values()) one.reject(error);
    });
    child.on('message', (message: { port?: number; id?: number; value?: unknown; error?: string }) => {
      if (message.port !== undefined) return resolve(message.port);
      const call = waiting.get(message.id!);
      waiting.delete(message.id!);
      if (message.error === undefined) call?.resolve(message.value);
      else call?.reject(new Error(message.error));
    });
  });
  return {
    port,
    call: (name, message = {}) =>
      new Promise((resolve, reject) => {
        const id = ++calls;
        waiting.set(id, { resolve, reject });
        child.send({ ...message, id, call: name });
      }),
    close: () => void child.kill('SIGKILL'),
  };
}
