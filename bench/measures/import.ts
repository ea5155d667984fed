// What `import 'orcrawl'` costs, the median of several fresh processes, beside an empty one.
import { spawnSync } from 'node:child_process';
import type { Figure } from '../measure.js';

const ENTRY = new URL('../../dist/index.js', import.meta.url).href;

function cpuMs(code: string): number {
  const script = `${code}; const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)`;
  const runs = Array.from({ length: 7 }, () =>
    Number(spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout),
  );
  return runs.sort((a, b) => a - b)[3]!;
}

export async function measure(): Promise<Figure[]> {
  const cost = cpuMs(`await import('${ENTRY}')`) - cpuMs('');
  return [{ what: "import 'orcrawl'", measured: `${Math.round(cost)} CPU-ms`, goal: '≤ 150 CPU-ms' }];
}
