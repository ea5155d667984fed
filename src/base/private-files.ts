// How everything is made on disk that may hold a secret: sessions, queues, caches, settings, logs, captures.
// Promise: other users of the machine can neither read nor replace it.
import { chmod, lstat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CrawlError } from '../errors.js';

/** For `mkdir`: also the folders on the way that have to be made. */
export const PRIVATE_FOLDER = Object.freeze({ recursive: true, mode: 0o700 } as const);
/** For whatever creates a file. */
export const PRIVATE_FILE = Object.freeze({ mode: 0o600 });
/** For LMDB environments. */
export const PRIVATE_LMDB = Object.freeze({ permissionsMode: 0o600 });

/**
 * Makes a folder in a place where others may have made one first, and closes it to them. Rejects when it, or the folder
 * that it is in, is somebody else's: whoever owns that one could put another in its place.
 */
export async function makeOwnFolder(path: string): Promise<void> {
  const parent = dirname(path);
  await mkdir(path, PRIVATE_FOLDER);
  const [found, above] = [await whyNotOwn(path), await whyNotOwn(parent, [ROOT])];
  const why = found === undefined ? above && `is in a folder that ${above}` : found;
  if (why !== undefined) {
    throw new CrawlError('STORAGE_UNWRITABLE', `${path} ${why}: remove it, or choose another folder`);
  }
  await chmod(path, PRIVATE_FOLDER.mode);
  const { mode, uid } = await lstat(parent);
  const isOpen = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
  if (isOpen && uid === process.getuid?.()) await chmod(parent, mode & 0o755);
}

const ROOT = 0;

/** Why what is at a path is not a folder of our own; undefined when it is, or when nothing is there. */
export async function whyNotOwn(path: string, trusted: readonly number[] = []): Promise<string | undefined> {
  const info = await lstat(path).catch(() => undefined);
  if (!info) return undefined;
  if (!info.isDirectory()) return info.isSymbolicLink() ? 'is a link' : 'is not a folder';
  const user = process.getuid?.();
  return user === undefined || info.uid === user || trusted.includes(info.uid) ? undefined : 'belongs to another user';
}
