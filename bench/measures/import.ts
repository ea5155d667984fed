// What `import 'orcrawl'` costs, the median of several fresh processes, beside an empty one.
import { spawnSync } from 'node:child_process';
import type { Figure } from '../measure.js';

const ENTRY = new URL('../../dist/index.js', import.meta.url).href;

const RUNS = 15;

function cpuMs(code: string): number {
  const script = `${code}; const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)`;
  return Number(spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout);
}

const median = (runs: number[]): number => runs.sort((a, b) => a - b)[runs.length >> 1]!;

export async function measure(): Promise<Figure[]> {
  const empty: number[] = [];
  const importing: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    empty.push(cpuMs(''));
    importing.push(cpuMs(`await import('${ENTRY}')`));
  }
  const [without, whole] = [median(empty), median(importing)].map(Math.round) as [number, number];
  return [
    {
      what: "import 'orcrawl', above an empty process (the whole process; the empty one)",
      measured: `${whole - without} (${whole}; ${without}) CPU-ms`,
      goal: '≤ 150 CPU-ms',
    },
  ];
}
