// The frontier in Redis passes the frontier's suite on a real server, in each way of remembering what was seen.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRedisFrontier, type RedisFrontier } from '../../src/frontier/redis/frontier.js';
import type { SeenMemory } from '../../src/frontier/redis/seen-memory.js';
import { createBench, entries } from '../../src/testing/conformance/bench.js';
import { type Backend, type BackendOptions, frontierSuite } from '../../src/testing/conformance/conformance.js';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';

const runner = { describe, it, expect };

function redisBackend(seen: SeenMemory) {
  return async (options: BackendOptions): Promise<Backend> => {
    const prefix = `${randomUUID()}:`;
    let last: RedisFrontier | undefined;
    return {
      open: async () => (last = await openRedisFrontier({ url: server.url, prefix, seen, ...options })),
      kill: async () => last?.abandon(),
      dispose: async () => undefined,
    };
  };
}

let server: RedisServer;

describe.skipIf(redisMissing)(`on a real server${redisMissing ? `: skipped, ${redisMissing}` : ''}`, () => {
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.dispose());

  frontierSuite('Redis, requests kept', runner, redisBackend({ kind: 'requests' }));
  frontierSuite('Redis, exact fingerprints', runner, redisBackend({ kind: 'exact' }), { remembers: 'fingerprints' });

  it('accepts each request once with a Bloom filter too', async () => {
    // Only what is seen differs from the exact set: the whole suite need not run a third time.
    const bench = createBench(runner, redisBackend({ kind: 'bloom', capacity: 100_000 }), {
      remembers: 'fingerprints',
    });
    await bench.withScene({}, async ({ holder, frontier, counters }) => {
      const a = holder();
      const all = entries(5_000);
      const found = await a.add(...all);
      // One in a thousand would be too many: the filter is a twentieth full.
      expect(found.filter((presence) => presence !== 'new')).toEqual([]);
      expect((await a.add(...all)).every((presence) => presence === 'pending')).toBe(true);
      const known = await frontier.find([all[0]!, all[4_999]!, ...entries(1, 'other')].map((one) => one.fingerprint));
      expect(known.map((one) => one?.state)).toEqual(['known', 'known', undefined]);
      expect(await counters()).toMatchObject({ accepted: 5_000, queued: 5_000 });
    });
  });
});
