// Crawlee's StorageManager: opens storages of a class, each once per Configuration, and forgets them when asked. And the
// client that a Configuration shows when it was given none.
import { Configuration, makeStorageClientsWith } from '../../configuration.js';
import type { StorageClient } from '../../storage-client.js';
import { forgetStorages, type StorageManagerOptions } from '../../store/opened.js';
import { MemoryStorage, type MemoryStorageOptions } from './memory-storage.js';

/** What every storage shows. */
export interface IStorage {
  id: string;
  name?: string | undefined;
}

/** A class of storages: `Dataset`, `KeyValueStore` or `RequestQueue`. */
export interface StorageClass<T extends IStorage> {
  readonly name: string;
  open(idOrName?: string | null, options?: StorageManagerOptions): Promise<T>;
}

/**
 * Opens the storages of one class in one Configuration.
 *
 * @example
 * const dataset = await StorageManager.openStorage(Dataset, 'products');
 * StorageManager.clearCache(); // the next opening makes a new object
 */
export class StorageManager<T extends IStorage = IStorage> {
  readonly #class: StorageClass<T>;
  readonly #config: Configuration;

  constructor(storageClass: StorageClass<T>, config: Configuration = Configuration.getGlobalConfig()) {
    this.#class = storageClass;
    this.#config = config;
  }

  static async openStorage<T extends IStorage>(
    storageClass: StorageClass<T>,
    idOrName?: string | null,
    client?: StorageClient,
    config: Configuration = Configuration.getGlobalConfig(),
  ): Promise<T> {
    return StorageManager.getManager(storageClass, config).openStorage(idOrName, client);
  }

  static getManager<T extends IStorage>(
    storageClass: StorageClass<T>,
    config: Configuration = Configuration.getGlobalConfig(),
  ): StorageManager<T> {
    return new StorageManager(storageClass, config);
  }

  /** Forgets what is open; values that were not saved yet are lost. */
  static clearCache(config: Configuration = Configuration.getGlobalConfig()): void {
    forgetStorages(config);
  }

  /** Opens a storage by its name, or the default one, in this Configuration's client or in the one that is given. */
  async openStorage(idOrName?: string | null, client?: StorageClient): Promise<T> {
    return this.#class.open(idOrName, { config: configWith(this.#config, client) });
  }
}

const withClient = new WeakMap<StorageClient, Configuration>();

/** The Configuration itself, or one of which only the storages are elsewhere. */
export function configWith(config: Configuration, client: StorageClient | undefined): Configuration {
  if (client === undefined || client === config.get('storageClient')) return config;
  let other = withClient.get(client);
  if (!other) withClient.set(client, (other = new Configuration({ storageClient: client })));
  return other;
}

/**
 * A MemoryStorage where a Configuration keeps its storages.
 *
 * @example
 * const storage = createMemoryStorageOf(new Configuration({ persistStorage: false }));
 */
export function createMemoryStorageOf(config: Configuration, options: MemoryStorageOptions = {}): MemoryStorage {
  const persistStorage = config.get('persistStorage');
  return new MemoryStorage({ localDataDirectory: config.localDataDirectory(), persistStorage, ...options });
}

makeStorageClientsWith((config) => {
  if (config.get('storageClient') === undefined) config.useStorageClient(createMemoryStorageOf(config));
  return config.get('storageClient');
});
