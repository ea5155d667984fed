// Translates file system errors.
// Promise: the message has the folder, the reason and what to do; the cause is kept.
import { CrawlError } from '../errors.js';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const LIBRARY_REMEDY = 'choose another folder with ORCRAWL_STORAGE_DIR or storageClientOptions.localDataDirectory';

/** A failed write as STORAGE_FULL, KEY_INVALID or STORAGE_UNWRITABLE. */
export function asStorageError(thrown: unknown, path: string, elsewhere = LIBRARY_REMEDY): CrawlError {
  if (thrown instanceof CrawlError) return thrown;
  const { code, message } = thrown as NodeJS.ErrnoException;
  const options = { cause: thrown };
  if (code !== undefined && FULL.has(code)) {
    return new CrawlError(
      'STORAGE_FULL',
      `the disk is full, cannot write ${path}: free some space and run again`,
      options,
    );
  }
  if (code === 'ENAMETOOLONG') {
    return new CrawlError('KEY_INVALID', `file name too long: ${path}`, options);
  }
  if (code === 'EEXIST' || code === 'ENOTDIR') {
    return new CrawlError(
      'STORAGE_UNWRITABLE',
      `cannot write to ${path} (${code}): it or its parent is not a folder; ${elsewhere}`,
      options,
    );
  }
  return new CrawlError(
    'STORAGE_UNWRITABLE',
    `cannot write to ${path} (${code ?? message}): check its permissions, or ${elsewhere}`,
    options,
  );
}

export function isMissing(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === 'ENOENT';
}

/** For `catch`: a missing file is undefined, everything else still fails. */
export function ignoreMissing(thrown: unknown): undefined {
  if (!isMissing(thrown)) throw thrown;
  return undefined;
}
