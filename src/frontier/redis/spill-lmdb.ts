// The tail of long domains on disk: requests under their domain and position, in LMDB, beside one pod's other state.
// What `write` resolved is on the disk and not only in the system's memory; writing a position again changes nothing.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { CrawlError } from '../../errors.js';

export interface SpilledRequest {
  readonly position: number;
  readonly value: Buffer;
}

export interface SpillStore {
  write(rows: readonly (SpilledRequest & { readonly domain: Buffer })[]): Promise<void>;
  /** The next of a domain at or after a position, in order. */
  read(domain: Buffer, from: number, count: number): SpilledRequest[];
  /** Removes a domain's requests before a position. */
  forget(domain: Buffer, before: number): Promise<void>;
  close(): Promise<void>;
}

export function openSpillStore(folder: string): SpillStore {
  const where = `requests spilled to ${folder}`;
  const fail = (error: unknown): CrawlError => {
    const { code, message } = error as { code?: unknown; message?: string };
    const isFull = code === 'ENOSPC' || code === 28 || /no space/i.test(message ?? '');
    return new CrawlError(isFull ? 'STORAGE_FULL' : 'STORAGE_UNWRITABLE', `${where}: ${message}`, { cause: error });
  };
  let database: import('lmdb').RootDatabase<Buffer, Buffer>;
  try {
    mkdirSync(folder, { recursive: true });
    const lmdb = createRequire(import.meta.url)('lmdb') as typeof import('lmdb');
    database = lmdb.open<Buffer, Buffer>({ path: folder, encoding: 'binary', keyEncoding: 'binary', noSubdir: false });
  } catch (error) {
    throw fail(error);
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
    read(domain, from, count) {
      const name = nameOf(domain);
      const range = database.getRange({ start: keyOf(name, from), end: keyOf(name, LAST), limit: count });
      return Array.from(range, ({ key, value }) => ({
        position: Number(key.readBigUInt64BE(8)),
        // lmdb lends its buffer until the next read.
        value: Buffer.from(value.subarray(0, value.length)),
      }));
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
    close: () => database.close(),
  };
}

const LAST = Number.MAX_SAFE_INTEGER;

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
