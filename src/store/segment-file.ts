// One append-only file with one writer: what dataset and content segments are made of.
// Promise: appends happen in order, wholly or not at all; what a failed write left behind is cut before the next one.
import { truncate } from 'node:fs/promises';
import { CrawlError } from '../errors.js';
import { appendFiles } from './append-files.js';
import { asStorageError, isMissing } from './storage-errors.js';

/** Against whose death an append is safe: that of this process, or that of the machine (synced to the disk). */
export type Durability = 'process' | 'machine';

/** The writer of a file. Calls take effect in the order in which they were made. */
export interface SegmentFile {
  /** Bytes written so far. */
  readonly lengthBytes: number;
  /** Resolves when all bytes are in the file; on failure it is as before. */
  append(bytes: Uint8Array): Promise<void>;
  /** Drops everything from `lengthBytes` on. */
  cutTo(lengthBytes: number): Promise<void>;
  /** Frees the file; the writer cannot be used again. */
  close(): Promise<void>;
  /** The file is about to be removed: refuse everything from now on. */
  abandon(): Promise<void>;
}

export interface SegmentFileOptions {
  readonly startBytes?: number;
  readonly durability?: Durability;
  /** Runs at the end of the first `close`. */
  readonly onClose?: () => Promise<void>;
}

export function createSegmentFile(path: string, options: SegmentFileOptions = {}): SegmentFile {
  const { startBytes = 0, durability = 'process', onClose } = options;
  let lengthBytes = startBytes;
  let state: 'open' | 'closed' | 'gone' = 'open';
  // After a failed write whatever is past `lengthBytes` must go before the next one.
  let dirty = false;
  let last: Promise<unknown> = Promise.resolve();

  const inOrder = <T>(step: () => Promise<T>): Promise<T> => {
    const mine = last.then(step, step);
    last = mine.catch(() => undefined);
    return mine;
  };

  const mustBeOpen = (): void => {
    if (state === 'open') return;
    const why = state === 'gone' ? 'its dataset was emptied or dropped' : 'it was closed';
    throw new CrawlError('STORAGE_UNWRITABLE', `segment ${path} takes no more items: ${why}`);
  };

  const clean = async (): Promise<void> => {
    await truncate(path, lengthBytes).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
    dirty = false;
  };

  return {
    get lengthBytes() {
      return lengthBytes;
    },
    append: (bytes) =>
      inOrder(async () => {
        mustBeOpen();
        if (bytes.length === 0) return;
        try {
          if (dirty) await clean();
          dirty = true;
          await appendFiles.append(path, bytes);
          if (durability === 'machine') await appendFiles.sync(path, lengthBytes === 0);
          dirty = false;
          lengthBytes += bytes.length;
        } catch (error) {
          if (dirty) await clean().catch(() => undefined);
          throw asStorageError(error, path);
        }
      }),
    cutTo: (toBytes) =>
      inOrder(async () => {
        mustBeOpen();
        if (toBytes > lengthBytes) return;
        lengthBytes = toBytes;
        dirty = true;
        await clean().catch((error: unknown) => {
          throw asStorageError(error, path);
        });
      }),
    close: () =>
      inOrder(async () => {
        if (state !== 'open') return;
        state = 'closed';
        await appendFiles.close(path);
        await onClose?.();
      }),
    abandon: () =>
      inOrder(async () => {
        state = 'gone';
        await appendFiles.close(path);
      }),
  };
}
