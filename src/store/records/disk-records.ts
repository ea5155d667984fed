// The disk backend of key-value stores: one folder a store, one file a record, `KEY.ext`.
// Promise: a record is written beside its place and renamed into it, so a reader or a crash sees old or new.
import { randomBytes } from 'node:crypto';
import { createWriteStream, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../base/private-files.js';
import { BINARY_TYPE, contentTypeOf, extensionOf, RECORD_EXTENSIONS } from '../content-types.js';
import { asStorageError, isMissing } from '../storage-errors.js';
import type { RecordStore } from '../store.js';

// '~' is in no key, so no record can look like a file in the making.
const TEMPORARY = /^~.*\.tmp$/;
/** A temporary file this old was left by a process that died. */
const STALE_MS = 60 * 60 * 1000;
// Windows refuses to replace a file while another process has it open, for a moment: tried again so often.
const RENAME_ATTEMPTS = 10;
const LIST_AT_ONCE = 64;

interface RecordFile {
  readonly name: string;
  readonly contentType: string;
  readonly stats: Stats;
}

export function createDiskRecords(folder: string): RecordStore {
  /** The files of a key, newest first: more than one only if a process died while it changed a record's type. */
  const filesOf = (key: string): RecordFile[] => {
    const found: RecordFile[] = [];
    for (const extension of ['', ...RECORD_EXTENSIONS]) {
      const name = extension === '' ? key : `${key}.${extension}`;
      const contentType = typeOfFile(name, key);
      // Synchronous: a probe of the directory cache costs microseconds, a trip to the thread pool ten times that.
      const stats = contentType === undefined ? undefined : statSync(join(folder, name), { throwIfNoEntry: false });
      if (stats?.isFile() && contentType !== undefined) found.push({ name, contentType, stats });
    }
    return found.sort((a, b) => b.stats.mtimeMs - a.stats.mtimeMs);
  };

  const put = async (temporary: string, final: string): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await rename(temporary, final);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (attempt === RENAME_ATTEMPTS || !(code === 'EPERM' || code === 'EACCES' || code === 'EBUSY')) throw error;
        await new Promise((resolve) => setTimeout(resolve, attempt * 5));
      }
    }
  };

  return {
    async prepare() {
      try {
        await mkdir(folder, PRIVATE_FOLDER);
        await access(folder, constants.W_OK);
      } catch (error) {
        throw asStorageError(error, folder);
      }
      await removeStale(folder);
    },

    async read(key) {
      for (const { name, contentType } of filesOf(key)) {
        try {
          return { body: await readFile(join(folder, name)), contentType };
        } catch (error) {
          // Replaced or deleted since it was found.
          if (!isMissing(error)) throw error;
        }
      }
      return undefined;
    },

    async write(key, body, contentType) {
      const name = `${key}.${extensionOf(contentType)}`;
      const temporary = join(folder, `~${randomBytes(8).toString('hex')}.tmp`);
      try {
        if (body instanceof Uint8Array) await writeFile(temporary, body, PRIVATE_FILE);
        else await pipeline(body, createWriteStream(temporary, PRIVATE_FILE));
        await put(temporary, join(folder, name));
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        // A source stream that failed is not the folder's fault.
        throw (error as NodeJS.ErrnoException).syscall === undefined
          ? error
          : asStorageError(error, join(folder, name));
      }
      for (const other of filesOf(key)) if (other.name !== name) await rm(join(folder, other.name), { force: true });
    },

    async delete(key) {
      for (const { name } of filesOf(key)) {
        await unlink(join(folder, name)).catch((error: unknown) => {
          if (!isMissing(error)) throw asStorageError(error, join(folder, name));
        });
      }
    },

    has: async (key) => filesOf(key).length > 0,

    async list() {
      const names = (await readdir(folder).catch(noneWhenMissing)).filter((name) => !TEMPORARY.test(name));
      const sizes = new Map<string, { sizeBytes: number; modifiedAtMs: number }>();
      for (let from = 0; from < names.length; from += LIST_AT_ONCE) {
        const group = names.slice(from, from + LIST_AT_ONCE);
        const stats = await Promise.all(group.map((name) => stat(join(folder, name)).catch(() => undefined)));
        group.forEach((name, index) => {
          const info = stats[index];
          if (info === undefined || !info.isFile()) return;
          const key = keyOfFile(name);
          const known = sizes.get(key);
          if (known !== undefined && known.modifiedAtMs >= info.mtimeMs) return;
          sizes.set(key, { sizeBytes: info.size, modifiedAtMs: info.mtimeMs });
        });
      }
      return [...sizes].map(([key, { sizeBytes }]) => ({ key, sizeBytes })).sort((a, b) => (a.key < b.key ? -1 : 1));
    },

    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The key a file belongs to: its name without its extension, if that is one of ours. */
function keyOfFile(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 && contentTypeOf(name.slice(dot + 1)) !== undefined ? name.slice(0, dot) : name;
}

/** How a file is read if it is a record of `key`; a file put there by hand may have no extension. */
function typeOfFile(name: string, key: string): string | undefined {
  if (keyOfFile(name) !== key) return undefined;
  return contentTypeOf(name.slice(name.lastIndexOf('.') + 1)) ?? BINARY_TYPE;
}

async function removeStale(folder: string): Promise<void> {
  for (const name of (await readdir(folder).catch(noneWhenMissing)).filter((file) => TEMPORARY.test(file))) {
    const info = await stat(join(folder, name)).catch(() => undefined);
    if (info === undefined || Date.now() - info.mtimeMs < STALE_MS) continue;
    await rm(join(folder, name), { force: true }).catch(() => undefined);
  }
}

function noneWhenMissing(error: unknown): string[] {
  if (isMissing(error)) return [];
  throw error;
}
