// Conformance: turns, landings and delays. The gap that a server sees between the end of one response and the
// start of the next request is never under the domain's delay.
import { type Bench, done, entries, entry, LEASE_MS } from './bench.js';

const PACED = { delayMs: 1_000, turns: 5 } as const;

export function pacingSuite({ scene, describe, expect }: Bench): void {
  describe('pacing', () => {
    scene('gives a paced domain one turn until it lands and its delay is over', { pacing: PACED }, async (s) => {
      const a = s.holder();
      await a.add(...entries(3, 'a'));
      const { leases } = await a.lease(10);
      expect(leases.map(({ record }) => record)).toEqual(['a/0']);
      s.clock.advance(5_000);
      const held = await a.lease(10);
      expect(held).toEqual({ leases: [], state: 'waiting' });
      await a.land({ lease: leases[0]!.id });
      expect(await a.lease(10)).toEqual({ leases: [], state: 'waiting', nextDueMs: 1_000 });
      s.clock.advance(999);
      expect(await a.lease(10)).toEqual({ leases: [], state: 'waiting', nextDueMs: 1 });
      s.clock.advance(1);
      expect(await a.leaseRecords(10)).toEqual(['a/1']);
    });

    scene('lets the delay run from the landing, not from the settlement', { pacing: PACED }, async (s) => {
      const a = s.holder();
      await a.add(...entries(2, 'a'));
      const { leases } = await a.lease(1);
      await a.land({ lease: leases[0]!.id });
      s.clock.advance(600);
      await a.settle([done(leases[0]!)]);
      s.clock.advance(399);
      expect(await a.leaseRecords(1)).toEqual([]);
      s.clock.advance(1);
      expect(await a.leaseRecords(1)).toEqual(['a/1']);
    });

    scene('frees the turn once, however often a lease lands', { pacing: { delayMs: 0, turns: 2 } }, async (s) => {
      const a = s.holder();
      await a.add(...entries(9, 'a'));
      const { leases } = await a.lease(9);
      expect(leases.length).toBe(2);
      await a.land({ lease: leases[0]!.id }, { lease: leases[0]!.id });
      await a.land({ lease: leases[0]!.id });
      await a.settle([done(leases[0]!)]);
      expect((await a.lease(9)).leases.length).toBe(1);
    });

    scene(
      'opens as many requests of an unpaced domain as it has turns',
      { pacing: { delayMs: 0, turns: 3 } },
      async (s) => {
        const a = s.holder();
        const b = s.holder();
        await a.add(...entries(9, 'a'), ...entries(1, 'b'));
        expect((await a.lease(2)).leases.length).toBe(2);
        expect(await b.leaseRecords(9)).toEqual(['a/1', 'a/2']);
        expect((await b.lease(9)).leases.length).toBe(0);
      },
    );

    scene('skips without using the turn', { pacing: PACED }, async ({ holder, clock }) => {
      const a = holder();
      await a.add(...entries(3, 'a'));
      clock.advance(1);
      await a.add(...entries(1, 'b'));
      const first = await a.lease(1);
      await a.settle([{ kind: 'skipped', reason: 'robotsTxt', lease: first.leases[0]!.id }]);
      // Still the longest due, and at once.
      const second = await a.lease(1);
      expect(second.leases[0]!.record).toBe('a/1');
      await a.settle([{ kind: 'skipped', reason: 'robotsTxt', lease: second.leases[0]!.id }]);
      expect(await a.leaseRecords(2)).toEqual(['a/2', 'b/0']);
    });

    scene('gives back untouched as if it had never been leased', { pacing: PACED }, async ({ holder, counters }) => {
      const a = holder();
      await a.add(...entries(2, 'a'), ...entries(1, 'b'));
      const before = await counters();
      const { leases } = await a.lease(2);
      await a.settle(leases.map(({ id }) => ({ kind: 'untouched', lease: id })));
      expect(await counters()).toEqual(before);
      const again = await a.lease(2);
      expect(again.leases.map(({ record }) => record)).toEqual(leases.map(({ record }) => record));
      expect(again.leases.every(({ lostLeases }) => lostLeases === 0)).toBe(true);
      expect(again.leases.some(({ id }) => leases.some((old) => old.id === id))).toBe(false);
    });

    scene('keeps the order of what is given back together', {}, async ({ holder }) => {
      const a = holder();
      await a.add(...entries(5, 'a'));
      const { leases } = await a.lease(3);
      await a.settle([leases[1]!, leases[2]!, leases[0]!].map(({ id }) => ({ kind: 'untouched', lease: id })));
      expect(await a.leaseRecords(5)).toEqual(['a/0', 'a/1', 'a/2', 'a/3', 'a/4']);
    });

    scene('follows a delay that a landing sets, also after a restart', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(5, 'a'), ...entries(5, 'b'));
      const { leases } = await a.lease(2);
      await a.settle(leases.map(done), {
        landings: [{ lease: leases[0]!.id, delayMs: 2_000 }, { lease: leases[1]!.id }],
      });
      expect(await a.leaseRecords(9)).toEqual(['b/1', 'b/2', 'b/3', 'b/4']);
      await s.closeAndReopen();
      const b = s.holder();
      s.clock.advance(1_999);
      expect((await b.leaseRecords(9)).filter((record) => record.startsWith('a'))).toEqual([]);
      s.clock.advance(1);
      expect(await b.leaseRecords(9)).toEqual(['a/1']);
      const next = await s.holder().lease(9);
      expect(next.leases).toEqual([]);
    });

    scene(
      'returns to many turns when a landing sets the delay to 0',
      { pacing: { delayMs: 500, turns: 4 } },
      async (s) => {
        const a = s.holder();
        await a.add(...entries(9, 'a'));
        const { leases } = await a.lease(9);
        expect(leases.length).toBe(1);
        await a.land({ lease: leases[0]!.id, delayMs: 0 });
        expect((await a.lease(9)).leases.length).toBe(4);
      },
    );

    scene('hands out nothing while a domain has more turns out than its new delay allows', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(9, 'a'));
      const { leases } = await a.lease(3);
      await a.land({ lease: leases[0]!.id, delayMs: 100 });
      s.clock.advance(100);
      expect(await a.leaseRecords(9)).toEqual([]);
      await a.land({ lease: leases[1]!.id }, { lease: leases[2]!.id });
      expect(await a.leaseRecords(9)).toEqual([]);
      s.clock.advance(100);
      expect(await a.leaseRecords(9)).toEqual(['a/3']);
    });

    scene('rests a domain that was told to pause, and only that one', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(5, 'a'), ...entries(2, 'b'));
      const { leases } = await a.lease(1);
      await a.land({ lease: leases[0]!.id, pauseMs: 3_000 });
      expect(await a.leaseRecords(9)).toEqual(['b/0', 'b/1']);
      s.clock.advance(2_999);
      expect(await a.lease(9)).toMatchObject({ leases: [], nextDueMs: 1 });
      s.clock.advance(1);
      expect((await a.lease(9)).leases.length).toBe(4);
    });

    scene('brings a retry back at its own time, at the front of its domain', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(3, 'a'));
      const { leases } = await a.lease(2);
      await a.settle([
        { kind: 'retry', afterMs: 2_000, lease: leases[0]!.id, record: 'a/0 again' },
        { kind: 'retry', afterMs: 1_000, lease: leases[1]!.id },
      ]);
      expect(await s.counters()).toMatchObject({ retrying: 2, queued: 1, leased: 0 });
      await a.add(entry('a/front', 'a', { forefront: true }));
      const [front, rest] = (await a.lease(2)).leases;
      expect([front!.record, rest!.record]).toEqual(['a/front', 'a/2']);
      expect(await a.lease(9)).toMatchObject({ leases: [], state: 'waiting', nextDueMs: 1_000 });
      await a.settle([{ kind: 'untouched', lease: rest!.id }]);
      s.clock.advance(2_000);
      expect(await a.leaseRecords(9)).toEqual(['a/1', 'a/0 again', 'a/2']);
    });

    scene('queues a retry without a wait at once, before its elders', {}, async ({ holder }) => {
      const a = holder();
      await a.add(...entries(3, 'a'));
      const { leases } = await a.lease(1);
      await a.settle([{ kind: 'retry', afterMs: 0, lease: leases[0]!.id }], { landings: [{ lease: leases[0]!.id }] });
      expect(await a.leaseRecords(3)).toEqual(['a/0', 'a/1', 'a/2']);
    });

    scene('keeps the delay between two requests when the first is retried', { pacing: PACED }, async (s) => {
      const a = s.holder();
      await a.add(...entries(1, 'a'));
      const { leases } = await a.lease(1);
      await a.settle([{ kind: 'retry', afterMs: 0, lease: leases[0]!.id }], { landings: [{ lease: leases[0]!.id }] });
      expect(await a.lease(1)).toMatchObject({ leases: [], nextDueMs: 1_000 });
    });

    scene('is not moved by a wall clock that jumps', { pacing: PACED }, async (s) => {
      const a = s.holder();
      await a.add(...entries(2, 'a'), ...entries(1, 'b'));
      const { leases } = await a.lease(2);
      await a.land({ lease: leases[0]!.id });
      s.clock.jumpWall(LEASE_MS * 10);
      expect(await a.lease(9)).toMatchObject({ leases: [], nextDueMs: 1_000 });
      s.clock.jumpWall(-LEASE_MS * 100);
      expect((await a.settle([done(leases[1]!)])).accepted).toEqual([true]);
      s.clock.advance(1_000);
      expect(await a.leaseRecords(9)).toEqual(['a/1']);
    });

    scene('never shows a server a gap under its delay, whatever the latency', { pacing: PACED }, async (s) => {
      const workers = [s.holder(), s.holder(), s.holder()];
      await workers[0]!.add(...entries(30, 'a'), ...entries(30, 'b'));
      const endedAt = new Map<string, number>();
      const underWay: { lease: { id: number; domain: string }; endsMs: number; worker: number }[] = [];
      let served = 0;
      for (let tick = 0; served < 20; tick++) {
        const nowMs = s.clock.monotonicMs();
        for (const [i, worker] of workers.entries()) {
          for (const visit of underWay.filter(({ worker: w, endsMs }) => w === i && endsMs <= nowMs)) {
            underWay.splice(underWay.indexOf(visit), 1);
            await worker.settle([{ kind: 'done', lease: visit.lease.id }], { landings: [{ lease: visit.lease.id }] });
            endedAt.set(visit.lease.domain, nowMs);
            served++;
          }
          for (const lease of (await worker.lease(3)).leases) {
            const last = endedAt.get(lease.domain) ?? Number.NEGATIVE_INFINITY;
            expect(nowMs - last).toBeGreaterThanOrEqual(PACED.delayMs);
            expect(underWay.some(({ lease: other }) => other.domain === lease.domain)).toBe(false);
            underWay.push({ lease, endsMs: nowMs + ((tick * 37) % 700), worker: i });
          }
        }
        s.clock.advance(70);
      }
    });
  });
}
