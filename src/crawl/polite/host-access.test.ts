import { describe, expect, it } from 'vitest';
import { createMemoryHosts, freshHost } from '../../politeness/hosts.js';
import type { TakenLease } from '../run/lease-feed.js';
import { systemTime } from '../time.js';
import { createHostAccess, type HostAccess } from './host-access.js';

const ORIGIN = 'http://example.com';
const ROBOTS = `${ORIGIN}/robots.txt`;
const taken = { lease: { delayMs: 0 } } as TakenLease;
const options = { seeded: false, isPaced: false, isGood: () => true };

/** Two processes on one store, each with a cache of its own. */
function twoProcesses(): { processes: [HostAccess, HostAccess]; readings: () => number } {
  const store = createMemoryHosts();
  let readings = 0;
  const process = (): HostAccess =>
    createHostAccess({
      store,
      shared: true,
      policyOf: () => ({ agent: 'orcrawl', ttlMs: 60_000, retryMs: 100, maxDelayMs: 60_000 }),
      paceOf: () => ({ minDelayMs: 0, maxDelayMs: 60_000, backoffMs: 100, adaptiveFactor: 0 }),
      async readRobots() {
        readings++;
        return { answer: { kind: 'answer', statusCode: 200, body: new Uint8Array() }, status: 200 };
      },
      readTimeoutMs: 5_000,
      allowHost: async () => false,
      visitLog: undefined,
      signal: new AbortController().signal,
      time: systemTime,
    });
  return { processes: [process(), process()], readings: () => readings };
}

describe('host access of several processes', () => {
  it('reads a robots.txt once, also when the other has just read it', async () => {
    const { processes, readings } = twoProcesses();
    const [one, other] = processes;
    // Both look the host up before either has read.
    const before = await Promise.all([one.fresh(ORIGIN), other.fresh(ORIGIN)]);
    await one.read(taken, before[0], ROBOTS, options);
    const reading = await other.read(taken, before[1], ROBOTS, options);
    expect(reading.kind).toBe('read');
    expect(readings()).toBe(1);
    expect(before[1].record).toEqual(freshHost('orcrawl'));
  });
});
