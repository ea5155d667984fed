// Crawlee's functions on the machine: memory and CPU ticks, as a container sees them.
import os, { freemem, totalmem } from 'node:os';
import { memoryUsage } from 'node:process';
import { readCgroup } from '../dispatch/cgroup.js';
import { createSystemReaders, type CpuReading } from '../dispatch/system-readers.js';

/** Memory of the machine or the container, and of this process and its children. */
export interface MemoryInfo {
  totalBytes: number;
  freeBytes: number;
  usedBytes: number;
  mainProcessBytes: number;
  childProcessesBytes: number;
}

/** Memory now; `isContainerized` false looks at the machine as a whole. */
export function memoryNow(isContainerized = true): MemoryInfo {
  const group = isContainerized ? readCgroup() : undefined;
  const totalBytes = group?.memoryLimitBytes ?? totalmem();
  const groupUsed = group?.memoryLimitBytes === undefined ? undefined : group.usedMemoryBytes();
  const usedBytes = groupUsed ?? totalmem() - freemem();
  const without = createSystemReaders({ containerized: false }).memory().usedBytes;
  const withChildren = createSystemReaders({ containerized: false, includeChildren: true }).memory().usedBytes;
  return {
    totalBytes,
    freeBytes: Math.max(0, totalBytes - usedBytes),
    usedBytes,
    mainProcessBytes: memoryUsage.rss(),
    childProcessesBytes: Math.max(0, withChildren - without),
  };
}

/**
 * Memory of the machine or the container, of this process and of its children.
 *
 * @example
 * const { totalBytes, mainProcessBytes } = await getMemoryInfo();
 */
export async function getMemoryInfo(): Promise<MemoryInfo> {
  return memoryNow();
}

/**
 * As `getMemoryInfo`; with `false` it looks at the machine as a whole.
 *
 * @example
 * const { usedBytes } = await getMemoryInfoV2(false);
 */
export async function getMemoryInfoV2(containerized = false): Promise<MemoryInfo> {
  return memoryNow(containerized);
}

let before: CpuReading | undefined;

/**
 * The share of the CPU in use since the last call, from 0 to 1.
 *
 * @example
 * const ratio = await getCurrentCpuTicksV2();
 */
export async function getCurrentCpuTicksV2(containerized = false): Promise<number> {
  const { ratio, reading } = cpuSince(before, containerized);
  before = reading;
  return ratio;
}

/** The share of the CPU in use since a reading; since the start of the machine without one. */
export function cpuSince(
  last: CpuReading | undefined,
  containerized?: boolean,
): { ratio: number; reading: CpuReading } {
  const reading = containerized === false ? machineReading() : createSystemReaders({ containerized }).cpu();
  const availableMs = reading.availableMs - (last?.availableMs ?? 0);
  const busyMs = reading.busyMs - (last?.busyMs ?? 0);
  const ratio = availableMs > 0 ? Math.min(1, Math.max(0, busyMs / availableMs)) : 0;
  return { ratio, reading };
}

/** The busy and the available milliseconds of all CPUs since the start of the machine. */
function machineReading(): CpuReading {
  const { idle, total } = cpuTicks();
  return { busyMs: total - idle, availableMs: total };
}

/** Idle and total milliseconds of all CPUs since the start of the machine. */
export function cpuTicks(): { idle: number; total: number } {
  let idle = 0;
  let total = 0;
  for (const { times } of os.cpus()) {
    idle += times.idle;
    for (const ms of Object.values(times)) total += ms;
  }
  return { idle, total };
}
