// Where a worker's items go: one segment per data directory in turn, as long as it is writable.
// Promise: a directory that is full, fails or loses files is no longer used, also for pages; items go to the next one.
import { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import { checkDirectory, type DataDirectories } from '../../store/content/data-directories.js';
import { Dataset } from '../../store/dataset/dataset.js';
import { closeStorages } from '../../store/opened.js';
import { ownerName } from '../../store/segments/segment-names.js';
import type { VisitWriter } from '../../store/dataset/visit-segments.js';

export interface ItemWriters {
  /** A new segment for the items of a dataset. STORAGE_FULL or STORAGE_LOST if no directory is left. */
  open(dataset: string | undefined): Promise<VisitWriter>;
  close(): Promise<void>;
}

/** `first`: where this worker starts, so that workers spread over the directories. */
export function createItemWriters(directories: DataDirectories, first: number): ItemWriters {
  const storages = new Map<string, Configuration>();
  let next = first;

  function storageIn(path: string): Configuration {
    let storage = storages.get(path);
    if (!storage) {
      storage = new Configuration({ storageClientOptions: { localDataDirectory: path }, purgeOnStart: false });
      storages.set(path, storage);
    }
    return storage;
  }

  function retireWhen(path: string, error: unknown): void {
    if (error instanceof CrawlError && error.code.startsWith('STORAGE_')) directories.retire(path, error);
    else throw error;
  }

  function watched(writer: VisitWriter, path: string): VisitWriter {
    return {
      key: writer.key,
      get length() {
        return writer.length;
      },
      get note() {
        return writer.note;
      },
      get full() {
        return writer.full || !directories.isInUse(path);
      },
      async append(lines) {
        try {
          await writer.append(lines);
        } catch (error) {
          retireWhen(path, error);
          throw error;
        }
      },
      cutTo: (lengthBytes) => writer.cutTo(lengthBytes),
      close: () => writer.close(),
    };
  }

  return {
    async open(dataset) {
      for (;;) {
        const path = directories.choose(next % directories.paths.length);
        try {
          await checkDirectory(path);
          const opened = await Dataset.open(dataset, { config: storageIn(path) });
          const writer = await opened.openVisitWriter(ownerName());
          next = directories.paths.indexOf(path) + 1;
          return watched(writer, path);
        } catch (error) {
          retireWhen(path, error);
        }
      }
    },
    async close() {
      for (const storage of storages.values()) await closeStorages(storage);
    },
  };
}
