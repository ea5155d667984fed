import { describe, expect, it } from 'vitest';
import { createPageMemory, type PageVisit } from '../../fresh/memory/memory.js';
import { newPage } from '../../fresh/memory/new-page.js';
import { pageKeyOf } from '../../fresh/remembering.js';
import type { Lease, LeaseAnswer } from '../../frontier/frontier.js';
import { packRecord, unpackRecord } from '../../request/record.js';
import type { RoutingClient } from '../worker/routing-client.js';
import { createWatchClient } from './watch-client.js';

const NOW = 1_800_000_000;
const URL_A = 'https://a.example/page';
const KEY_A = pageKeyOf({ target: URL_A, keepUrlFragment: false });

/** The queue gives these leases, one portion per call, and keeps what is settled. */
function watching(portions: readonly (readonly Lease[])[], knownDueAt?: number) {
  const memory = createPageMemory();
  if (knownDueAt !== undefined) {
    const page = { ...newPage(NOW - 1_000, 200), nextVisitAt: knownDueAt };
    memory.settle([{ key: KEY_A, request: KEY_A, page, names: { url: URL_A } }], true);
  }
  const left = [...portions];
  const calls: Parameters<RoutingClient['settle']>[0][] = [];
  const own = {
    id: 'life',
    figures: {},
    async lease(): Promise<LeaseAnswer> {
      return { leases: left.shift() ?? [], state: 'waiting' };
    },
    async settle(call: (typeof calls)[number]) {
      calls.push(call);
      return { held: true, accepted: call.settlements.map(() => true) };
    },
  } as unknown as RoutingClient;
  const stage = async (_visits: readonly PageVisit[], lane?: string) => ({ key: `memory/me${lane}`, note: '1' });
  const client = createWatchClient({ own, memory: { ...memory, stage }, nowSecs: () => NOW });
  return { client, memory, calls };
}

const lease = (id: number, name?: string): Lease => ({
  id,
  fingerprint: KEY_A,
  domain: 'a.example',
  record: packRecord({ url: URL_A, crawlDepth: 2 }, name),
  priority: 0,
  lostLeases: 0,
  delayMs: 0,
});

describe('the queue of a watch', () => {
  it('remembers a link instead of visiting it, in the step that takes it from the queue', async () => {
    const { client, memory, calls } = watching([[lease(1)]]);
    expect((await client.lease({ max: 5 })).leases).toEqual([]);
    expect(calls).toEqual([
      { settlements: [{ kind: 'skipped', lease: 1, reason: 'watched' }], notes: { 'memory/me~watch': '1' } },
    ]);
    expect(memory.find(KEY_A)).toMatchObject({ names: { url: URL_A }, page: { visits: 0, depth: 2 } });
  });

  it('leaves a page that is known as it is when a link leads to it', async () => {
    const { client, memory } = watching([[lease(1)]], NOW + 50);
    await client.lease({ max: 5 });
    expect(memory.find(KEY_A)?.page).toMatchObject({ nextVisitAt: NOW + 50, visits: 1 });
  });

  it('makes a visit that is due, under the URL, and gives it back under its name', async () => {
    const name = `due ${NOW - 5} ${URL_A}`;
    const { client, calls } = watching([[lease(1, name)]], NOW - 5);
    const [visit] = (await client.lease({ max: 5 })).leases;
    expect(unpackRecord(visit!.record).uniqueKey).toBeUndefined();
    await client.settle({ settlements: [{ kind: 'retry', lease: 1, afterMs: 0, record: visit!.record }] });
    expect(unpackRecord(calls[0]!.settlements[0]!.record!).uniqueKey).toBe(name);
  });

  it('does not make a visit again that was made, or moved', async () => {
    const { client, calls } = watching([[lease(1, `due ${NOW - 5} ${URL_A}`)]], NOW + 500);
    expect((await client.lease({ max: 5 })).leases).toEqual([]);
    expect(calls[0]!.settlements).toEqual([{ kind: 'skipped', lease: 1, reason: 'watched' }]);
  });

  it('plans a page that failed for a day later, in the step that ends the visit', async () => {
    const { client, memory, calls } = watching([[lease(1, `due ${NOW - 5} ${URL_A}`)]], NOW - 5);
    await client.lease({ max: 5 });
    await client.settle({ settlements: [{ kind: 'failed', lease: 1, reason: 'HTTP_500' }], notes: { other: 'x' } });
    expect(calls[0]!.notes).toEqual({ other: 'x', 'memory/me~watch': '1' });
    expect(memory.find(KEY_A)?.page.nextVisitAt).toBe(NOW + 86_400);
  });
});
