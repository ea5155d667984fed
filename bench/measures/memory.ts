// Resident memory of a long crawl with the queue and the dataset on disk. The crawl runs in its own process.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startSimwebProcess } from '../../dist/testing/index.js';
import type { Figure } from '../measure.js';

const STEP = fileURLToPath(new URL('./memory-step.mjs', import.meta.url));

export async function measure(): Promise<Figure[]> {
  await using web = await startSimwebProcess({
    hosts: 20,
    pagesPerHost: 1100,
    pageBytes: [5000, 20000],
    crossHostLinks: 0.2,
  });
  const { stdout, status, stderr } = spawnSync(process.execPath, [STEP, web.url(0)], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const { early, late, pages } = JSON.parse(stdout) as { early: number; late: number; pages: number };
  return [
    { what: 'RSS at page 5,000', measured: `${early} MB`, goal: '' },
    { what: 'RSS at page 20,000', measured: `${late} MB, ${(late / early).toFixed(2)} ×`, goal: '≤ 1.2 ×' },
    { what: 'pages crawled', measured: String(pages), goal: '≥ 20,000' },
  ];
}
