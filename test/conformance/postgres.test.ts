// The storage client on Postgres passes the frontier's suite and the stores' suite on a real server, carries a crawl, and
// its frontier agrees with the model while several processes have it open.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Configuration, Dataset, HttpCrawler, KeyValueStore, log, LogLevel, RequestQueue } from '../../src/index.js';
import { createPostgresStorage, type PostgresFrontier } from '../../src/postgres/index.js';
import { createBench, entries, entry } from '../../src/testing/conformance/bench.js';
import type { BackendOptions } from '../../src/testing/conformance/conformance.js';
import { frontierSuite, Simweb, storageSuite } from '../../src/testing/index.js';
import { postgresMissing, type PostgresServer, startPostgres } from '../support/postgres-server.js';

const runner = { describe, it, expect };
log.setLevel(LogLevel.ERROR);
let server: PostgresServer;

async function backend({ pacing, leaseMs, clock }: BackendOptions) {
  const client = createPostgresStorage({ url: server.url });
  const id = randomUUID();
  let last: PostgresFrontier | undefined;
  const opening = { id, holder: 'the process itself', access: 'owner', onForgotten: () => undefined } as const;
  return {
    open: async () => (last = await client.openFrontier({ ...opening, pacing, leaseMs, clock })),
    kill: async () => last?.abandon(),
    dispose: () => client.close(),
  };
}

describe.skipIf(postgresMissing)(`on a real server${postgresMissing ? `: skipped, ${postgresMissing}` : ''}`, () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.dispose());

  frontierSuite('Postgres', runner, backend);
  storageSuite('Postgres', runner, async () => {
    const schema = `s${randomUUID().replaceAll('-', '')}`;
    const clients = [createPostgresStorage({ url: server.url, schema })];
    return {
      async open() {
        const client = createPostgresStorage({ url: server.url, schema });
        clients.push(client);
        return client;
      },
      async dispose() {
        for (const client of clients) await client.close();
      },
    };
  });

  it('keeps texts that a text of Postgres cannot hold', async () => {
    const bench = createBench(runner, backend);
    await bench.withScene({}, async ({ holder, frontier }) => {
      const a = holder();
      const strange = ['nul \0 inside', '\u0001 first', 'half a pair \ud83d', 'quotes \' " \\ {,} NULL', ''];
      await a.add(...strange.map((record) => entry(record)));
      expect(await a.leaseRecords(9)).toEqual(strange);
      await a.settle([], { notes: { 'name \0': 'text \0' } });
      expect((await frontier.overview()).notes).toEqual({ 'name \0': 'text \0' });
    });
  });

  it('shows items by SQL, whatever a page put into one of them', async () => {
    const storageClient = createPostgresStorage({ url: server.url, schema: 'odd_items' });
    const config = new Configuration({ storageClient });
    const dataset = await Dataset.open('odd', { config });
    const odd = [
      { url: 'plain', text: 'ü \u{1F433}' },
      { url: 'nul', text: 'a\0\0b', 'name\0': 1 },
      { url: 'halves', text: '\ud83d, \udc33, \\ud83d, \\\ud83d, \\u0000 and \\\0' },
      { url: 'deep', text: JSON.parse(`${'['.repeat(1_500)}${']'.repeat(1_500)}`) as unknown },
    ];
    await dataset.pushData(odd);
    expect((await dataset.getData()).items).toEqual(odd);
    const pg = await import('pg');
    const client = new pg.default.Client({ connectionString: server.url });
    await client.connect();
    try {
      // Deep nesting fails by the stack that a server has.
      await client.query('SET max_stack_depth = 100');
      const { rows } = await client.query('SELECT item FROM odd_items.items ORDER BY segment, from_byte, position');
      expect(rows.map(({ item }: { item: unknown }) => item)).toEqual([
        odd[0],
        { url: 'nul', text: 'a\ufffd\ufffdb', 'name\ufffd': 1 },
        { url: 'halves', text: '\ufffd, \ufffd, \\ud83d, \\\ufffd, \\u0000 and \\\ufffd' },
        null,
      ]);
    } finally {
      await client.end();
      await storageClient.close();
    }
  });

  it('hands each request to one of many that lease without a limit', async () => {
    const client = createPostgresStorage({ url: server.url });
    const opening = { id: randomUUID(), access: 'shared', onForgotten: () => undefined, leaseMs: 60_000 } as const;
    const pacing = { delayMs: 0, turns: 1_000 };
    const names = ['holder-1', 'holder-2', 'holder-3', 'holder-4'];
    const frontiers = await Promise.all(names.map((holder) => client.openFrontier({ ...opening, pacing, holder })));
    // Many domains: while one call looks for those that are free, another takes of them and ends.
    const all = Array.from({ length: 6_000 }, (_, i) => entries(1, `site-${i % 300}`, i)[0]!);
    await frontiers[0]!.add({ holder: 'holder-1', call: 1, entries: all });
    const leased: string[] = [];
    const work = async (frontier: PostgresFrontier, holder: string): Promise<void> => {
      for (let call = 10; ;) {
        const { leases, state } = await frontier.lease({ holder, call: call++, max: 40 });
        leased.push(...leases.map(({ record }) => record));
        const landings = leases.map(({ id }) => ({ lease: id }));
        const settlements = leases.map(({ id }) => ({ kind: 'done', lease: id }) as const);
        const { accepted } = await frontier.settle({ holder, call: call++, settlements, landings });
        expect(accepted.every(Boolean)).toBe(true);
        if (state === 'exhausted' || leased.length >= all.length) return;
      }
    };
    await Promise.all(frontiers.map((frontier, nth) => work(frontier, names[nth]!)));
    expect(new Set(leased).size).toBe(leased.length);
    expect((await frontiers[0]!.overview()).counters).toMatchObject({ accepted: 6_000, done: 6_000, leased: 0 });
    for (const frontier of frontiers) await frontier.close();
    await client.close();
  });

  it('hands each request to one of many that lease at once, and counts to the limit exactly', async () => {
    const client = createPostgresStorage({ url: server.url });
    const opening = { id: randomUUID(), access: 'shared', onForgotten: () => undefined, leaseMs: 60_000 } as const;
    const pacing = { delayMs: 0, turns: 5 };
    const frontiers = await Promise.all(
      [1, 2, 3, 4].map((n) => client.openFrontier({ ...opening, pacing, holder: `holder-${n}` })),
    );
    const all = Array.from({ length: 400 }, (_, i) => entries(1, `site-${i % 40}`, i)[0]!);
    await frontiers[0]!.add({ holder: 'holder-1', call: 1, entries: all });
    const done: string[] = [];
    const work = async (frontier: PostgresFrontier, holder: string): Promise<void> => {
      for (let call = 10; ;) {
        const { leases, state } = await frontier.lease({ holder, call: call++, max: 20, maxEnded: 300 });
        const settlements = leases.map(({ id }) => ({ kind: 'done', lease: id }) as const);
        const landings = leases.map(({ id }) => ({ lease: id }));
        await frontier.settle({ holder, call: call++, settlements, landings });
        done.push(...leases.map(({ record }) => record));
        if (state === 'exhausted' || (leases.length === 0 && (await frontier.overview()).counters.done >= 300)) return;
      }
    };
    await Promise.all(frontiers.map((frontier, i) => work(frontier, `holder-${i + 1}`)));
    expect(new Set(done).size).toBe(done.length);
    expect((await frontiers[0]!.overview()).counters).toMatchObject({
      accepted: 400,
      done: 300,
      queued: 100,
      leased: 0,
    });
    for (const frontier of frontiers) await frontier.close();
    await client.close();
  });

  it('refuses to remove a queue that another has open, and removes it afterwards', async () => {
    const client = createPostgresStorage({ url: server.url });
    const opening = { id: randomUUID(), access: 'shared', onForgotten: () => undefined, leaseMs: 60_000 } as const;
    const pacing = { delayMs: 0, turns: 5 };
    const open = (holder: string) => client.openFrontier({ ...opening, pacing, holder });
    const [one, two] = [await open('one'), await open('two')];
    await one.add({ holder: 'one', call: 1, entries: entries(3) });
    await expect(two.drop()).rejects.toMatchObject({ code: 'QUEUE_IN_USE' });
    await one.drop();
    const again = await open('three');
    expect((await again.overview()).counters.accepted).toBe(0);
    await again.close();
    await client.close();
  });

  it('carries a crawl: queue, items, records and state', async () => {
    const storageClient = createPostgresStorage({ url: server.url, schema: 'crawl' });
    const folder = mkdtempSync(join(tmpdir(), 'orcrawl-client-'));
    const config = new Configuration({ storageClient, storageClientOptions: { localDataDirectory: folder } });
    await using web = await Simweb.start({ hosts: 2, pagesPerHost: 20, crossHostLinks: 0.3, latencyMs: [0, 1] });
    const crawler = new HttpCrawler(
      {
        allowPrivateAddresses: true,
        sameDomainDelaySecs: 0,
        async requestHandler({ request, pushData, enqueueLinks, getKeyValueStore }) {
          await (await getKeyValueStore()).setValue('last', request.url);
          await pushData({ url: request.url });
          await enqueueLinks({ strategy: 'all' });
        },
      },
      config,
    );
    const stats = await crawler.run([web.url(0)]);
    const { items } = await (await Dataset.open(null, { config })).getData();
    expect(items.map(({ url }) => (url as string).replace(/#.*/, '')).sort()).toEqual([...web.allUrls()].sort());
    expect(stats.requestsFinished).toBe(items.length);
    const other = new Configuration({ storageClient, purgeOnStart: false });
    expect(await (await KeyValueStore.open(null, { config: other })).getValue('last')).toMatch(/^http/);
    const queue = await RequestQueue.open(null, { config: other });
    expect(await queue.handledCount()).toBe(items.length);
    await queue.close();
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
    await storageClient.close();
  });
});

describe('a storage client on Postgres', () => {
  it('says where a server cannot be reached, without the password', async () => {
    const client = createPostgresStorage({ url: 'postgres://me:secret@127.0.0.1:1/none', patienceSecs: 0.2 });
    const failed = await client
      .records('x')
      .read('key')
      .catch((error: unknown) => error as Error & { code: string });
    expect(failed).toMatchObject({ code: 'QUEUE_UNREACHABLE' });
    expect((failed as Error).message).toContain('127.0.0.1:1/none');
    expect((failed as Error).message).not.toContain('secret');
    await client.close();
  });

  it('refuses a schema name that is none', () => {
    expect(() => createPostgresStorage({ url: 'postgres://h/d', schema: 'a"; DROP' })).toThrow(/invalid schema name/);
  });
});
