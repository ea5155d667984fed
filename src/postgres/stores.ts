// Datasets and key-value stores in Postgres. A segment is a row with its length, and its lines in pieces as they were
// appended; its writer appends only behind the length that it knows, so a second writer and a cleared store are noticed.
import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { CrawlError, type RecordStore, type SegmentStore, type SegmentWriter } from '../index.js';
import type { Connection } from './connection.js';

export function createSegments(connection: Connection, dataset: string): SegmentStore {
  const { query } = connection;

  /** `id` is undefined until the first append of a new segment. */
  function writerOf(name: string, token: string, known: { id: string | undefined; length: number }): SegmentWriter {
    let { id } = known;
    let lengthBytes = known.length;
    let isClosed = false;
    let last: Promise<unknown> = Promise.resolve();
    const inOrder = <T>(act: () => Promise<T>): Promise<T> => {
      const mine = last.then(act);
      last = mine.catch(() => undefined);
      return mine;
    };
    function refuse(): never {
      throw new CrawlError(
        'STORAGE_UNWRITABLE',
        `${name} of dataset ${dataset} takes no more lines: it was closed or cleared`,
      );
    }
    return {
      name,
      get lengthBytes() {
        return lengthBytes;
      },
      append: (lines) =>
        inOrder(async () => {
          if (isClosed) refuse();
          const bytes = Buffer.from(lines as string);
          if (bytes.length === 0) return;
          if (bytes.at(-1) !== NEWLINE) throw new CrawlError('ITEM_INVALID', 'a line must end in a newline');
          if (id === undefined) {
            const made = await query(
              `INSERT INTO segments (dataset, name, writer) VALUES ($1, $2, $3)
               ON CONFLICT (dataset, name) DO UPDATE SET writer = segments.writer WHERE segments.writer = excluded.writer
               RETURNING id`,
              [dataset, name, token],
            );
            id = (made[0]?.id as string | undefined) ?? refuse();
          }
          const appended = await query(APPEND, [id, lengthBytes, bytes]);
          if (appended.length === 0) refuse();
          lengthBytes += bytes.length;
        }),
      cutTo: (length) =>
        inOrder(async () => {
          if (isClosed) refuse();
          if (length >= lengthBytes || id === undefined) return;
          const cut = await query(CUT, [id, length]);
          if (cut.length === 0) refuse();
          lengthBytes = length;
        }),
      close: () => inOrder(async () => void (isClosed = true)),
    };
  }

  const clear = async (): Promise<void> =>
    void (await query(
      `WITH gone AS (DELETE FROM segments WHERE dataset = $1 RETURNING id)
       DELETE FROM lines USING gone WHERE lines.segment = gone.id`,
      [dataset],
    ));

  return {
    prepare: async () => void (await query('SELECT 1')),
    async list() {
      const rows = await query(
        `SELECT name, length, extract(epoch FROM created_at) * 1000 AS created, extract(epoch FROM modified_at) * 1000 AS modified
         FROM segments WHERE dataset = $1 AND length > 0 ORDER BY name`,
        [dataset],
      );
      return rows.map((row) => ({
        name: row.name as string,
        lengthBytes: Number(row.length),
        createdAtMs: Number(row.created),
        modifiedAtMs: Number(row.modified),
      }));
    },
    async read(name, fromByte, toByte) {
      const rows = await query(
        `SELECT l.from_byte, l.bytes FROM segments s JOIN lines l ON l.segment = s.id
         WHERE s.dataset = $1 AND s.name = $2 AND l.from_byte < $4
           AND l.from_byte >= coalesce((SELECT max(m.from_byte) FROM lines m WHERE m.segment = s.id AND m.from_byte <= $3), 0)
         ORDER BY l.from_byte`,
        [dataset, name, fromByte, toByte],
      );
      return Buffer.concat(
        rows.map((row) => {
          const at = Number(row.from_byte);
          return (row.bytes as Buffer).subarray(Math.max(0, fromByte - at), Math.max(0, toByte - at));
        }),
      );
    },
    async openDirect() {
      // The name is taken at once, so that it never repeats; nothing is listed before the first append.
      const token = randomUUID();
      const [row] = await query(
        `INSERT INTO segments (dataset, name, writer)
         SELECT $1, lpad(n::text, greatest(6, length(n::text)), '0') || '-direct-' || $2 || '.jsonl', $2 FROM (
           SELECT coalesce(max(substring(name FROM '^[0-9]+')::bigint), 0) + 1 AS n FROM segments WHERE dataset = $1) next
         RETURNING id, name`,
        [dataset, token],
      );
      return writerOf(row!.name as string, token, { id: row!.id as string, length: 0 });
    },
    async openVisit(name) {
      const token = randomUUID();
      const [row] = await query('SELECT id, length FROM segments WHERE dataset = $1 AND name = $2', [dataset, name]);
      return writerOf(name, token, { id: row?.id as string | undefined, length: Number(row?.length ?? 0) });
    },
    clear,
    remove: clear,
  };
}

const NEWLINE = 0x0a;

/** Behind the known length; made again after its answer was lost, it finds its piece there. */
const APPEND = `WITH grown AS (
    UPDATE segments SET length = length + length($3::bytea), modified_at = clock_timestamp()
    WHERE id = $1 AND length = $2::bigint RETURNING id
  ), piece AS (
    INSERT INTO lines SELECT id, $2, $3 FROM grown RETURNING 1
  ) SELECT 1 FROM piece UNION ALL
  SELECT 1 FROM lines WHERE segment = $1 AND from_byte = $2::bigint AND bytes = $3::bytea
    AND NOT EXISTS (SELECT 1 FROM grown)`;

const CUT = `WITH cut AS (
    UPDATE segments SET length = least(length, $2::bigint), modified_at = clock_timestamp() WHERE id = $1 RETURNING id
  ), gone AS (
    DELETE FROM lines USING cut WHERE segment = cut.id AND from_byte >= $2::bigint
  ), shortened AS (
    UPDATE lines SET bytes = substring(bytes FROM 1 FOR ($2::bigint - from_byte)::integer) FROM cut
    WHERE segment = cut.id AND from_byte < $2::bigint AND from_byte + length(bytes) > $2::bigint
  ) SELECT 1 FROM cut`;

export function createRecords(connection: Connection, store: string): RecordStore {
  const { query } = connection;
  return {
    prepare: async () => void (await query('SELECT 1')),
    async read(key) {
      const [row] = await query('SELECT body, content_type FROM records WHERE store = $1 AND key = $2', [store, key]);
      return row && { body: row.body as Buffer, contentType: row.content_type as string };
    },
    async write(key, body, contentType) {
      const bytes = body instanceof Uint8Array ? Buffer.from(body) : await buffer(body);
      await query(
        `INSERT INTO records (store, key, content_type, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT (store, key) DO UPDATE SET content_type = excluded.content_type, body = excluded.body`,
        [store, key, contentType, bytes],
      );
    },
    delete: async (key) => void (await query('DELETE FROM records WHERE store = $1 AND key = $2', [store, key])),
    has: async (key) => (await query('SELECT 1 FROM records WHERE store = $1 AND key = $2', [store, key])).length > 0,
    async list() {
      const rows = await query('SELECT key, length(body) AS size FROM records WHERE store = $1 ORDER BY key', [store]);
      return rows.map((row) => ({ key: row.key as string, sizeBytes: Number(row.size) }));
    },
    remove: async () => void (await query('DELETE FROM records WHERE store = $1', [store])),
  };
}
