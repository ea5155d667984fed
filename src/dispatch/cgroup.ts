// Reads the container's limits: memory and CPU of the cgroup (v1, v2, hybrid) and their use.
// Promise: the tightest limit of the group and its ancestors counts; no limit (`max`, -1, huge) is undefined;
// a missing or invalid file means no limit, never an error.
import { totalmem } from 'node:os';
import { type ReadText, readTextFile } from '../base/process-memory.js';

/** The limits of this process, and readers of its group's usage. */
export interface Cgroup {
  readonly memoryLimitBytes: number | undefined;
  readonly cpuLimitCores: number | undefined;
  /** Memory of the group that cannot be dropped (anonymous and shared), at the level of the limit. */
  usedMemoryBytes(): number | undefined;
  /** CPU time used since the group began, at the level of the limit. */
  usedCpuMs(): number | undefined;
}

const MOUNT = '/sys/fs/cgroup';

/**
 * Finds the cgroup of this process.
 *
 * @example
 * const { memoryLimitBytes } = readCgroup();
 */
export function readCgroup(readText: ReadText = readTextFile, hostMemoryBytes: number = totalmem()): Cgroup {
  const paths = parseMembership(readText('/proc/self/cgroup') ?? '');
  const v2Root = readText(`${MOUNT}/cgroup.controllers`) === undefined ? `${MOUNT}/unified` : MOUNT;
  const number = (path: string) => parseNumber(readText(path));

  const memoryV1 = paths.get('memory');
  const memory = tightest(
    memoryV1 === undefined
      ? levels(v2Root, paths.get('') ?? '/').map((dir) => ({ dir, limit: number(`${dir}/memory.max`) }))
      : levels(`${MOUNT}/memory`, memoryV1).map((dir) => ({ dir, limit: number(`${dir}/memory.limit_in_bytes`) })),
    // v1 writes "no limit" as a number near 2^63; a limit above the machine is none either.
    (limit) => limit < hostMemoryBytes,
  );

  const cpuV1 = paths.get('cpu');
  const cpu = tightest(
    cpuV1 === undefined
      ? levels(v2Root, paths.get('') ?? '/').map((dir) => ({ dir, limit: parseCpuMax(readText(`${dir}/cpu.max`)) }))
      : levels(`${MOUNT}/cpu`, cpuV1).map((dir) => ({
          dir,
          limit: quota(number(`${dir}/cpu.cfs_quota_us`), number(`${dir}/cpu.cfs_period_us`)),
        })),
    () => true,
  );
  const accountV1 =
    cpu === undefined || cpuV1 === undefined ? undefined : cpu.dir.replace(`${MOUNT}/cpu`, `${MOUNT}/cpuacct`);

  return {
    memoryLimitBytes: memory?.limit,
    cpuLimitCores: cpu?.limit,
    usedMemoryBytes: () => {
      if (memory === undefined) return undefined;
      const stat = readText(`${memory.dir}/memory.stat`);
      if (stat === undefined) return undefined;
      return memoryV1 === undefined
        ? sumOfFields(stat, ['anon', 'shmem', 'slab_unreclaimable'])
        : sumOfFields(stat, ['total_rss', 'total_shmem']);
    },
    usedCpuMs: () => {
      if (cpu === undefined) return undefined;
      if (accountV1 !== undefined) return scaled(number(`${accountV1}/cpuacct.usage`), 1e-6);
      const stat = readText(`${cpu.dir}/cpu.stat`);
      return stat === undefined ? undefined : scaled(sumOfFields(stat, ['usage_usec']), 1e-3);
    },
  };
}

/** Controller → path; the path of v2 under the empty name. */
function parseMembership(text: string): Map<string, string> {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^\d+:([^:]*):(\/.*)$/.exec(line);
    if (!match) continue;
    for (const controller of match[1]!.split(',')) paths.set(controller, match[2]!);
  }
  return paths;
}

/**
 * The folders from the group up to the mount. Inside a container the path may be the host's and not exist:
 * then only the mount itself, which is the container's own group, answers.
 */
function levels(root: string, path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '..');
  return Array.from({ length: segments.length + 1 }, (_, up) =>
    [root, ...segments.slice(0, segments.length - up)].join('/'),
  );
}

interface Level {
  readonly dir: string;
  readonly limit: number | undefined;
}

function tightest(candidates: readonly Level[], counts: (limit: number) => boolean) {
  let found: { dir: string; limit: number } | undefined;
  for (const { dir, limit } of candidates) {
    if (limit === undefined || limit <= 0 || !counts(limit)) continue;
    if (found === undefined || limit < found.limit) found = { dir, limit };
  }
  return found;
}

function parseNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+\s*$/.test(text) ? Number(text) : undefined;
}

/** `cpu.max` is "quota period" or "max period", in microseconds. */
function parseCpuMax(text: string | undefined): number | undefined {
  const [quotaUs, periodUs] = (text ?? '').trim().split(/\s+/);
  return quota(parseNumber(quotaUs), parseNumber(periodUs));
}

function quota(quotaUs: number | undefined, periodUs: number | undefined): number | undefined {
  if (quotaUs === undefined || periodUs === undefined || quotaUs <= 0 || periodUs <= 0) return undefined;
  return quotaUs / periodUs;
}

function sumOfFields(stat: string, names: readonly string[]): number | undefined {
  let sum: number | undefined;
  for (const line of stat.split('\n')) {
    const space = line.indexOf(' ');
    if (space < 0 || !names.includes(line.slice(0, space))) continue;
    const value = parseNumber(line.slice(space + 1));
    if (value !== undefined) sum = (sum ?? 0) + value;
  }
  return sum;
}

function scaled(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}
