// What remembering pages costs Redis: the same crawl on pods without a memory, with one, and again with it; and a watch.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openLmdbMemory } from '../../src/fresh/memory/memory-lmdb.js';
import { startSimwebProcess } from '../../src/testing/index.js';
import { type RedisServer, startRedis } from '../../test/support/redis-server.js';
import type { Figure } from '../measure.js';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const HOSTS = 10;
const PAGES = Number(process.env.FRESH_PAGES ?? 4_000);
const WATCHED_SECS = 60;
const WATCH_PER_SEC = 150;

/** All that the server's keys take, as it counts itself. */
async function keptIn({ url }: RedisServer): Promise<number> {
  const { Redis } = createRequire(import.meta.url)('ioredis') as typeof import('ioredis');
  const client = new Redis(url, { protocol: 2 });
  try {
    let bytes = 0;
    for (const key of await client.keys('*')) bytes += (await client.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
    return bytes;
  } finally {
    client.disconnect();
  }
}

async function onPod<T>(seeds: readonly string[], more: string, use: (pod: Pod) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'fresh-redis-'));
  const server = await startRedis();
  const yaml = [
    `pods: [{ redis_url: "${server.url}" }]`,
    `data_dirs: [${folder}/data]`,
    `log_dir: ${folder}/logs`,
    'seed_file: seeds.txt',
    'email: measure@example.com',
    'politeness_delay_seconds: 0',
    'fetchers_per_pod: 1',
    'parsers_per_pod: 0',
    'allow_private_addresses: true',
    'enable_cpu_affinity: false',
    'enable_prometheus: false',
    more,
  ];
  await writeFile(path.join(folder, 'crawl.yaml'), `${yaml.join('\n')}\n`);
  await writeFile(path.join(folder, 'seeds.txt'), `${seeds.join('\n')}\n`);
  const start = (...flags: string[]) =>
    spawn(process.execPath, [MAIN, 'run', '--config', 'crawl.yaml', ...flags], { cwd: folder, stdio: 'ignore' });
  try {
    return await use({
      server,
      memory: path.join(folder, 'data', 'page_memory', 'pod_0_of_1'),
      async crawl(...flags) {
        const [code] = (await once(start(...flags), 'exit')) as [number | null];
        if (code !== 0) throw new Error(`the crawl ended with ${code}`);
        return keptIn(server);
      },
      async watch(secs) {
        const child = start();
        const ended = once(child, 'exit');
        await wait(secs * 1_000);
        child.kill('SIGTERM');
        await ended;
        return keptIn(server);
      },
    });
  } finally {
    await server.dispose();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

interface Pod {
  readonly server: RedisServer;
  readonly memory: string;
  crawl(...flags: string[]): Promise<number>;
  watch(secs: number): Promise<number>;
}

async function visitsIn(folder: string): Promise<{ pages: number; visits: number }> {
  const memory = await openLmdbMemory(folder);
  try {
    const rows = [...memory.pages()].map(({ page }) => page.visits);
    return { pages: rows.length, visits: rows.reduce((sum, one) => sum + one, 0) };
  } finally {
    await memory.close();
  }
}

export async function measure(): Promise<Figure[]> {
  const web = await startSimwebProcess({
    hosts: HOSTS,
    pagesPerHost: PAGES / HOSTS,
    pageBytes: 4_000,
    linksPerPage: 20,
  });
  const seeds = Array.from({ length: HOSTS }, (_, host) => web.url(host));
  try {
    const without = await onPod(seeds, '', ({ crawl }) => crawl());
    const [first, again, known] = await onPod(seeds, 'remember: true', async ({ crawl, memory }) => {
      const kept = await crawl();
      return [kept, await crawl('--fresh'), await visitsIn(memory)] as const;
    });
    const watch = `watch: { budget: ${WATCH_PER_SEC}/s, hints: false }`;
    const [watched, made] = await onPod(
      seeds,
      watch,
      async (pod) => [await pod.watch(WATCHED_SECS), await visitsIn(pod.memory)] as const,
    );
    const perUrl = (bytes: number) => `${(bytes / PAGES).toFixed(1)} bytes`;
    return [
      {
        what: `remembering ${known.pages} pages: bytes in Redis per URL, besides those of a crawl without (${perUrl(without)})`,
        measured: perUrl(first - without),
        goal: '≤ 80, or none',
      },
      {
        what: 'the same after a second crawl of the remembered pages',
        measured: `${perUrl(again - without)} (${known.visits} visits)`,
        goal: '≤ 80, or none',
      },
      {
        what: `a watch of ${WATCHED_SECS} s: bytes in Redis per visit made`,
        measured: `${(watched / made.visits).toFixed(1)} (${made.visits} visits of ${made.pages} pages)`,
        goal: 'reported',
      },
    ];
  } finally {
    await web.close();
  }
}
