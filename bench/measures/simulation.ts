// The frontier at the size of a broad crawl, without a network: simulation-step.mjs against a real redis-server.
// Not in CI. ORCRAWL_MEASURE_SHARE=0.01 makes it a hundredth of the size.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startRedis } from '../../test/support/redis-server.js';
import type { Figure } from '../measure.js';
import { measureShare } from './share.js';

const STEP = fileURLToPath(new URL('./simulation-step.mjs', import.meta.url));
const DELAY_MS = 70_000;

export interface Simulated {
  readonly domains: number;
  readonly urls: number;
  readonly visits: number;
  readonly domainsVisited: number;
  readonly tooEarly: number;
  readonly isExact: boolean;
  readonly simulatedSeconds: number;
  readonly seededSeconds: number;
  readonly wallSeconds: number;
  readonly clientCpuSeconds: number;
  readonly serverCpuSeconds: number;
  readonly memoryBytes: number;
  readonly commandsPerVisit: number;
}

export async function simulate(domains: number, urls: number, delayMs = DELAY_MS): Promise<Simulated> {
  // Without a file: what the disk does is measured by `redis`.
  const server = await startRedis();
  try {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [STEP, server.url, String(domains), String(urls), String(delayMs)],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    );
    if (status !== 0) throw new Error(`the simulation failed: ${stderr}`);
    return JSON.parse(stdout) as Simulated;
  } finally {
    await server.dispose();
  }
}

export async function measure(): Promise<Figure[]> {
  const share = measureShare();
  const found = await simulate(Math.round(1e6 * share), Math.round(50e6 * share));
  const { visits, urls, wallSeconds } = found;
  const perUrl = (seconds: number): string => `${((seconds * 1e6) / urls).toFixed(1)} µs`;
  return [
    {
      what: 'domains; URLs; visits; domains visited',
      measured: [found.domains, urls, visits, found.domainsVisited].join('; '),
      goal: '≥ 1 M domains, ≥ 50 M URLs',
    },
    { what: 'time of the run', measured: `${(wallSeconds / 60).toFixed(1)} min`, goal: '≤ 60 min' },
    {
      what: 'requests before their domain was due; URLs lost or queued twice',
      measured: `${found.tooEarly}; ${found.isExact ? 'none' : 'some'}`,
      goal: '0; none',
    },
    {
      what: 'simulated time; visits a simulated second; URLs added and visits a second of the run',
      measured: `${found.simulatedSeconds.toFixed(0)} s; ${(visits / found.simulatedSeconds).toFixed(0)}; ${(urls / wallSeconds).toFixed(0)}; ${(visits / wallSeconds).toFixed(0)}`,
      goal: 'reported',
    },
    {
      what: 'CPU per URL, server and client; per visit, both; commands sent per visit',
      measured: `${perUrl(found.serverCpuSeconds)}, ${perUrl(found.clientCpuSeconds)}; ${(((found.serverCpuSeconds + found.clientCpuSeconds) * 1e3) / visits).toFixed(2)} ms; ${found.commandsPerVisit.toFixed(3)}`,
      goal: 'reported',
    },
    {
      what: 'memory of the store at the end; a URL',
      measured: `${(found.memoryBytes / 1e6).toFixed(0)} MB; ${(found.memoryBytes / urls).toFixed(0)} bytes`,
      goal: 'reported',
    },
  ];
}
