// The file of a page memory: opened after a look at its pages, with errors that name the folder.
// Promise: a damaged file is refused, since the database would end the whole process at a page that is missing.
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { RootDatabase } from 'lmdb';
import { lmdbDamage } from '../../base/lmdb-file.js';
import { SHARED_WRITERS } from '../../base/lmdb-shared.js';
import { PRIVATE_FOLDER, PRIVATE_LMDB } from '../../base/private-files.js';
import { CrawlError } from '../../errors.js';

/** The folder is created if missing. */
export function openMemoryFile(folder: string, shared: boolean): RootDatabase {
  try {
    mkdirSync(folder, PRIVATE_FOLDER);
    const damage = lmdbDamage(path.join(folder, 'data.mdb'));
    if (damage !== undefined) throw damaged(folder, damage);
    const lmdb = createRequire(import.meta.url)('lmdb') as typeof import('lmdb');
    return lmdb.open({
      path: folder,
      maxDbs: 9,
      noSubdir: false,
      ...PRIVATE_LMDB,
      ...(shared ? SHARED_WRITERS : { eventTurnBatching: false }),
    });
  } catch (error) {
    throw memoryError(error, folder);
  }
}

function damaged(folder: string, problem: string, cause?: unknown): CrawlError {
  return new CrawlError(
    'QUEUE_CORRUPT',
    `the page memory in ${folder} is damaged (${problem}). Restore it from a backup, or delete the folder: ` +
      'then the next crawl treats every page as new',
    { cause },
  );
}

/** What the database says, by a code. */
export function memoryError(error: unknown, folder: string): CrawlError {
  if (error instanceof CrawlError) return error;
  const { message } = error as Error;
  if (error instanceof SyntaxError || /MDB_(?!MAP_FULL)[A-Z]/.test(message)) return damaged(folder, message, error);
  const isFull = /MDB_MAP_FULL|No space left|ENOSPC/.test(message);
  return new CrawlError(
    isFull ? 'STORAGE_FULL' : 'STORAGE_UNWRITABLE',
    `cannot write the page memory in ${folder}: ${message}`,
    { cause: error },
  );
}
