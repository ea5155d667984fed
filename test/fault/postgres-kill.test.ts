// `kill -9` of workers and of Postgres itself, on real processes: every page's item is there once, nothing is lost, and a
// holder that was lost is refused. With synchronous_commit off, a process whose last calls are gone is told so.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Configuration, Dataset, log, LogLevel, RequestQueue } from '../../src/index.js';
import { createPostgresStorage } from '../../src/postgres/index.js';
import { entries } from '../../src/testing/conformance/bench.js';
import { Simweb } from '../../src/testing/index.js';
import { postgresMissing, type PostgresServer, startPostgres } from '../support/postgres-server.js';

async function asAdmin(connectionString: string, text: string): Promise<unknown[]> {
  const { default: pg } = await import('pg');
  const admin = new pg.Client({ connectionString });
  await admin.connect();
  try {
    return (await admin.query(text)).rows as unknown[];
  } finally {
    await admin.end();
  }
}

const WORKER = fileURLToPath(new URL('../support/postgres-worker.mjs', import.meta.url));
const LONG = { timeout: 120_000, interval: 10 };
log.setLevel(LogLevel.ERROR);

describe.skipIf(postgresMissing)(`Postgres${postgresMissing ? `: skipped, ${postgresMissing}` : ''}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.dispose());

  it('has every item once after workers and the server were killed', { timeout: 400_000 }, async () => {
    await using web = await Simweb.start({ hosts: 4, pagesPerHost: 60, crossHostLinks: 0.3, latencyMs: [5, 30] });
    const seen = (): number => web.log.requests().length;
    const workers = new Set<ChildProcess>();
    const start = (): ChildProcess => {
      const args = [WORKER, server.url, web.url(0)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
      workers.add(child);
      return child;
    };
    const more = (count: number): Promise<void> => {
      const before = seen();
      return expect.poll(seen, LONG).toBeGreaterThan(before + count);
    };
    try {
      const first = start();
      await more(10);
      start();
      await more(20);
      first.kill('SIGKILL');
      start();
      await more(20);
      await server.stop('SIGKILL');
      await server.start();
      await more(20);
      await server.stop('SIGKILL');
      await server.start();
      const living = [...workers].filter((child) => child !== first);
      const codes = await Promise.all(living.map(async (child) => child.exitCode ?? (await once(child, 'exit'))[0]));
      expect(codes).toEqual(living.map(() => 0));
    } finally {
      for (const child of workers) child.kill('SIGKILL');
    }
    const storageClient = createPostgresStorage({ url: server.url });
    const config = new Configuration({ storageClient, purgeOnStart: false });
    const { items } = await (await Dataset.open(null, { config })).getData();
    const urls = items.map(({ url }) => (url as string).replace(/#.*/, ''));
    expect(urls.sort()).toEqual([...web.allUrls()].sort());
    const queue = await RequestQueue.open(null, { config });
    expect(await queue.isFinished()).toBe(true);
    await queue.close();
    await storageClient.close();
  });

  it('runs the example of docs/postgres.md, and its query', { timeout: 200_000 }, async () => {
    const page = readFileSync(fileURLToPath(new URL('../../docs/postgres.md', import.meta.url)), 'utf8');
    const [, example] = /```ts\n([\s\S]*?)```/.exec(page)!;
    const [, query] = /```sql\n([\s\S]*?)```/.exec(page)!;
    await asAdmin(server.url, 'CREATE DATABASE docs');
    const url = server.url.replace(/postgres$/, 'docs');
    await using web = await Simweb.start({ hosts: 1, pagesPerHost: 3, latencyMs: [0, 1] });
    const given =
      'const requestHandler = async ({ request, pushData }) => pushData({ url: request.url, title: "t" });\n';
    const code = example!
      .replace('postgres://crawler:secret@db.example/crawl', url)
      .replace('https://example.com', web.url(0));
    // In the package's own folder `orcrawl` is the package itself.
    const root = fileURLToPath(new URL('../../', import.meta.url));
    const args = ['--input-type=module', '-e', given + code];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    expect((await once(child, 'exit'))[0]).toBe(0);
    expect(await asAdmin(url, query!)).toEqual([{ url: expect.stringContaining('http') as string, title: 't' }]);
  });

  it('gives one effect to a call whose server is killed while it is made', async () => {
    const client = createPostgresStorage({ url: server.url });
    const pacing = { delayMs: 0, turns: 100 };
    const opening = {
      id: 'calls',
      holder: 'a',
      access: 'shared',
      leaseMs: 60_000,
      onForgotten: () => undefined,
    } as const;
    const frontier = await client.openFrontier({ ...opening, pacing });
    let added = 0;
    for (let kill = 0; kill < 3; kill++) {
      const working = (async () => {
        for (let i = 0; i < 10; i++) {
          const call = added + 1;
          const answer = await frontier.add({ holder: 'a', call, entries: entries(20, 'site', added * 20) });
          expect(answer.every((presence) => presence === 'new')).toBe(true);
          added++;
        }
      })();
      await server.stop('SIGKILL');
      await server.start();
      await working;
    }
    expect((await frontier.overview()).counters).toMatchObject({ accepted: 600, queued: 600 });
    await frontier.close();
    await client.close();
  });

  it('tells a process whose last calls the server has lost', async () => {
    const client = createPostgresStorage({ url: server.url });
    let isTold = false;
    const opening = { id: 'tail', holder: 'a', access: 'shared', leaseMs: 60_000 } as const;
    const pacing = { delayMs: 0, turns: 100 };
    const frontier = await client.openFrontier({ ...opening, pacing, onForgotten: () => void (isTold = true) });
    await frontier.add({ holder: 'a', call: 1, entries: entries(3) });
    // As after a crash with synchronous_commit off, or a failover to a standby that was behind.
    await asAdmin(server.url, 'DELETE FROM orcrawl.calls');
    await server.stop('SIGKILL');
    await server.start();
    const call = frontier.add({ holder: 'a', call: 2, entries: entries(1, 'other') });
    await expect(call).rejects.toMatchObject({ code: 'QUEUE_ROLLED_BACK' });
    expect(isTold).toBe(true);
    await frontier.close();
    await client.close();
  });
});
