// Conformance: leases belong to a holder, are lost with it all at once, and are refused to it afterwards.
// A repeated call gets its first answer and changes nothing.
import { ANSWERS_KEPT } from '../../frontier/frontier.js';
import { type Bench, done, entries, entry, LEASE_MS } from './bench.js';

const PACED = { delayMs: 1_000, turns: 1 } as const;

export function holdingSuite({ scene, describe, expect }: Bench): void {
  describe('holding', () => {
    scene('leases a request to one holder at a time', {}, async ({ holder }) => {
      const [a, b] = [holder(), holder()];
      await a.add(...entries(10));
      const [mine, yours] = [await a.leaseRecords(5), await b.leaseRecords(9)];
      expect(new Set([...mine, ...yours]).size).toBe(10);
      expect(await b.leaseRecords(9)).toEqual([]);
    });

    scene('refuses to settle what another holds, and its links with it', {}, async ({ holder, counters }) => {
      const [a, b] = [holder(), holder()];
      await a.add(...entries(2));
      const { leases } = await a.lease(1);
      const answer = await b.settle([{ ...done(leases[0]!), links: entries(3, 'linked') }]);
      expect(answer).toEqual({ held: true, accepted: [false] });
      expect(await counters()).toMatchObject({ accepted: 2, leased: 1, done: 0 });
      expect(await a.settle([done(leases[0]!), done(leases[0]!)])).toEqual({ held: true, accepted: [true, false] });
    });

    scene('renews everything a holder holds with any of its calls', {}, async ({ holder, clock }) => {
      const a = holder();
      await a.add(...entries(2));
      const { leases } = await a.lease(2);
      for (let i = 0; i < 5; i++) {
        clock.advance(LEASE_MS - 1);
        if (i % 3 === 0) await a.lease(0);
        else if (i % 3 === 1) await a.add(entry(`new ${i}`));
        else await a.settle([]);
      }
      expect(await a.settle(leases.map(done))).toEqual({ held: true, accepted: [true, true] });
    });

    scene('takes everything at once from a holder that fell silent', {}, async ({ holder, clock, counters }) => {
      const [a, b] = [holder(), holder()];
      await a.add(...entries(3));
      const { leases } = await a.lease(3);
      clock.advance(LEASE_MS + 1);
      const taken = (await b.lease(9)).leases;
      expect(taken.map(({ record }) => record)).toEqual([leases[0]!.record]);
      // The late holder is refused wholly, notes and links included.
      const links = entries(2, 'late');
      const late = await a.settle([{ ...done(leases[0]!), links }], { notes: { late: 'yes' } });
      expect(late).toEqual({ held: false, accepted: [false] });
      await expect(a.lease(1)).rejects.toMatchObject({ code: 'LEASE_LOST' });
      expect(await counters()).toMatchObject({ accepted: 3, leased: 1, queued: 2 });
      await b.settle([{ kind: 'untouched', lease: taken[0]!.id }]);
      const again = await b.finishAll();
      expect(again.map(({ record }) => record)).toEqual(leases.map(({ record }) => record));
      expect(again.every(({ lostLeases }) => lostLeases === 1)).toBe(true);
    });

    scene(
      'refuses a late settle even if nobody noticed the silence before',
      {},
      async ({ holder, clock, counters }) => {
        const a = holder();
        await a.add(...entries(1));
        const { leases } = await a.lease(1);
        clock.advance(LEASE_MS + 1);
        expect(await a.settle([done(leases[0]!)])).toEqual({ held: false, accepted: [false] });
        expect(await counters()).toMatchObject({ queued: 1, leased: 0, done: 0 });
      },
    );

    scene('does not lose a holder that held nothing', {}, async ({ holder, clock }) => {
      const a = holder();
      await a.add(...entries(2));
      await a.finish((await a.lease(1)).leases);
      clock.advance(LEASE_MS * 3);
      expect((await a.lease(1)).leases.length).toBe(1);
    });

    scene('loses at once what a supervisor releases', {}, async ({ holder, frontier, counters }) => {
      const [a, b] = [holder(), holder()];
      await a.add(...entries(4));
      const { leases } = await a.lease(3);
      expect(await frontier.release(a.id)).toBe(3);
      expect(await frontier.release(a.id)).toBe(0);
      expect(await frontier.release('never seen')).toBe(0);
      expect(await counters()).toMatchObject({ queued: 4, leased: 0 });
      const again = (await b.finishAll()).map(({ record }) => record);
      expect(again).toEqual(['a.example/0', 'a.example/1', 'a.example/2', 'a.example/3']);
      expect((await a.settle(leases.map(done))).held).toBe(false);
    });

    scene(
      'rests a domain whose turn was lost for its delay',
      { pacing: PACED },
      async ({ holder, frontier, clock }) => {
        const [a, b] = [holder(), holder()];
        await a.add(...entries(2, 'a'));
        await a.lease(1);
        clock.advance(5_000);
        await frontier.release(a.id);
        expect(await b.lease(1)).toEqual({ leases: [], state: 'waiting', nextDueMs: 1_000 });
        clock.advance(1_000);
        expect(await b.leaseRecords(1)).toEqual(['a/0']);
      },
    );

    scene(
      'does not take a turn twice from a lease that had landed',
      { pacing: { delayMs: 0, turns: 2 } },
      async (s) => {
        const [a, b] = [s.holder(), s.holder()];
        await a.add(...entries(9, 'a'));
        const { leases } = await a.lease(2);
        await a.land({ lease: leases[0]!.id });
        await s.frontier.release(a.id);
        for (let suspects = 0; suspects < 2; suspects++) await b.finish((await b.lease(9)).leases);
        expect((await b.lease(9)).leases.length).toBe(2);
        expect((await b.lease(9)).leases.length).toBe(0);
      },
    );

    scene('keeps the count of lost leases through retries and being given back', {}, async ({ holder, frontier }) => {
      const [a, b, c] = [holder(), holder(), holder()];
      await a.add(entry('x'));
      await a.lease(1);
      await frontier.release(a.id);
      const first = (await b.lease(1)).leases[0]!;
      await b.settle([{ kind: 'retry', afterMs: 0, lease: first.id }]);
      const second = (await c.lease(1)).leases[0]!;
      expect(second.lostLeases).toBe(1);
      await c.settle([{ kind: 'untouched', lease: second.id }]);
      expect((await c.lease(1)).leases[0]!.lostLeases).toBe(1);
    });

    scene('never uses a lease id twice', {}, async (s) => {
      const ids = new Set<number>();
      let count = 0;
      await s.holder().add(...entries(3));
      for (let i = 0; i < 6; i++) {
        const a = s.holder();
        for (const { id } of (await a.lease(3)).leases) {
          expect(ids.has(id)).toBe(false);
          ids.add(id);
          count++;
        }
        if (i === 2) await s.closeAndReopen();
        else await s.frontier.release(a.id);
        s.clock.advance(60_000);
      }
      expect(count).toBeGreaterThan(6);
      expect(ids.size).toBe(count);
    });

    scene('answers a repeated lease with the same leases', {}, async ({ holder, frontier, counters }) => {
      const a = holder();
      await a.add(...entries(9));
      const call = { holder: a.id, call: 100, max: 3 };
      const first = await frontier.lease(call);
      const after = await counters();
      expect(await frontier.lease(call)).toEqual(first);
      expect(await Promise.all([frontier.lease(call), frontier.lease(call)])).toEqual([first, first]);
      expect(await counters()).toEqual(after);
    });

    scene(
      'answers a repeated settle and add as at first, and does nothing',
      {},
      async ({ holder, frontier, counters }) => {
        const a = holder();
        const adding = { holder: a.id, call: 50, entries: entries(2) };
        expect(await frontier.add(adding)).toEqual(['new', 'new']);
        expect(await frontier.add(adding)).toEqual(['new', 'new']);
        const { leases } = await frontier.lease({ holder: a.id, call: 51, max: 1 });
        const settling = { holder: a.id, call: 52, settlements: [{ ...done(leases[0]!), links: entries(1, 'b') }] };
        expect(await frontier.settle(settling)).toEqual({ held: true, accepted: [true] });
        const after = await counters();
        expect(await frontier.settle(settling)).toEqual({ held: true, accepted: [true] });
        expect(await counters()).toEqual(after);
        expect(after).toMatchObject({ accepted: 3, done: 1 });
      },
    );

    scene(
      'answers a repeated settle as at first though its holder was lost meanwhile: it has happened',
      {},
      async ({ holder, frontier, clock, counters }) => {
        const a = holder();
        await a.add(...entries(2));
        const { leases } = await frontier.lease({ holder: a.id, call: 51, max: 2 });
        const settlements = [{ ...done(leases[0]!), links: entries(1, 'b') }];
        const settling = { holder: a.id, call: 52, settlements, notes: { segment: '7' } };
        expect(await frontier.settle(settling)).toEqual({ held: true, accepted: [true] });
        clock.advance(LEASE_MS + 1);
        await holder().lease(0);
        const after = await counters();
        // Who is told that nothing happened removes what it stored.
        expect(await frontier.settle(settling)).toEqual({ held: true, accepted: [true] });
        expect(await counters()).toEqual(after);
        const refused = await frontier.settle({ holder: a.id, call: 53, settlements: [done(leases[1]!)] });
        expect(refused).toEqual({ held: false, accepted: [false] });
      },
    );

    scene('answers both of two identical calls that are made at once', {}, async ({ holder, frontier, counters }) => {
      const a = holder();
      await a.add(...entries(9));
      const call = { holder: a.id, call: 100, max: 2 };
      const [one, two] = await Promise.all([frontier.lease(call), frontier.lease(call)]);
      expect(one).toEqual(two);
      expect(await counters()).toMatchObject({ leased: 2 });
    });

    scene(
      'remembers the last calls of each holder, and refuses older ones',
      {},
      async ({ holder, frontier, counters }) => {
        const [a, b] = [holder(), holder()];
        await a.add(...entries(60));
        const answers = [];
        for (let call = 10; call < 10 + ANSWERS_KEPT; call++) {
          answers.push(await frontier.lease({ holder: a.id, call, max: 1 }));
          await b.lease(1);
        }
        for (let i = 0; i < ANSWERS_KEPT; i++) {
          expect(await frontier.lease({ holder: a.id, call: 10 + i, max: 1 })).toEqual(answers[i]);
        }
        const before = await counters();
        await expect(frontier.lease({ holder: a.id, call: 2, max: 1 })).rejects.toThrow();
        expect(await counters()).toEqual(before);
      },
    );
  });
}
