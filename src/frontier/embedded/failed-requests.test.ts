import { expect, it } from 'vitest';
import { fingerprintOf } from '../../request/fingerprint.js';
import { createMemoryFrontier } from './store/memory.js';

it('queues again what has failed, once, and counters add up', async () => {
  const frontier = createMemoryFrontier({ pacing: { delayMs: 0, turns: 10 }, holder: 'h' });
  const entry = (url: string) => ({ fingerprint: fingerprintOf(url), domain: 'a.example', record: url });
  const entries = ['http://a.example/1', 'http://a.example/2'].map(entry);
  await frontier.add({ holder: 'h', call: 1, entries });
  const { leases } = await frontier.lease({ holder: 'h', call: 2, max: 10 });
  const [bad, good] = leases.map(({ id }) => id) as [number, number];
  await frontier.settle({
    holder: 'h',
    call: 3,
    settlements: [
      { kind: 'failed', lease: bad, reason: 'FETCH_TIMEOUT' },
      { kind: 'done', lease: good },
    ],
  });
  expect(await frontier.failedFrom(0, 10)).toEqual({
    requests: [{ record: 'http://a.example/1', reason: 'FETCH_TIMEOUT' }],
    next: undefined,
  });
  expect(await frontier.requeue({ holder: 'r', call: 1, entries, notes: { note: 'x' } })).toBe(1);
  expect(await frontier.requeue({ holder: 'r', call: 2, entries })).toBe(0);
  const { counters, notes } = await frontier.overview();
  expect(counters).toMatchObject({ accepted: 2, queued: 1, failed: 0, done: 1 });
  expect(notes).toEqual({ note: 'x' });
  expect((await frontier.lease({ holder: 'h', call: 4, max: 10 })).leases).toHaveLength(1);
  await frontier.close();
});

it('lists skipped requests beside failed ones when asked', async () => {
  const frontier = createMemoryFrontier({ pacing: { delayMs: 0, turns: 10 }, holder: 'h' });
  const entry = (url: string) => ({ fingerprint: fingerprintOf(url), domain: 'a.example', record: url });
  const urls = ['http://a.example/1', 'http://a.example/2', 'http://a.example/3'];
  await frontier.add({ holder: 'h', call: 1, entries: urls.map(entry) });
  const { leases } = await frontier.lease({ holder: 'h', call: 2, max: 10 });
  const [bad, left, good] = leases.map(({ id }) => id) as [number, number, number];
  await frontier.settle({
    holder: 'h',
    call: 3,
    settlements: [
      { kind: 'failed', lease: bad, reason: 'FETCH_TIMEOUT' },
      { kind: 'skipped', lease: left, reason: 'robotsTxt' },
      { kind: 'done', lease: good },
    ],
  });
  expect((await frontier.failedFrom(0, 10)).requests).toEqual([{ record: urls[0], reason: 'FETCH_TIMEOUT' }]);
  expect((await frontier.failedFrom(0, 10, true)).requests).toEqual([
    { record: urls[0], reason: 'FETCH_TIMEOUT' },
    { record: urls[1], reason: 'robotsTxt', isSkipped: true },
  ]);
  await frontier.close();
});
