// Batches: how full 100 permits are kept against 200 ms of latency, and the memory of a million URLs.
// Servers and batches run in processes of their own.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Figure } from '../measure.js';

const STEP = fileURLToPath(new URL('./many-step.mjs', import.meta.url));
const SERVER = fileURLToPath(new URL('./many-server.mjs', import.meta.url));

interface Served {
  readonly served: number;
  readonly meanOpen: number;
}

async function withServer<T>(latencyMs: number, use: (port: number) => Promise<T>): Promise<[T, Served]> {
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

async function step(args: readonly string[]): Promise<Record<string, number>> {
  const child = spawn(process.execPath, [STEP, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (data: Buffer) => (text += String(data)));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`the batch ended with code ${String(code)}`);
  return JSON.parse(text) as Record<string, number>;
}

export async function measure(): Promise<Figure[]> {
  const [full, { meanOpen, served }] = await withServer(200, (port) => step(['full', String(port), '5000', '100']));
  const [million, count] = await withServer(0, (port) => step(['stream', String(port), '1000000', '100']));
  return [
    {
      what: '5,000 URLs, 100 permits, 200 ms: mean of open requests at the server, first to last second left out',
      measured: `${meanOpen.toFixed(1)} (${served} served, ${full.succeeded} succeeded)`,
      goal: '≥ 90',
    },
    {
      what: 'a million URLs from an async generator, streamed: highest RSS',
      measured: `${million.peakRssMb} MB (${million.succeeded} succeeded, ${count.served} served; RSS at 10 %: ${million.earlyRssMb} MB)`,
      goal: '≤ 300 MB',
    },
    {
      what: 'the same: CPU time a URL',
      measured: `${million.cpuUsPerUrl} µs`,
      goal: '',
    },
    {
      what: 'the same: most the generator was ahead of the reader',
      measured: `${million.mostAhead} URLs`,
      goal: 'bounded',
    },
  ];
}
