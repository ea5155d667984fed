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

function step(folder: string, name: string, count: number, batch = 64): StepReport {
  const { stdout, status, stderr } = spawnSync(process.execPath, [STEP, folder, name, String(count), String(batch)], {
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
    step(small, 'add', 20_000);
    // A crawl settles up to 64 at once and leases up to 256: both ends are shown.
    const rates = [64, 200].map((batch) => {
      const atMillion = step(folder, 'work', 60_000, batch).perCpuSec!;
      const atTenThousand = step(small, 'work', 9_900, batch).perCpuSec!;
      return { batch, atMillion, ratio: atMillion / atTenThousand };
    });
    return [
      {
        what: 'add 1 M URLs at the port (the calls alone; with entries made and start-up), 1,000 domains; one domain',
        measured: `${port.portCpuSecs!.toFixed(1)} (${port.cpuSecs.toFixed(1)}); ${oneDomain.portCpuSecs!.toFixed(1)} (${oneDomain.cpuSecs.toFixed(1)}) CPU-s`,
        goal: '≤ 10 CPU-s',
      },
      { what: 'add 1 M URLs, addRequestsBatched', measured: `${added.cpuSecs.toFixed(1)} CPU-s`, goal: '≤ 20 CPU-s' },
      { what: 'resident memory after adding', measured: `${added.rssMb} MB`, goal: '≤ 500 MB' },
      { what: 'resume with 1 M queued, first request', measured: `${resumed.wallSecs.toFixed(2)} s`, goal: '≤ 5 s' },
      ...rates.map(({ batch, atMillion, ratio }) => ({
        what: `lease + settle at 1 M queued, ${batch} at a time`,
        measured: `${Math.round(atMillion)} requests per CPU-s; ${ratio.toFixed(2)} × the rate at 10 k`,
        goal: '≥ 20,000; ≥ 0.8',
      })),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(small, { recursive: true, force: true });
    rmSync(other, { recursive: true, force: true });
    rmSync(another, { recursive: true, force: true });
  }
}
