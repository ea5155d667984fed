// Every backend of the stores passes their suite, and a backend that knows only the public exports passes both suites,
// carries a crawl, and keeps what was promised when a process is killed.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import {
  Configuration,
  createMemoryStorage,
  Dataset,
  HttpCrawler,
  KeyValueStore,
  log,
  LogLevel,
  RequestQueue,
  type StorageClient,
} from '../../src/index.js';
import { createDiskBackend } from '../../src/store/disk.js';
import { createMemoryBackend } from '../../src/store/memory.js';
import { frontierSuite, Simweb, storageSuite } from '../../src/testing/index.js';
import { createFileStorage } from '../support/file-storage.js';
import { TYPESCRIPT } from '../support/processes.js';

const runner = { describe, it, expect };
const folders: string[] = [];
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-client-'));
  folders.push(folder);
  return folder;
}
const removed = (folder: string) => rmSync(folder, { recursive: true, force: true });
afterEach(() => {
  for (const folder of folders.splice(0)) removed(folder);
});
log.setLevel(LogLevel.ERROR);

const inFolder = (open: (folder: string) => ReturnType<typeof createDiskBackend>) => async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-stores-'));
  return { open: async () => open(folder), dispose: async () => removed(folder) };
};

storageSuite('disk', runner, inFolder(createDiskBackend));
storageSuite('a backend of files, by public exports only', runner, inFolder(createFileStorage));
storageSuite(
  'memory',
  runner,
  async () => {
    const backend = createMemoryBackend();
    return { open: async () => backend, dispose: async () => undefined };
  },
  { isPersistent: false },
);

frontierSuite('a backend of files, by public exports only', runner, async ({ pacing, leaseMs, clock }) => {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-client-'));
  const client = createFileStorage(folder);
  let last: Awaited<ReturnType<typeof client.openFrontier>> | undefined;
  return {
    open: async () =>
      (last = await client.openFrontier({
        id: 'queue',
        holder: 'the process itself',
        access: 'owner',
        onForgotten: () => undefined,
        pacing,
        leaseMs,
        clock,
      })),
    kill: async () => last?.abandon(),
    dispose: async () => removed(folder),
  };
});

describe('a storage client', () => {
  const clients: readonly [string, () => StorageClient][] = [
    ['in memory', createMemoryStorage],
    ['of files', () => createFileStorage(newFolder())],
  ];
  it.each(clients)('%s carries a crawl: queue, items, records and state', async (_name, make) => {
    const storageClient = make();
    const folder = newFolder();
    const config = new Configuration({ storageClient, storageClientOptions: { localDataDirectory: folder } });
    await using web = await Simweb.start({ hosts: 2, pagesPerHost: 20, crossHostLinks: 0.3, latencyMs: [0, 1] });
    const crawler = new HttpCrawler(
      {
        allowPrivateAddresses: true,
        sameDomainDelaySecs: 0,
        async requestHandler({ request, pushData, enqueueLinks, getKeyValueStore, crawler }) {
          (await crawler.useState<{ pages: string[] }>({ pages: [] })).pages.push(request.url);
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
    expect((await crawler.useState<{ pages: string[] }>()).pages).toHaveLength(items.length);
    // Another Configuration over the same client finds the same.
    const other = new Configuration({ storageClient, purgeOnStart: false });
    const store = await KeyValueStore.open(null, { config: other });
    expect(await store.getValue('last')).toMatch(/^http/);
    const queue = await RequestQueue.open(null, { config: other });
    expect(await queue.handledCount()).toBe(items.length);
    await queue.close();
    // Nothing went to the folder.
    expect(readdirSync(folder)).toEqual([]);
  });

  it('starts afresh after a run that finished, as a folder does', async () => {
    const storageClient = createMemoryStorage();
    await using web = await Simweb.start({ hosts: 1, pagesPerHost: 5, latencyMs: [0, 1] });
    for (let run = 0; run < 2; run++) {
      const config = new Configuration({ storageClient });
      const crawler = new HttpCrawler(
        { allowPrivateAddresses: true, requestHandler: ({ request, pushData }) => pushData({ url: request.url, run }) },
        config,
      );
      await crawler.run([web.url(0)]);
      expect((await (await Dataset.open(null, { config })).getData()).items).toMatchObject([{ run }]);
      await (await RequestQueue.open(null, { config })).close();
    }
  });

  it('has every item once after kill -9 and a resumed run', async () => {
    const folder = newFolder();
    await using web = await Simweb.start({ hosts: 4, pagesPerHost: 60, crossHostLinks: 0.3, latencyMs: [2, 10] });
    const worker = fileURLToPath(new URL('../support/file-storage-worker.ts', import.meta.url));
    const start = () =>
      spawn(process.execPath, ['--import', TYPESCRIPT, worker, folder, web.url(0)], {
        stdio: ['ignore', 'inherit', 'inherit'],
      });
    const seen = () => web.log.requests().length;
    const ended = (child: ReturnType<typeof start>) => new Promise<number | null>((done) => child.once('exit', done));
    for (let kill = 1; kill <= 2; kill++) {
      const before = seen();
      const child = start();
      const end = ended(child);
      await expect.poll(seen, { timeout: 90_000, interval: 5 }).toBeGreaterThan(before + 60);
      child.kill('SIGKILL');
      expect(await end).toBe(null);
    }
    expect(await ended(start())).toBe(0);
    const config = new Configuration({ storageClient: createFileStorage(folder), purgeOnStart: false });
    const { items } = await (await Dataset.open(null, { config })).getData();
    const urls = items.map(({ url }) => (url as string).replace(/#.*/, ''));
    expect(urls.sort()).toEqual([...web.allUrls()].sort());
  }, 240_000);
});
