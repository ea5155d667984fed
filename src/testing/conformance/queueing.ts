// Conformance: what is accepted, once, and in which order it comes out.
import { type Bench, done, entries, entry } from './bench.js';

const BIG_BATCH = 10_000;

export function queueingSuite({ scene, describe, expect, ended, findsRequests }: Bench): void {
  describe('queueing', () => {
    scene('accepts a request once and tells what it found', {}, async ({ holder }) => {
      const a = holder();
      expect(await a.add(entry('x'), entry('y'), entry('x'))).toEqual(['new', 'new', 'pending']);
      expect(await a.add(entry('y'), entry('z'))).toEqual(['pending', 'new']);
      const { leases } = await a.lease(1);
      expect(await a.add(entry('x'))).toEqual(['pending']);
      await a.finish(leases);
      expect(await a.add(entry('x'))).toEqual([ended]);
    });

    scene('tells an ended request whatever its end was', {}, async ({ holder }) => {
      const a = holder();
      await a.add(entry('done'), entry('failed'), entry('skipped'));
      const { leases } = await a.lease(3);
      await a.settle([
        { kind: 'done', lease: leases[0]!.id },
        { kind: 'failed', lease: leases[1]!.id, reason: 'HTTP_STATUS' },
        { kind: 'skipped', lease: leases[2]!.id, reason: 'robotsTxt' },
      ]);
      expect(await a.add(entry('done'), entry('failed'), entry('skipped'))).toEqual([ended, ended, ended]);
    });

    scene('hands a domain out in order of age', {}, async ({ holder }) => {
      const a = holder();
      await a.add(entry('1'), entry('2'), entry('3'));
      await a.add(entry('4'));
      expect(await a.leaseRecords(3)).toEqual(['1', '2', '3']);
      expect(await a.leaseRecords(3)).toEqual(['4']);
    });

    scene('puts priority before forefront before age', {}, async ({ holder }) => {
      const a = holder();
      const domain = 'a.example';
      await a.add(
        entry('plain 1'),
        entry('low', domain, { priority: -1 }),
        entry('lowest front', domain, { priority: -2, forefront: true }),
        entry('front 1', domain, { forefront: true }),
        entry('high', domain, { priority: 1 }),
        entry('front 2', domain, { forefront: true }),
        entry('highest', domain, { priority: 2 }),
        entry('high front', domain, { priority: 1, forefront: true }),
        entry('plain 2'),
      );
      expect(await a.leaseRecords(20)).toEqual([
        'highest',
        'high front',
        'high',
        'front 2',
        'front 1',
        'plain 1',
        'plain 2',
        'low',
        'lowest front',
      ]);
    });

    scene('takes one request of each domain in turn, the longest due first', {}, async ({ holder, clock }) => {
      const a = holder();
      await a.add(...entries(3, 'a'));
      clock.advance(1);
      await a.add(...entries(2, 'b'));
      clock.advance(1);
      await a.add(...entries(1, 'c'));
      expect(await a.leaseRecords(4)).toEqual(['a/0', 'b/0', 'c/0', 'a/1']);
      expect(await a.leaseRecords(4)).toEqual(['b/1', 'a/2']);
    });

    scene('goes on with the next domain where the last call stopped', {}, async ({ holder }) => {
      const a = holder();
      for (const domain of ['a', 'b', 'c']) await a.add(...entries(3, domain));
      const records: string[] = [];
      for (let i = 0; i < 9; i++) records.push(...(await a.leaseRecords(1)));
      expect(records).toEqual(['a/0', 'b/0', 'c/0', 'a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'c/2']);
    });

    scene('hands every request out exactly once, in batches of any size', {}, async ({ holder }) => {
      const a = holder();
      const all = Array.from({ length: BIG_BATCH }, (_, i) => entry(`page ${i}`, `site-${i % 137}`));
      expect((await a.add(...all)).every((presence) => presence === 'new')).toBe(true);
      const records = new Set<string>();
      let count = 0;
      for (let size = 1; count < BIG_BATCH; size = (size * 3) % 2_048) {
        const { leases } = await a.lease(size);
        expect(leases.length).toBeGreaterThan(0);
        for (const lease of leases) records.add(lease.record);
        count += leases.length;
        await a.finish(leases);
      }
      expect(records.size).toBe(BIG_BATCH);
      expect((await a.lease(1)).state).toBe('exhausted');
    });

    scene('takes and gives a batch of ten thousand in one call', {}, async ({ holder, counters }) => {
      const a = holder();
      await a.add(...entries(BIG_BATCH, 'a'));
      const { leases } = await a.lease(BIG_BATCH);
      expect(leases.length).toBe(1_000);
      await a.settle(leases.map((lease, i) => ({ ...done(lease), links: entries(9, `linked-${i}`) })));
      expect(await counters()).toMatchObject({ accepted: BIG_BATCH + 9_000, done: 1_000, leased: 0 });
    });

    scene('returns records and priorities as they were given', {}, async ({ holder, frontier }) => {
      const a = holder();
      const record = '{"u":"https://exämple.com/✓?q=\u{1f40b}"}';
      await a.add(entry(record, 'exämple.com', { priority: -2 }));
      const [lease] = (await a.lease(1)).leases;
      expect(lease).toMatchObject({ record, priority: -2, domain: 'exämple.com', lostLeases: 0 });
      expect(lease!.fingerprint).toEqual(entry(record).fingerprint);
      const big = 'x'.repeat(300_000);
      await a.settle([{ kind: 'retry', afterMs: 0, lease: lease!.id, record: big }]);
      if (findsRequests) expect((await frontier.find([entry(record).fingerprint]))[0]).toMatchObject({ record: big });
      expect((await a.lease(1)).leases[0]!.record).toBe(big);
    });

    scene('refuses a malformed entry and queues nothing of its call', {}, async ({ holder, counters }) => {
      const a = holder();
      const bad = { ...entry('bad'), fingerprint: { hi: -1, lo: 0.5 } };
      await expect(a.add(entry('good'), bad)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
      await expect(a.add(entry('good'), entry('bad', ''))).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
      expect(await counters()).toMatchObject({ accepted: 0 });
    });
  });
}
