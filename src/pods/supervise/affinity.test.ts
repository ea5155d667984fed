import { describe, expect, it } from 'vitest';
import { coresOf, createAffinity } from './affinity.js';
import type { PodsConfig } from '../config/types.js';
import { coresOfPod } from '../topology.js';

const config = {
  coresPerPod: 12,
  fetchersPerPod: 6,
  parsersPerPod: 2,
  ownPods: [4, 5],
  enableCpuAffinity: true,
  givenKeys: ['enable_cpu_affinity'],
} as unknown as PodsConfig;

describe('affinity', () => {
  it('gives fetchers the first two thirds of their pod’s cores and parsers the rest, without overlap', () => {
    const used = new Map<number, string>();
    for (const pod of [4, 5]) {
      for (const [role, count] of [
        ['fetcher', 6],
        ['parser', 2],
      ] as const) {
        for (let id = 0; id < count; id++) {
          for (const core of coresOf(config, { role, pod, id })) {
            expect(used.has(core)).toBe(false);
            used.set(core, `${role} ${pod}`);
          }
        }
      }
    }
    expect([...used.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, core) => core));
    expect([0, 7, 8, 11, 12, 23].map((core) => used.get(core))).toEqual([
      'fetcher 4',
      'fetcher 4',
      'parser 4',
      'parser 4',
      'fetcher 5',
      'parser 5',
    ]);
  });

  it('pins to the cores that `config check` prints, whatever cores_per_pod is', () => {
    for (let coresPerPod = 1; coresPerPod <= 13; coresPerPod++) {
      const some = { ...config, coresPerPod, fetchersPerPod: 2, parsersPerPod: 1, ownPods: [0, 1] };
      const planned = coresOfPod(1, coresPerPod, 1);
      const pinned = (role: 'fetcher' | 'parser', workers: number) =>
        [...new Set(Array.from({ length: workers }, (_, id) => coresOf(some, { role, pod: 1, id })).flat())].sort(
          (a, b) => a - b,
        );
      expect([pinned('fetcher', 2), pinned('parser', 1)]).toEqual([planned.fetchers, planned.parsers]);
    }
  });

  it('does not warn about too few cores unless pinning was requested', () => {
    const warnings: string[] = [];
    createAffinity({ ...config, givenKeys: [] }, { platform: 'linux', cores: 8 }, (text) => warnings.push(text));
    expect(warnings).toEqual([]);
  });

  it('warns and pins nothing where there are too few cores', () => {
    const warnings: string[] = [];
    createAffinity(config, { platform: 'linux', cores: 8 }, (message) => warnings.push(message)).pin(
      { role: 'fetcher', pod: 4, id: 0 },
      1,
    );
    expect(warnings).toEqual([expect.stringContaining('24 cores, this machine has 8')]);
  });
});
