// The frontier in Redis against what happens to servers: killed, paused, emptied, rolled back, full, or the wrong one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openRedisFrontier, type RedisFrontier, type RedisFrontierOptions } from '../../src/frontier/redis/frontier.js';
import { createFrontierClient } from '../../src/frontier/client.js';
import { addsUp, createHandClock, done, entries, entry } from '../../src/testing/conformance/bench.js';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';

const pacing = { delayMs: 0, turns: 100 };
const HOLDER = fileURLToPath(new URL('../support/redis-holder.mjs', import.meta.url));

describe.skipIf(redisMissing)(`a frontier in Redis${redisMissing ? `: skipped, ${redisMissing}` : ''}`, () => {
  const opened: RedisFrontier[] = [];
  const servers: RedisServer[] = [];

  async function open(server: RedisServer, more: Partial<RedisFrontierOptions> = {}): Promise<RedisFrontier> {
    const frontier = await openRedisFrontier({ url: server.url, pacing, patienceMs: 20_000, ...more });
    opened.push(frontier);
    return frontier;
  }

  async function serve(...settings: string[]): Promise<RedisServer> {
    const server = await startRedis(settings);
    servers.push(server);
    return server;
  }

  async function ask<T>(server: RedisServer, use: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(server.url, { protocol: 2 });
    try {
      return await use(client);
    } finally {
      client.disconnect();
    }
  }

  afterEach(async () => {
    for (const frontier of opened.splice(0)) await frontier.abandon();
    for (const server of servers.splice(0)) await server.dispose();
  });

  describe('checks the server before it trusts it', () => {
    let shared: RedisServer;
    beforeAll(async () => {
      shared = await startRedis();
    });
    afterAll(() => shared.dispose());

    it('says that nobody answers', async () => {
      const url = 'redis://:secret@127.0.0.1:1';
      const refused = openRedisFrontier({ url, pacing, connectTimeoutMs: 500 });
      await expect(refused).rejects.toMatchObject({ code: 'QUEUE_UNREACHABLE' });
      await expect(refused).rejects.not.toThrow(/secret/);
    });

    it('refuses eviction, a cluster and a wrong password, and says what to set', async () => {
      await ask(shared, (client) => client.config('SET', 'maxmemory-policy', 'allkeys-lru'));
      await expect(open(shared)).rejects.toMatchObject({ code: 'QUEUE_UNSUITABLE', message: /noeviction/ });
      await ask(shared, (client) => client.config('SET', 'maxmemory-policy', 'noeviction'));
      const cluster = await serve('--cluster-enabled', 'yes');
      await expect(open(cluster)).rejects.toMatchObject({
        code: 'QUEUE_UNSUITABLE',
        message: /part of a cluster: .*cluster: \{ nodes/,
      });
      const locked = await serve('--requirepass', 'right');
      const withPassword = (text: string) => ({ url: locked.url.replace('//', `//:${text}@`) });
      await expect(open(locked, withPassword('wrong'))).rejects.toMatchObject({ code: 'QUEUE_UNSUITABLE' });
      await (await open(locked, withPassword('right'))).overview();
    });

    it('warns of what a crash can lose', async () => {
      const warn = vi.fn();
      await open(shared, { warn, prefix: 'w:' });
      expect(warn.mock.calls[0]![0]).toMatch(/stores nothing on disk/);
      await ask(shared, (client) => client.config('SET', 'appendonly', 'yes'));
      await open(shared, { warn, prefix: 'w:' });
      expect(warn.mock.calls[1]![0]).toMatch(/everysec/);
      await ask(shared, (client) => client.config('SET', 'appendfsync', 'always'));
      await open(shared, { warn, prefix: 'w:' });
      expect(warn.mock.calls.length).toBe(2);
    });

    it('refuses the store of another pod, another topology, other rules or another memory', async () => {
      const pod = { index: 1, count: 4 };
      const first = await open(shared, { pod, prefix: 'f:' });
      await first.add({ holder: 'h', call: 1, entries: entries(3) });
      for (const other of [{ index: 0, count: 4 }, { index: 1, count: 5 }, undefined]) {
        const refused = open(shared, { prefix: 'f:', ...(other ? { pod: other } : {}) });
        await expect(refused).rejects.toMatchObject({ code: 'QUEUE_FOREIGN', message: /pod 1 of 4/ });
      }
      const bloom = { kind: 'bloom', capacity: 1_000 } as const;
      await expect(open(shared, { pod, prefix: 'f:', seen: bloom })).rejects.toMatchObject({ code: 'QUEUE_FOREIGN' });
      await ask(shared, (client) => client.hset('f:pod:info', 'normalisation', '0'));
      await expect(open(shared, { pod, prefix: 'f:' })).rejects.toMatchObject({ code: 'QUEUE_VERSION' });
      await ask(shared, (client) => client.set('f:schema_version', '99'));
      await expect(open(shared, { pod, prefix: 'f:' })).rejects.toMatchObject({ code: 'QUEUE_VERSION' });
      const missing = open(shared, { prefix: 'nothing:', create: false });
      await expect(missing).rejects.toMatchObject({ code: 'QUEUE_EMPTIED' });
    });
  });

  it('accepts so many requests of a domain in all, whoever adds them and however often it is opened', async () => {
    const server = await serve();
    const one = await open(server, { domainBudget: 3 });
    const two = await open(server, { domainBudget: 3 });
    const of = (...names: string[]) => names.map((name) => entry(`a/${name}`, 'a'));
    expect(await one.add({ holder: 'x', call: 1, entries: of('1', '2') })).toEqual(['new', 'new']);
    expect(await two.add({ holder: 'y', call: 1, entries: of('2', '3', '4') })).toEqual(['pending', 'new', 'ended']);
    await one.close();
    const again = await open(server, { domainBudget: 3 });
    expect(await again.add({ holder: 'z', call: 1, entries: of('5') })).toEqual(['ended']);
    expect(await again.add({ holder: 'z', call: 2, entries: [entry('b/1', 'b')] })).toEqual(['new']);
    // What a visit leads to goes in front, and is not left out.
    const front = of('6').map((one) => ({ ...one, forefront: true }));
    expect(await again.add({ holder: 'z', call: 3, entries: front })).toEqual(['new']);
    const { counters } = await again.overview();
    expect(counters).toMatchObject({ accepted: 5, queued: 5 });
  });

  it('is shared: nothing is leased twice, and a killed process loses its leases at once', async () => {
    const server = await serve();
    const one = await open(server);
    const two = await open(server);
    await one.add({ holder: 'a', call: 1, entries: Array.from({ length: 90 }, (_, i) => entry(`p${i}`, `d${i}`)) });
    const child = spawn(process.execPath, [HOLDER, server.url, '30'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    expect(Number(line)).toBe(30);
    const [mine, yours] = await Promise.all([
      one.lease({ holder: 'a', call: 2, max: 50 }),
      two.lease({ holder: 'b', call: 1, max: 50 }),
    ]);
    const records = [...mine.leases, ...yours.leases].map(({ record }) => record);
    expect(records.length).toBe(60);
    expect(new Set(records).size).toBe(60);
    child.kill('SIGKILL');
    await once(child, 'exit');
    // The lease time is three minutes; whoever leases next looks who has died.
    await one.settle({ holder: 'a', call: 3, settlements: mine.leases.map(done) });
    let call = 3;
    await vi.waitFor(
      async () => {
        const { leases } = await one.lease({ holder: 'a', call: ++call, max: 50 });
        expect(leases.length).toBe(15);
        expect(leases.every(({ lostLeases }) => lostLeases === 1)).toBe(true);
      },
      { timeout: 10_000, interval: 100 },
    );
  });

  it('keeps the lease of a process that came new after a silence, when one that was silent calls again', async () => {
    const server = await serve();
    const clock = createHandClock();
    const leaseMs = 3_000;
    const old = await open(server, { clock, leaseMs });
    await old.add({ holder: 'old', call: 1, entries: entries(2) });
    clock.advance(10_000);
    const fresh = await open(server, { clock, leaseMs });
    const { leases } = await fresh.lease({ holder: 'fresh', call: 1, max: 2 });
    expect(leases.length).toBe(2);
    clock.advance(1_000);
    // What it knows of pod time is 10 seconds ahead of what the new one was told.
    expect((await old.lease({ holder: 'old', call: 2, max: 2 })).leases).toEqual([]);
    const settled = await fresh.settle({ holder: 'fresh', call: 2, settlements: leases.map(done) });
    expect(settled.held).toBe(true);
  });

  it('loses nothing when a server that syncs always is killed between any two calls', async () => {
    const server = await serve('--appendonly', 'yes', '--appendfsync', 'always');
    const onForgotten = vi.fn();
    const frontier = await open(server, { onForgotten });
    let call = 0;
    let added = 0;
    let settled = 0;
    const worker = (async () => {
      for (let round = 0; round < 60; round++) {
        await frontier.add({ holder: 'h', call: ++call, entries: entries(20, `site-${round % 7}`, round * 20) });
        added += 20;
        const { leases } = await frontier.lease({ holder: 'h', call: ++call, max: 10 });
        const landings = leases.map(({ id }) => ({ lease: id }));
        const answer = await frontier.settle({ holder: 'h', call: ++call, landings, settlements: leases.map(done) });
        expect(answer.accepted.every(Boolean)).toBe(true);
        settled += leases.length;
      }
    })();
    for (let kill = 0; kill < 5; kill++) {
      const reached = added + 40;
      await vi.waitUntil(() => added >= reached || added >= 1_200, { timeout: 20_000, interval: 1 });
      await server.stop('SIGKILL');
      await server.start();
    }
    await worker;
    expect((await frontier.overview()).counters).toMatchObject({
      accepted: added,
      done: settled,
      leased: 0,
      queued: added - settled,
    });
    expect(onForgotten).not.toHaveBeenCalled();
  });

  it('repeats recent adds when a server forgot them, rests for one delay, and ends who had leased', async () => {
    const server = await serve();
    const onForgotten = vi.fn();
    const paced = { pacing: { delayMs: 60_000, turns: 1 }, onForgotten };
    const frontier = await open(server, paced);
    const other = await open(server, paced);
    const unaware = await open(server, paced);
    await frontier.add({ holder: 'h', call: 1, entries: entries(10, 'kept') });
    const early = await frontier.lease({ holder: 'h', call: 2, max: 1 });
    await unaware.overview();
    await ask(server, (client) => client.save());
    await frontier.add({ holder: 'h', call: 3, entries: entries(10, 'forgotten') });
    // Links of a visit, and a note that names a file, with the length it had at first.
    const [visit] = early.leases;
    await frontier.settle({
      holder: 'h',
      call: 4,
      settlements: [{ kind: 'retry', afterMs: 0, lease: visit!.id, links: entries(10, 'linked') }],
      notes: { file: '7' },
    });
    await frontier.settle({ holder: 'h', call: 5, settlements: [], notes: { file: '900', 'outbox/1/5/x': '[]' } });
    await other.add({ holder: 'o', call: 1, entries: entries(10, 'also-forgotten') });
    const late = await frontier.lease({ holder: 'h', call: 6, max: 1 });
    expect(late.leases.length).toBe(1);
    await server.stop('SIGKILL');
    await server.start();
    await vi.waitUntil(() => onForgotten.mock.calls.length >= 2, { timeout: 20_000, interval: 20 });
    // Six calls were forgotten, links being one of their own; each client knows of those up to its own last.
    expect(Math.max(...onForgotten.mock.calls.map(([calls]) => calls as number))).toBe(6);
    await expect(frontier.lease({ holder: 'h', call: 7, max: 1 })).rejects.toMatchObject({
      code: 'QUEUE_ROLLED_BACK',
      class: 'fatal',
    });
    // Who only added, or heard of nothing that was forgotten, goes on.
    const { counters, notes } = await other.overview();
    expect(counters).toMatchObject({ accepted: 40, leased: 0, queued: 40 });
    expect(addsUp(counters)).toBe(true);
    expect(notes).toEqual({ file: '7' });
    const resting = await unaware.lease({ holder: 'u', call: 5, max: 9 });
    expect(resting).toMatchObject({ leases: [], state: 'waiting' });
    expect(resting.nextDueMs).toBeGreaterThan(50_000);
    expect(await unaware.settle({ holder: 'h', call: 8, settlements: [done(visit!)] })).toMatchObject({ held: false });
  });

  it('is found out to have forgotten also by one who comes back when others have called often', async () => {
    const server = await serve();
    const onForgotten = vi.fn();
    const knowing = await open(server, { onForgotten });
    const busy = await open(server);
    await busy.add({ holder: 'b', call: 1, entries: entries(3) });
    await ask(server, (client) => client.save());
    await knowing.add({ holder: 'k', call: 1, entries: entries(5, 'forgotten') });
    await server.stop('SIGKILL');
    await server.start();
    // Many more calls than were forgotten, before the other is back.
    const third = await open(server);
    for (let call = 1; call <= 20; call++) await third.add({ holder: 't', call, entries: entries(1, `d${call}`) });
    await vi.waitUntil(() => onForgotten.mock.calls.length > 0, { timeout: 20_000, interval: 20 });
    expect((await knowing.overview()).counters.accepted).toBe(3 + 5 + 20);
  });

  it('stops with a code of its own when the store came back empty, and never refills it', async () => {
    const server = await serve('--appendonly', 'yes');
    const frontier = await open(server);
    await frontier.add({ holder: 'h', call: 1, entries: entries(5) });
    await server.stop('SIGKILL');
    rmSync(join(server.folder, 'appendonlydir'), { recursive: true });
    await server.start();
    const refused = frontier.add({ holder: 'h', call: 2, entries: entries(5, 'b') });
    await expect(refused).rejects.toMatchObject({ code: 'QUEUE_EMPTIED', class: 'fatal' });
    await expect(frontier.overview()).rejects.toMatchObject({ code: 'QUEUE_EMPTIED' });
    expect(await ask(server, (client) => client.dbsize())).toBe(0);
    // Emptied while connected, and even if somebody else began anew in it.
    const second = await open(server);
    await ask(server, (client) => client.flushall());
    await open(server);
    await expect(second.lease({ holder: 'h', call: 1, max: 1 })).rejects.toMatchObject({ code: 'QUEUE_EMPTIED' });
  });

  it('waits for a server that hangs, within its patience', async () => {
    const server = await serve();
    const frontier = await open(server, { commandTimeoutMs: 300, patienceMs: 800 });
    await frontier.add({ holder: 'h', call: 1, entries: entries(4) });
    server.pause();
    const patient = frontier.lease({ holder: 'h', call: 2, max: 2 });
    await expect(patient).rejects.toMatchObject({ code: 'QUEUE_UNREACHABLE', class: 'transient' });
    server.resume();
    // The same number: whether or not the first try arrived, two are leased and not four.
    const again = await frontier.lease({ holder: 'h', call: 2, max: 2 });
    expect(again.leases.length).toBe(2);
    expect((await frontier.overview()).counters).toMatchObject({ leased: 2, queued: 2 });
  });

  it('takes nothing in when the server is full, and lets work in flight end', async () => {
    const server = await serve();
    const frontier = await open(server);
    await frontier.add({ holder: 'h', call: 1, entries: entries(50) });
    const { leases } = await frontier.lease({ holder: 'h', call: 2, max: 10 });
    await ask(server, (client) => client.config('SET', 'maxmemory', '1'));
    const full = frontier.add({ holder: 'h', call: 3, entries: entries(5, 'b') });
    await expect(full).rejects.toMatchObject({ code: 'QUEUE_FULL', class: 'transient' });
    const withLinks = { ...done(leases[0]!), links: entries(1, 'c') };
    const refused = frontier.settle({ holder: 'h', call: 4, settlements: [withLinks] });
    await expect(refused).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    const rest = leases.slice(1);
    const landings = rest.map(({ id }) => ({ lease: id }));
    const answer = await frontier.settle({ holder: 'h', call: 5, landings, settlements: rest.map(done) });
    expect(answer.accepted.every(Boolean)).toBe(true);
    expect((await frontier.lease({ holder: 'h', call: 6, max: 5 })).leases.length).toBe(5);
    await ask(server, (client) => client.config('SET', 'maxmemory', '0'));
    expect((await frontier.settle({ holder: 'h', call: 4, settlements: [withLinks] })).accepted).toEqual([true]);
    expect((await frontier.overview()).counters).toMatchObject({ accepted: 51, done: 10 });
  });

  it('hands out a line far longer than its row can tell, in order and to its end, while others join it', async () => {
    const client = createFrontierClient(await open(await serve()));
    await client.add(entries(600, 'long'));
    const records: string[] = [];
    while (records.length < 700) {
      // The last hundred come when the count in the row has been used up more than once.
      if (records.length === 560) await client.add(entries(100, 'long', 600));
      const { leases, state } = await client.lease({ max: 71 });
      // One goes back as if it had never been leased: it comes next.
      const [back, ...ended] = [...leases].reverse();
      expect(ended.length, state).toBe(records.length < 630 ? 70 : 69);
      const landings = ended.map(({ id }) => ({ lease: id }));
      const untouched = { kind: 'untouched' as const, lease: back!.id };
      await client.settle({ landings, settlements: [...ended.map(done), untouched] });
      records.push(...ended.reverse().map(({ record }) => record));
      if (ended.length < 70) records.push((await client.lease({ max: 2 })).leases[0]!.record);
    }
    expect(records).toEqual(entries(700, 'long').map(({ record }) => record));
  });

  it('keeps fingerprints in packed integer sets while the set grows and splits', async () => {
    const server = await serve('--set-max-intset-entries', '64');
    const frontier = await open(server, { fingerprintOf: (record) => entry(record).fingerprint });
    const total = 60_000;
    for (let from = 0, call = 0; from < total; from += 10_000) {
      const list = Array.from({ length: 10_000 }, (_, i) => entry(`page ${from + i}`, `site-${i % 10}`));
      const presences = await frontier.add({ holder: 'h', call: ++call, entries: list });
      expect(presences.every((presence) => presence === 'new')).toBe(true);
    }
    const known = Array.from({ length: total / 20 }, (_, i) => entry(`page ${i * 20}`, 'elsewhere'));
    const again = await frontier.add({ holder: 'h', call: 100, entries: known });
    expect(again.every((presence) => presence === 'pending')).toBe(true);
    await ask(server, async (client) => {
      const buckets = await client.keysBuffer('s:*');
      expect(buckets.length).toBeGreaterThan(2_048);
      const encodings = new Set(await Promise.all(buckets.map((key) => client.object('ENCODING', key))));
      expect([...encodings]).toEqual(['intset']);
    });
  });
});
