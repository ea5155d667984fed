// The files that segment writers append to, opened when needed and only so many at once.
// Promise: any number of writers share a bounded number of descriptors, none of which keeps a process alive.
import { close, constants, fdatasync, fsync, open, write } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const openFile = promisify(open);
const closeFile = promisify(close);
const writeBytes = promisify(write);
const syncData = promisify(fdatasync);
const syncFile = promisify(fsync);

/** Far below the usual limit of 1,024 (256 on macOS) descriptors a process. */
const MAX_OPEN = 64;
const APPEND = constants.O_WRONLY | constants.O_APPEND;

interface OpenFile {
  readonly fd: Promise<number>;
  busy: number;
}

export interface AppendFiles {
  /** Appends all of `bytes`; a missing file is created only if it `isNew`. On failure a part may have been written. */
  append(path: string, bytes: Uint8Array, isNew: boolean): Promise<void>;
  /** Resolves when what was appended is on the disk; with `isNew` also the file's name in its folder. */
  sync(path: string, isNew: boolean): Promise<void>;
  /** Frees the descriptor of a file that nobody is writing to. */
  close(path: string): Promise<void>;
}

// Plain descriptors rather than FileHandle objects: those warn when they are collected unclosed.
export function createAppendFiles(maxOpen = MAX_OPEN): AppendFiles {
  // In the order of use: the first is the one unused for longest.
  const files = new Map<string, OpenFile>();
  const waiting: (() => void)[] = [];
  let writing = 0;

  const forget = async (path: string, file: OpenFile): Promise<void> => {
    files.delete(path);
    const fd = await file.fd.catch(() => undefined);
    if (fd !== undefined) await closeFile(fd);
  };

  // No more writes at once than files, so one of the files is idle whenever another one is needed.
  const makeRoom = async (): Promise<void> => {
    if (files.size < maxOpen) return;
    for (const [path, file] of files) if (file.busy === 0) return forget(path, file);
  };

  const take = (path: string, flags: number): OpenFile => {
    const file = files.get(path) ?? { fd: makeRoom().then(() => openFile(path, flags)), busy: 0 };
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
      // Whoever waits longest takes over this place; the number of places in use stays.
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
