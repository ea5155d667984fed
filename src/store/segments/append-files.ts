// The files that segment writers append to, opened on demand and limited in number.
// Promise: any number of writers share a bounded number of descriptors, none of which keeps a process alive.
import { close, constants, fdatasync, fsync, open, write } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { PRIVATE_FILE } from '../../base/private-files.js';

const openFile = promisify(open);
const closeFile = promisify(close);
const writeBytes = promisify(write);
const syncData = promisify(fdatasync);
const syncFile = promisify(fsync);

/** Far below the usual limit of 1,024 (256 on macOS) descriptors per process. */
const MAX_OPEN = 64;
const APPEND = constants.O_WRONLY | constants.O_APPEND;

interface OpenFile {
  readonly fd: Promise<number>;
  busy: number;
}

export interface AppendFiles {
  /** Appends all of `bytes`; a missing file is created only if it `isNew`. On failure a part may have been written. */
  append(path: string, bytes: Uint8Array, isNew: boolean): Promise<void>;
  /** Resolves when the appended bytes are on disk; with `isNew` also the file's name in its folder. */
  sync(path: string, isNew: boolean): Promise<void>;
  /** Frees the descriptor of an idle file. */
  close(path: string): Promise<void>;
}

// Plain descriptors, not FileHandle objects: those warn if collected unclosed.
export function createAppendFiles(maxOpen = MAX_OPEN): AppendFiles {
  // In order of use: the first is the least recently used.
  const files = new Map<string, OpenFile>();
  const waiting: (() => void)[] = [];
  let writing = 0;

  const forget = async (path: string, file: OpenFile): Promise<void> => {
    files.delete(path);
    const fd = await file.fd.catch(() => undefined);
    if (fd !== undefined) await closeFile(fd);
  };

  // Never more concurrent writes than files, so one file is idle whenever another is needed.
  const makeRoom = async (): Promise<void> => {
    if (files.size < maxOpen) return;
    for (const [path, file] of files) if (file.busy === 0) return forget(path, file);
  };

  const take = (path: string, flags: number): OpenFile => {
    const file = files.get(path) ?? { fd: makeRoom().then(() => openFile(path, flags, PRIVATE_FILE.mode)), busy: 0 };
    files.delete(path);
    files.set(path, file);
    file.busy++;
    return file;
  };

  const withFile = async (path: string, flags: number, use: (fd: number) => Promise<void>): Promise<void> => {
    const file = take(path, flags);
    try {
      await use(await file.fd);
      file.busy--;
    } catch (error) {
      file.busy--;
      if (file.busy === 0) await forget(path, file).catch(() => undefined);
      throw error;
    }
  };

  const inPlace = async (path: string, flags: number, use: (fd: number) => Promise<void>): Promise<void> => {
    if (writing >= maxOpen) await new Promise<void>((go) => waiting.push(go));
    else writing++;
    try {
      await withFile(path, flags, use);
    } finally {
      // The longest waiter takes over this place; the number in use stays the same.
      const next = waiting.shift();
      if (next === undefined) writing--;
      else next();
    }
  };

  return {
    append: (path, bytes, isNew) =>
      inPlace(path, isNew ? APPEND | constants.O_CREAT : APPEND, async (fd) => {
        for (let done = 0; done < bytes.length;) {
          done += (await writeBytes(fd, bytes, done, bytes.length - done)).bytesWritten;
        }
      }),
    async sync(path, isNew) {
      await inPlace(path, APPEND, (fd) => syncData(fd));
      if (isNew) await syncFolder(dirname(path));
    },
    async close(path) {
      const file = files.get(path);
      if (file !== undefined && file.busy === 0) await forget(path, file);
    },
  };
}

/** A new name is safe when its folder is synced; Windows has no such call and needs none. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const fd = await openFile(folder, 'r');
  try {
    await syncFile(fd);
  } finally {
    await closeFile(fd);
  }
}

/** The process's own pool. */
export const appendFiles = createAppendFiles();
