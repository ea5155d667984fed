// How `orcrawl status` names pods that cannot be read.
import { expect, it } from 'vitest';
import type { PodReading } from '../../../frontier/redis/pod-operations.js';
import type { PodsConfig } from '../../../pods/config/types.js';
import { podLines } from './status.js';

const READING = { done: 5, queued: 4, retrying: 0, leased: 0, parsing: 0, failed: 1, skipped: 0, dueDomains: 1 };
const reading = { ...READING, outbox: 0, spilled: 0, lostWorkers: 0 } as PodReading;
const config = {
  pods: [
    { kind: 'embedded', path: '/nowhere/pod0' },
    { kind: 'redis', where: 'localhost:6379' },
  ],
} as unknown as PodsConfig;

it('tells an embedded pod that has not started from a store that does not answer', () => {
  const lines = podLines(config, [
    { pod: 0, where: '/nowhere/pod0', reading: undefined },
    { pod: 1, where: 'localhost:6379', reading: undefined },
  ]);
  expect(lines).toEqual([
    '  pod 0  /nowhere/pod0  has not started yet',
    '  pod 1  localhost:6379  STORE DOES NOT ANSWER',
  ]);
});

it('shows the domains that are due only where they are counted', () => {
  const [embedded, redis] = podLines(config, [
    { pod: 0, where: '/nowhere/pod0', reading },
    { pod: 1, where: 'localhost:6379', reading },
  ]);
  expect(embedded).toBe('  pod 0  /nowhere/pod0  5 pages, 4 waiting, 0 in progress, 1 failed, 0 skipped');
  expect(redis).toContain(', 1 domain due, ');
});
