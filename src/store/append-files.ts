// The files that segment writers append to, opened when needed and only so many at once.
// Promise: any number of writers share a bounded number of descriptors, none of which keeps a process alive.
import { close, open, write } from 'node:fs';
import { promisify } from 'node:util';

const openFile = promisify(open);
const closeFile = promisify(close);
const writeBytes = promisify(write);

/** Far below the usual limit of 1,024 (256 on macOS) descriptors a process. */
const MAX_OPEN = 64;

interface OpenFile {
  readonly fd: Promise<number>;
  busy: number;
}

export interface AppendFiles {
  /** Appends all of `bytes`, creating the file if it is missing. On failure a part may have been written. */
  append(path: string, bytes: Uint8Array): Promise<void>;
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

  const take = (path: string): OpenFile => {
    const file = files.get(path) ?? { fd: makeRoom().then(() => openFile(path, 'a')), busy: 0 };
    files.delete(path);
    files.set(path, file);
    file.busy++;
    return file;
  };

  const writeAll = async (path: string, bytes: Uint8Array): Promise<void> => {
    const file = take(path);
    try {
      const fd = await file.fd;
      for (let done = 0; done < bytes.length;) {
        done += (await writeBytes(fd, bytes, done, bytes.length - done)).bytesWritten;
      }
      file.busy--;
    } catch (error) {
      file.busy--;
      if (file.busy === 0) await forget(path, file).catch(() => undefined);
      throw error;
    }
  };

  return {
    async append(path, bytes) {
      if (writing >= maxOpen) await new Promise<void>((go) => waiting.push(go));
      else writing++;
      try {
        await writeAll(path, bytes);
      } finally {
        // Whoever waits longest takes over this place; the number of places in use stays.
        const next = waiting.shift();
        if (next === undefined) writing--;
        else next();
      }
    },
    async close(path) {
      const file = files.get(path);
      if (file !== undefined && file.busy === 0) await forget(path, file);
    },
  };
}

/** The process's own pool. */
export const appendFiles = createAppendFiles();
