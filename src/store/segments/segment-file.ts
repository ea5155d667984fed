// One append-only file with one writer: the basis of dataset and content segments.
// Promise: appends happen in order, completely or not at all; remains of a failed write are cut before the next one; an
// append resolves only if the file is at its path with the expected length, so nothing goes into a deleted file.
import { stat, truncate } from 'node:fs/promises';
import { CrawlError } from '../../errors.js';
import { appendFiles } from './append-files.js';
import { asStorageError, isMissing } from '../storage-errors.js';

/** What an append survives: the death of this process, or of the machine (synced to disk). */
export type Durability = 'process' | 'machine';

/** The writer of a file. Calls take effect in order. */
export interface SegmentFile {
  /** Bytes written so far. */
  readonly lengthBytes: number;
  /** Resolves when all bytes are in the file; on failure it is as before. STORAGE_LOST if the file is gone. */
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
  let state: 'open' | 'closed' | 'gone' | 'lost' = 'open';
  // After a failed write, bytes past `lengthBytes` must be cut before the next one.
  let dirty = false;
  let last: Promise<unknown> = Promise.resolve();

  const inOrder = <T>(step: () => Promise<T>): Promise<T> => {
    const mine = last.then(step, step);
    last = mine.catch(() => undefined);
    return mine;
  };

  const mustBeOpen = (): void => {
    if (state === 'open') return;
    if (state === 'lost') throw lost();
    const why = state === 'gone' ? 'its dataset was emptied or dropped' : 'it was closed';
    throw new CrawlError('STORAGE_UNWRITABLE', `segment ${path} is closed for writing: ${why}`);
  };

  const sizeNow = async (): Promise<number | undefined> =>
    stat(path).then(
      ({ size }) => size,
      (error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      },
    );

  // Only shortens: a file that is too short was replaced or cut by another program.
  const clean = async (): Promise<void> => {
    if (((await sizeNow()) ?? 0) > lengthBytes) await truncate(path, lengthBytes);
    dirty = false;
  };

  const lost = (): CrawlError =>
    new CrawlError(
      'STORAGE_LOST',
      `${path} was deleted, moved or cut by another program during the crawl: it had ${lengthBytes} bytes`,
    );

  /** One writer per file: any other size means that the file at the path is not the one written. */
  const mustHave = async (wantedBytes: number): Promise<void> => {
    if ((await sizeNow()) === wantedBytes) return;
    state = 'lost';
    await appendFiles.close(path);
    throw lost();
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
          await appendFiles.append(path, bytes, lengthBytes === 0);
          if (durability === 'machine') await appendFiles.sync(path, lengthBytes === 0);
          await mustHave(lengthBytes + bytes.length);
          dirty = false;
          lengthBytes += bytes.length;
        } catch (error) {
          if (dirty) await clean().catch(() => undefined);
          if (!isMissing(error) || lengthBytes === 0) throw asStorageError(error, path);
          state = 'lost';
          throw lost();
        }
      }),
    cutTo: (toBytes) =>
      inOrder(async () => {
        // A lost file has nothing to cut.
        if (state === 'lost') return void (lengthBytes = Math.min(lengthBytes, toBytes));
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
