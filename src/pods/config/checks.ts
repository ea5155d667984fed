// Checks what a configuration needs: writable folders, readable files, stores that answer.
// Promise: read-only. Nothing is created or left behind.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdtemp, rmdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { whyNotOwn } from '../../base/private-files.js';
import { probeRedis } from '../../frontier/redis/server/probe.js';
import { shown } from '../../option-checks.js';
import { redisOptions } from '../stores/redis-options.js';
import type { PodsConfig } from './types.js';

/** Appends problems with folders and files. */
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
  // A bad folder also breaks the default folders inside it: report it once.
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

/** Creates and removes a folder in the nearest existing parent: permissions alone are not enough. */
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
    if (!(await stat(path)).isFile()) return 'not a file';
    await access(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'file not found' : (error as Error).message;
  }
}

/** Appends problems with the stores this machine needs: its own pods' and the coordinator's. */
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
      const { problem, atRisk } = await probeRedis(redisOptions(config, pod));
      // Pods that share servers share what is said about them.
      const name = pod.prefix === '' ? `pods[${index}]: ` : '';
      return {
        risk: atRisk === undefined ? undefined : `${name}Redis at ${pod.where}: ${atRisk}`,
        problem: problem === undefined ? undefined : `${name}${problem}`,
      };
    }),
  );
  const distinct = (texts: readonly (string | undefined)[]) => new Set(texts.filter((text) => text !== undefined));
  for (const risk of distinct(findings.map((finding) => finding?.risk))) warn(risk);
  problems.push(...distinct(findings.map((finding) => finding?.problem)));
}

const SHARED_MEMORY = '/dev/shm';

/** Where captures wait for parsers: in memory if the whole queue fits, else next to the state. */
export async function roomyHandoffDir(config: PodsConfig): Promise<string> {
  if (config.parsersPerPod === 0) return config.handoffDir;
  try {
    const { bavail, bsize } = await statfs(SHARED_MEMORY);
    if (bavail * bsize < config.parseQueueMaxBytes * config.ownPods.length) return config.handoffDir;
    // Crawls on one machine must not delete each other's captures.
    const name = createHash('sha256').update(config.stateDir).digest('hex').slice(0, 12);
    const folder = join(SHARED_MEMORY, `orcrawl-${name}`);
    // Anybody may make a folder there, also one of this name.
    return (await whyNotOwn(folder)) === undefined ? folder : config.handoffDir;
  } catch {
    return config.handoffDir;
  }
}
