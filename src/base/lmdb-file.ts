// Looks at an LMDB file before lmdb-js opens it: lmdb-js ends the whole process on a file that is foreign or cut short.
// Promise: a file that is reported `whole` can be mapped without running past its end.
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../errors.js';
import { lmdbProblem } from './lmdb-pages.js';

export type LmdbFileState = 'missing' | 'whole' | 'foreign' | 'truncated';

const MAGIC = 0xbeefc0de;
/** Within a meta page: after the page's own header. */
const MAGIC_AT = 24;
const PAGE_BYTES_AT = MAGIC_AT + 24;
const LAST_PAGE_AT = MAGIC_AT + 120;
const TRANSACTION_AT = MAGIC_AT + 128;
const META_BYTES = TRANSACTION_AT + 8;
const MAX_PAGE_BYTES = 65_536;

/** An empty file counts as missing: LMDB makes it anew. Throws where the file cannot be opened for writing. */
export function lmdbFileState(file: string): LmdbFileState {
  for (let tries = 1; ; tries++) {
    const state = stateNow(file);
    if (state === 'missing' || state === 'whole' || tries === TRIES) return state;
    // Another process may be making the file, or writing to it, at this very moment.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
}

const TRIES = 5;
const PAUSE_MS = 10;

function stateNow(file: string): LmdbFileState {
  if (!existsSync(file)) return 'missing';
  const descriptor = openSync(file, 'r+');
  try {
    if (fstatSync(descriptor).size === 0) return 'missing';
    const first = readMeta(descriptor, 0);
    if (!first || first.pageBytes < 256 || first.pageBytes > MAX_PAGE_BYTES) return 'foreign';
    const second = readMeta(descriptor, first.pageBytes);
    // Read last: the file grows before a meta page says so.
    const { size } = fstatSync(descriptor);
    if (!second) return size < 2 * first.pageBytes ? 'truncated' : 'foreign';
    const { lastPage } = second.transaction > first.transaction ? second : first;
    return BigInt(size) >= (lastPage + 1n) * BigInt(first.pageBytes) ? 'whole' : 'truncated';
  } finally {
    closeSync(descriptor);
  }
}

/** Throws `QUEUE_CORRUPT`, naming the file, unless a folder's database is whole or not made yet. */
export function checkLmdbFolder(folder: string): void {
  const lock = join(folder, 'lock.mdb');
  if (existsSync(lock)) closeSync(openSync(lock, 'r+'));
  const file = join(folder, 'data.mdb');
  const state = lmdbFileState(file);
  if (state === 'missing' || state === 'whole') return;
  const what = state === 'foreign' ? 'is not a database of orcrawl' : 'is cut short: a part of its data is missing';
  throw new CrawlError('QUEUE_CORRUPT', `${file} ${what}. Restore it from a backup, or start fresh in another folder`);
}

/** Up to here all pages are looked at, which takes some tenths of a second; beyond, those that lead to others. */
const LOOK_AT_ALL_BYTES = 64 * 1024 * 1024;

/**
 * What is wrong with a file, or undefined. Unlike `lmdbFileState` it tells a file that lost data from one whose last
 * pages were taken by a transaction and given back unwritten, by looking at every page that can be reached.
 */
export function lmdbDamage(file: string): string | undefined {
  const state = lmdbFileState(file);
  if (state === 'missing') return undefined;
  if (state === 'foreign') return 'it is not a database of orcrawl';
  const descriptor = openSync(file, 'r');
  let size: number;
  let pageBytes: number | undefined;
  try {
    size = fstatSync(descriptor).size;
    pageBytes = readMeta(descriptor, 0)?.pageBytes;
  } finally {
    closeSync(descriptor);
  }
  if (pageBytes === undefined || size < 2 * pageBytes) return 'it is cut short';
  const walk = state === 'truncated' || size <= LOOK_AT_ALL_BYTES ? 'all' : 'branches';
  return lmdbProblem(file, pageBytes, walk);
}

interface Meta {
  readonly pageBytes: number;
  readonly lastPage: bigint;
  readonly transaction: bigint;
}

function readMeta(descriptor: number, at: number): Meta | undefined {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(descriptor, bytes, 0, META_BYTES, at) < META_BYTES || bytes.readUInt32LE(MAGIC_AT) !== MAGIC) {
    return undefined;
  }
  return {
    pageBytes: bytes.readUInt32LE(PAGE_BYTES_AT),
    lastPage: bytes.readBigUInt64LE(LAST_PAGE_AT),
    transaction: bytes.readBigUInt64LE(TRANSACTION_AT),
  };
}
