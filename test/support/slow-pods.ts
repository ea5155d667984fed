// How long the healthy pages of a slow web take on one pod: `orcrawl run` with a real Redis, as a user runs it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startRedis } from './redis-server.js';
import { healthyMs, type Limit, type SlowWebOptions, startSlowWeb } from './slow-web.js';

export interface SlowPodsPlan extends SlowWebOptions {
  readonly slots: number;
  readonly delaySecs: number;
  /** More lines for the YAML file. */
  readonly more?: readonly string[];
  readonly limit: Limit;
}

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const START_MS = 60_000;
const END_MS = 60_000;

/** From the first request to the last healthy page; the limit when it took longer. */
export async function timeOnPods(plan: SlowPodsPlan): Promise<number> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'orcrawl-slow-'));
  const redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
  const web = await startSlowWeb(plan);
  await writeFile(path.join(folder, 'seeds.txt'), [...web.slowSeeds, ...web.healthySeeds, ''].join('\n'));
  await writeFile(path.join(folder, 'crawl.yaml'), configText(plan, folder, redis.url));
  let output = '';
  const child = spawn(process.execPath, [CLI, 'run', '--config', path.join(folder, 'crawl.yaml')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-5_000)));
  }
  const ended = once(child, 'exit');
  try {
    const givesUpAtMs = performance.now() + START_MS;
    while (web.firstRequestMs === undefined) {
      if (child.exitCode !== null || performance.now() > givesUpAtMs) throw new Error(`no request came:\n${output}`);
      await delay(20);
    }
    return await healthyMs(web, web.firstRequestMs, plan.limit);
  } finally {
    // What hangs is broken off with the web, so that the workers end soon.
    child.kill('SIGINT');
    await web.close();
    const late = setTimeout(() => child.kill('SIGKILL'), END_MS);
    await ended;
    clearTimeout(late);
    await redis.dispose();
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  }
}

function configText({ slots, delaySecs, more = [] }: SlowPodsPlan, folder: string, redisUrl: string): string {
  return [
    'pods:',
    `  - redis_url: ${redisUrl}`,
    `data_dirs: [${folder}/data]`,
    `log_dir: ${folder}/logs`,
    'fetchers_per_pod: 1',
    `fetcher_workers: ${slots}`,
    'enable_cpu_affinity: false',
    `politeness_delay_seconds: ${delaySecs}`,
    'email: test@example.com',
    'seed_file: seeds.txt',
    'allow_private_addresses: true',
    'enable_prometheus: false',
    ...more,
    '',
  ].join('\n');
}
