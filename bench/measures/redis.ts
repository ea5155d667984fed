// The frontier in Redis on a real server: what a page costs it in commands and CPU, and what URLs and domains cost in
// memory. Memory is a slope between two sizes, so that what the server needs anyway does not count.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type RedisServer, startRedis } from '../../test/support/redis-server.js';
import type { Figure } from '../measure.js';
import { measureShare } from './share.js';

const STEP = fileURLToPath(new URL('./redis-step.mjs', import.meta.url));

async function step<T>(name: string, settings: readonly string[] = []): Promise<T> {
  const server: RedisServer = await startRedis(settings);
  try {
    const { stdout, status, stderr } = spawnSync(process.execPath, [STEP, server.url, name], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
    console.log(`  … ${name}: ${stdout.trim()}`);
    return JSON.parse(stdout) as T;
  } finally {
    await server.dispose();
  }
}

interface PageCost {
  saddMicros: number;
  commands: number;
  serverMs: number;
  clientMs: number;
  inScripts: number;
  dropped: number;
  sent: number;
  p99Ms: Record<string, number>;
}

const bytes = (value: number): string => `${value.toFixed(1)} bytes`;

const megabytes = (value: number): string => `${(value / 1e6).toFixed(1)} MB`;

export async function measure(): Promise<Figure[]> {
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  const share = measureShare();
  const sized = (full: number): string => (full * share >= 1 ? `${full * share} M` : `${full * share * 1000} k`);
  const seeds = await step<{ count: number; clientSeconds: number; serverSeconds: number; rss: number }>(
    'seeding',
    durable,
  );
  const pages = await step<PageCost>('pages', durable);
  const exact = await step<{ slope: number }>('domains-of-1500-exact');
  const bloom = await step<{ slope: number }>('domains-of-1500-bloom');
  const single = await step<{ slope: number }>('single-url-domains');
  const long = await step<{ peak: number; spilled: number; isOrdered: boolean }>('long-domain');
  const filter = await step<{ bytes: number; falsePositives: number }>('bloom-full');
  return [
    {
      what: `seeding ${sized(1)} domains from a file: CPU of client and server; resident memory of the client`,
      measured: `${seeds.clientSeconds.toFixed(1)} + ${seeds.serverSeconds.toFixed(1)} CPU-s; ${megabytes(seeds.rss)}`,
      goal: `≤ ${60 * share} CPU-s; ≤ 500 MB`,
    },
    { what: 'commands sent a page', measured: pages.commands.toFixed(3), goal: '≤ 0.2' },
    { what: 'server CPU a page (appendfsync always)', measured: `${pages.serverMs.toFixed(3)} ms`, goal: '≤ 0.2 ms' },
    {
      what: 'a SADD in a Lua loop in the same run (ANCHORS: 1.25 µs on an idle machine)',
      measured: `${pages.saddMicros.toFixed(2)} µs`,
      goal: 'the yardstick',
    },
    { what: 'frontier client CPU a page', measured: `${pages.clientMs.toFixed(3)} ms`, goal: 'reported' },
    {
      what: 'links sent a page of 100; dropped by the recent cache; commands inside scripts a page',
      measured: `${pages.sent.toFixed(1)}; ${(pages.dropped * 100).toFixed(0)} %; ${pages.inScripts.toFixed(0)}`,
      goal: 'reported',
    },
    {
      what: 'p99 of a script call on the server (64 pages settled, their links added, 200 leased)',
      measured: Object.entries(pages.p99Ms)
        .map(([name, ms]) => `${name} ${ms.toFixed(2)} ms`)
        .join(', '),
      goal: '< 5 ms',
    },
    {
      what: `memory a seen URL, exact, ${sized(1)} → ${sized(3)}`,
      measured: bytes(exact.slope - bloom.slope),
      goal: '≤ 12 bytes',
    },
    {
      what: 'memory a queued URL of 60 bytes, domains of 500 to 1,500',
      measured: bytes(bloom.slope),
      goal: '≤ 70 bytes',
    },
    { what: 'memory a domain with one queued URL of 60 bytes', measured: bytes(single.slope), goal: '≤ 500 bytes' },
    {
      what: `one domain with ${sized(1)} URLs, beyond the seen set: once spilled; peak; order kept`,
      measured: `${megabytes(long.spilled)}; ${megabytes(long.peak)}; ${long.isOrdered ? 'yes' : 'no'}`,
      goal: '< 10 MB; < 64 MB; yes',
    },
    {
      what: `Bloom filter for ${sized(2)} URLs at 0.1 %`,
      measured: `${bytes(filter.bytes)} a URL`,
      goal: '≤ 2.5 bytes',
    },
    {
      what: 'its false positives when full',
      measured: `${(filter.falsePositives * 100).toFixed(3)} %`,
      goal: '≤ 0.12 %',
    },
  ];
}
