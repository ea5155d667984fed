import { describe, expect, it } from 'vitest';
import { createPageMemory } from '../../fresh/memory/memory.js';
import { newPage } from '../../fresh/memory/new-page.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import { systemTime } from '../time.js';
import { createFeeder } from './feeder.js';

const NOW = 1_800_000_000;

async function fed(isLeftAlone: boolean, queueSays: { wasAlreadyHandled?: boolean } = {}) {
  const memory = createPageMemory();
  const key = fingerprintOf('https://a.example/');
  const page = { ...newPage(NOW - 1_000, 200), nextVisitAt: NOW - 10 };
  memory.settle([{ key, request: key, page, names: { url: 'https://a.example/' } }], true);
  const queued: string[] = [];
  const clock = { ms: 0 };
  const feeder = createFeeder({
    memory,
    schedule: { review: () => 'visit' },
    hints: { isLeftAlone: () => isLeftAlone },
    queue: {
      async addRequestsBatched(requests) {
        queued.push(...(requests as { url: string }[]).map(({ url }) => url));
        return { addedRequests: [queueSays] as never, waitForAllRequestsToBeAdded: Promise.resolve([]) };
      },
    },
    time: { ...systemTime, wallMs: () => NOW * 1000, monotonicMs: () => clock.ms },
    visitsPerSec: 1,
  });
  await feeder.feed();
  const next = () => memory.find(key)?.page.nextVisitAt;
  return { queued, nextVisitAt: next(), next, feeder, clock };
}

describe('the feeder of a watch', () => {
  it('queues what is due', async () => {
    expect((await fed(false)).queued).toEqual(['https://a.example/']);
  });

  it('looks again later at what is the same by what its site says', async () => {
    expect(await fed(true)).toMatchObject({ queued: [], nextVisitAt: NOW + 1_000 });
  });

  it('puts off what the queue has ended only when the memory does not learn of it', async () => {
    const { next, feeder, clock } = await fed(false, { wasAlreadyHandled: true });
    expect(next()).toBe(NOW - 10);
    clock.ms = 30_000;
    await feeder.feed();
    expect(next()).toBe(NOW - 10);
    clock.ms = 61_000;
    await feeder.feed();
    // After as long as it was not visited.
    expect(next()).toBe(NOW + 1_000);
  });

  it('is not held up by many that the queue has ended', async () => {
    const memory = createPageMemory();
    const urls = Array.from({ length: 301 }, (_, at) => `https://a.example/${at}`);
    const visits = urls.map((url, at) => {
      const key = fingerprintOf(url);
      const page = { ...newPage(NOW - 1_000, 200), nextVisitAt: NOW - 400 + at };
      return { key, request: key, page, names: { url } };
    });
    memory.settle(visits, true);
    const added: string[] = [];
    const feeder = createFeeder({
      memory,
      schedule: { review: () => 'visit' },
      queue: {
        async addRequestsBatched(requests) {
          const [{ url }] = requests as [{ url: string }];
          const isLast = url === urls.at(-1);
          if (isLast) added.push(url);
          const answer = [{ wasAlreadyHandled: !isLast }] as never;
          return { addedRequests: answer, waitForAllRequestsToBeAdded: Promise.resolve([]) };
        },
      },
      time: { ...systemTime, wallMs: () => NOW * 1000, monotonicMs: () => 0 },
      visitsPerSec: 1,
    });
    await feeder.feed();
    expect(added).toEqual([]);
    await feeder.feed();
    expect(added).toEqual([urls.at(-1)]);
  });
});
