// The disk backend of datasets: one folder a dataset, one JSON-lines file a segment.
// Promise: each file has one writer; a line is in the file when its append resolved, and never twice or half.
import { access, constants, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FOLDER } from '../../base/private-files.js';
import { CrawlError } from '../../errors.js';
import { createSegmentFile } from '../segments/segment-file.js';
import { directFile, isOwnerGone, isSegmentName, newDirectStem } from '../segments/segment-names.js';
import { ownerName, parseDirectName } from '../segments/segment-names.js';
import { asStorageError, isMissing } from '../storage-errors.js';
import type { Segment, SegmentStore, SegmentWriter } from '../store.js';

const NEWLINE = 0x0a;
const TAIL_CHUNK_BYTES = 64 * 1024;

export function createDiskSegments(folder: string): SegmentStore {
  const writers = new Set<DiskWriter>();

  const files = async (): Promise<string[]> => {
    const names = await readdir(folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw asStorageError(error, folder);
    });
    return names.filter(isSegmentName).sort();
  };

  /** Takes a direct segment from nobody or from a dead owner. Renaming is atomic: one process gets it. */
  const claim = async (file: string): Promise<string | undefined> => {
    const name = parseDirectName(file);
    if (name === undefined || (name.owner !== undefined && !isOwnerGone(name.owner))) return undefined;
    const claimed = directFile(name.stem, ownerName());
    try {
      await rename(join(folder, file), join(folder, claimed));
    } catch {
      // Somebody else was first, or (Windows) somebody reads it now: it is left alone.
      return undefined;
    }
    return claimed;
  };

  const startWriter = (file: string, lengthBytes: number, onClose?: () => Promise<void>): SegmentWriter => {
    const writer = createDiskWriter(folder, file, lengthBytes, async () => {
      writers.delete(writer);
      await onClose?.();
    });
    writers.add(writer);
    return writer;
  };

  const release = async (file: string): Promise<void> => {
    const name = parseDirectName(file);
    if (name === undefined) return;
    // When this fails the owner in the name is found dead later: the same result.
    await rename(join(folder, file), join(folder, directFile(name.stem))).catch(() => undefined);
  };

  const clear = async (): Promise<void> => {
    for (const writer of [...writers]) await writer.abandon();
    writers.clear();
    for (const file of await files()) await rm(join(folder, file), { force: true });
  };

  return {
    async prepare() {
      try {
        await mkdir(folder, PRIVATE_FOLDER);
        await access(folder, constants.W_OK);
      } catch (error) {
        throw asStorageError(error, folder);
      }
      for (const file of await files()) {
        if (parseDirectName(file)?.owner === undefined) continue;
        const claimed = await claim(file);
        if (claimed === undefined) continue;
        await cutHalfLine(join(folder, claimed));
        await release(claimed);
      }
    },

    async list() {
      const found = await Promise.all((await files()).map((file) => describe(folder, file)));
      return found.filter((segment) => segment !== undefined);
    },

    async read(name, fromByte, toByte) {
      const wanted = Buffer.allocUnsafe(Math.max(0, toByte - fromByte));
      const handle = await open(join(folder, name), 'r').catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
      if (handle === undefined) return wanted.subarray(0, 0);
      try {
        let filled = 0;
        while (filled < wanted.length) {
          const { bytesRead } = await handle.read(wanted, filled, wanted.length - filled, fromByte + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return wanted.subarray(0, filled);
      } finally {
        await handle.close();
      }
    },

    async openDirect(maxBytes) {
      const existing = await files();
      // The newest first, so that order of writing stays order of reading as far as it can.
      for (const file of existing.toReversed()) {
        const claimed = await claim(file);
        if (claimed === undefined) continue;
        const lengthBytes = await cutHalfLine(join(folder, claimed));
        if (lengthBytes < maxBytes) return startWriter(claimed, lengthBytes, () => release(claimed));
        await release(claimed);
        break;
      }
      const created = directFile(newDirectStem(existing), ownerName());
      return startWriter(created, 0, () => release(created));
    },

    async openVisit(name) {
      const found = await describe(folder, name).catch((error: unknown) => {
        throw asStorageError(error, join(folder, name));
      });
      return startWriter(name, found?.lengthBytes ?? 0);
    },

    clear,

    async remove() {
      await clear();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface DiskWriter extends SegmentWriter {
  /** The file is about to be removed: refuse everything from now on. */
  abandon(): Promise<void>;
}

function createDiskWriter(folder: string, name: string, startBytes: number, onClose: () => Promise<void>): DiskWriter {
  const file = createSegmentFile(join(folder, name), { startBytes, onClose });
  return {
    name,
    get lengthBytes() {
      return file.lengthBytes;
    },
    async append(lines) {
      const bytes = typeof lines === 'string' ? Buffer.from(lines) : lines;
      if (bytes.length === 0 || bytes[bytes.length - 1] === NEWLINE) return file.append(bytes);
      throw new CrawlError('ITEM_INVALID', 'a line must end in a newline');
    },
    cutTo: (lengthBytes) => file.cutTo(lengthBytes),
    close: () => file.close(),
    abandon: () => file.abandon(),
  };
}

async function describe(folder: string, file: string): Promise<Segment | undefined> {
  try {
    const { size, birthtimeMs, mtimeMs } = await stat(join(folder, file));
    return { name: file, lengthBytes: size, createdAtMs: birthtimeMs, modifiedAtMs: mtimeMs };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Drops what follows the last newline; gives the length that remains. */
export async function cutHalfLine(path: string): Promise<number> {
  const handle = await open(path, 'r+').catch((error: unknown) => {
    throw asStorageError(error, path);
  });
  try {
    const { size } = await handle.stat();
    let end = size;
    const chunk = Buffer.allocUnsafe(Math.min(TAIL_CHUNK_BYTES, size));
    while (end > 0) {
      const from = Math.max(0, end - chunk.length);
      const { bytesRead } = await handle.read(chunk, 0, end - from, from);
      const newline = chunk.subarray(0, bytesRead).lastIndexOf(NEWLINE);
      if (newline >= 0) {
        end = from + newline + 1;
        break;
      }
      end = from;
    }
    if (end < size) await handle.truncate(end);
    return end;
  } finally {
    await handle.close();
  }
}
