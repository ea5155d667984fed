// What is known of hosts (robots.txt rules, failures), in Postgres: shared by all processes of a crawl, kept between runs.
// A record that cannot be read costs one more robots.txt.
import type { HostRecord, HostStore } from '../index.js';
import type { Connection } from './connection.js';

/** So many writes wait at most; then the oldest are dropped, which costs a robots.txt each. */
const MOST_WAITING = 1_000;

export function createHosts(connection: Connection, queue: string): HostStore {
  const waiting = new Map<string, HostRecord>();
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    while (waiting.size > 0) {
      const [host, record] = waiting.entries().next().value!;
      try {
        await connection.query(
          `INSERT INTO hosts (queue, host, record) VALUES ($1, $2, $3)
           ON CONFLICT (queue, host) DO UPDATE SET record = excluded.record, claimed_until = NULL`,
          [queue, host, JSON.stringify(record)],
        );
      } catch {
        // The crawl's own calls report a server that is away.
      }
      if (waiting.get(host) === record) waiting.delete(host);
    }
    writing = undefined;
  }

  return {
    async get(host) {
      const own = waiting.get(host);
      if (own) return own;
      const [row] = await connection.query('SELECT record FROM hosts WHERE queue = $1 AND host = $2', [queue, host]);
      try {
        return row?.record ? (JSON.parse(row.record as string) as HostRecord) : undefined;
      } catch {
        return undefined;
      }
    },
    put(host, record) {
      waiting.delete(host);
      waiting.set(host, record);
      if (waiting.size > MOST_WAITING) waiting.delete(waiting.keys().next().value!);
      writing ??= write();
    },
    async claim(host, ms) {
      const rows = await connection.query(
        `INSERT INTO hosts (queue, host, claimed_until) VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms')
         ON CONFLICT (queue, host) DO UPDATE SET claimed_until = excluded.claimed_until
         WHERE hosts.claimed_until IS NULL OR hosts.claimed_until < clock_timestamp() RETURNING 1`,
        [queue, host, ms],
      );
      return rows.length > 0;
    },
    async close() {
      await writing;
    },
  };
}
