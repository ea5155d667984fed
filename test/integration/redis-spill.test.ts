// Domains longer than their head in Redis: the tail goes to disk and comes back in order, whoever keeps it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openRedisFrontier, type RedisFrontier } from '../../src/frontier/redis/frontier.js';
import { addsUp, done, entries, entry } from '../../src/testing/conformance-bench.js';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';

describe.skipIf(redisMissing)(`a long domain in Redis${redisMissing ? `: skipped, ${redisMissing}` : ''}`, () => {
  let server: RedisServer;
  let folder: string;
  let client: Redis;
  const opened: RedisFrontier[] = [];
  const HEAD = 100;

  beforeEach(async () => {
    server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
    folder = mkdtempSync(join(tmpdir(), 'orcrawl-spill-'));
    client = new Redis(server.url, { protocol: 2 });
  });
  afterEach(async () => {
    for (const frontier of opened.splice(0)) await frontier.abandon();
    client.disconnect();
    await server.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(overflowLimit = 100_000): Promise<RedisFrontier> {
    const frontier = await openRedisFrontier({
      url: server.url,
      pacing: { delayMs: 0, turns: 50 },
      spill: { folder, domainHead: HEAD, overflowLimit },
    });
    opened.push(frontier);
    return frontier;
  }

  /** Leases and ends up to `count`; the records in order. */
  async function visit(frontier: RedisFrontier, holder: string, count: number): Promise<string[]> {
    const records: string[] = [];
    for (let call = 1; records.length < count; call++) {
      const max = Math.min(40, count - records.length);
      const { leases, state, nextDueMs } = await frontier.lease({ holder, call: call * 2, max });
      if (state === 'exhausted') break;
      records.push(...leases.map(({ record }) => record));
      const landings = leases.map(({ id }) => ({ lease: id }));
      await frontier.settle({ holder, call: call * 2 + 1, landings, settlements: leases.map(done) });
      if (leases.length === 0) await new Promise((resume) => setTimeout(resume, Math.max(1, nextDueMs ?? 10)));
    }
    return records;
  }

  it('keeps its head in Redis, its tail on disk, and its order', async () => {
    const frontier = await open();
    const total = 1_500;
    for (let from = 0, call = 0; from < total; from += 500) {
      await frontier.add({ holder: 'a', call: ++call, entries: entries(500, 'long', from) });
    }
    await frontier.add({ holder: 'a', call: 50, entries: entries(HEAD, 'short') });
    await vi.waitUntil(async () => (await client.llen('overflow')) === 0, { timeout: 20_000, interval: 20 });
    const [line] = await client.keysBuffer('q:*long');
    expect(await client.llen(line!)).toBe(HEAD);
    const { counters } = await frontier.overview();
    expect(counters).toMatchObject({ accepted: total + HEAD, queued: total + HEAD });
    // In front is in front, whatever lies on disk.
    await frontier.add({ holder: 'a', call: 51, entries: [entry('first', 'long', { forefront: true })] });
    const records = await visit(frontier, 'v', Infinity);
    const ofLong = records.filter((record) => !record.startsWith('short'));
    expect(ofLong).toEqual(['first', ...entries(total, 'long').map(({ record }) => record)]);
    expect(records.length).toBe(total + HEAD + 1);
    const after = (await frontier.overview()).counters;
    expect(after).toMatchObject({ done: total + HEAD + 1, queued: 0 });
    expect(addsUp(after)).toBe(true);
    expect(await client.keys('[qp]:*')).toEqual([]);
    expect(await client.exists('overflow', 'spill', 'refill', 'long')).toBe(0);
  });

  it('goes on where a keeper stopped that was killed, without losing or repeating a request', async () => {
    const total = 1_500;
    const records: string[] = [];
    const first = await open();
    await first.add({ holder: 'a', call: 1, entries: entries(total, 'long') });
    for (let life = 0; records.length < total; life++) {
      const frontier = life === 0 ? first : await open();
      records.push(...(await visit(frontier, `life-${life}`, life < 4 ? 170 : Infinity)));
      if (life < 4) await frontier.abandon();
      if (life === 2) {
        await server.stop('SIGKILL');
        await server.start();
      }
    }
    expect(records).toEqual(entries(total, 'long').map(({ record }) => record));
  });

  it('takes nothing in while too much waits to be written, and goes on when it is', async () => {
    const frontier = await open(200);
    for (let call = 1; call <= 8; call++) {
      await frontier.add({ holder: 'a', call, entries: entries(300, 'long', call * 300) });
      // One call may go beyond the limit; the next waits for the keeper.
      expect(await client.llen('overflow')).toBeLessThan(200 + 300);
    }
    expect((await frontier.overview()).counters.accepted).toBe(2_400);
  });
});
