// Where the storage tests keep things: a Configuration on disk and one in memory, and a folder that goes away.
// Promise: nothing is left behind, and no test sees another's storages.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Configuration } from '../../src/configuration.js';
import { closeStorages } from '../../src/store/opened.js';

export interface StorageFixture {
  readonly config: Configuration;
  /** The storage folder; empty for ever when the storages are in memory. */
  readonly folder: string;
  dispose(): Promise<void>;
}

export async function makeStorage(kind: 'disk' | 'memory'): Promise<StorageFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'orcrawl-storage-'));
  const config = new Configuration({
    persistStorage: kind === 'disk',
    storageClientOptions: { localDataDirectory: folder },
  });
  return {
    config,
    folder,
    async dispose() {
      await closeStorages(config);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A second look at the same folder, as another process would have it. */
export function anotherLook({ folder }: StorageFixture): Configuration {
  return new Configuration({ storageClientOptions: { localDataDirectory: folder } });
}

export async function gather<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of source) all.push(item);
  return all;
}
