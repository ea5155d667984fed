// The `orcrawl/postgres` entry: a StorageClient on PostgreSQL 15 or newer. Written as anybody outside would write one:
// it imports the public package and `pg`, nothing else (checked by `npm run check:imports`).
import { CrawlError, log, type StorageClient } from '../index.js';
import { createConnection } from './connection.js';
import { openPostgresFrontier, type PostgresFrontier } from './frontier.js';
import { createHosts } from './hosts.js';
import { setUpSchema } from './schema.js';
import { createRecords, createSegments } from './stores.js';

/** Where and how to keep queues, datasets and records in Postgres. */
export interface PostgresStorageOptions {
  /** `postgres://user:password@host:5432/database`, with the parameters that the package `pg` knows (`sslmode`, …). */
  readonly url: string;
  /** The schema of all tables; it is made when missing. Default `orcrawl`. */
  readonly schema?: string;
  /**
   * `synchronous_commit` of our sessions: `on` keeps every confirmed call through a crash of the server, `remote_apply`
   * also through a failover to a synchronous standby, `off` is faster and may lose the last moments. Default: what the
   * server or the role says.
   */
  readonly synchronousCommit?: 'on' | 'off' | 'local' | 'remote_write' | 'remote_apply';
  /** How long a server that is away is waited for before a call fails with `QUEUE_UNREACHABLE`. Default 60. */
  readonly patienceSecs?: number;
}

/** Queues, datasets and key-value stores in Postgres. */
export interface PostgresStorage extends StorageClient {
  openFrontier(opening: Parameters<StorageClient['openFrontier']>[0]): Promise<PostgresFrontier>;
  openHosts: NonNullable<StorageClient['openHosts']>;
  /** Closes the connection of datasets and records. Queues are closed by whoever opened them. */
  close(): Promise<void>;
}

export type { PostgresFrontier } from './frontier.js';

/**
 * A place in Postgres for everything that crawlers keep, shared by any number of processes and machines. Nothing connects
 * before the first use; the package `pg` must be installed.
 *
 * @example
 * const storageClient = createPostgresStorage({ url: 'postgres://crawler@localhost/crawl' });
 * const crawler = new CheerioCrawler({ requestHandler }, new Configuration({ storageClient }));
 */
export function createPostgresStorage(options: PostgresStorageOptions): PostgresStorage {
  const { url, schema = 'orcrawl', synchronousCommit, patienceSecs = 60 } = options;
  if (typeof url !== 'string') throw new CrawlError('OPTION_INVALID', 'url must be a postgres:// URL');
  if (!/^[A-Za-z_]\w{0,62}$/.test(schema)) {
    throw new CrawlError('OPTION_INVALID', `invalid schema name "${schema}": use letters, digits and "_", 63 at most`);
  }
  const told = new Set<string>();
  const warn = (message: string): void => {
    if (!told.has(message)) log.warning(message);
    told.add(message);
  };
  const common = { url, schema, synchronousCommit, patienceMs: patienceSecs * 1_000 };
  const connection = createConnection({
    ...common,
    otherwise: 'STORAGE_UNWRITABLE',
    onConnect: async (run) => void (await setUpSchema(run, schema, connection.where)),
  });
  return {
    openFrontier: (opening) => openPostgresFrontier(opening, { ...common, warn }),
    openHosts: async (queueId) => createHosts(connection, queueId),
    segments: (datasetId) => createSegments(connection, datasetId),
    records: (storeId) => createRecords(connection, storeId),
    close: () => connection.close(),
  };
}
