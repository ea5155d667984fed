// Names what went wrong with a file, where the file system is called.
// Promise: the folder, the reason and what to do are in the message; the cause is kept.
import { CrawlError } from '../errors.js';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const LIBRARY_REMEDY = 'choose another folder with ORCRAWL_STORAGE_DIR or storageClientOptions.localDataDirectory';

/** A failed write as STORAGE_FULL, KEY_INVALID or STORAGE_UNWRITABLE. */
export function asStorageError(thrown: unknown, path: string, elsewhere = LIBRARY_REMEDY): CrawlError {
  if (thrown instanceof CrawlError) return thrown;
  const { code, message } = thrown as NodeJS.ErrnoException;
  const options = { cause: thrown };
  if (code !== undefined && FULL.has(code)) {
    return new CrawlError('STORAGE_FULL', `no space left for ${path}: free some, then run again`, options);
  }
  if (code === 'ENAMETOOLONG') {
    return new CrawlError('KEY_INVALID', `the file system has no room for a name this long: ${path}`, options);
  }
  if (code === 'EEXIST' || code === 'ENOTDIR') {
    return new CrawlError(
      'STORAGE_UNWRITABLE',
      `cannot write to ${path} (${code}): it, or what it would be in, is not a folder; ${elsewhere}`,
      options,
    );
  }
  return new CrawlError(
    'STORAGE_UNWRITABLE',
    `cannot write to ${path} (${code ?? message}): allow this user to write there, or ${elsewhere}`,
    options,
  );
}

export function isMissing(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === 'ENOENT';
}
