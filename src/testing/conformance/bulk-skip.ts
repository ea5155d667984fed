// Conformance: bulk skips, the requests that come along on another's turn so that many can be skipped in one call,
// and turns that were spent on something else than the request that took them.
import { MAX_BULK_SKIP_DOMAINS, BULK_SKIPS_PER_CALL, BULK_SKIPS_PER_DOMAIN } from '../../frontier/frontier.js';
import type { Lease, Settlement } from '../../frontier/frontier.js';
import { type Bench, done, entries, entry, LEASE_MS } from './bench.js';

const PACED = { delayMs: 1_000, turns: 5 } as const;

const records = (leases: readonly Lease[]): string[] => leases.map(({ record }) => record);
const bulkSkips = (leases: readonly Lease[]): Lease[] => leases.filter(({ bulkSkip }) => bulkSkip);
const skipped = ({ id }: Lease): Settlement => ({ kind: 'skipped', reason: 'robotsTxt', lease: id });
const untouched = ({ id }: Lease): Settlement => ({ kind: 'untouched', lease: id });

export function bulkSkipSuite({ scene, describe, expect }: Bench): void {
  describe('bulk skips', () => {
    scene('brings the next requests of a bulk-skipped domain along on one turn', { pacing: PACED }, async (s) => {
      const a = s.holder();
      await a.add(...entries(4, 'a'), ...entries(4, 'b'));
      const { leases, state } = await a.lease(2, undefined, ['b', 'elsewhere', 'b']);
      expect(records(leases)).toEqual(['a/0', 'b/0', 'b/1', 'b/2', 'b/3']);
      expect(leases.map(({ bulkSkip }) => bulkSkip)).toEqual([undefined, undefined, true, true, true]);
      expect(leases.every(({ delayMs }) => delayMs === PACED.delayMs)).toBe(true);
      // Bulk skips do not count towards the requested number, and are leased like any other.
      expect(state).toBe('more');
      expect(await s.counters()).toMatchObject({ leased: 5, queued: 3 });
    });

    scene('brings none of a domain that gets no turn', { pacing: PACED }, async (s) => {
      const a = s.holder();
      await a.add(...entries(4, 'a'));
      const [first] = (await a.lease(1)).leases;
      expect((await a.lease(9, undefined, ['a'])).leases).toEqual([]);
      await a.land({ lease: first!.id });
      expect((await a.lease(9, undefined, ['a'])).leases).toEqual([]);
      expect((await a.lease(0, undefined, ['a'])).leases).toEqual([]);
    });

    scene('skips many in one call without using the turn', { pacing: PACED }, async (s) => {
      const a = s.holder();
      await a.add(...entries(BULK_SKIPS_PER_DOMAIN + 10, 'a'));
      const { leases } = await a.lease(1, undefined, ['a']);
      expect(leases.length).toBe(BULK_SKIPS_PER_DOMAIN + 1);
      const allowed = leases[20]!;
      await a.settle(leases.map((lease) => (lease === allowed ? untouched(lease) : skipped(lease))));
      expect(await s.counters()).toMatchObject({ skipped: BULK_SKIPS_PER_DOMAIN, leased: 0, queued: 10 });
      // At once: no request was sent.
      expect(await a.leaseRecords(1)).toEqual([allowed.record]);
    });

    scene('gives bulk skips back to their places while the turn is used', { pacing: PACED }, async (s) => {
      const [a, b] = [s.holder(), s.holder()];
      await a.add(...entries(5, 'a'), entry('first', 'a', { priority: 1 }));
      const { leases } = await a.lease(1, undefined, ['a']);
      expect(records(leases)).toEqual(['first', 'a/0', 'a/1', 'a/2', 'a/3', 'a/4']);
      await a.settle([leases[2]!, leases[5]!, leases[1]!].map(untouched).concat([leases[3]!, leases[4]!].map(skipped)));
      expect((await b.lease(9)).leases).toEqual([]);
      await a.finish([leases[0]!]);
      expect(await b.lease(9)).toMatchObject({ leases: [], nextDueMs: 1_000 });
      s.clock.advance(1_000);
      expect(await b.leaseRecords(1)).toEqual(['a/0']);
    });

    scene('keeps the domain’s turn with its holder when a bulk skip lands or ends', { pacing: PACED }, async (s) => {
      const [a, b] = [s.holder(), s.holder()];
      await a.add(...entries(5, 'a'));
      const { leases } = await a.lease(1, undefined, ['a']);
      const [one, two, ...others] = bulkSkips(leases);
      await a.land({ lease: one!.id, delayMs: 0, pauseMs: 9_000 });
      await a.settle([
        { kind: 'failed', reason: 'HOST_DOWN', lease: one!.id },
        skipped(two!),
        ...others.map(untouched),
      ]);
      expect(await s.counters()).toMatchObject({ failed: 1, skipped: 1, leased: 1, queued: 2 });
      expect(await b.lease(9)).toEqual({ leases: [], state: 'waiting' });
      await a.settle([untouched(leases[0]!)]);
      expect(await b.leaseRecords(9)).toEqual(['a/0']);
    });

    scene('does not accept that a bulk skip was done or is to be retried', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(3, 'a'));
      const { leases } = await a.lease(1, undefined, ['a']);
      const [one, two] = bulkSkips(leases);
      const answer = await a.settle([
        { ...done(one!), links: entries(2, 'linked') },
        { kind: 'retry', afterMs: 0, lease: two!.id },
      ]);
      expect(answer).toEqual({ held: true, accepted: [false, false] });
      expect(await s.counters()).toMatchObject({ accepted: 3, leased: 3, done: 0 });
      expect((await a.settle([skipped(one!), untouched(two!)])).accepted).toEqual([true, true]);
    });

    scene('puts bulk skips of a lost holder back without a rest and without counting a loss', {}, async (s) => {
      const [a, b] = [s.holder(), s.holder()];
      await a.add(...entries(6, 'a'));
      const { leases } = await a.lease(1, undefined, ['a']);
      await a.land({ lease: leases[0]!.id, delayMs: 1_000 });
      await a.settle([done(leases[0]!)]);
      s.clock.advance(1_000);
      expect(await s.frontier.release(a.id)).toBe(5);
      expect(await s.counters()).toMatchObject({ queued: 5, leased: 0 });
      const again = (await b.lease(9, undefined, ['a'])).leases;
      expect(records(again)).toEqual([1, 2, 3, 4, 5].map((i) => `a/${i}`));
      expect(again.every(({ lostLeases }) => lostLeases === 0)).toBe(true);
    });

    scene('refuses a late holder that held nothing but bulk skips', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(2, 'a'));
      const { leases } = await a.lease(1, undefined, ['a']);
      await a.settle([done(leases[0]!)]);
      s.clock.advance(LEASE_MS + 1);
      const late = await a.settle([skipped(leases[1]!)], { notes: { late: 'yes' } });
      expect(late).toEqual({ held: false, accepted: [false] });
      expect((await s.frontier.overview()).notes).toEqual({});
    });

    scene('keeps bulk skips across a restart as it keeps what was queued', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(3, 'a'));
      await a.lease(1, undefined, ['a']);
      await s.killAndReopen();
      const again = await s.holder().finishAll();
      expect(records(again)).toEqual(['a/0', 'a/1', 'a/2']);
      expect(again.map(({ lostLeases }) => lostLeases)).toEqual([1, 0, 0]);
    });

    scene('brings no more bulk skips than a domain, a call and the limit on ended requests allow', {}, async (s) => {
      const a = s.holder();
      const names = Array.from({ length: 9 }, (_, i) => `d${i}`);
      for (const name of names) await a.add(...entries(BULK_SKIPS_PER_DOMAIN + 5, name));
      const { leases } = await a.lease(9, undefined, names);
      expect(bulkSkips(leases).length).toBe(BULK_SKIPS_PER_CALL);
      const of = (name: string) => bulkSkips(leases).filter(({ domain }) => domain === name).length;
      expect(names.map(of)).toEqual([...Array.from({ length: 8 }, () => BULK_SKIPS_PER_DOMAIN), 0]);
      await a.settle(leases.map(untouched));
      const few = await a.lease(2, 7, names);
      expect(bulkSkips(few.leases).length).toBe(5);
    });

    scene('refuses a bulk-skip list that is too long, and leases nothing', {}, async (s) => {
      const a = s.holder();
      await a.add(...entries(1, 'a'));
      const names = Array.from({ length: MAX_BULK_SKIP_DOMAINS + 1 }, (_, i) => `d${i}`);
      await expect(a.lease(1, undefined, names)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
      expect(await s.counters()).toMatchObject({ queued: 1, leased: 0 });
    });

    scene('lets the delay run for a turn that was spent on something else', { pacing: PACED }, async (s) => {
      const [a, b] = [s.holder(), s.holder()];
      await a.add(...entries(3, 'a'));
      const { leases } = await a.lease(1);
      // The response that ended was robots.txt’s: its rules set another delay, and the request goes back.
      await a.settle([untouched(leases[0]!)], { landings: [{ lease: leases[0]!.id, delayMs: 2_000 }] });
      expect(await b.lease(9)).toEqual({ leases: [], state: 'waiting', nextDueMs: 2_000 });
      s.clock.advance(2_000);
      const again = (await b.lease(9)).leases;
      expect(again).toMatchObject([{ record: 'a/0', lostLeases: 0, delayMs: 2_000 }]);
      await b.land({ lease: again[0]!.id });
      s.clock.advance(500);
      await b.settle([untouched(again[0]!)]);
      expect(await a.lease(9)).toMatchObject({ leases: [], nextDueMs: 1_500 });
      s.clock.advance(1_500);
      expect(await a.leaseRecords(9)).toEqual(['a/0']);
    });
  });
}
