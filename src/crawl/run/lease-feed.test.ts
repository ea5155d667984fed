// The lease feed over a frontier in memory, by a clock that the test moves.
import { beforeEach, describe, expect, it } from 'vitest';
import { createManualTime, type ManualTime } from '../../../test/support/manual-time.js';
import { createFrontierClient, type FrontierClient } from '../../frontier/client.js';
import { createMemoryFrontier } from '../../frontier/embedded/store/memory.js';
import type { Lease, QueueEntry } from '../../frontier/frontier.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import { createLeaseFeed, type LeaseFeed, type LeaseFeedOptions } from './lease-feed.js';

const DELAY_MS = 400;
const entries = (count: number, domain: string): QueueEntry[] =>
  Array.from({ length: count }, (_, i) => ({
    fingerprint: fingerprintOf(`${domain}/${i}`),
    domain,
    record: `${domain}/${i}`,
  }));

describe('the lease feed', () => {
  let time: ManualTime;
  let client: FrontierClient;
  let asked: number[];
  let woken: number;
  let wanted: number;

  beforeEach(() => {
    time = createManualTime();
    const frontier = createMemoryFrontier({ pacing: { delayMs: DELAY_MS, turns: 1 }, clock: time });
    client = createFrontierClient(frontier, { id: 'one' });
    asked = [];
    woken = 0;
    wanted = 10;
  });

  function open(changes: Partial<LeaseFeedOptions> = {}): LeaseFeed {
    const counting: FrontierClient = {
      ...client,
      lease: (call) => {
        asked.push(call.max);
        return client.lease(call);
      },
    };
    const onReady = () => void woken++;
    return createLeaseFeed({ client: counting, time, wanted: () => wanted, maxEnded: undefined, onReady, ...changes });
  }

  it('asks for what is wanted beyond what is at hand, once at a time and never for more than 256', async () => {
    await client.add([...entries(1, 'a'), ...entries(1, 'b')]);
    const feed = open();
    await Promise.all([feed.refill(), feed.refill()]);
    expect([asked, feed.ready]).toEqual([[10], 2]);
    wanted = 2;
    feed.reopen();
    await feed.refill();
    expect(asked).toEqual([10]);
    wanted = 10_000;
    await feed.refill();
    expect(asked).toEqual([10, 256]);
  });

  it('gives each lease once, with the life in which it was taken', async () => {
    await client.add([...entries(1, 'a'), ...entries(1, 'b')]);
    const feed = open();
    await feed.refill();
    expect([...feed.domains()]).toEqual(['a', 'b']);
    expect([feed.take(), feed.take(), feed.take()]).toMatchObject([
      { lease: { record: 'a/0' }, life: 'one' },
      { lease: { record: 'b/0' }, life: 'one' },
      undefined,
    ]);
  });

  it('does not ask while everything rests, and wakes when the first domain is due', async () => {
    await client.add(entries(2, 'a'));
    const feed = open();
    await feed.refill();
    const { lease } = feed.take()!;
    await client.settle({ settlements: [{ kind: 'done', lease: lease.id }], landings: [{ lease: lease.id }] });
    feed.reopen();
    await feed.refill();
    expect([feed.ready, feed.exhausted]).toEqual([0, false]);
    await time.advance(DELAY_MS - 1);
    await feed.refill();
    expect([asked.length, woken]).toEqual([2, 0]);
    await time.advance(1);
    expect(woken).toBe(1);
    await feed.refill();
    expect(feed.take()).toMatchObject({ lease: { record: 'a/1' } });
  });

  it('looks again after a second at the latest: another process may have added work', async () => {
    const feed = open();
    await feed.refill();
    expect(feed.exhausted).toBe(true);
    await client.add(entries(1, 'a'));
    await feed.refill();
    expect(asked.length).toBe(1);
    await time.advance(1_000);
    expect(woken).toBe(1);
    await feed.refill();
    expect([feed.ready, feed.exhausted]).toEqual([1, false]);
  });

  it('does not believe an answer that was under way when work came', async () => {
    const feed = open();
    const asking = feed.refill();
    feed.reopen();
    await asking;
    expect(feed.exhausted).toBe(false);
    await feed.refill();
    expect(asked.length).toBe(2);
  });

  it('hands bulk skips on instead of giving them to be visited', async () => {
    await client.add([...entries(3, 'a'), ...entries(1, 'b')]);
    const skips: (readonly [readonly Lease[], string])[] = [];
    const feed = open({ bulkSkipDomains: () => ['a'], onBulkSkips: (...given) => void skips.push(given) });
    await feed.refill();
    expect([...feed.domains()]).toEqual(['a', 'b']);
    expect(skips).toMatchObject([[[{ record: 'a/1' }, { record: 'a/2' }], 'one']]);
  });

  it('lets those be taken out that must not be kept', async () => {
    await client.add([...entries(1, 'a'), ...entries(1, 'b'), ...entries(1, 'c')]);
    const feed = open();
    await feed.refill();
    feed.take();
    expect(feed.sift(({ lease }) => lease.domain !== 'c')).toMatchObject([{ lease: { domain: 'b' } }]);
    expect([...feed.domains()]).toEqual(['c']);
  });

  it('ends with what nobody started, and asks and wakes no more', async () => {
    await client.add([...entries(1, 'a'), ...entries(1, 'b')]);
    const feed = open();
    await feed.refill();
    feed.take();
    expect(await feed.drain()).toMatchObject([{ lease: { record: 'b/0' } }]);
    feed.reopen();
    await feed.refill();
    await time.advance(5_000);
    expect([asked.length, woken, feed.ready, time.timers]).toEqual([1, 0, 0, 0]);
  });
});
