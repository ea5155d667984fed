// Reads CPU and memory use relative to what this process may use; system-load.ts samples it.
// Promise: CPU is relative to the container's quota or the process's allowed CPUs, memory to its
// limit; every reading is one or two small synchronous reads, with fallbacks for missing files.
import { cpus, totalmem } from 'node:os';
import { descendantsBytes, processBytes, type ReadText, readTextFile } from '../base/process-memory.js';
import { type Cgroup, readCgroup } from './cgroup.js';

/** Cumulative counters: the load between two readings is the ratio of their differences. */
export interface CpuReading {
  readonly busyMs: number;
  readonly availableMs: number;
}

export interface MemoryReading {
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/** Where the readings come from; tests give their own. */
export interface SystemReaders {
  cpu(): CpuReading;
  memory(): MemoryReading;
}

export interface MemoryLimitOptions {
  /** The memory this crawl may use; else the cgroup's limit, else `availableMemoryRatio` of the host's. */
  readonly memoryMbytes?: number | undefined;
  /** Share of the host's memory when neither of the others limits it. Default 0.25. */
  readonly availableMemoryRatio?: number | undefined;
  /** Count the memory of child processes too (browsers). Linux only. Default false. */
  readonly includeChildren?: boolean | undefined;
  /** False: take no notice of cgroup limits. Default: look for them. */
  readonly containerized?: boolean | undefined;
}

export interface ReaderParts {
  readonly readText?: ReadText;
  readonly cgroup?: Cgroup;
  readonly clock?: () => number;
  readonly hostMemoryBytes?: number;
  readonly rssBytes?: () => number;
}

/**
 * Readers of the real system.
 *
 * @example
 * const { usedBytes, limitBytes } = createSystemReaders({ memoryMbytes: 4096 }).memory();
 */
export function createSystemReaders(options: MemoryLimitOptions = {}, parts: ReaderParts = {}): SystemReaders {
  const readText = parts.readText ?? readTextFile;
  const cgroup = parts.cgroup ?? readCgroup(options.containerized === false ? () => undefined : readText);
  const clock = parts.clock ?? (() => performance.now());
  const rssBytes = parts.rssBytes ?? (() => process.memoryUsage.rss());
  const hostMemoryBytes = parts.hostMemoryBytes ?? totalmem();

  const ownLimitBytes = options.memoryMbytes === undefined ? undefined : options.memoryMbytes * 1024 * 1024;
  const limitBytes =
    ownLimitBytes ?? cgroup.memoryLimitBytes ?? Math.floor(hostMemoryBytes * (options.availableMemoryRatio ?? 0.25));
  // The container is killed for the total of its processes, so they all count.
  const countsGroup = ownLimitBytes === undefined && cgroup.memoryLimitBytes !== undefined;
  const allowed = parseCpuList(/^Cpus_allowed_list:\s*(\S+)/m.exec(readText('/proc/self/status') ?? '')?.[1]);

  return {
    cpu: () => {
      const groupMs = cgroup.cpuLimitCores === undefined ? undefined : cgroup.usedCpuMs();
      if (groupMs !== undefined) return { busyMs: groupMs, availableMs: clock() * cgroup.cpuLimitCores! };
      return parseProcStat(readText('/proc/stat'), allowed) ?? hostCpu();
    },
    memory: () => {
      let usedBytes = processBytes(readText('/proc/self/status')) ?? rssBytes();
      if (options.includeChildren) usedBytes += descendantsBytes(process.pid, readText);
      if (countsGroup) usedBytes = Math.max(usedBytes, cgroup.usedMemoryBytes() ?? 0);
      return { usedBytes, limitBytes };
    },
  };
}

/** "0-2,5" → {0, 1, 2, 5}; undefined when there is no list. */
function parseCpuList(list: string | undefined): ReadonlySet<string> | undefined {
  if (list === undefined) return undefined;
  const found = new Set<string>();
  for (const part of list.split(',')) {
    const [first, last] = part.split('-').map(Number);
    // 8192 is the most CPUs a Linux kernel is built for.
    for (let cpu = first ?? NaN; cpu <= Math.min(last ?? first ?? NaN, 8191); cpu++) found.add(`cpu${cpu}`);
  }
  return found.size > 0 ? found : undefined;
}

/** Sums the lines of the allowed CPUs; the kernel counts in ticks of 10 ms, idle and waiting for disks apart. */
function parseProcStat(stat: string | undefined, allowed: ReadonlySet<string> | undefined): CpuReading | undefined {
  if (stat === undefined || allowed === undefined) return undefined;
  let busyTicks = 0;
  let allTicks = 0;
  for (const line of stat.split('\n')) {
    if (!line.startsWith('cpu')) break;
    const [name, ...fields] = line.split(/\s+/);
    if (!allowed.has(name!)) continue;
    // user nice system idle iowait irq softirq steal; guest time is already within user.
    const ticks = fields.slice(0, 8).map(Number);
    const total = ticks.reduce((sum, value) => sum + value, 0);
    allTicks += total;
    busyTicks += total - (ticks[3] ?? 0) - (ticks[4] ?? 0);
  }
  return allTicks > 0 ? { busyMs: busyTicks * 10, availableMs: allTicks * 10 } : undefined;
}

function hostCpu(): CpuReading {
  let busyMs = 0;
  let availableMs = 0;
  for (const { times } of cpus()) {
    const usedMs = times.user + times.nice + times.sys + times.irq;
    busyMs += usedMs;
    availableMs += usedMs + times.idle;
  }
  return { busyMs, availableMs };
}
