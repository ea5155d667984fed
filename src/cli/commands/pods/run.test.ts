// The progress line of a crawl on pods.
import { expect, it } from 'vitest';
import type { PodReading } from '../../../frontier/redis/pod-operations.js';
import type { PodsConfig } from '../../../pods/config/types.js';
import { createProgress } from './run.js';

const READING = { done: 1, queued: 3, retrying: 0, leased: 0, failed: 0, dueDomains: 0 } as PodReading;
const config = {
  ownPods: [0],
  pods: [{ kind: 'embedded', path: '/pod0' }],
  politenessDelaySeconds: 70,
} as unknown as PodsConfig;

const REDIS = { ...config, pods: [{ kind: 'redis', where: 'localhost:6379' }] } as unknown as PodsConfig;

function lineFor(reading: Partial<PodReading> | undefined, given = config): string | undefined {
  const lines: string[] = [];
  let nowMs = 0;
  const tell = createProgress(
    given,
    (line) => lines.push(line),
    () => nowMs,
  );
  nowMs = 60_000;
  const readings = [reading && { ...READING, ...reading }];
  tell({ pages: 1, readings, isWhole: true } as unknown as Parameters<typeof tell>[0]);
  return lines[0];
}

it('says why nothing happens while all domains rest', () => {
  expect(lineFor({})).toBe(
    '1 page (0.0/s), 0 in progress, 3 waiting, 0 failed; no domain is due: each rests 70 s between requests',
  );
  expect(lineFor({ dueDomains: 1 }, REDIS)).toBe('1 page (0.0/s), 0 in progress, 3 waiting, 0 failed');
  expect(lineFor({ leased: 1 })).toBe('1 page (0.0/s), 1 in progress, 3 waiting, 0 failed');
});

it('says so of embedded pods, too, which do not count the domains that are due', () => {
  expect(lineFor({ dueDomains: 1 })).toMatch(/; no domain is due: each rests 70 s between requests$/);
  expect(lineFor({ dueDomains: 1, leased: 1 })).not.toMatch(/rests/);
});

it('names the pod that does not answer', () => {
  expect(lineFor(undefined)).toBe('1 page (0.0/s), 0 in progress, 0 waiting, 0 failed; no answer from pod 0 (/pod0)');
});
