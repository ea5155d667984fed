// This process's open storages: one shared object per Configuration, kind and id.
// Promise: opening the same storage gives the same object; closing frees its handles, and it can be used again.
import { Configuration } from '../configuration.js';
import { firstUse, WITHIN_FIRST_USE } from '../first-use.js';
import { checkStorageName } from './names.js';
import type { StorageBackend } from './store.js';

export type StorageKind = 'dataset' | 'key-value-store';

/** What every open storage can do. */
export interface OpenStorage {
  /** Writes what is pending and frees handles and timers. The next use opens them again. */
  close(): Promise<void>;
  /** Drops values that are held in memory, without saving them. */
  clearCache?(): void;
}

/** Where a storage is opened. */
export interface StorageManagerOptions {
  /** Where the storage is; the global Configuration unless given. */
  config?: Configuration;
  [WITHIN_FIRST_USE]?: true;
}

/** A storage's location: enough to create its object. */
export interface StoragePlace {
  readonly config: Configuration;
  readonly backend: StorageBackend;
  readonly id: string;
  /** Given by the user; the default storages have none. */
  readonly name: string | undefined;
  /** Removes the object from the shared ones. */
  readonly release: () => void;
}

interface Opened {
  memory: StorageBackend | undefined;
  readonly disk: Map<string, StorageBackend>;
  readonly storages: Map<string, Promise<OpenStorage>>;
}

const openedByConfig = new WeakMap<Configuration, Opened>();
// Only used to close everything: does not keep a Configuration alive.
const configs = new Set<WeakRef<Configuration>>();
const collected = new FinalizationRegistry<WeakRef<Configuration>>((reference) => configs.delete(reference));

/** Numbers the clients of one process. */
const clientNumbers = new WeakMap<StorageBackend, number>();
let clients = 0;

function numberOf(client: StorageBackend): number {
  const number = clientNumbers.get(client) ?? ++clients;
  clientNumbers.set(client, number);
  return number;
}

/** Opens a storage, or returns the open one. */
export async function openStorage<T extends OpenStorage>(
  kind: StorageKind,
  name: string | null | undefined,
  options: StorageManagerOptions,
  make: (place: StoragePlace) => Promise<T>,
): Promise<T> {
  const config = options.config ?? Configuration.getGlobalConfig();
  const defaultId = config.get(kind === 'dataset' ? 'defaultDatasetId' : 'defaultKeyValueStoreId');
  const id = checkStorageName(name ?? defaultId);
  const opened = openedFor(config);
  if (!options[WITHIN_FIRST_USE]) await firstUse(config);
  const { backend, where } = await backendOf(config, opened);
  const key = `${where}|${kind}|${id}`;
  const known = opened.storages.get(key);
  if (known !== undefined) return known as Promise<T>;
  const release = (): void => void opened.storages.delete(key);
  const isDefault = name === undefined || name === null || name === defaultId;
  const making = make({ config, backend, id, name: isDefault ? undefined : id, release });
  opened.storages.set(key, making);
  // If opening failed, the next caller tries again.
  making.catch(release);
  return making;
}

/**
 * Saves and frees everything that is open: all storages of a Configuration, or of every one. Objects stay
 * usable: they open their files again when needed.
 *
 * @example
 * await closeStorages();
 */
export async function closeStorages(config?: Configuration): Promise<void> {
  const targets = config === undefined ? [...configs].map((reference) => reference.deref()) : [config];
  const storages = targets.flatMap((target) => [
    ...(openedByConfig.get(target as Configuration)?.storages.values() ?? []),
  ]);
  await Promise.all(storages.map(async (storage) => (await storage.catch(() => undefined))?.close()));
}

/** Forgets which storages of a Configuration are open: the next opening makes a new object of what is stored. */
export function forgetStorages(config: Configuration): void {
  const storages = openedByConfig.get(config)?.storages;
  for (const storage of storages?.values() ?? []) {
    void storage.then((open) => open.clearCache?.()).catch(() => undefined);
  }
  storages?.clear();
}

function openedFor(config: Configuration): Opened {
  let opened = openedByConfig.get(config);
  if (opened === undefined) {
    opened = { memory: undefined, disk: new Map(), storages: new Map() };
    openedByConfig.set(config, opened);
    const reference = new WeakRef(config);
    configs.add(reference);
    collected.register(config, reference);
  }
  return opened;
}

/** The place of all storages of a Configuration. */
export async function storageBackendOf(config: Configuration): Promise<StorageBackend> {
  return (await backendOf(config, openedFor(config))).backend;
}

async function backendOf(config: Configuration, opened: Opened): Promise<{ backend: StorageBackend; where: string }> {
  const client = config.get('storageClient');
  if (client !== undefined) return { backend: client, where: `client ${numberOf(client)}` };
  if (!config.get('persistStorage')) {
    const { createMemoryBackend } = await import('./memory.js');
    opened.memory ??= createMemoryBackend();
    return { backend: opened.memory, where: '' };
  }
  const where = config.localDataDirectory();
  const { createDiskBackend } = await import('./disk.js');
  const backend = opened.disk.get(where) ?? createDiskBackend(where);
  opened.disk.set(where, backend);
  return { backend, where };
}
