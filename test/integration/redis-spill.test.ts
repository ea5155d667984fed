// Domains longer than their head in Redis: the tail goes to disk and comes back in order, with any keeper.
import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openRedisFrontier, type RedisFrontier } from '../../src/frontier/redis/frontier.js';
import { addsUp, done, entries, entry } from '../../src/testing/conformance/bench.js';
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

  async function open(overflowLimit = 100_000, domainHead = HEAD): Promise<RedisFrontier> {
    const frontier = await openRedisFrontier({
      url: server.url,
      pacing: { delayMs: 0, turns: 50 },
      spill: { folder, domainHead, overflowLimit },
    });
    opened.push(frontier);
    return frontier;
  }

  /** Leases and ends up to `count`; the records in order. */
  async function visit(frontier: RedisFrontier, holder: string, count: number): Promise<string[]> {
    const records: string[] = [];
    for (let call = 1, idle = 0; records.length < count && idle < 500; call++) {
      const max = Math.min(40, count - records.length);
      const { leases, state, nextDueMs } = await frontier.lease({ holder, call: call * 2, max });
      if (state === 'exhausted') break;
      records.push(...leases.map(({ record }) => record));
      const landings = leases.map(({ id }) => ({ lease: id }));
      await frontier.settle({ holder, call: call * 2 + 1, landings, settlements: leases.map(done) });
      idle = leases.length === 0 ? idle + 1 : 0;
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

  it.each([1, 2, 7, 100])('hands out each request once when waves come and go at a head of %i', async (head) => {
    const frontier = await open(100_000, head);
    const records: string[] = [];
    const expected: string[] = [];
    // Each wave spills, and all of it comes back before the next one spills again.
    for (const [wave, size] of [160, 150, 3, 220, 101].entries()) {
      const added = entries(size, 'long', wave * 1_000);
      expected.push(...added.map(({ record }) => record));
      await frontier.add({ holder: 'a', call: wave + 1, entries: added });
      records.push(...(await visit(frontier, `v${wave}`, wave === 4 ? Infinity : expected.length - records.length)));
    }
    expect(records).toEqual(expected);
    const { counters } = await frontier.overview();
    expect(counters).toMatchObject({ accepted: expected.length, done: expected.length, queued: 0 });
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

  /** A domain of 1,500 requests, most of them on disk, and nobody that has the store open. */
  async function leaveLongDomain(): Promise<void> {
    const frontier = await open();
    await frontier.add({ holder: 'a', call: 1, entries: entries(1_500, 'long') });
    await vi.waitUntil(async () => (await client.llen('overflow')) === 0, { timeout: 20_000, interval: 20 });
    await opened.pop()!.close();
  }

  it.each([
    ['is missing', () => rmSync(folder, { recursive: true })],
    ['is cut short', () => truncateSync(join(folder, 'data.mdb'), statSync(join(folder, 'data.mdb')).size - 65_536)],
    ['is garbage', () => writeFileSync(join(folder, 'data.mdb'), Buffer.alloc(100_000, 'x'))],
  ])('refuses to open when the tail on disk %s, and names the folder', async (_, damage) => {
    await leaveLongDomain();
    damage();
    await expect(open()).rejects.toMatchObject({
      code: 'QUEUE_CORRUPT',
      message: expect.stringContaining(folder) as string,
    });
  });

  it('refuses the tail of another crawl while its own is needed, and clears it when it is not', async () => {
    await leaveLongDomain();
    const kept = mkdtempSync(join(tmpdir(), 'orcrawl-spill-'));
    cpSync(folder, kept, { recursive: true });
    await server.dispose();
    server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
    client.disconnect();
    client = new Redis(server.url, { protocol: 2 });
    // A new crawl over the old folder: what the old one left there is not its own.
    const fresh = await open();
    await fresh.add({ holder: 'b', call: 1, entries: entries(300, 'long', 5_000) });
    const records = await visit(fresh, 'v', Infinity);
    expect(records).toEqual(entries(300, 'long', 5_000).map(({ record }) => record));
    await fresh.add({ holder: 'b', call: 2, entries: entries(300, 'long', 6_000) });
    await vi.waitUntil(async () => (await client.llen('overflow')) === 0, { timeout: 20_000, interval: 20 });
    await opened.pop()!.close();
    cpSync(kept, folder, { recursive: true });
    rmSync(kept, { recursive: true });
    await expect(open()).rejects.toMatchObject({ code: 'QUEUE_CORRUPT', message: /another crawl/ });
  });

  it('ends with an error when its tail vanishes while it crawls', async () => {
    const frontier = await open();
    await frontier.add({ holder: 'a', call: 1, entries: entries(1_500, 'long') });
    await vi.waitUntil(async () => (await client.llen('overflow')) === 0, { timeout: 20_000, interval: 20 });
    // As a damaged disk would: the rows are gone, the database is whole.
    const { open: openDatabase } = await import('lmdb');
    const database = openDatabase({ path: folder, noSubdir: false });
    database.clearSync();
    await expect(visit(frontier, 'v', Infinity)).rejects.toMatchObject({ code: 'QUEUE_CORRUPT' });
    await database.close();
  });

  it('reads no row that a server wrote in a life it has forgotten', async () => {
    await server.stop('SIGTERM');
    await server.dispose();
    server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always', '--appenddirname', 'aof']);
    client.disconnect();
    client = new Redis(server.url, { protocol: 2 });
    const frontier = await open();
    await frontier.add({ holder: 'a', call: 1, entries: entries(200, 'one') });
    await vi.waitUntil(async () => (await client.llen('overflow')) === 0, { timeout: 20_000, interval: 20 });
    // The server's memory of now comes back later: what it hears from here on is a lost tail.
    const files = join(server.folder, 'aof');
    const kept = mkdtempSync(join(tmpdir(), 'orcrawl-aof-'));
    for (const file of readdirSync(files)) copyFileSync(join(files, file), join(kept, file));
    await frontier.add({ holder: 'a', call: 2, entries: entries(300, 'two') });
    await vi.waitUntil(async () => (await client.llen('overflow')) === 0, { timeout: 20_000, interval: 20 });
    await frontier.abandon();
    opened.pop();
    await server.stop('SIGKILL');
    for (const file of readdirSync(kept)) copyFileSync(join(kept, file), join(files, file));
    rmSync(kept, { recursive: true });
    await server.start();
    const again = await open();
    await again.add({ holder: 'b', call: 1, entries: [...entries(150, 'three'), ...entries(250, 'two', 100)] });
    const records = await visit(again, 'v', Infinity);
    const expected = [...entries(200, 'one'), ...entries(150, 'three'), ...entries(250, 'two', 100)];
    expect([...records].sort()).toEqual(expected.map(({ record }) => record).sort());
    expect(addsUp((await again.overview()).counters)).toBe(true);
  });
});
