// The frontier's backends against their goals (ANCHORS "Queue"): adding, resuming, leasing and settling.
// node --import jiti/register bench/frontier.ts [--urls 1000000] [--shape one|thousand|million|all] [--access memory|owner|shared|all]
// Each measurement runs in a process of its own, so that memory and CPU are its alone.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Frontier, QueueEntry, Settlement } from '../src/frontier/frontier.js';
import { openLmdbFrontier } from '../src/frontier/embedded/store/lmdb.js';
import { createMemoryFrontier } from '../src/frontier/embedded/store/memory.js';
import { fingerprintOf } from '../src/request/fingerprint.js';

const { values } = parseArgs({
  options: {
    urls: { type: 'string', default: '1000000' },
    shape: { type: 'string', default: 'all' },
    access: { type: 'string', default: 'all' },
    step: { type: 'string' },
    folder: { type: 'string' },
  },
});
const urls = Number(values.urls);
const DOMAINS: Record<string, number> = { one: 1, thousand: 1_000, million: 1_000_000 };
const ADD_BATCH = 1_000;
const LEASE_BATCH = 100;
const FEW = 10_000;
const TURNS = 200;

function entriesFrom(start: number, count: number, domains: number): QueueEntry[] {
  const entries: QueueEntry[] = [];
  for (let i = start; i < start + count; i++) {
    const domain = `site-${i % domains}.example`;
    const record = `https://${domain}/articles/of/some/length/page-${i}`;
    entries.push({ fingerprint: fingerprintOf(record), domain, record });
  }
  return entries;
}

interface Backend {
  /** What was added is there when it is opened again. */
  readonly durable: boolean;
  /** Opens the queue of this folder; a backend without a folder takes it as the queue's name. */
  open(folder: string): Promise<Frontier>;
  /** The bytes on disk of what a folder holds. */
  diskBytes?(folder: string): number;
}

const OPTIONS = { holder: 'bench', pacing: { delayMs: 0, turns: TURNS } };
const lmdbBytes = (folder: string): number => statSync(join(folder, 'data.mdb')).size;

/** A new backend is one more row. */
const BACKENDS: Readonly<Record<string, Backend>> = {
  memory: { durable: false, open: async () => createMemoryFrontier(OPTIONS) },
  owner: {
    durable: true,
    open: (folder) => openLmdbFrontier(folder, { ...OPTIONS, access: 'owner' }),
    diskBytes: lmdbBytes,
  },
  shared: {
    durable: true,
    open: (folder) => openLmdbFrontier(folder, { ...OPTIONS, access: 'shared' }),
    diskBytes: lmdbBytes,
  },
};

let call = 0;

async function addAll(frontier: Frontier, from: number, count: number, domains: number): Promise<void> {
  for (let start = from; start < from + count; start += ADD_BATCH) {
    const entries = entriesFrom(start, Math.min(ADD_BATCH, from + count - start), domains);
    await frontier.add({ holder: 'bench', call: call++, entries });
  }
}

async function leaseAndSettle(frontier: Frontier, count: number): Promise<number> {
  let settled = 0;
  while (settled < count) {
    const { leases } = await frontier.lease({ holder: 'bench', call: call++, max: LEASE_BATCH });
    if (leases.length === 0) break;
    const landings = leases.map(({ id }) => ({ lease: id }));
    const settlements = leases.map(({ id }): Settlement => ({ kind: 'done', lease: id }));
    await frontier.settle({ holder: 'bench', call: call++, landings, settlements });
    settled += leases.length;
  }
  return settled;
}

async function measured(run: () => Promise<unknown>): Promise<{ cpuSecs: number; secs: number; rssMb: number }> {
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  await run();
  const { user, system } = process.cpuUsage(cpu);
  return {
    cpuSecs: (user + system) / 1e6,
    secs: (performance.now() - startMs) / 1e3,
    rssMb: process.resourceUsage().maxRSS / 1024,
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;

async function step(name: string, folder: string, access: string, domains: number): Promise<void> {
  const { durable, open, diskBytes } = BACKENDS[access]!;
  const report = (figures: Record<string, unknown>): void => console.log(JSON.stringify({ name, access, ...figures }));
  if (name === 'add') {
    const frontier = await open(folder);
    const took = await measured(() => addAll(frontier, 0, urls, domains));
    report({ domains, urls, cpuSecs: round(took.cpuSecs), secs: round(took.secs), rssMb: Math.round(took.rssMb) });
    await frontier.close();
    if (diskBytes) report({ diskBytesPerUrl: Math.round(diskBytes(folder) / urls) });
  } else {
    let frontier!: Frontier;
    const resumed = await measured(async () => (frontier = await open(folder)));
    if (durable) report({ resumeSecs: round(resumed.secs), resumeCpuSecs: round(resumed.cpuSecs) });
    else await addAll(frontier, 0, urls, domains);
    const few = await open(`${folder}-few`);
    await addAll(few, 0, Math.min(FEW, urls), domains);
    // Alternating, so that both rates are of the same minutes of a busy machine; the first round warms up.
    const rates: Record<'few' | 'many', number[]> = { few: [], many: [] };
    for (let i = 0; i < 5; i++) {
      for (const [which, queue] of [
        ['few', few],
        ['many', frontier],
      ] as const) {
        let settled = 0;
        const took = await measured(async () => (settled = await leaseAndSettle(queue, FEW / 5)));
        if (i > 0) rates[which].push(settled / took.cpuSecs);
      }
    }
    const middle = (list: number[]): number => list.sort((a, b) => a - b)[list.length >> 1]!;
    const [small, large] = [middle(rates.few), middle(rates.many)];
    report({
      domains,
      leaseSettlePerCpuSecAt10k: Math.round(small),
      leaseSettlePerCpuSecAtAll: Math.round(large),
      ratio: round(large / small),
      rssMb: Math.round(process.resourceUsage().maxRSS / 1024),
    });
    await few.close();
    await frontier.close();
  }
}

function startStep(name: string, folder: string, shape: string, access: string): void {
  const self = fileURLToPath(import.meta.url);
  const loader = new URL('../scripts/typescript.mjs', import.meta.url).href;
  const args = ['--import', loader, self, '--step', name, '--folder', folder];
  const more = ['--shape', shape, '--access', access, '--urls', String(urls)];
  const { status } = spawnSync(process.execPath, [...args, ...more], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${name} ended with ${status}`);
}

if (values.step && values.folder) {
  await step(values.step, values.folder, values.access, DOMAINS[values.shape]!);
} else {
  const shapes = values.shape === 'all' ? Object.keys(DOMAINS) : [values.shape];
  const accesses = values.access === 'all' ? Object.keys(BACKENDS) : [values.access];
  for (const access of accesses) {
    for (const shape of shapes) {
      const folder = mkdtempSync(join(tmpdir(), 'orcrawl-bench-'));
      try {
        startStep('add', folder, shape, access);
        startStep('lease', folder, shape, access);
      } finally {
        rmSync(folder, { recursive: true, force: true });
        rmSync(`${folder}-few`, { recursive: true, force: true });
      }
    }
  }
}
