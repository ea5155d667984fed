// One connection to Postgres: queries one after the other, a lost connection made again, and the query repeated on it.
// So every query sent through it must be one that may arrive twice. An idle connection does not keep a process alive.
import { setTimeout as sleep } from 'node:timers/promises';
import { CrawlError, type ErrorCode } from '../index.js';
import type { Client, ClientConfig } from 'pg';
import { loadPg, remedyFor, translated } from './driver.js';

export interface ConnectionOptions {
  readonly url: string;
  readonly schema: string;
  /** `synchronous_commit` of the session; undefined leaves what the server or the role says. */
  readonly synchronousCommit?: string | undefined;
  /** How long a server that is away is waited for. */
  readonly patienceMs: number;
  /** What an unexpected error is. */
  readonly otherwise: ErrorCode;
  /** On each new connection, before any query. */
  readonly onConnect?: (run: Run) => Promise<void>;
}

export type Row = Readonly<Record<string, unknown>>;
export type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface Connection {
  /** Host, port and database, without user and password. */
  readonly where: string;
  /** `values` may be a function: it is called when the query is sent, each time. */
  query(text: string, values?: readonly unknown[] | (() => readonly unknown[])): Promise<readonly Row[]>;
  close(): Promise<void>;
}

const CONNECT_MS = 10_000;
/** A server that does not answer for so long has lost the connection. */
const ANSWER_MS = 120_000;
const MOST_CONFLICTS = 20;

// Plans must not depend on statistics that a young table lacks: everything here goes through an index.
const SETTINGS = {
  jit: 'off',
  enable_seqscan: 'off',
  enable_mergejoin: 'off',
  default_transaction_isolation: 'read committed',
  client_min_messages: 'warning',
};

/** The types of `pg` lack what its clients have. */
type Referable = Client & { ref(): void; unref(): void };

export function whereOf(url: string): string {
  try {
    const { hostname, port, pathname, searchParams } = new URL(url);
    return `${hostname || searchParams.get('host') || 'localhost'}:${port || '5432'}${pathname}`;
  } catch {
    throw new CrawlError('OPTION_INVALID', 'url must be of the form postgres://user:password@host:5432/database');
  }
}

export function createConnection(options: ConnectionOptions): Connection {
  const { url, schema, synchronousCommit, patienceMs, otherwise, onConnect } = options;
  const where = whereOf(url);
  let client: Referable | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  async function connect(): Promise<Referable> {
    const { Client } = await loadPg();
    const config: ClientConfig = { connectionString: url, keepAlive: true, application_name: 'orcrawl' };
    const limits = { connectionTimeoutMillis: CONNECT_MS, query_timeout: ANSWER_MS };
    const made = new Client({ ...config, ...limits }) as Referable;
    // Told by the next query.
    made.on('error', () => drop(made));
    made.on('end', () => drop(made));
    try {
      await made.connect();
      const settings = { ...SETTINGS, ...(synchronousCommit ? { synchronous_commit: synchronousCommit } : {}) };
      const values: string[] = ['search_path', quoted(schema)];
      for (const [name, value] of Object.entries(settings)) values.push(name, value);
      const calls = values.flatMap((_, i) => (i % 2 === 0 ? [`set_config($${i + 1}, $${i + 2}, false)`] : []));
      await made.query(`SELECT ${calls.join(', ')}`, values);
      await onConnect?.(async (text, list) => (await made.query(text, list as unknown[])).rows as Row[]);
      return made;
    } catch (error) {
      drop(made);
      throw error;
    }
  }

  function drop(gone: Client): void {
    if (client === gone) client = undefined;
    gone.removeAllListeners('end');
    // A client that never connected has nothing to end; one that hangs is cut.
    gone.end().catch(() => undefined);
    (gone as unknown as { connection?: { stream?: { destroy?(): void } } }).connection?.stream?.destroy?.();
  }

  async function attempt(text: string, values: readonly unknown[] | (() => readonly unknown[])): Promise<Row[]> {
    client ??= await connect();
    const using = client;
    using.ref();
    try {
      const list = (typeof values === 'function' ? values() : values) as unknown[];
      return (await using.query({ name: nameOf(text), text, values: list })).rows as Row[];
    } catch (error) {
      if (remedyFor(error) === 'reconnect') drop(using);
      throw error;
    } finally {
      using.unref();
    }
  }

  async function persist(text: string, values: readonly unknown[] | (() => readonly unknown[])): Promise<Row[]> {
    const deadlineMs = performance.now() + patienceMs;
    for (let tries = 1; ; tries++) {
      if (isClosed) throw new CrawlError('QUEUE_CLOSED', `the connection to Postgres at ${where} has been closed`);
      try {
        return await attempt(text, values);
      } catch (error) {
        const remedy = error instanceof CrawlError ? 'none' : remedyFor(error);
        if (remedy === 'none' || (remedy === 'repeat' && tries >= MOST_CONFLICTS)) {
          throw translated(error, where, otherwise);
        }
        if (performance.now() > deadlineMs) {
          const message = `Postgres at ${where} cannot be reached: ${(error as Error).message || (error as { code?: string }).code}`;
          throw new CrawlError('QUEUE_UNREACHABLE', message, { cause: error });
        }
        await sleep(Math.min(1_000, remedy === 'repeat' ? 2 * tries : 25 * 2 ** Math.min(tries, 6)));
      }
    }
  }

  return {
    where,
    query(text, values = []) {
      const mine = last.then(() => persist(text, values));
      last = mine.catch(() => undefined);
      return mine;
    },
    async close() {
      await last;
      isClosed = true;
      const ending = client;
      client = undefined;
      // Its last words are waited for.
      ending?.ref();
      await ending?.end().catch(() => undefined);
    },
  };
}

/** Prepared once per connection. */
const names = new Map<string, string>();
function nameOf(text: string): string {
  let name = names.get(text);
  if (!name) names.set(text, (name = `orcrawl_${names.size}`));
  return name;
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
