// All fault classes, and which of them CI takes.
import { type FaultClass, randomFrom } from './bench.js';
import { killPoints } from './kill-points.js';
import { podsDisks } from './pods-disks.js';
import { podsMachines } from './pods-machines.js';
import { podsProcesses } from './pods-processes.js';
import { podsRedis } from './pods-redis.js';
import { scriptsAndBatches } from './scripts-and-batches.js';
import { servers } from './servers.js';

export const FAULT_CLASSES: readonly FaultClass[] = [
  ...podsProcesses,
  ...podsRedis,
  ...podsDisks,
  ...podsMachines,
  ...scriptsAndBatches,
  ...servers,
  ...killPoints,
];

/** Chosen by the seed: one of each group, kill points and the placements. */
export function sampleOf(classes: readonly FaultClass[], seed: number): FaultClass[] {
  const random = randomFrom(seed);
  const groups = new Map<string, FaultClass[]>();
  for (const one of classes) {
    const group = /killed-[\w-]+\./.test(one.name) ? 'kill points' : one.placement;
    groups.set(group, [...(groups.get(group) ?? []), one]);
  }
  return [...groups.values()].map((group) => group[Math.floor(random() * group.length)]!);
}
