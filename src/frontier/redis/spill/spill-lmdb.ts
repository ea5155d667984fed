// The tail of long domains on disk: requests under their domain and position, in LMDB, beside one pod's other state.
// What `write` resolved is on the disk and not only in the system's memory; writing a position again changes nothing.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PRIVATE_FOLDER, PRIVATE_LMDB } from '../../../base/private-files.js';
import { checkLmdbFolder, lmdbFileState } from '../../../base/lmdb-file.js';
import { CrawlError } from '../../../errors.js';

export interface SpilledRequest {
  readonly position: number;
  readonly value: Buffer;
}

/** Positions from the first up to the second count for nothing. */
export type Gap = readonly [from: number, to: number];

export interface SpillStore {
  write(rows: readonly (SpilledRequest & { readonly domain: Buffer })[]): Promise<void>;
  /** The next of a domain at or after one position and before another, in order, without those in gaps. */
  read(domain: Buffer, range: { from: number; before: number; gaps: readonly Gap[] }, count: number): SpilledRequest[];
  /** Removes a domain's requests before a position. */
  forget(domain: Buffer, before: number): Promise<void>;
  /** Removes every request. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Not as long as any row's key. */
const OWNER_KEY = Buffer.from([0]);

/**
 * Opens the tail of one store, made when missing. `storedRows`: requests that must be there already.
 *
 * Throws `QUEUE_CORRUPT` when they are missing, damaged or belong to another store.
 */
export function openSpillStore(folder: string, storeId: Buffer, storedRows: number): SpillStore {
  const where = `requests spilled to ${folder}`;
  const fail = (error: unknown): CrawlError => {
    if (error instanceof CrawlError) return error;
    const { code, message } = error as { code?: unknown; message?: string };
    const isFull = code === 'ENOSPC' || code === 28 || /no space/i.test(message ?? '');
    return new CrawlError(isFull ? 'STORAGE_FULL' : 'STORAGE_UNWRITABLE', `${where}: ${message}`, { cause: error });
  };
  let database: import('lmdb').RootDatabase<Buffer, Buffer>;
  try {
    if (storedRows > 0 && lmdbFileState(join(folder, 'data.mdb')) === 'missing') throw missing(folder, storedRows);
    mkdirSync(folder, PRIVATE_FOLDER);
    checkLmdbFolder(folder);
    const lmdb = createRequire(import.meta.url)('lmdb') as typeof import('lmdb');
    database = lmdb.open<Buffer, Buffer>({
      path: folder,
      encoding: 'binary',
      keyEncoding: 'binary',
      noSubdir: false,
      ...PRIVATE_LMDB,
    });
  } catch (error) {
    throw fail(error);
  }
  claim();

  /** A tail of another store is not ours to read; when nothing of ours is on disk, it makes room. */
  function claim(): void {
    const owner = database.get(OWNER_KEY);
    if (owner && !storeId.equals(owner) && storedRows > 0) {
      void database.close();
      throw missing(folder, storedRows, ', which holds the requests of another crawl');
    }
    if (owner && storeId.equals(owner)) return;
    database.transactionSync(() => {
      // A tail without an owner was written by orcrawl 0.1.
      if (owner || storedRows === 0) database.clearSync();
      void database.put(OWNER_KEY, storeId);
    });
  }

  return {
    async write(rows) {
      try {
        const names = new Map<string, Buffer>();
        database.transactionSync(() => {
          for (const { domain, position, value } of rows) {
            const text = domain.toString('latin1');
            let name = names.get(text);
            if (!name) names.set(text, (name = nameOf(domain)));
            void database.put(keyOf(name, position), value);
          }
        });
        await database.flushed;
      } catch (error) {
        throw fail(error);
      }
    },
    read(domain, { from, before, gaps }, count) {
      const name = nameOf(domain);
      const rows: SpilledRequest[] = [];
      let start = from;
      for (const [gapFrom, gapTo] of [...gaps, [before, before] as const]) {
        const end = Math.min(gapFrom, before);
        if (start < end) {
          const range = { start: keyOf(name, start), end: keyOf(name, end), limit: count - rows.length };
          for (const { key, value } of database.getRange(range)) {
            // lmdb lends its buffer until the next read.
            rows.push({ position: Number(key.readBigUInt64BE(8)), value: Buffer.from(value) });
          }
        }
        start = Math.max(start, gapTo);
        if (rows.length >= count) break;
      }
      return rows;
    },
    async forget(domain, before) {
      const name = nameOf(domain);
      const keys = Array.from(database.getKeys({ start: keyOf(name, 0), end: keyOf(name, before) }), (key) =>
        Buffer.from(key),
      );
      if (keys.length === 0) return;
      database.transactionSync(() => {
        for (const key of keys) void database.remove(key);
      });
    },
    async clear() {
      database.transactionSync(() => {
        database.clearSync();
        void database.put(OWNER_KEY, storeId);
      });
    },
    close: () => database.close(),
  };
}

export function missing(folder: string, rows: number, reason = ''): CrawlError {
  return new CrawlError(
    'QUEUE_CORRUPT',
    `${rows} queued requests that were moved to ${folder} are missing there${reason}. ` +
      'Restore that folder (it belongs to the state_dir of this pod), or start afresh',
  );
}

/** Names may be longer than LMDB's keys: eight bytes of a hash tell domains apart. */
function nameOf(domain: Buffer): Buffer {
  return createHash('sha1').update(domain).digest().subarray(0, 8);
}

function keyOf(name: Buffer, position: number): Buffer {
  const key = Buffer.allocUnsafe(16);
  name.copy(key, 0);
  key.writeBigUInt64BE(BigInt(position), 8);
  return key;
}
