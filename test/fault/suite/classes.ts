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

/** So many of the quick ones, others with every seed. */
export function sampleOf(classes: readonly FaultClass[], count: number, seed: number): FaultClass[] {
  const random = randomFrom(seed);
  const left = [...classes];
  const taken: FaultClass[] = [];
  while (taken.length < count && left.length > 0) taken.push(...left.splice(Math.floor(random() * left.length), 1));
  return taken;
}
