// Two processes on one queue, 1 s between two requests of a domain: the server's log tells the smallest gap and the
// rate, compared with what the hosts allow and with the same set-up without a delay.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { auditVisits } from '../../src/politeness/audit.js';
import { startSimwebProcess } from '../../dist/testing/index.js';
import type { Figure } from '../measure.js';

const WORKER = fileURLToPath(new URL('./polite-worker.mjs', import.meta.url));

export interface PolitePlan {
  readonly hosts: number;
  readonly delaySecs: number;
  readonly seconds: number;
  /** The rate counts from here on, and from a second after the last robots.txt: before, the queue is filling up. */
  readonly warmUpSecs: number;
  readonly concurrency: number;
  readonly latencyMs: readonly [number, number];
}

export interface PoliteRun {
  readonly perSec: number;
  /** The span over which the rate was counted. */
  readonly countedSecs: number;
  readonly smallestGapMs: number;
  readonly meanResponseMs: number;
  readonly requests: number;
  readonly robotsRequests: number;
  readonly auditedRequests: number;
  readonly violations: number;
  readonly crawlCpuSecs: number;
  readonly serverCpuSecs: number;
}

const PLAN: PolitePlan = {
  hosts: 2_000,
  delaySecs: 1,
  seconds: 60,
  warmUpSecs: 10,
  concurrency: 100,
  latencyMs: [20, 60],
};

export async function measure(): Promise<Figure[]> {
  const polite = await runPolite(PLAN);
  const free = await runPolite({ ...PLAN, delaySecs: 0 });
  const byHosts = PLAN.hosts / (PLAN.delaySecs + polite.meanResponseMs / 1_000);
  const bound = Math.min(byHosts, free.perSec);
  const share = polite.perSec / bound;
  return [
    {
      what: 'smallest gap at the server, any domain',
      measured: `${polite.smallestGapMs.toFixed(1)} ms`,
      goal: '≥ 1,000',
    },
    {
      what: 'requests seen by the server',
      measured: `${polite.requests}, ${polite.robotsRequests} robots.txt`,
      goal: '',
    },
    { what: 'requests/s with 1 s delay', measured: polite.perSec.toFixed(0), goal: '' },
    { what: 'hosts / (delay + mean response time)', measured: byHosts.toFixed(0), goal: '' },
    { what: 'requests/s with delay 0', measured: free.perSec.toFixed(0), goal: '' },
    {
      what: 'seconds counted after the last robots.txt: 1 s delay / delay 0',
      measured: `${polite.countedSecs.toFixed(0)} / ${free.countedSecs.toFixed(0)}`,
      goal: '≥ 20',
    },
    { what: 'share of the smaller of the two', measured: `${(share * 100).toFixed(1)} %`, goal: '≥ 90 %' },
    { what: 'CPU-ms per request, crawl: 1 s delay / delay 0', measured: `${cpu(polite)} / ${cpu(free)}`, goal: '' },
    {
      what: 'audit of the visit log',
      measured: `${polite.auditedRequests} requests, ${polite.violations} violations`,
      goal: '0',
    },
  ];
}

function cpu({ crawlCpuSecs, requests }: PoliteRun): string {
  return ((crawlCpuSecs * 1_000) / requests).toFixed(2);
}

export async function runPolite(plan: PolitePlan): Promise<PoliteRun> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'orcrawl-polite-'));
  try {
    await using web = await startSimwebProcess({
      hosts: plan.hosts,
      pagesPerHost: Math.ceil(plan.seconds / Math.max(plan.delaySecs, 0.4)) + 20,
      pageBytes: 2_000,
      linksPerPage: 12,
      compression: 'none',
      latencyMs: [...plan.latencyMs],
    });
    const seeds = [...web.seeds()];
    const { delaySecs, seconds, concurrency } = plan;
    const workers = [seeds.filter((_, i) => i % 2 === 0), seeds.filter((_, i) => i % 2 === 1)];
    const ended = await Promise.all(
      workers.map((own) => runWorker({ folder, seeds: own, delaySecs, seconds, concurrency })),
    );
    const requests = await web.requests({});
    const startMs = requests[0]!.startMs;
    const lastRobotsMs = Math.max(...requests.filter((one) => one.path === '/robots.txt').map((one) => one.startMs));
    const fromMs = Math.max(startMs + plan.warmUpSecs * 1_000, lastRobotsMs + 1_000);
    const toMs = startMs + (plan.seconds - 2) * 1_000;
    let counted = 0;
    let tookMs = 0;
    const lastEnd = new Map<number, number>();
    let smallestGapMs = Infinity;
    for (const { host, startMs: at, endMs } of requests) {
      if (at >= fromMs && at < toMs) {
        counted++;
        tookMs += endMs! - at;
      }
      smallestGapMs = Math.min(smallestGapMs, at - (lastEnd.get(host) ?? -Infinity));
      lastEnd.set(host, Math.max(endMs!, lastEnd.get(host) ?? 0));
    }
    const audit = await auditVisits(path.join(folder, 'visits'));
    const { user, system } = await web.cpuUsage();
    return {
      perSec: counted / ((toMs - fromMs) / 1_000),
      countedSecs: (toMs - fromMs) / 1_000,
      smallestGapMs,
      meanResponseMs: tookMs / counted,
      requests: requests.length,
      robotsRequests: requests.filter((one) => one.path === '/robots.txt').length,
      auditedRequests: audit.requests,
      violations: audit.violationCount,
      crawlCpuSecs: ended.reduce((sum, { cpuSecs }) => sum + cpuSecs, 0),
      serverCpuSecs: (user + system) / 1e6,
    };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function runWorker(options: object): Promise<{ requestsFinished: number; cpuSecs: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WORKER, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve(JSON.parse(output.trim().split('\n').pop()!) as never);
      else reject(new Error(`a crawl ended with ${code}`));
    });
  });
}
