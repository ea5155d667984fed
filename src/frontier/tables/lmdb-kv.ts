// LMDB behind the tables of kv.ts: the only place that uses lmdb-js, and that translates its errors.
// A commit survives the process; each commit flushes the disk, so that a machine crash loses only the last
// moments and never the order of the rest (docs/decisions/002-embedded-frontier.md).
import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PRIVATE_FOLDER, PRIVATE_LMDB } from '../../base/private-files.js';
import type { Database, RootDatabase } from 'lmdb';
import { checkLmdbFolder } from '../../base/lmdb-file.js';
import { afterOtherThreads, createTransactions, SHARED_WRITERS } from '../../base/lmdb-shared.js';
import { CrawlError } from '../../errors.js';
import { type Kv, type Table, TABLE_KEYS, TABLE_NAMES, type Tables } from './kv.js';

interface Key {
  major: number;
  minor: number;
}

type LmdbTable = Database<Buffer, never>;

/** Opens the environment in a folder, created if missing. `alone`: no other process writes to it. */
export async function openLmdbKv(path: string, options: { alone: boolean }): Promise<Kv> {
  const translate = (error: unknown): CrawlError => translated(error, path);
  let environment: RootDatabase;
  let tables: Tables;
  let transaction: ReturnType<typeof createTransactions>;
  try {
    mkdirSync(path, PRIVATE_FOLDER);
    await afterOtherThreads(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    // lmdb-js kills the process if a file is damaged or cannot be opened.
    checkLmdbFolder(path);
    // createRequire: loaded on first use, and also from the CommonJS build of a consumer.
    const lmdb = createRequire(import.meta.url)('lmdb') as typeof import('lmdb');
    environment = lmdb.open({
      path,
      maxDbs: TABLE_NAMES.length,
      encoding: 'binary',
      noSubdir: false,
      ...PRIVATE_LMDB,
      ...(options.alone ? { eventTurnBatching: false } : SHARED_WRITERS),
    });
    transaction = createTransactions(environment, path, options);
    tables = Object.fromEntries(TABLE_NAMES.map((name) => [name, openTable(environment, name)])) as unknown as Tables;
  } catch (error) {
    throw translate(error);
  }

  return {
    tables,
    async transact<T>(body: () => T): Promise<T> {
      // Our own errors pass unchanged; only the store's are translated.
      try {
        return await transaction(body);
      } catch (error) {
        throw translate(await rootCause(error));
      }
    },
    async close() {
      await environment.close();
    },
  };
}

function openTable(environment: RootDatabase, name: keyof typeof TABLE_KEYS): Table {
  const [majorBytes, minorBytes] = TABLE_KEYS[name];
  const keyEncoder = {
    writeKey(key: Key, target: Uint8Array, start: number): number {
      return writeHalf(key.minor, minorBytes, target, writeHalf(key.major, majorBytes, target, start));
    },
    readKey(source: Uint8Array, start: number): Key {
      return {
        major: readHalf(majorBytes, source, start),
        minor: readHalf(minorBytes, source, start + majorBytes),
      };
    },
  };
  const encoder = { encode: (value: Buffer) => value, decode: asBuffer };
  const table = environment.openDB({ name, keyEncoder, encoder } as never) as unknown as LmdbTable;
  // Keys are encoded at once, so one object can be reused.
  const scratch: Key = { major: 0, minor: 0 };
  const at = (major: number, minor: number): never => {
    scratch.major = major;
    scratch.minor = minor;
    return scratch as never;
  };
  return {
    get: (major, minor) => table.get(at(major, minor)),
    put(major, minor, value) {
      void table.put(at(major, minor), value);
    },
    remove(major, minor) {
      void table.remove(at(major, minor));
    },
    scan(major, minor, lastMajor, visit) {
      const range = table.getRange({ start: { major, minor } as never, snapshot: false });
      for (const { key, value } of range) {
        const { major: rowMajor, minor: rowMinor } = key as Key;
        if (rowMajor > lastMajor || visit(rowMajor, rowMinor, value) === false) return;
      }
    },
    clear() {
      table.clearSync();
    },
  };
}

/**
 * lmdb-js lends its one read buffer, whose `length` differs from its byteLength, or a plain array over the map for
 * large values. Valid until the next read.
 */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes.subarray(0, bytes.length)
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function writeHalf(value: number, bytes: number, target: Uint8Array, start: number): number {
  let at = start;
  if (bytes === 6) {
    const high = Math.floor(value / 0x1_0000_0000);
    target[at++] = high >>> 8;
    target[at++] = high;
  }
  if (bytes >= 4) {
    target[at++] = value >>> 24;
    target[at++] = value >>> 16;
    target[at++] = value >>> 8;
  }
  if (bytes >= 1) target[at++] = value;
  return at;
}

function readHalf(bytes: number, source: Uint8Array, start: number): number {
  let value = 0;
  for (let i = 0; i < bytes; i++) value = value * 256 + source[start + i]!;
  return value;
}

/** lmdb-js reports a failed commit with a promise of its reason. */
async function rootCause(error: unknown): Promise<unknown> {
  const reason = (error as { commitError?: Promise<unknown> }).commitError;
  if (!reason) return error;
  // The reason may never come: then the failure itself is used.
  const told = await Promise.race([
    Promise.resolve(reason).then(
      () => error,
      (cause: unknown) => cause,
    ),
    new Promise((resolve) => setTimeout(resolve, 1_000, error).unref()),
  ]);
  return told ?? error;
}

const MDB_MAP_FULL = -30792;
const CORRUPT_CODES = new Set([-30797, -30796, -30793]); // page not found, corrupted, invalid
const FULL_CODES = new Set<unknown>(['ENOSPC', 'EDQUOT', MDB_MAP_FULL, 28, 122]);
const UNWRITABLE_CODES = new Set<unknown>([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'EEXIST',
  'EISDIR',
  13,
  1,
  30,
  20,
  17,
]);
/** With less space no transaction fits, whatever error the library reports. */
const LEAST_FREE_BYTES = 1_048_576;

function translated(error: unknown, path: string): CrawlError {
  if (error instanceof CrawlError) return error;
  const { code, message } = error as { code?: unknown; message?: string };
  if (FULL_CODES.has(code) || /no space left/i.test(message ?? '') || isFull(path)) {
    return new CrawlError('STORAGE_FULL', `the disk of the queue at ${path} is full: free some space and run again`, {
      cause: error,
    });
  }
  if (UNWRITABLE_CODES.has(code) || /permission denied|read-only/i.test(message ?? '')) {
    return new CrawlError('STORAGE_UNWRITABLE', `cannot write the queue at ${path}: ${message}`, { cause: error });
  }
  if (CORRUPT_CODES.has(code as number) || /MDB_(CORRUPTED|INVALID|PAGE_NOTFOUND)/.test(message ?? '')) {
    return new CrawlError(
      'QUEUE_CORRUPT',
      `the queue at ${path} is damaged (${message}): start fresh with another queue or an empty folder`,
      { cause: error },
    );
  }
  return new CrawlError('QUEUE_CORRUPT', `the queue at ${path} failed: ${message}`, { cause: error });
}

function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize < LEAST_FREE_BYTES;
  } catch {
    return false;
  }
}
