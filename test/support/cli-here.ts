// A command line in the process of the test, for what the command does: the code is loaded once per file, where a process
// loads it each time. What a process is (signals, pipes, its end) is tested in processes: integration/cli-process.ts.
// One after the other: the working directory, the environment and the standard streams are the process's.
import { Readable } from 'node:stream';
import { runCommandLine } from '../../src/cli/command-line.js';
import type { Ended } from '../integration/cli-process.js';

export interface HereOptions {
  readonly cwd: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Settings of whoever runs the tests must not reach the command. */
const FOREIGN = /^(?:ORCRAWL(?!_TEST)|CRAWLEE|npm)_?/;

let last: Promise<unknown> = Promise.resolve();

export function orcrawlHere(args: readonly string[], options: HereOptions): Promise<Ended> {
  const ended = last.then(() => run(args, options));
  last = ended.catch(() => undefined);
  return ended;
}

async function run(args: readonly string[], { cwd, input = '', env }: HereOptions): Promise<Ended> {
  const { exitCode } = process;
  const before = { cwd: process.cwd(), env: { ...process.env }, stdin: descriptorOf('stdin') };
  const out = captured(process.stdout);
  const err = captured(process.stderr);
  try {
    for (const name of Object.keys(process.env)) if (FOREIGN.test(name)) delete process.env[name];
    Object.assign(process.env, { NO_COLOR: '1' }, env);
    Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([Buffer.from(input)]) });
    process.chdir(cwd);
    const code = await runCommandLine(args);
    return { code, signal: null, stdout: out.text(), stderr: err.text() };
  } finally {
    out.release();
    err.release();
    process.chdir(before.cwd);
    Object.defineProperty(process, 'stdin', before.stdin);
    for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name];
    Object.assign(process.env, before.env);
    process.exitCode = exitCode;
  }
}

const descriptorOf = (name: 'stdin'): PropertyDescriptor => Object.getOwnPropertyDescriptor(process, name)!;

/** Takes what is written to a stream, until it is released. */
function captured(stream: NodeJS.WriteStream): { text(): string; release(): void } {
  const pieces: Buffer[] = [];
  const { write } = stream;
  stream.write = (piece: Uint8Array | string, encoding?: unknown, done?: unknown): boolean => {
    pieces.push(Buffer.from(piece as string));
    const told = typeof encoding === 'function' ? encoding : done;
    if (typeof told === 'function') queueMicrotask(() => told());
    return true;
  };
  return { text: () => Buffer.concat(pieces).toString(), release: () => void (stream.write = write) };
}
