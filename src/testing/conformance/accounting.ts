// Conformance: counters that always add up, waiting versus finished, notes, limits, and resuming.
import { addsUp, type Bench, done, entries, entry, LEASE_MS } from './bench.js';

export function accountingSuite({ scene, describe, expect, ended, findsRequests }: Bench): void {
  describe('accounting', () => {
    scene('counts every request in exactly one state', {}, async ({ holder, counters }) => {
      const a = holder();
      const zero = { accepted: 0, queued: 0, retrying: 0, leased: 0, done: 0, failed: 0, skipped: 0 };
      expect(await counters()).toEqual(zero);
      await a.add(...entries(6));
      const { leases } = await a.lease(5);
      await a.settle([
        { kind: 'done', lease: leases[0]!.id },
        { kind: 'failed', lease: leases[1]!.id, reason: 'BODY_TOO_LARGE' },
        { kind: 'skipped', lease: leases[2]!.id, reason: 'filters' },
        { kind: 'retry', lease: leases[3]!.id, afterMs: 500 },
      ]);
      const each = { queued: 1, retrying: 1, leased: 1, done: 1, failed: 1, skipped: 1 };
      expect(await counters()).toEqual({ accepted: 6, ...each });
    });

    scene('tells exhausted from waiting', {}, async ({ holder, clock }) => {
      const [a, b] = [holder(), holder()];
      expect(await a.lease(1)).toEqual({ leases: [], state: 'exhausted' });
      await a.add(...entries(2));
      const { leases } = await a.lease(5);
      // Held elsewhere: it may come back, or bring links.
      expect(await b.lease(1)).toEqual({ leases: [], state: 'waiting' });
      await a.settle([done(leases[0]!), { kind: 'retry', afterMs: 700, lease: leases[1]!.id }]);
      expect(await b.lease(1)).toEqual({ leases: [], state: 'waiting', nextDueMs: 700 });
      clock.advance(700);
      const last = await b.lease(5);
      expect(last.leases.length).toBe(1);
      await b.finish(last.leases);
      expect((await a.lease(1)).state).toBe('exhausted');
    });

    scene('says more when it gave all that was asked for', {}, async ({ holder }) => {
      const a = holder();
      await a.add(...entries(5));
      expect((await a.lease(2)).state).toBe('more');
      expect((await a.lease(0)).leases).toEqual([]);
      expect((await a.lease(9)).state).toBe('waiting');
    });

    scene('hands out nothing that could bring the ended ones above a limit', {}, async ({ holder, counters }) => {
      const a = holder();
      await a.add(...entries(10));
      const first = await a.lease(9, 4);
      expect(first.leases.length).toBe(4);
      expect(await a.lease(9, 4)).toEqual({ leases: [], state: 'waiting' });
      await a.settle([
        done(first.leases[0]!),
        { kind: 'failed', reason: 'x', lease: first.leases[1]!.id },
        { kind: 'skipped', reason: 'x', lease: first.leases[2]!.id },
        { kind: 'retry', afterMs: 0, lease: first.leases[3]!.id },
      ]);
      const second = await a.lease(9, 4);
      expect(second.leases.length).toBe(2);
      await a.finish(second.leases);
      expect((await a.lease(9, 4)).leases).toEqual([]);
      expect(await counters()).toMatchObject({ done: 3, failed: 1, skipped: 1, queued: 5 });
      expect((await a.lease(9)).leases.length).toBe(5);
    });

    scene(
      'says when the next is due while a limit leaves room for it',
      { pacing: { delayMs: 1_000, turns: 1 } },
      async (s) => {
        const a = s.holder();
        await a.add(...entries(5, 'a'));
        await a.finish((await a.lease(9, 3)).leases);
        s.clock.advance(100);
        expect(await a.lease(9, 3)).toEqual({ leases: [], state: 'waiting', nextDueMs: 900 });
        s.clock.advance(900);
        expect((await a.lease(9, 3)).leases.length).toBe(1);
      },
    );

    scene('finds what became of each request', {}, async ({ holder, frontier }) => {
      const a = holder();
      await a.add(...['done', 'failed', 'skipped', 'retrying', 'leased', 'queued'].map((name) => entry(name)));
      const { leases } = await a.lease(5);
      await a.settle([
        { kind: 'done', lease: leases[0]!.id, record: 'done, rewritten' },
        { kind: 'failed', lease: leases[1]!.id, reason: 'HTTP_STATUS: 404' },
        { kind: 'skipped', lease: leases[2]!.id, reason: 'robotsTxt', record: 'skipped, rewritten' },
        { kind: 'retry', lease: leases[3]!.id, afterMs: 10, record: 'retrying, rewritten' },
      ]);
      const names = ['done', 'failed', 'skipped', 'retrying', 'leased', 'queued', 'never seen'];
      const found = await frontier.find(names.map((name) => entry(name).fingerprint));
      if (!findsRequests) {
        const known = { state: 'known', record: '', priority: 0 };
        expect(found).toEqual([known, known, known, known, known, known, undefined]);
        return;
      }
      expect(found).toEqual([
        { state: 'done', record: 'done, rewritten', priority: 0 },
        { state: 'failed', record: 'failed', priority: 0, reason: 'HTTP_STATUS: 404' },
        { state: 'skipped', record: 'skipped, rewritten', priority: 0, reason: 'robotsTxt' },
        { state: 'retrying', record: 'retrying, rewritten', priority: 0 },
        { state: 'leased', record: 'leased', priority: 0 },
        { state: 'queued', record: 'queued', priority: 0 },
        undefined,
      ]);
    });

    scene('queues the links of a visit in the step that ends it', {}, async ({ holder, counters }) => {
      const a = holder();
      await a.add(entry('start'));
      const { leases } = await a.lease(1);
      await a.settle([{ ...done(leases[0]!), links: [entry('one'), entry('start'), entry('two', 'b'), entry('one')] }]);
      expect(await counters()).toMatchObject({ accepted: 3, queued: 2, done: 1 });
      expect(await a.leaseRecords(9)).toEqual(['one', 'two']);
    });

    scene('makes notes true in the same step, and forgets those set to null', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(2));
      const { leases } = await a.lease(2);
      await a.settle([done(leases[0]!)], { notes: { segment: '120', run: 'on', ['__proto__']: 'kept' } });
      await a.settle([], { notes: { segment: '250', run: null } });
      const { notes } = await s.frontier.overview();
      expect(Object.entries(notes).sort()).toEqual([
        ['__proto__', 'kept'],
        ['segment', '250'],
      ]);
      await s.frontier.release(a.id);
      expect((await a.settle([done(leases[1]!)], { notes: { segment: '999' } })).held).toBe(false);
      await s.closeAndReopen();
      expect((await s.frontier.overview()).notes).toMatchObject({ segment: '250' });
    });

    scene('resumes after a proper end with everything where it was', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(6), entry('front', 'a.example', { forefront: true }));
      const { leases } = await a.lease(4);
      await a.settle([
        done(leases[0]!),
        { kind: 'failed', reason: 'x', lease: leases[1]!.id },
        { kind: 'retry', afterMs: 800, lease: leases[2]!.id },
      ]);
      const before = await s.counters();
      await s.closeAndReopen();
      // What was held came back untouched.
      expect(await s.counters()).toEqual({ ...before, leased: 0, queued: before.queued + before.leased });
      const b = s.holder();
      const again = await b.lease(9);
      expect(again.leases.map(({ record }) => record)).toEqual([2, 3, 4, 5].map((i) => `a.example/${i}`));
      expect(again.leases.every(({ lostLeases }) => lostLeases === 0)).toBe(true);
      expect(again.nextDueMs).toBe(800);
      const rest = Array.from({ length: 5 }, () => 'pending');
      expect(await b.add(...entries(6))).toEqual([ended, ...rest]);
    });

    scene('resumes after a sudden end and voids the dead owner’s leases at once', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(5));
      const { leases } = await a.lease(3);
      await a.settle([done(leases[0]!)], { notes: { length: '7' } });
      await s.killAndReopen();
      expect(await s.counters()).toMatchObject({ accepted: 5, queued: 4, leased: 0, done: 1 });
      expect((await s.frontier.overview()).notes).toEqual({ length: '7' });
      const b = s.holder();
      const again = await b.finishAll();
      expect(again.map(({ record }) => record)).toEqual([1, 2, 3, 4].map((i) => `a.example/${i}`));
      expect(again.map(({ lostLeases }) => lostLeases)).toEqual([1, 1, 0, 0]);
      expect((await a.settle([done(leases[1]!)])).held).toBe(false);
    });

    scene('keeps delays and time itself across a restart', { pacing: { delayMs: 4_000, turns: 1 } }, async (s) => {
      const a = s.holder();
      await a.add(...entries(3));
      await a.finish((await a.lease(1)).leases);
      s.clock.advance(1_500);
      s.clock.jumpWall(-3_600_000);
      await s.closeAndReopen();
      expect(await s.holder().lease(1)).toMatchObject({ leases: [], nextDueMs: 2_500 });
      await s.killAndReopen();
      expect(await s.holder().lease(1)).toMatchObject({ leases: [], nextDueMs: 2_500 });
      s.clock.advance(2_500);
      expect((await s.holder().lease(1)).leases.length).toBe(1);
    });

    scene('gives back what it holds when it closes, and refuses calls after', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(2));
      await a.lease(2);
      const closed = s.frontier;
      await s.closeAndReopen();
      expect(await s.counters()).toMatchObject({ queued: 2, leased: 0 });
      for (const call of [closed.overview(), closed.lease({ holder: 'x', call: 1, max: 1 }), closed.find([])]) {
        await expect(call).rejects.toMatchObject({ code: 'QUEUE_CLOSED' });
      }
      await closed.close();
    });

    scene('adds up at every instant while many call at once', { pacing: { delayMs: 0, turns: 7 } }, async (s) => {
      const workers = Array.from({ length: 5 }, () => s.holder());
      const readings: boolean[] = [];
      await workers[0]!.add(...entries(40, 'a'), ...entries(40, 'b'));
      await Promise.all(
        workers.map(async (worker, w) => {
          for (let i = 0; i < 12; i++) {
            const { leases } = await worker.lease(4);
            await worker.settle(
              leases.map((lease, n) =>
                (i + n + w) % 5 === 0
                  ? { kind: 'retry', afterMs: 0, lease: lease.id }
                  : { ...done(lease), links: entries(1, `c${w}`, i * 10 + n) },
              ),
              { landings: leases.map(({ id }) => ({ lease: id })) },
            );
            readings.push(addsUp((await s.frontier.overview()).counters));
          }
        }),
      );
      expect(readings.every(Boolean)).toBe(true);
      s.clock.advance(LEASE_MS);
    });
  });
}
