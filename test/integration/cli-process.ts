// Starts programs as a user would, each in its own folder, and returns their output and how they ended.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
export const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** What it wrote to standard output so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  signal(name: NodeJS.Signals): void;
}

export interface StartOptions {
  readonly cwd: string;
  readonly input?: string;
  /** Standard input does not end after `input`. */
  readonly keepInputOpen?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** No file may grow beyond this: what a full disk looks like to a program. Needs bash. */
  readonly maxFileKb?: number;
  /** Default 90,000. */
  readonly timeoutMs?: number;
}

/** A hanging program fails its test instead of holding it up for ever. */
const TIMEOUT_MS = 90_000;

export function startNode(
  args: readonly string[],
  { cwd, input, keepInputOpen, env, maxFileKb, timeoutMs = TIMEOUT_MS }: StartOptions,
): Started {
  // Settings of whoever runs the tests must not reach the program.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:ORCRAWL|CRAWLEE|npm|VITEST)_?/.test(name));
  const node = [process.execPath, ...args];
  const limited = ['bash', '-c', `ulimit -f ${maxFileKb}; exec "$0" "$@"`, ...node];
  const [program, ...programArgs] = maxFileKb === undefined ? node : limited;
  const child = spawn(program as string, programArgs, {
    cwd,
    env: { ...Object.fromEntries(inherited), NO_COLOR: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // A program that ends before it has read its input is not this side's failure.
  child.stdin.on('error', () => undefined);
  if (keepInputOpen) child.stdin.write(input ?? '');
  else child.stdin.end(input ?? '');
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, stderr });
    });
  });
  return {
    pid: child.pid!,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    signal: (name) => void child.kill(name),
  };
}

/** Resolves when `holds` does; rejects after a while. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  for (const deadlineMs = Date.now() + TIMEOUT_MS; !holds();) {
    if (Date.now() > deadlineMs) throw new Error(`waited in vain until ${what}`);
    await new Promise((resume) => setTimeout(resume, 10));
  }
}

export async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-cli-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

export async function readLines<Item = Record<string, unknown>>(...file: string[]): Promise<Item[]> {
  const text = await readFile(path.join(...file), 'utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Item]));
}
