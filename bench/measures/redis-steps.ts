// One step of the measurements of the Redis frontier: a new server, a new process, and what that process reports.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type RedisServer, startRedis } from '../../test/support/redis-server.js';
import { measureShare } from './share.js';

const STEP = fileURLToPath(new URL('./redis-step.mjs', import.meta.url));

/** Settings of a server that loses nothing. */
export const DURABLE: readonly string[] = ['--appendonly', 'yes', '--appendfsync', 'always'];

export async function step<T>(name: string, settings: readonly string[] = []): Promise<T> {
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

/** A size in millions, by the share that is measured, as text. */
export function sized(full: number): string {
  const share = measureShare();
  return full * share >= 1 ? `${full * share} M` : `${full * share * 1000} k`;
}

export const bytes = (value: number): string => `${value.toFixed(1)} bytes`;

export const megabytes = (value: number): string => `${(value / 1e6).toFixed(1)} MB`;
