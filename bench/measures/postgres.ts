// The frontier in Postgres by itself: leases and settles per second in batches of 64, URLs added per second, with
// synchronous_commit on and off: by the clock, and per second of CPU of the server and this process together, which a busy
// machine changes less. The server is Debian's, in a folder of its own on disk.
import { loadavg } from 'node:os';
import { fingerprintOf, type QueueEntry } from '../../dist/index.js';
import { createPostgresStorage } from '../../dist/postgres/index.js';
import { postgresMissing, type PostgresServer, startPostgres } from '../../test/support/postgres-server.js';
import { cpuMsWithChildren } from '../../test/support/processes.js';
import type { Figure } from '../measure.js';

const BATCH = 64;
const ADDED_AT_ONCE = 5_000;
const URLS = Number(process.env.POSTGRES_URLS ?? 200_000);
const ROUNDS = Number(process.env.POSTGRES_ROUNDS ?? 400);

export async function measure(): Promise<Figure[]> {
  if (postgresMissing) throw new Error(postgresMissing);
  const server = await startPostgres(['shared_buffers=512MB', 'max_wal_size=4GB'], true);
  try {
    const figures: Figure[] = [];
    for (const synchronousCommit of ['on', 'off'] as const) {
      for (const workers of [1, 4]) {
        const found = await measureOne(server, synchronousCommit, workers);
        for (const { what, measured } of found)
          console.log(`  … ${what}: ${measured} (load ${loadavg()[0]!.toFixed(0)})`);
        figures.push(...found);
      }
    }
    figures.push({
      what: 'load average meanwhile',
      measured: loadavg()[0]!.toFixed(1),
      goal: 'below 1 for a fair figure',
    });
    return figures;
  } finally {
    await server.dispose();
  }
}

function urlsFrom(first: number, count: number): QueueEntry[] {
  return Array.from({ length: count }, (_, i) => {
    const n = first + i;
    const domain = `site-${n % 2_000}.example`;
    const record = JSON.stringify({ url: `https://${domain}/section/${n >> 4}/page-${n}.html`, id: n });
    return { fingerprint: fingerprintOf(record), domain, record };
  });
}

/** CPU time of the server so far, with its processes that have ended, and of this process. */
function cpuMs(postmaster: number): number {
  const { user, system } = process.cpuUsage();
  return cpuMsWithChildren(postmaster) + (user + system) / 1_000;
}

async function measureOne(server: PostgresServer, synchronousCommit: 'on' | 'off', workers: number): Promise<Figure[]> {
  const { url, pid } = server;
  const schema = `m_${synchronousCommit}_${workers}`;
  const client = createPostgresStorage({ url, schema, synchronousCommit });
  const opening = { id: 'measure', access: 'shared', leaseMs: 600_000, onForgotten: () => undefined } as const;
  const pacing = { delayMs: 0, turns: 50 };
  const open = (n: number) => client.openFrontier({ ...opening, pacing, holder: `worker-${n}` });
  const frontiers = [await open(0)];
  for (let n = 1; n < workers; n++) frontiers.push(await open(n));
  const name = `synchronous_commit ${synchronousCommit}, ${workers} ${workers === 1 ? 'process' : 'processes'}`;

  let next = 0;
  const addedFrom = { atMs: performance.now(), cpuMs: cpuMs(pid) };
  await Promise.all(
    frontiers.map(async (frontier, n) => {
      for (let call = 1; next < URLS; call++) {
        const from = next;
        next += ADDED_AT_ONCE;
        await frontier.add({ holder: `worker-${n}`, call, entries: urlsFrom(from, ADDED_AT_ONCE) });
      }
    }),
  );
  const added = ratesOf(next, addedFrom, cpuMs(pid));

  let settled = 0;
  const workedFrom = { atMs: performance.now(), cpuMs: cpuMs(pid) };
  await Promise.all(
    frontiers.map(async (frontier, n) => {
      const holder = `worker-${n}`;
      for (let call = 10_000; call < 10_000 + (2 * ROUNDS) / workers; call += 2) {
        const { leases } = await frontier.lease({ holder, call, max: BATCH });
        const landings = leases.map(({ id }) => ({ lease: id }));
        const settlements = leases.map(({ id }) => ({ kind: 'done', lease: id }) as const);
        await frontier.settle({ holder, call: call + 1, landings, settlements });
        settled += leases.length;
      }
    }),
  );
  const worked = ratesOf(settled, workedFrom, cpuMs(pid));
  for (const frontier of frontiers) await frontier.close();
  await client.close();
  return [
    { what: `URLs added per second, ${name}`, measured: added, goal: '≥ 20,000' },
    { what: `leased and settled per second, ${name}`, measured: worked, goal: '≥ 3,000' },
  ];
}

function ratesOf(count: number, from: { atMs: number; cpuMs: number }, cpuNowMs: number): string {
  const perSec = (ms: number): string => String(Math.round((count * 1_000) / ms));
  return `${perSec(performance.now() - from.atMs)}; ${perSec(cpuNowMs - from.cpuMs)} per CPU-s of server and client`;
}
