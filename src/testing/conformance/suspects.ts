// Conformance: a request that ends its holder is found out alone, soon and surely; whoever was lost beside it is not
// charged for it.
import { LOSSES_ALONE } from '../../frontier/frontier.js';
import { type Bench, done, entries, entry, LEASE_MS, type Scene } from './bench.js';

const PACED = { delayMs: 1_000, turns: 1 } as const;

/** Works like processes that die over some requests, until nothing is left; returns what was held at each death. */
async function workUntilTheEnd(s: Scene, killers: ReadonlySet<string>, atOnce: number): Promise<string[][]> {
  const deaths: string[][] = [];
  for (let lives = 0; lives < 200; lives++) {
    const worker = s.holder();
    for (;;) {
      const { leases, state, nextDueMs } = await worker.lease(atOnce);
      if (state === 'exhausted') return deaths;
      if (leases.length === 0) s.clock.advance(nextDueMs ?? 1);
      const records = leases.map(({ record }) => record);
      if (records.some((record) => killers.has(record))) {
        deaths.push(records);
        await s.frontier.release(worker.id);
        break;
      }
      await worker.finish(leases);
    }
  }
  throw new Error('the work came to no end');
}

export function suspectsSuite({ scene, describe, expect, findsRequests }: Bench): void {
  describe('suspects', () => {
    scene('fails a request whose holder is lost three times while it holds nothing else', {}, async (s) => {
      await s.holder().add(entry('killer'));
      for (let loss = 1; loss <= LOSSES_ALONE; loss++) {
        const victim = s.holder();
        const { leases } = await victim.lease(1);
        expect(leases.map(({ lostLeases }) => lostLeases)).toEqual([loss - 1]);
        await s.frontier.release(victim.id);
      }
      const [found] = await s.frontier.find([entry('killer').fingerprint]);
      expect(found).toMatchObject(findsRequests ? { state: 'failed', reason: 'WORKER_LOST' } : { state: 'known' });
      expect(await s.counters()).toMatchObject({ failed: 1, leased: 0 });
      expect((await s.holder().lease(1)).state).toBe('exhausted');
    });

    for (const atOnce of [1, 7, 150]) {
      scene(`finds three killers among 180 and fails nobody else, ${atOnce} at once`, {}, async (s) => {
        for (let d = 0; d < 30; d++) await s.holder().add(...entries(6, `d${d}`));
        const killers = new Set(['d3/1', 'd17/5', 'd29/0']);
        const deaths = await workUntilTheEnd(s, killers, atOnce);
        expect(await s.counters()).toMatchObject({ accepted: 180, done: 177, failed: 3 });
        for (const killer of killers) {
          const alone = deaths.filter((held) => held.length === 1 && held[0] === killer);
          expect(alone.length).toBe(LOSSES_ALONE);
        }
        expect(deaths.filter((held) => held.length === 1).length).toBe(3 * LOSSES_ALONE);
        // At most: its first, then half as many together each time, then alone.
        expect(deaths.length).toBeLessThanOrEqual(3 * (1 + Math.ceil(Math.log2(atOnce)) + LOSSES_ALONE));
      });
    }

    scene(
      'fails at once the request that is known to have ended its holder, and suspects nobody else',
      {},
      async (s) => {
        const [victim, next] = [s.holder(), s.holder()];
        await victim.add(...entries(8, 'a'));
        const { leases } = await victim.lease(6);
        const culprit = leases.find(({ record }) => record === 'a/3')!;
        const blame = { leases: [culprit.id], code: 'VISIT_BLOCKED_LOOP' };
        expect(await s.frontier.release(victim.id, blame)).toBe(6);
        const [found] = await s.frontier.find([entry('a/3', 'a').fingerprint]);
        expect(found).toMatchObject(
          findsRequests ? { state: 'failed', reason: 'VISIT_BLOCKED_LOOP' } : { state: 'known' },
        );
        expect(await s.counters()).toMatchObject({ failed: 1, leased: 0, queued: 7 });
        const again = (await next.lease(9)).leases;
        expect(again.map(({ record, lostLeases }) => [record, lostLeases])).toEqual(
          [0, 1, 2, 4, 5, 6, 7].map((number) => [`a/${number}`, 0]),
        );
      },
    );

    scene('suspects only those that may have ended their holder', {}, async (s) => {
      const [victim, next, other] = [s.holder(), s.holder(), s.holder()];
      await victim.add(...entries(6, 'a'));
      const { leases } = await victim.lease(6);
      const blame = { leases: leases.slice(1, 3).map(({ id }) => id) };
      await s.frontier.release(victim.id, blame);
      expect((await next.lease(9)).leases.map(({ record, lostLeases }) => [record, lostLeases])).toEqual([['a/1', 1]]);
      expect((await other.lease(9)).leases.map(({ record }) => record)).toEqual(['a/2']);
      expect(await s.holder().leaseRecords(9)).toEqual(['a/0', 'a/3', 'a/4', 'a/5']);
    });

    scene('suspects all when the blame names nothing that the holder holds', {}, async (s) => {
      const victim = s.holder();
      await victim.add(...entries(4, 'a'));
      const [first] = (await victim.lease(1)).leases;
      await victim.finish([first!]);
      await victim.lease(3);
      await s.frontier.release(victim.id, { leases: [first!.id], code: 'VISIT_BLOCKED_LOOP' });
      expect(await s.counters()).toMatchObject({ done: 1, failed: 0, queued: 3 });
      expect((await s.holder().lease(9)).leases.map(({ lostLeases }) => lostLeases)).toEqual([1]);
    });

    scene('rests the domain of an innocent lease that was lost on its way', { pacing: PACED }, async (s) => {
      const victim = s.holder();
      await victim.add(entry('a/0', 'a'), entry('b/0', 'b'));
      const { leases } = await victim.lease(2);
      await s.frontier.release(victim.id, { leases: [leases[0]!.id], code: 'VISIT_BLOCKED_LOOP' });
      expect((await s.holder().lease(9)).leases).toEqual([]);
      s.clock.advance(1_000);
      expect(await s.holder().leaseRecords(9)).toEqual(['b/0']);
    });

    scene('tries suspects apart from everything else, half as many together as were lost', {}, async (s) => {
      const [a, b] = [s.holder(), s.holder()];
      await a.add(...entries(30, 'old'));
      await a.lease(20);
      await s.frontier.release(a.id);
      const first = await b.lease(25);
      expect(first.leases.map(({ record }) => record)).toEqual(entries(10, 'old').map(({ record }) => record));
      expect(await b.lease(25)).toMatchObject({ leases: [], state: 'waiting' });
      await b.finish(first.leases.slice(0, 9));
      expect(await b.lease(25)).toMatchObject({ leases: [], state: 'waiting' });
      await b.finish(first.leases.slice(9));
      const second = await b.lease(25);
      expect(second.leases.map(({ record }) => record)).toEqual(entries(10, 'old', 10).map(({ record }) => record));
      await b.finish(second.leases);
      expect(await b.leaseRecords(25)).toEqual(entries(10, 'old', 20).map(({ record }) => record));
    });

    scene('gives other work to holders that hold something while one is freed for the suspects', {}, async (s) => {
      const [a, b, c] = [s.holder(), s.holder(), s.holder()];
      await a.add(...entries(10, 'a'));
      await a.lease(10);
      await a.add(...entries(90, 'b'));
      const busy = [(await b.lease(10)).leases, (await c.lease(10)).leases];
      await s.frontier.release(a.id);
      // The first to ask takes no more; the others go on.
      expect(await b.lease(10)).toMatchObject({ leases: [], state: 'waiting' });
      const more = await c.lease(10);
      expect(more.leases.length).toBe(10);
      expect(await b.lease(10)).toMatchObject({ leases: [], state: 'waiting' });
      await b.finish(busy[0]!);
      const trial = (await b.lease(10)).leases;
      expect(trial.length).toBe(5);
      expect(trial.every(({ lostLeases }) => lostLeases === 1)).toBe(true);
      await b.finish(trial);
      expect((await b.lease(10)).leases.every(({ lostLeases }) => lostLeases === 1)).toBe(true);
    });

    scene('frees another holder for the suspects when the first to be freed is lost', {}, async (s) => {
      const [a, b, c] = [s.holder(), s.holder(), s.holder()];
      await a.add(...entries(40, 'a'));
      for (const holder of [a, b, c]) await holder.lease(5);
      await s.frontier.release(a.id);
      expect((await b.lease(5)).leases).toEqual([]);
      expect((await c.lease(0)).leases).toEqual([]);
      await s.frontier.release(b.id);
      expect((await c.lease(5)).leases).toEqual([]);
    });

    scene('clears a suspect that is settled, whatever becomes of it', {}, async (s) => {
      const [a, b, c] = [s.holder(), s.holder(), s.holder()];
      await a.add(entry('x'), ...entries(9, 'y'));
      await a.lease(1);
      await s.frontier.release(a.id);
      const [suspect] = (await b.lease(9)).leases;
      await b.settle([{ kind: 'retry', afterMs: 0, lease: suspect!.id }]);
      expect((await c.lease(5)).leases.map(({ record }) => record)).toContain('x');
    });

    scene('keeps a suspect that goes back untouched', {}, async (s) => {
      const [a, b, c] = [s.holder(), s.holder(), s.holder()];
      await a.add(entry('x'), ...entries(9, 'y'));
      await a.lease(1);
      await s.frontier.release(a.id);
      const [suspect] = (await b.lease(9)).leases;
      await b.settle([{ kind: 'untouched', lease: suspect!.id }]);
      expect((await c.lease(9)).leases.map(({ record }) => record)).toEqual(['x']);
      expect(await b.leaseRecords(2)).toEqual(['y/0', 'y/1']);
    });

    scene('serves nothing of a domain before its suspects, and keeps its pace', { pacing: PACED }, async (s) => {
      const [a, b, c] = [s.holder(), s.holder(), s.holder()];
      await a.add(...entries(3, 'a'), ...entries(3, 'b'));
      await a.lease(1);
      await s.frontier.release(a.id);
      const other = (await b.lease(9)).leases;
      expect(other.map(({ record }) => record)).toEqual(['b/0']);
      await a.add(entry('a/front', 'a', { forefront: true, priority: 2 }));
      s.clock.advance(1_000);
      expect((await b.lease(9)).leases).toEqual([]);
      expect(await c.leaseRecords(9)).toEqual(['a/0']);
    });

    scene('suspects what a holder held that fell silent, and keeps it across a restart', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(12));
      await a.lease(10);
      s.clock.advance(LEASE_MS + 1);
      expect((await s.holder().lease(9)).leases.length).toBe(5);
      await s.killAndReopen();
      const b = s.holder();
      const { leases } = await b.lease(9);
      // Five were lost a second time: they are tried alone by now.
      expect(leases.map(({ lostLeases }) => lostLeases)).toEqual([2]);
      await b.settle(leases.map(done));
      expect(await s.counters()).toMatchObject({ accepted: 12, queued: 11, done: 1 });
    });

    scene('hands out no more suspects than may still end', {}, async (s) => {
      const [a, b] = [s.holder(), s.holder()];
      await a.add(...entries(20));
      await a.lease(20);
      await s.frontier.release(a.id);
      expect((await b.lease(20, 4)).leases.length).toBe(4);
    });
  });
}
