// Which cores a worker runs on: its pod's cores, the first two thirds for fetchers, the rest for parsers.
// Promise: if pinning was requested and is impossible, one warning says why; by default it is just not done.
import { spawn } from 'node:child_process';
import type { PodsConfig } from '../config/types.js';
import type { WorkerPlace } from '../messages.js';
import { coresOfPod } from '../topology.js';

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
  const { fetchers, parsers } = coresOfPod(ownPods.indexOf(place.pod), coresPerPod, parsersPerPod);
  const isFetcher = place.role === 'fetcher';
  const group = isFetcher ? fetchers : parsers;
  const workers = isFetcher ? fetchersPerPod : parsersPerPod;
  if (workers >= group.length) return [group[place.id % group.length]!];
  return group.filter((_, index) => index % workers === place.id);
}

export function createAffinity(config: PodsConfig, machine: Machine, warn: (message: string) => void): Affinity {
  const none: Affinity = { pin: () => undefined };
  if (!config.enableCpuAffinity) return none;
  const needed = config.coresPerPod * config.ownPods.length;
  const isAsked = config.givenKeys.some((key) => key === 'enable_cpu_affinity' || key === 'cores_per_pod');
  if (machine.platform !== 'linux') {
    if (isAsked) warn('enable_cpu_affinity has no effect here: processes are pinned on Linux only');
    return none;
  }
  if (needed > machine.cores) {
    if (!isAsked) return none;
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
