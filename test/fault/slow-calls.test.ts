// A call that takes long to reach Redis (a busy machine, a slow disk) must not shorten a domain's delay: pod time
// may not run ahead of what passed since a response ended. Three clients with clocks of their own, on a real server.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRedisFrontier, type RedisFrontier } from '../../src/frontier/redis/frontier.js';
import { entries } from '../../src/testing/conformance/bench.js';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';

const DELAY_MS = 100;

/** A client to whom time is told: when it sends, when the server acts, when it hears the answer. */
async function openClient(url: string, replyMs = 0) {
  let sentMs = 0;
  let actedMs = 0;
  let heardMs = replyMs;
  let isSent = false;
  const clock = {
    bootId: 'one',
    wallMs: () => 1_000_000 + actedMs,
    monotonicMs() {
      const now = isSent ? heardMs : sentMs;
      isSent = true;
      return now;
    },
  };
  const frontier: RedisFrontier = await openRedisFrontier({ url, clock, pacing: { delayMs: DELAY_MS, turns: 1 } });
  return {
    frontier,
    at<T>(times: { sent: number; acted?: number }, call: () => Promise<T>): Promise<T> {
      sentMs = times.sent;
      actedMs = times.acted ?? sentMs;
      heardMs = actedMs + replyMs;
      isSent = false;
      return call();
    },
  };
}

describe.skipIf(redisMissing)('a call that was long on its way', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.dispose());

  it('shortens no delay', async () => {
    const a = await openClient(server.url);
    const b = await openClient(server.url);
    // Answers take their time to reach this one.
    const c = await openClient(server.url, 40);
    await a.at({ sent: 1_000 }, () => a.frontier.add({ holder: 'a', call: 1, entries: entries(2, 'one.example') }));
    await b.at({ sent: 1_000 }, () => b.frontier.overview());
    const first = await c.at({ sent: 1_000 }, () => c.frontier.lease({ holder: 'c', call: 1, max: 1 }));
    expect(first.leases).toHaveLength(1);
    const other = entries(1, 'two.example');
    await a.at({ sent: 1_100, acted: 1_500 }, () => a.frontier.add({ holder: 'a', call: 2, entries: other }));
    const { id, domain: paced } = first.leases[0]!;
    await c.at({ sent: 1_600 }, () =>
      c.frontier.settle({ holder: 'c', call: 2, settlements: [], landings: [{ lease: id }] }),
    );
    const early = await b.at({ sent: 1_660 }, () => b.frontier.lease({ holder: 'b', call: 1, max: 2 }));
    expect(early.leases.filter(({ domain }) => domain === paced)).toEqual([]);
    const due = await b.at({ sent: 1_760 }, () => b.frontier.lease({ holder: 'b', call: 2, max: 1 }));
    expect(due.leases).not.toEqual([]);
    for (const { frontier } of [a, b, c]) await frontier.close();
  });
});
