// Which cores a worker runs on: its pod's cores, the first two thirds for fetchers, the rest for parsers.
// Promise: if pinning is impossible, one warning says why and nothing is pinned.
import { spawn } from 'node:child_process';
import type { PodsConfig } from '../config/types.js';
import type { WorkerPlace } from '../messages.js';

export interface Affinity {
  /** Pins a running process with all its threads. */
  pin(place: WorkerPlace, pid: number): void;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly cores: number;
}

/**
 * The cores of a worker. Pods are numbered within this machine; a group's remaining cores are distributed.
 */
export function coresOf(config: PodsConfig, place: WorkerPlace): number[] {
  const { coresPerPod, parsersPerPod, fetchersPerPod, ownPods } = config;
  const first = ownPods.indexOf(place.pod) * coresPerPod;
  const forFetchers = parsersPerPod === 0 ? coresPerPod : Math.max(1, Math.floor((coresPerPod * 2) / 3));
  const isFetcher = place.role === 'fetcher';
  const [from, count] = isFetcher ? [first, forFetchers] : [first + forFetchers, coresPerPod - forFetchers];
  const workers = isFetcher ? fetchersPerPod : parsersPerPod;
  // A group without its own core shares the pod's last one.
  if (count <= 0) return [first + coresPerPod - 1];
  if (workers >= count) return [from + (place.id % count)];
  const cores: number[] = [];
  for (let core = place.id; core < count; core += workers) cores.push(from + core);
  return cores;
}

export function createAffinity(config: PodsConfig, machine: Machine, warn: (message: string) => void): Affinity {
  const none: Affinity = { pin: () => undefined };
  if (!config.enableCpuAffinity) return none;
  const needed = config.coresPerPod * config.ownPods.length;
  if (machine.platform !== 'linux') {
    warn('enable_cpu_affinity has no effect here: processes are pinned on Linux only');
    return none;
  }
  if (needed > machine.cores) {
    warn(
      `enable_cpu_affinity has no effect: ${config.ownPods.length} × cores_per_pod is ${needed} cores, this machine ` +
        `has ${machine.cores}. To silence this, set enable_cpu_affinity: false`,
    );
    return none;
  }
  let hasWarned = false;
  const complain = (reason: string) => {
    if (!hasWarned) warn(`processes are not pinned to cores: taskset ${reason}`);
    hasWarned = true;
  };
  return {
    pin(place, pid) {
      const child = spawn('taskset', ['-a', '-p', '-c', coresOf(config, place).join(','), String(pid)], {
        stdio: 'ignore',
      });
      child.on('error', (error) => complain(error.message));
      child.on('exit', (code) => {
        if (code !== 0) complain(`ended with ${code}`);
      });
    },
  };
}
