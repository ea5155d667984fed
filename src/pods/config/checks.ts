// What a configuration needs of the world: folders that can be written, files that can be read, stores that answer.
// Promise: looks only. Nothing is made, nothing is left behind.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdtemp, rmdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { whyNotOwn } from '../../base/private-files.js';
import { probeRedis } from '../../frontier/redis/server/probe.js';
import { shown } from '../../option-checks.js';
import type { PodsConfig } from './types.js';

/** Appends what is wrong with folders and files. */
export async function findDiskProblems(config: PodsConfig, problems: string[]): Promise<void> {
  const folders: [name: string, path: string][] = [
    ...config.dataDirs.map((path): [string, string] => ['data_dirs', path]),
    ['log_dir', config.logDir],
    ['state_dir', config.stateDir],
    ...(config.parsersPerPod > 0 ? [['handoff_dir', config.handoffDir] as [string, string]] : []),
    ...config.pods.flatMap((pod, index): [string, string][] =>
      pod.kind === 'embedded' ? [[`pods[${index}].path`, pod.path]] : [],
    ),
  ];
  // One folder that is wrong makes others wrong that lie in it by default: name it once.
  const reported: string[] = [];
  for (const [name, path] of folders) {
    if (reported.some((outer) => path.startsWith(`${outer}/`))) continue;
    const reason = await whyNotWritable(path);
    if (reason === undefined) continue;
    reported.push(path);
    problems.push(`${name}: ${shown(path)} is not writable: ${reason}`);
  }
  const files: [name: string, path: string | undefined][] = [
    ['seed_file', config.seedFile],
    ['exclude_file', config.excludeFile],
    ['handler', config.handler],
  ];
  for (const [name, path] of files) {
    const reason = path === undefined ? undefined : await whyNotReadable(path);
    if (reason !== undefined) problems.push(`${name}: ${shown(path)} cannot be read: ${reason}`);
  }
}

/** Makes and removes an empty folder in the nearest folder that exists: permissions alone do not tell. */
async function whyNotWritable(path: string): Promise<string | undefined> {
  let nearest = path;
  for (;;) {
    try {
      if (!(await stat(nearest)).isDirectory()) return `${nearest} is not a folder`;
      break;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOTDIR') return `a part of it is not a folder`;
      if (code !== 'ENOENT' || nearest === dirname(nearest)) return message;
      nearest = dirname(nearest);
    }
  }
  try {
    await rmdir(await mkdtemp(join(nearest, '.orcrawl-check-')));
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/\.orcrawl-check-\S*?(?=')/, '');
  }
}

async function whyNotReadable(path: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isFile()) return 'it is not a file';
    await access(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (error as Error).message;
  }
}

/** Appends what is wrong with the stores that this machine needs: its own pods' and the coordinator's. */
export async function findStoreProblems(
  config: PodsConfig,
  problems: string[],
  warn: (message: string) => void,
): Promise<void> {
  const needed = [...new Set([...config.ownPods, config.globalCoordinationRedisPod])].sort((a, b) => a - b);
  const findings = await Promise.all(
    needed.map(async (index) => {
      const pod = config.pods[index];
      if (pod?.kind !== 'redis') return undefined;
      const { problem, atRisk } = await probeRedis({
        url: pod.redisUrl,
        connectTimeoutMs: config.redisSocketConnectTimeout * 1000,
        commandTimeoutMs: config.redisSocketTimeout * 1000,
      });
      if (atRisk !== undefined) warn(`pods[${index}]: Redis at ${pod.where}: ${atRisk}`);
      return problem === undefined ? undefined : `pods[${index}]: ${problem}`;
    }),
  );
  problems.push(...findings.filter((finding) => finding !== undefined));
}

const SHARED_MEMORY = '/dev/shm';

/** Where captures wait for parsers: in memory if there is room for all that may wait, else beside the state. */
export async function roomyHandoffDir(config: PodsConfig): Promise<string> {
  if (config.parsersPerPod === 0) return config.handoffDir;
  try {
    const { bavail, bsize } = await statfs(SHARED_MEMORY);
    if (bavail * bsize < config.parseQueueMaxBytes * config.ownPods.length) return config.handoffDir;
    // Crawls of one machine must not sweep each other's captures.
    const name = createHash('sha256').update(config.stateDir).digest('hex').slice(0, 12);
    const folder = join(SHARED_MEMORY, `orcrawl-${name}`);
    // Anybody may make a folder there, also one of this name.
    return (await whyNotOwn(folder)) === undefined ? folder : config.handoffDir;
  } catch {
    return config.handoffDir;
  }
}
