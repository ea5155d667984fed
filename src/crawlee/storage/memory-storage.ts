// Crawlee's MemoryStorage: its clients for datasets, key-value stores and request queues, in memory and, by default, in a
// folder; and a storage client of ours, so that crawlers keep their data there. Datasets and key-value stores are the
// same seen from both sides; what a crawler queues is in its own frontier.
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createMemoryStorage } from '../../crawl/storage/memory-storage.js';
import { log } from '../../observe/log.js';
import type { Dictionary } from '../../request/request.js';
import type { StorageClient } from '../../storage-client.js';
import type { RecordStore, SegmentStore, SegmentWriter } from '../../store/store.js';
import type {
  ClientDatasetInfo,
  ClientQueueInfo,
  ClientStoreInfo,
  CollectionClient,
  CrawleeStorageClient,
  DatasetClient,
  KeyValueStoreClient,
  RequestQueueClient,
} from './clients.js';
import type { Home, Kept } from './kept.js';
import { createDatasetClient, MemoryDataset } from './memory-dataset.js';
import { createQueueClient, MemoryQueue } from './memory-queue.js';
import { createKeyValueClient, MemoryRecords } from './memory-records.js';

/** How much of a MemoryStorage outlives the process. */
export interface MemoryStorageOptions {
  /** Where it writes. Default `CRAWLEE_STORAGE_DIR`, or `./storage`. */
  localDataDirectory?: string;
  /** Also write what is known of each storage. Default false. */
  writeMetadata?: boolean;
  /** `false` writes nothing. Default true, unless `CRAWLEE_PERSIST_STORAGE` says otherwise. */
  persistStorage?: boolean;
}

interface Shelf<T extends Kept & { readonly info: object }> {
  readonly home: Home;
  readonly open: T[];
  find(idOrName: string): T | undefined;
  make(name?: string): T;
  forget(one: T): void;
}

const DEFAULT = 'default';
const DIRECT_BYTES = 64 * 1024 * 1024;

/**
 * Crawlee's storage client: in memory, and in a folder unless told otherwise.
 *
 * @example
 * const storage = new MemoryStorage({ persistStorage: false });
 * const { id } = await storage.datasets().getOrCreate('items');
 * await storage.dataset(id).pushItems([{ url: 'https://example.com' }]);
 */
export class MemoryStorage implements StorageClient, CrawleeStorageClient {
  /** The folder of all storages. */
  readonly localDataDirectory: string;
  /** The folder of the datasets. */
  readonly datasetsDirectory: string;
  /** The folder of the key-value stores. */
  readonly keyValueStoresDirectory: string;
  /** The folder of the request queues. */
  readonly requestQueuesDirectory: string;
  /** Whether a file with metadata is written per storage. */
  readonly writeMetadata: boolean;
  /** Whether anything is written to disk. */
  readonly persistStorage: boolean;
  /** The datasets that are open. */
  readonly datasetClientsHandled: MemoryDataset[];
  /** The key-value stores that are open. */
  readonly keyValueStoresHandled: MemoryRecords[];
  /** The request queues that are open. */
  readonly requestQueuesHandled: MemoryQueue[];
  readonly #datasets: Shelf<MemoryDataset>;
  readonly #stores: Shelf<MemoryRecords>;
  readonly #queues: Shelf<MemoryQueue>;
  readonly #memory = createMemoryStorage();
  readonly openFrontier = this.#memory.openFrontier;
  readonly openHosts = this.#memory.openHosts!;

  constructor(options: MemoryStorageOptions = {}) {
    const { env } = process;
    const directory = options.localDataDirectory ?? env['CRAWLEE_STORAGE_DIR'] ?? './storage';
    const persists = env['CRAWLEE_PERSIST_STORAGE'];
    this.localDataDirectory = directory;
    this.datasetsDirectory = resolve(directory, 'datasets');
    this.keyValueStoresDirectory = resolve(directory, 'key_value_stores');
    this.requestQueuesDirectory = resolve(directory, 'request_queues');
    this.writeMetadata = options.writeMetadata ?? env['DEBUG']?.includes('crawlee:memory-storage') ?? false;
    this.persistStorage =
      options.persistStorage ?? (persists === undefined || !['false', '0', ''].includes(persists.toLowerCase()));
    const home = (folder: string): Home => ({
      directory: folder,
      persists: this.persistStorage,
      writesMetadata: this.writeMetadata,
    });
    this.#datasets = createShelf(home(this.datasetsDirectory), MemoryDataset);
    this.#stores = createShelf(home(this.keyValueStoresDirectory), MemoryRecords);
    this.#queues = createShelf(home(this.requestQueuesDirectory), MemoryQueue);
    this.datasetClientsHandled = this.#datasets.open;
    this.keyValueStoresHandled = this.#stores.open;
    this.requestQueuesHandled = this.#queues.open;
  }

  /** The client that lists and creates datasets. */
  datasets(): CollectionClient<ClientDatasetInfo> {
    return createCollection(this.#datasets, (one) => one.info);
  }

  /** The client of one dataset, by id. */
  dataset<Data extends Dictionary = Dictionary>(id: string): DatasetClient<Data> {
    const shelf = this.#datasets;
    return createDatasetClient<Data>(id, () => shelf.find(id), shelf.forget, async (dataset, lines) => {
      dataset.add(lines);
      const writer = await this.#memory.segments(dataset.name ?? dataset.id).openDirect(DIRECT_BYTES);
      await writer.append(`${lines.join('\n')}\n`);
      await writer.close();
    });
  }

  /** The client that lists and creates key-value stores. */
  keyValueStores(): CollectionClient<ClientStoreInfo> {
    return createCollection(this.#stores, (one) => one.info);
  }

  /** The client of one key-value store, by id. */
  keyValueStore(id: string): KeyValueStoreClient {
    return createKeyValueClient(id, () => this.#stores.find(id), this.#stores.forget);
  }

  /** The client that lists and creates request queues. */
  requestQueues(): CollectionClient<ClientQueueInfo> {
    return createCollection(this.#queues, (one) => one.info);
  }

  /** The client of one request queue, by id. */
  requestQueue(id: string, _options?: { clientKey?: string; timeoutSecs?: number }): RequestQueueClient {
    return createQueueClient(id, () => this.#queues.find(id), this.#queues.forget);
  }

  /** Logs the status message of a crawler at DEBUG. */
  async setStatusMessage(
    message: string,
    options: { isStatusMessageTerminal?: boolean; level?: string } = {},
  ): Promise<void> {
    const { isStatusMessageTerminal = false, level = 'INFO' } = options;
    const end = isStatusMessageTerminal ? ' (terminal)' : '';
    log.debug(`status message of level ${level}${end}: ${message}`);
  }

  /** Empties the default storages; the record INPUT stays. */
  async purge(): Promise<void> {
    this.#datasets.find(DEFAULT)?.clear();
    this.#queues.find(DEFAULT)?.clear();
    const store = this.#stores.find(DEFAULT);
    for (const { key } of store?.keys() ?? []) if (key !== 'INPUT') store?.delete(key);
    for (const shelf of [this.#datasets, this.#queues] as Shelf<never>[]) {
      if (shelf.home.persists) rmSync(join(shelf.home.directory, DEFAULT), { recursive: true, force: true });
    }
    await this.#memory.segments(DEFAULT).clear();
  }

  /** Everything is written when a call resolves: nothing is left to be done at the end. */
  async teardown(): Promise<void> {}

  /** The items of a dataset as crawlers write them; the dataset's client has them too. */
  segments(datasetId: string): SegmentStore {
    const inner = this.#memory.segments(datasetId);
    const dataset = (): MemoryDataset => this.#datasets.find(datasetId) ?? this.#datasets.make(datasetId);
    const both = (writer: SegmentWriter): SegmentWriter => {
      /** Where each line of this writer begins. */
      const begins: number[] = [];
      return {
        name: writer.name,
        get lengthBytes() {
          return writer.lengthBytes;
        },
        async append(lines) {
          let at = writer.lengthBytes;
          await writer.append(lines);
          const texts = Buffer.from(lines as Uint8Array).toString().split('\n').slice(0, -1);
          for (const text of texts) {
            begins.push(at);
            at += Buffer.byteLength(text) + 1;
          }
          dataset().add(texts);
        },
        async cutTo(lengthBytes) {
          await writer.cutTo(lengthBytes);
          const kept = begins.filter((begin) => begin < lengthBytes).length;
          dataset().cut(begins.length - kept);
          begins.length = kept;
        },
        close: () => writer.close(),
      };
    };
    return {
      ...inner,
      openDirect: async (maxBytes) => both(await inner.openDirect(maxBytes)),
      openVisit: async (name) => both(await inner.openVisit(name)),
      clear: async () => {
        dataset().clear();
        await inner.clear();
      },
      remove: async () => {
        await this.dataset(datasetId).delete();
        await inner.remove();
      },
    };
  }

  /** The records of a key-value store as crawlers write them; they are its client's. */
  records(storeId: string): RecordStore {
    const store = (): MemoryRecords => this.#stores.find(storeId) ?? this.#stores.make(storeId);
    return {
      prepare: async () => void store(),
      async read(key) {
        const found = store().get(key);
        return found && { body: Buffer.from(found.body), contentType: found.contentType };
      },
      async write(key, body, contentType) {
        const parts: Uint8Array[] = [];
        if (body instanceof Uint8Array) parts.push(body);
        else for await (const part of body) parts.push(Buffer.from(part as Uint8Array));
        store().set(key, Buffer.concat(parts), contentType);
      },
      delete: async (key) => store().delete(key),
      has: async (key) => store().get(key) !== undefined,
      list: async () => store().keys().map(({ key, size }) => ({ key, sizeBytes: size })),
      remove: () => this.keyValueStore(storeId).delete(),
    };
  }
}

interface KeptClass<T extends Kept> {
  new (home: Home, given: { id?: string; name?: string }): T;
  find(home: Home, idOrName: string): T | undefined;
}

/** The storages of one kind: those that are open, and those on disk. */
function createShelf<T extends Kept & { readonly info: object }>(home: Home, Kind: KeptClass<T>): Shelf<T> {
  const open: T[] = [];
  return {
    home,
    open,
    find(idOrName) {
      const known = open.find(({ id, name }) => id === idOrName || name?.toLowerCase() === idOrName.toLowerCase());
      if (known) return known;
      const stored = home.persists ? Kind.find(home, idOrName) : undefined;
      if (stored) open.push(stored);
      return stored;
    },
    make(name) {
      const made = new Kind(home, name === undefined ? {} : { name });
      open.push(made);
      made.writeMetadata(made.info);
      return made;
    },
    forget(one) {
      const index = open.indexOf(one);
      if (index >= 0) open.splice(index, 1);
    },
  };
}

function createCollection<T extends Kept & { readonly info: object }, Info extends { createdAt: Date }>(
  shelf: Shelf<T>,
  infoOf: (one: T) => Info,
): CollectionClient<Info> {
  return {
    async list() {
      const items = shelf.open.map(infoOf).sort((a, b) => +a.createdAt - +b.createdAt);
      return { total: items.length, count: items.length, offset: 0, limit: items.length, desc: false, items };
    },
    async getOrCreate(name) {
      return infoOf((name === undefined ? undefined : shelf.find(name)) ?? shelf.make(name));
    },
  };
}
