// A million URLs through the public queue: added, resumed by a new process, leased and settled.
// Each step runs in a process of its own, so that CPU and memory are its alone.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from '../measure.js';

const STEP = fileURLToPath(new URL('./queue-step.mjs', import.meta.url));

interface StepReport {
  cpuSecs: number;
  wallSecs: number;
  rssMb: number;
  perCpuSec?: number;
  portCpuSecs?: number;
}

function step(folder: string, name: string, count: number): StepReport {
  const { stdout, status, stderr } = spawnSync(process.execPath, ['--expose-gc', STEP, folder, name, String(count)], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
  return JSON.parse(stdout) as StepReport;
}

export async function measure(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-queue-'));
  const small = mkdtempSync(join(tmpdir(), 'orcrawl-queue-'));
  const other = mkdtempSync(join(tmpdir(), 'orcrawl-queue-'));
  const another = mkdtempSync(join(tmpdir(), 'orcrawl-queue-'));
  try {
    const port = step(other, 'port', 1_000_000);
    const oneDomain = step(another, 'port-one-domain', 1_000_000);
    const added = step(folder, 'add', 1_000_000);
    const resumed = step(folder, 'resume', 0);
    const atMillion = step(folder, 'work', 100_000);
    step(small, 'add', 10_000);
    const atTenThousand = step(small, 'work', 10_000);
    const ratio = atMillion.perCpuSec! / atTenThousand.perCpuSec!;
    return [
      {
        what: 'add 1 M URLs at the port, 1,000 domains; one domain',
        measured: `${port.portCpuSecs!.toFixed(1)}; ${oneDomain.portCpuSecs!.toFixed(1)} CPU-s`,
        goal: '≤ 10 CPU-s',
      },
      { what: 'add 1 M URLs, addRequestsBatched', measured: `${added.cpuSecs.toFixed(1)} CPU-s`, goal: '≤ 20 CPU-s' },
      { what: 'resident memory after adding', measured: `${added.rssMb} MB`, goal: '≤ 500 MB' },
      { what: 'resume with 1 M queued, first request', measured: `${resumed.wallSecs.toFixed(2)} s`, goal: '≤ 5 s' },
      {
        what: 'lease + settle at 1 M queued',
        measured: `${Math.round(atMillion.perCpuSec!)} requests per CPU-s`,
        goal: '≥ 20,000',
      },
      {
        what: 'the same at 10 k queued',
        measured: `${Math.round(atTenThousand.perCpuSec!)} requests per CPU-s; ratio ${ratio.toFixed(2)}`,
        goal: 'ratio ≥ 0.8',
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(small, { recursive: true, force: true });
    rmSync(other, { recursive: true, force: true });
    rmSync(another, { recursive: true, force: true });
  }
}
