import { describe, expect, it } from 'vitest';
import type { PodSupervisor } from '../supervise/pod-supervisor.js';
import { createProbes } from './probes.js';

const NONE: ReadonlySet<number> = new Set();

function supervisor(index: number, isReady = true, failure?: PodSupervisor['failure']): PodSupervisor {
  return { pod: { index }, workers: [{ isReady }], failure } as unknown as PodSupervisor;
}

describe('the probes of a run', () => {
  it('say that it lives while its loop turns, and not when it has stopped turning', () => {
    let nowMs = 0;
    const probes = createProbes(() => nowMs);
    // It may wait long for stores and for other machines.
    nowMs = 1e9;
    expect(probes.health()).toEqual({ isGood: true, text: 'starting' });
    expect(probes.ready().isGood).toBe(false);
    probes.turned([supervisor(0)], NONE);
    nowMs += 100_000;
    expect(probes.health().isGood).toBe(true);
    nowMs += 100_000;
    expect(probes.health()).toEqual({ isGood: false, text: "the supervisor's loop has not turned for 200 s" });
    probes.turned([supervisor(0)], NONE);
    expect(probes.health().isGood).toBe(true);
  });

  it('say that it works when every pod has a worker, a store and no failure', () => {
    const probes = createProbes();
    probes.turned([supervisor(0), supervisor(1)], NONE);
    expect(probes.ready()).toEqual({ isGood: true, text: 'running' });
    probes.turned([supervisor(0), supervisor(1, false)], NONE);
    expect(probes.ready()).toEqual({ isGood: false, text: 'no worker of pod 1 runs' });
    probes.turned([supervisor(0), supervisor(1)], new Set([0]));
    expect(probes.ready()).toEqual({ isGood: false, text: 'the store of pod 0 does not answer' });
    probes.turned([supervisor(0, true, { pod: 0, code: 'WORKER_LOST', message: '' })], NONE);
    expect(probes.ready()).toEqual({ isGood: false, text: 'pod 0 stopped (WORKER_LOST)' });
  });

  it('are not ready while it drains, and alive for as long as that takes', () => {
    let nowMs = 0;
    const probes = createProbes(() => nowMs);
    probes.turned([supervisor(0)], NONE);
    probes.drains();
    nowMs = 1e9;
    expect(probes.ready()).toEqual({ isGood: false, text: 'draining' });
    expect(probes.health().isGood).toBe(true);
    probes.stays();
    expect([probes.ready().isGood, probes.health().isGood]).toEqual([true, true]);
  });
});
