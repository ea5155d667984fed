// Where stored content is read from: a data directory on disk, or an object store.
// Promise: readers see names, lengths and ranges of bytes, the same for both; nothing is written.
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CrawlError } from '../../errors.js';
import { isMissing } from '../storage-errors.js';
import type { ReadBytes } from './index-search.js';
import { CONTENT_FOLDER } from './names.js';
import { isObjectUrl, openObjects } from './remote/objects.js';

export interface ContentFolder {
  list(): Promise<string[]>;
  /** Undefined if there is no such file. */
  open(name: string): Promise<ContentFile | undefined>;
  /** Where a file is, for people. */
  pathOf(name: string): string;
  close(): void;
}

export interface ContentFile {
  readonly size: number;
  readonly read: ReadBytes;
  close(): Promise<void>;
}

/** For work that needs files: content in an object store is refused, and the reason says what to do. */
export function refuseObjectStores(dataDirs: readonly string[], command: string): void {
  const remote = dataDirs.find(isObjectUrl);
  if (remote === undefined) return;
  throw new CrawlError(
    'OPTION_INVALID',
    `${command} works on data directories, not on ${remote}: copy what is there into a folder first ` +
      `(aws s3 sync ${remote} ./data/content), and name that data directory`,
  );
}

/** Runs `work` with the folders of data directories or addresses such as s3://bucket/prefix, and closes them. */
export async function withFolders<T>(
  dataDirs: readonly string[],
  work: (folders: readonly ContentFolder[]) => Promise<T>,
): Promise<T> {
  const folders: ContentFolder[] = [];
  try {
    for (const dataDir of dataDirs) folders.push(isObjectUrl(dataDir) ? await remote(dataDir) : local(dataDir));
    return await work(folders);
  } finally {
    for (const folder of folders) folder.close();
  }
}

/** The names in the content folder of a data directory, which the user may have got wrong. */
export async function contentFilesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new CrawlError('OPTION_INVALID', `${folder} does not exist: is it a data directory?`, { cause: error });
  }
}

function local(dataDir: string): ContentFolder {
  const folder = join(dataDir, CONTENT_FOLDER);
  return {
    list: () => contentFilesIn(folder),
    async open(name) {
      // An index may come from elsewhere: what it names lies in this folder.
      if (!isPlainName(name)) return undefined;
      const file = await open(join(folder, name), 'r').catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
      if (file === undefined) return undefined;
      const { size } = await file.stat();
      return {
        size,
        async read(fromByte, toByte) {
          const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(toByte, size) - fromByte));
          let filled = 0;
          while (filled < bytes.length) {
            const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, fromByte + filled);
            if (bytesRead === 0) break;
            filled += bytesRead;
          }
          return bytes.subarray(0, filled);
        },
        close: () => file.close(),
      };
    },
    pathOf: (name) => join(folder, name),
    close: () => undefined,
  };
}

function isPlainName(name: string): boolean {
  return name !== '' && !/[/\\\0]/.test(name) && name !== '.' && name !== '..';
}

async function remote(url: string): Promise<ContentFolder> {
  const objects = await openObjects(url);
  return {
    async list() {
      const names: string[] = [];
      for await (const { name } of objects.list()) names.push(name);
      return names;
    },
    async open(name) {
      if (!isPlainName(name)) return undefined;
      const size = await objects.sizeOf(name);
      if (size === undefined) return undefined;
      return {
        size,
        read: (fromByte, toByte) => objects.read(name, fromByte, Math.min(toByte, size)),
        close: async () => undefined,
      };
    },
    pathOf: (name) => `${objects.url}/${name}`,
    close: () => objects.close(),
  };
}
