// Every embedded backend passes the frontier's suite: in memory, on disk as owner, on disk shared.
// What only a disk can do (versions, clashes, folders that cannot be written) follows.
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createEmbeddedFrontier, type EmbeddedFrontier } from '../../src/frontier/embedded/frontier.js';
import { META_VERSIONS } from '../../src/frontier/embedded/hot-state.js';
import { openLmdbKv } from '../../src/frontier/tables/lmdb-kv.js';
import { openLmdbFrontier } from '../../src/frontier/embedded/store/lmdb.js';
import { createMemoryKv } from '../../src/frontier/embedded/store/memory.js';
import { packJson } from '../../src/frontier/tables/packing.js';
import { createHandClock, entries, entry } from '../../src/testing/conformance/bench.js';
import { type Backend, type BackendOptions, frontierSuite } from '../../src/testing/conformance/conformance.js';

const runner = { describe, it, expect };
const pacing = { delayMs: 0, turns: 10 };

/** A backend whose openings are ended by `abandon`, which leaves behind what a dead process does. */
function backendOf(openNext: () => Promise<EmbeddedFrontier>, dispose: () => void): Backend {
  let last: EmbeddedFrontier | undefined;
  return {
    open: async () => (last = await openNext()),
    kill: async () => last?.abandon(),
    async dispose() {
      dispose();
    },
  };
}

async function memoryBackend(options: BackendOptions): Promise<Backend> {
  const kv = createMemoryKv();
  return backendOf(
    async () => {
      const frontier = createEmbeddedFrontier(kv, { ...options, access: 'owner', where: 'memory' });
      await frontier.open();
      return frontier;
    },
    () => undefined,
  );
}

function lmdbBackend(access: 'owner' | 'shared') {
  return async (options: BackendOptions): Promise<Backend> => {
    const folder = mkdtempSync(join(tmpdir(), 'orcrawl-frontier-'));
    return backendOf(
      () => openLmdbFrontier(folder, { ...options, access, holder: 'the process itself' }),
      () => rmSync(folder, { recursive: true, force: true }),
    );
  };
}

frontierSuite('memory', runner, memoryBackend);
frontierSuite('LMDB as owner', runner, lmdbBackend('owner'));
frontierSuite('LMDB shared', runner, lmdbBackend('shared'));

describe('frontier on disk', () => {
  const folders: string[] = [];
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'orcrawl-frontier-'));
    folders.push(made);
    return made;
  };
  afterEach(() => {
    for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
  });

  it('makes its folder, and opens a queue of either access in the other', async () => {
    const path = join(folder(), 'deep', 'queue');
    for (const [i, access] of (['owner', 'shared', 'owner', 'shared'] as const).entries()) {
      const frontier = await openLmdbFrontier(path, { access, holder: `h${i}`, pacing });
      const all = Array.from({ length: (i + 1) * 500 }, (_, n) => entry(`page ${n}`, `site-${n % 50}`));
      const presences = await frontier.add({ holder: `h${i}`, call: 1, entries: all });
      expect(presences.filter((presence) => presence === 'new').length).toBe(500);
      expect((await frontier.overview()).counters).toMatchObject({ accepted: (i + 1) * 500, queued: (i + 1) * 500 });
      await frontier.close();
    }
    expect(existsSync(join(path, 'data.mdb'))).toBe(true);
  });

  it('keeps the seen set on disk beyond its limit in memory', async () => {
    const path = folder();
    const options = { holder: 'h', pacing, maxSeenInMemory: 100 } as const;
    for (let run = 0; run < 3; run++) {
      const frontier = await openLmdbFrontier(path, options);
      const all = Array.from({ length: 250 }, (_, n) => entry(`page ${n}`, `site-${n}`));
      const presences = await frontier.add({ holder: 'h', call: run, entries: all });
      expect(presences.every((presence) => presence === (run === 0 ? 'new' : 'pending'))).toBe(true);
      expect((await frontier.add({ holder: 'h', call: 10 + run, entries: [entry(`run ${run}`)] }))[0]).toBe('new');
      await frontier.close();
    }
    const roomy = await openLmdbFrontier(path, { holder: 'h', pacing });
    expect((await roomy.find([entry('run 0').fingerprint, entry('page 249').fingerprint])).every(Boolean)).toBe(true);
    await roomy.close();
  });

  it('refuses a second owner and a mix of owner and shared, naming the process and what to do', async () => {
    const path = folder();
    const open = (access: 'owner' | 'shared') => openLmdbFrontier(path, { access, holder: access, pacing });
    const owner = await open('owner');
    for (const access of ['owner', 'shared'] as const) {
      const refused = open(access);
      await expect(refused).rejects.toMatchObject({ code: 'QUEUE_IN_USE' });
      await expect(refused).rejects.toThrow(String(process.pid));
    }
    await owner.close();
    const shared = await open('shared');
    await expect(open('owner')).rejects.toMatchObject({ code: 'QUEUE_IN_USE' });
    const second = await open('shared');
    await Promise.all([shared.close(), second.close()]);
    await (await open('owner')).close();
  });

  it('lets several openings share one queue without leasing anything twice', async () => {
    const path = folder();
    const openings = await Promise.all(
      [1, 2, 3].map((i) => openLmdbFrontier(path, { access: 'shared', holder: `h${i}`, pacing })),
    );
    await openings[0]!.add({
      holder: 'h1',
      call: 1,
      entries: Array.from({ length: 90 }, (_, n) => entry(`p${n}`, `d${n}`)),
    });
    const answers = await Promise.all(
      openings.map((frontier, i) => frontier.lease({ holder: `h${i}`, call: 2, max: 40 })),
    );
    const records = answers.flatMap(({ leases }) => leases.map(({ record }) => record));
    expect(records.length).toBe(90);
    expect(new Set(records).size).toBe(90);
    for (const frontier of openings) await frontier.close();
  });

  it('frees the leases of a dead sharer for the living within a second', async () => {
    const path = folder();
    const clock = createHandClock();
    const open = (holder: string) => openLmdbFrontier(path, { access: 'shared', holder, pacing, clock });
    const [living, dying] = [await open('living'), await open('dying')];
    await living.add({ holder: 'living', call: 1, entries: entries(5) });
    expect((await dying.lease({ holder: 'dying', call: 1, max: 3 })).leases.length).toBe(3);
    await dying.abandon();
    clock.advance(1_000);
    for (let call = 2; call < 8; call += 2) {
      const [suspect, ...more] = (await living.lease({ holder: 'living', call, max: 9 })).leases;
      expect([suspect?.lostLeases, more]).toEqual([1, []]);
      await living.settle({ holder: 'living', call: call + 1, settlements: [{ kind: 'done', lease: suspect!.id }] });
    }
    expect((await living.lease({ holder: 'living', call: 8, max: 9 })).leases.length).toBe(2);
    await living.close();
  });

  it('gives a domain all its turns again when the queue passes between owners and sharers that die', async () => {
    const path = folder();
    const turns = { delayMs: 0, turns: 3 };
    let queued = 60;
    let call = 0;
    const lives = ['owner', 'shared', 'owner', 'owner', 'shared', 'shared', 'owner'] as const;
    for (const [life, access] of lives.entries()) {
      const holder = `life ${life}`;
      const frontier = await openLmdbFrontier(path, { access, holder, pacing: turns, clock: createHandClock() });
      const lease = async () => (await frontier.lease({ holder, call: ++call, max: 9 })).leases;
      if (life === 0) {
        const one = Array.from({ length: queued }, (_, n) => entry(`p${n}`, 'd'));
        await frontier.add({ holder, call: ++call, entries: one });
      }
      // What the life before held is tried alone first.
      for (let suspects = 0; suspects < (life === 0 ? 0 : 3); suspects++) {
        const [suspect, ...more] = await lease();
        expect([suspect?.lostLeases, more]).toEqual([1, []]);
        await frontier.settle({ holder, call: ++call, settlements: [{ kind: 'done', lease: suspect!.id }] });
        queued--;
      }
      for (let round = 0; round < 2; round++) {
        const leases = await lease();
        expect(leases.length).toBe(3);
        expect(await lease()).toEqual([]);
        const ended = leases.slice(0, 2).map(({ id }) => ({ kind: 'done', lease: id }) as const);
        const landings = leases.slice(0, 1).map(({ id }) => ({ lease: id }));
        await frontier.settle({ holder, call: ++call, landings, settlements: ended });
        queued -= 2;
        const [again, ...more] = await lease();
        expect(more.length).toBe(1);
        const back = [again!, more[0]!, leases[2]!];
        if (round === 0) {
          const settlements = back.map(({ id }) => ({ kind: 'untouched', lease: id }) as const);
          await frontier.settle({ holder, call: ++call, settlements });
        }
      }
      await frontier.abandon();
    }
    const last = await openLmdbFrontier(path, { holder: 'last', pacing: turns, clock: createHandClock() });
    const { counters } = await last.overview();
    expect(counters).toMatchObject({ done: 60 - queued, leased: 0, queued });
    await last.close();
  });

  it('has a domain due again when a turn returns, whatever its turns were meanwhile', async () => {
    const frontier = await openLmdbFrontier(folder(), { holder: 'h', pacing: { delayMs: 0, turns: 9 } });
    let call = 0;
    const lease = async (max: number) => (await frontier.lease({ holder: 'h', call: ++call, max })).leases;
    await frontier.add({
      holder: 'h',
      call: ++call,
      entries: Array.from({ length: 9 }, (_, n) => entry(`p${n}`, 'd')),
    });
    const leases = await lease(3);
    // Fewer turns than are out: the domain is no longer due. Then more again, and one visit ends.
    frontier.setPacing({ delayMs: 0, turns: 2 });
    expect(await lease(9)).toEqual([]);
    frontier.setPacing({ delayMs: 0, turns: 9 });
    const ended = leases.slice(0, 1).map(({ id }) => ({ kind: 'done', lease: id }) as const);
    await frontier.settle({ holder: 'h', call: ++call, landings: [{ lease: leases[0]!.id }], settlements: ended });
    expect((await lease(9)).length).toBe(6);
    await frontier.close();
  });

  it('keeps count of turns when more domains are touched than it keeps in memory', async () => {
    const one = { delayMs: 0, turns: 1 };
    const frontier = await openLmdbFrontier(folder(), { holder: 'h', pacing: one, clock: createHandClock() });
    const domains = 17_000;
    let call = 0;
    const add = (name: string) => {
      const all = Array.from({ length: domains }, (_, n) => entry(`${name}${n}`, `d${n}`));
      return frontier.add({ holder: 'h', call: ++call, entries: all });
    };
    await add('a');
    await add('b');
    const { leases } = await frontier.lease({ holder: 'h', call: ++call, max: 500 });
    await add('c');
    await add('d');
    const served = new Set(leases.map(({ domain }) => domain));
    for (let more = 0; more < domains - 500; more += 1_000) {
      const answer = await frontier.lease({ holder: 'h', call: ++call, max: 1_000 });
      for (const { domain } of answer.leases) expect(served.has(domain)).toBe(false);
      for (const { domain } of answer.leases) served.add(domain);
    }
    expect(served.size).toBe(domains);
    expect((await frontier.lease({ holder: 'h', call: ++call, max: 10 })).leases).toEqual([]);
    await frontier.close();
  }, 60_000);

  it('refuses a queue of a newer format, or of other rules for URLs, saying what to do', async () => {
    const path = folder();
    await (await openLmdbFrontier(path, { holder: 'h', pacing })).close();
    for (const versions of [
      { schema: 99, fingerprint: 1, normalisation: 1 },
      { schema: 1, fingerprint: 99, normalisation: 1 },
      { schema: 1, fingerprint: 1, normalisation: 99 },
    ]) {
      const kv = await openLmdbKv(path, { alone: true });
      await kv.transact(() => kv.tables.meta.put(0, META_VERSIONS, packJson(versions)));
      await kv.close();
      const refused = openLmdbFrontier(path, { holder: 'h', pacing });
      await expect(refused).rejects.toMatchObject({ code: 'QUEUE_VERSION' });
      await expect(refused).rejects.toThrow(/start fresh/);
    }
  });

  it('names a folder that cannot be written', async () => {
    const path = folder();
    const file = join(path, 'file');
    writeFileSync(file, 'not a folder');
    const refused = openLmdbFrontier(join(file, 'queue'), { holder: 'h', pacing });
    await expect(refused).rejects.toMatchObject({ code: 'STORAGE_UNWRITABLE' });
    // Root may write everywhere: permissions only tell for others.
    if (process.getuid?.() === 0) return;
    chmodSync(path, 0o500);
    await expect(openLmdbFrontier(join(path, 'queue'), { holder: 'h', pacing })).rejects.toMatchObject({
      code: 'STORAGE_UNWRITABLE',
    });
    chmodSync(path, 0o700);
  });

  it('names a file that is no queue', async () => {
    const path = folder();
    writeFileSync(join(path, 'data.mdb'), Buffer.alloc(16_384, 7));
    await expect(openLmdbFrontier(path, { holder: 'h', pacing })).rejects.toMatchObject({ code: 'QUEUE_CORRUPT' });
  });

  it('never lets an owner’s own leases expire while it lives', async () => {
    const clock = createHandClock();
    const frontier = await openLmdbFrontier(folder(), { holder: 'me', pacing, clock, leaseMs: 1_000 });
    await frontier.add({ holder: 'me', call: 1, entries: entries(1) });
    const { leases } = await frontier.lease({ holder: 'me', call: 2, max: 1 });
    clock.advance(3_600_000);
    const settled = frontier.settle({ holder: 'me', call: 3, settlements: [{ kind: 'done', lease: leases[0]!.id }] });
    expect(await settled).toEqual({ held: true, accepted: [true] });
    await frontier.close();
  });
});
