// The queue that forgets: millions pass through it and it stays as small as what is pending.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../request/fingerprint.js';
import { createEmbeddedFrontier } from './frontier.js';
import type { QueueEntry, Settlement } from '../frontier.js';
import { createMemoryFrontier, createMemoryKv } from './store/memory.js';

const entry = (key: string, domain = 'a.example'): QueueEntry => ({
  fingerprint: fingerprintOf(key),
  domain,
  record: `https://${domain}/${key}`,
});

function handClock() {
  let nowMs = 0;
  return {
    pass: (ms: number) => void (nowMs += ms),
    clock: { bootId: 'boot', monotonicMs: () => nowMs, wallMs: () => nowMs },
  };
}

async function forgettingFrontier() {
  const kv = createMemoryKv();
  const time = handClock();
  const frontier = createEmbeddedFrontier(kv, {
    access: 'owner',
    where: 'memory',
    pacing: { delayMs: 0, turns: 100 },
    forgetEnded: true,
    clock: time.clock,
  });
  await frontier.open();
  let calls = 0;
  const rows = (table: 'requests' | 'domains') => {
    let count = 0;
    kv.tables[table].scan(0, 0, 0, () => void count++);
    return count;
  };
  const caller = () => ({ holder: 'one', call: ++calls });
  return { frontier, rows, caller, pass: time.pass };
}

describe('a queue that forgets what ended', () => {
  it('keeps no row of a request that ended nor of a domain with nothing left to do', async () => {
    const { frontier, rows, caller, pass } = await forgettingFrontier();
    for (let round = 0; round < 50; round++) {
      const entries = Array.from({ length: 20 }, (_, i) => entry(`${round}-${i}`, `d${round}-${i}.example`));
      await frontier.add({ ...caller(), entries });
      const { leases } = await frontier.lease({ ...caller(), max: 100 });
      expect(leases).toHaveLength(20);
      await frontier.settle({
        ...caller(),
        landings: leases.map(({ id }) => ({ lease: id })),
        settlements: leases.map(({ id }) => ({ kind: 'done', lease: id })),
      });
      pass(1);
    }
    await frontier.overview();
    expect(rows('requests')).toBe(0);
    expect(rows('domains')).toBe(0);
    expect(frontier.seenBytes).toBe(0);
    const { counters } = await frontier.overview();
    expect(counters).toMatchObject({ accepted: 1000, done: 1000, queued: 0, leased: 0 });
  });

  it('takes a request that ended as new, and one that is pending as known', async () => {
    const { frontier, caller } = await forgettingFrontier();
    expect(await frontier.add({ ...caller(), entries: [entry('x'), entry('x')] })).toEqual(['new', 'pending']);
    const { leases } = await frontier.lease({ ...caller(), max: 1 });
    await frontier.settle({ ...caller(), settlements: [{ kind: 'failed', lease: leases[0]!.id, reason: 'no' }] });
    expect(await frontier.find([entry('x').fingerprint])).toEqual([undefined]);
    expect(await frontier.add({ ...caller(), entries: [entry('x')] })).toEqual(['new']);
  });

  it('remembers a domain that rests until its rest is over', async () => {
    const { frontier, rows, caller, pass } = await forgettingFrontier();
    await frontier.add({ ...caller(), entries: [entry('x')] });
    const { leases } = await frontier.lease({ ...caller(), max: 1 });
    await frontier.settle({
      ...caller(),
      landings: [{ lease: leases[0]!.id, delayMs: 500 }],
      settlements: [{ kind: 'done', lease: leases[0]!.id }],
    });
    await frontier.add({ ...caller(), entries: [entry('y')] });
    expect(await frontier.lease({ ...caller(), max: 1 })).toMatchObject({ leases: [], nextDueMs: 500 });
    pass(500);
    const { leases: later } = await frontier.lease({ ...caller(), max: 1 });
    expect(later).toHaveLength(1);
    await frontier.settle({ ...caller(), settlements: [{ kind: 'done', lease: later[0]!.id }] });
    await frontier.overview();
    expect(rows('domains')).toBe(0);
  });

  it('never loses a request, whatever is retried, given back or ended in between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('done', 'retry', 'wait', 'untouched', 'failed'), fc.boolean()), {
          minLength: 10,
          maxLength: 80,
        }),
        async (fates) => {
          const { frontier, rows, caller, pass } = await forgettingFrontier();
          const entries = Array.from({ length: 10 }, (_, i) => entry(String(i), `d${i % 3}.example`));
          await frontier.add({ ...caller(), entries });
          const ended = new Set<string>();
          const settle = async (kind: string, land: boolean) => {
            const { leases } = await frontier.lease({ ...caller(), max: 1 });
            const lease = leases[0];
            pass(7);
            if (!lease) return;
            const settlement: Settlement =
              kind === 'failed'
                ? { kind, lease: lease.id, reason: 'no' }
                : kind === 'retry' || kind === 'wait'
                  ? { kind: 'retry', lease: lease.id, afterMs: kind === 'wait' ? 20 : 0 }
                  : { kind: kind as 'done', lease: lease.id };
            const landings = land ? [{ lease: lease.id, delayMs: 5 }] : [];
            // The landing on its own first, as a slow handler would have it: the domain is idle meanwhile.
            await frontier.settle({ ...caller(), landings, settlements: [] });
            pass(7);
            await frontier.settle({ ...caller(), settlements: [settlement] });
            if (kind === 'done' || kind === 'failed') ended.add(lease.record);
          };
          for (const [kind, land] of fates) await settle(kind, land);
          for (let left = 200; left > 0 && ended.size < 10; left--) await settle('done', true);
          expect(ended.size).toBe(10);
          pass(1000);
          await frontier.overview();
          expect(rows('requests')).toBe(0);
          expect(rows('domains')).toBe(0);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('is what createMemoryFrontier makes when asked to', async () => {
    const frontier = createMemoryFrontier({ pacing: { delayMs: 0, turns: 1 }, forgetEnded: true });
    await frontier.add({ holder: 'one', call: 1, entries: [entry('x')] });
    const { leases } = await frontier.lease({ holder: 'one', call: 2, max: 1 });
    await frontier.settle({ holder: 'one', call: 3, settlements: [{ kind: 'done', lease: leases[0]!.id }] });
    expect(await frontier.find([entry('x').fingerprint])).toEqual([undefined]);
    await frontier.close();
  });
});
