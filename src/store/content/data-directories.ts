// The data directories of a crawl as one process sees them: which are written to, which failed and why.
// Promise: one that failed for pages is left out for items too, and is not used again in this life of the process.
import { access, constants, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FOLDER } from '../../base/private-files.js';
import { CrawlError } from '../../errors.js';
import { CONTENT_FOLDER } from './names.js';
import { asStorageError, isMissing } from '../storage-errors.js';

/** Makes the folders that mark a data directory as one: workers write only where they are. */
export async function makeDirectory(path: string): Promise<void> {
  await mkdir(join(path, CONTENT_FOLDER), PRIVATE_FOLDER);
}

/** STORAGE_LOST when the directory is not what `makeDirectory` made: deleted, or its disk is not mounted any more. */
export async function checkDirectory(path: string): Promise<void> {
  const folder = join(path, CONTENT_FOLDER);
  try {
    await access(folder, constants.W_OK);
  } catch (error) {
    if (!isMissing(error)) throw asStorageError(error, folder);
    throw new CrawlError('STORAGE_LOST', `${folder} is gone: was it deleted, is its disk mounted?`, { cause: error });
  }
}

export interface DataDirectories {
  readonly paths: readonly string[];
  /** Those that are written to. */
  readonly inUse: readonly string[];
  isInUse(path: string): boolean;
  /** One of them lost files that it had. */
  readonly hasLost: boolean;
  /**
   * The directory at `home`, or the next one that works. When none is left: STORAGE_LOST if one of them lost
   * files, else STORAGE_FULL.
   */
  choose(home: number): string;
  /** Leaves a directory out from now on, and says so; `at` is what could not be written. */
  retire(path: string, error: unknown, at?: string): void;
  /** Each directory and what is wrong with it. */
  describe(): string;
}

export function createDataDirectories(
  paths: readonly string[],
  warn: (message: string) => void,
  error: (message: string) => void = warn,
): DataDirectories {
  const failures = new Map<string, CrawlError>();
  const inUse = (): string[] => paths.filter((path) => !failures.has(path));

  const hasLost = (): boolean => [...failures.values()].some(({ code }) => code === 'STORAGE_LOST');

  const describe = (): string =>
    paths.map((path) => `${path}: ${failures.has(path) ? reasonOf(failures.get(path)!) : 'in use'}`).join('; ');

  return {
    paths,
    get inUse() {
      return inUse();
    },
    get hasLost() {
      return hasLost();
    },
    isInUse: (path) => !failures.has(path),
    choose(home) {
      for (let step = 0; step < paths.length; step++) {
        const path = paths[(home + step) % paths.length]!;
        if (!failures.has(path)) return path;
      }
      if (hasLost()) {
        throw new CrawlError('STORAGE_LOST', `no data directory is left to write to (${describe()})`);
      }
      throw new CrawlError(
        'STORAGE_FULL',
        `no data directory is left: free some space, then run again (${describe()})`,
      );
    },
    retire(path, thrown, at = path) {
      if (failures.has(path)) return;
      const failure = asStorageError(thrown, at);
      failures.set(path, failure);
      const say = failure.code === 'STORAGE_LOST' ? error : warn;
      say(`data directory ${path} is left out from now on (${reasonOf(failure)}); ${inUse().length} left`);
    },
    describe,
  };
}

function reasonOf(failure: CrawlError): string {
  const { code } = (failure.cause ?? {}) as NodeJS.ErrnoException;
  return code === undefined ? `${failure.code}: ${failure.message}` : `${failure.code}, ${code}`;
}
