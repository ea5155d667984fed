// Sets a schema up: tables and functions, once per release, by whichever process comes first.
// Refuses a server that is too old and a schema that a newer release has changed.
import { CrawlError } from '../index.js';
import type { Run } from './connection.js';
import { quoted } from './connection.js';
import { schemaSql } from './sql-files.js';

/** Raised when tables or functions change. */
const VERSION = 1;
const OLDEST_SERVER = 150_000;
/** Any number: processes that set a schema up wait for each other. */
const SETUP_LOCK = 1_330_791_246;

export interface ServerFacts {
  /** What a crash of the server may cost, in words; undefined when nothing. */
  readonly atRisk: string | undefined;
}

export async function setUpSchema(run: Run, schema: string, where: string): Promise<ServerFacts> {
  const [facts] = await run(
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('synchronous_commit') AS commit,
       current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding`,
  );
  const { version, commit, fsync, encoding } = facts as Record<string, string> & { version: unknown };
  const refuse = (text: string) => new CrawlError('QUEUE_UNSUITABLE', `Postgres at ${where}: ${text}`);
  if (Number(version) < OLDEST_SERVER) throw refuse('PostgreSQL 15 or newer is required');
  if (encoding !== 'UTF8') throw refuse(`the database's encoding must be UTF8, not ${encoding}`);
  if ((await versionOf(run, schema)) !== VERSION) await install(run, schema, where);
  if (fsync === 'off') return { atRisk: 'fsync is off: a crash of its machine can destroy the queue' };
  if (commit === 'off') return { atRisk: 'synchronous_commit is off: a crash of the server loses the last moments' };
  return { atRisk: undefined };
}

async function versionOf(run: Run, schema: string): Promise<number> {
  const [there] = await run('SELECT to_regclass($1) IS NOT NULL AS there', [`${quoted(schema)}.about`]);
  if (!there?.there) return 0;
  const [row] = await run(`SELECT version FROM ${quoted(schema)}.about`);
  return Number(row?.version ?? 0);
}

async function install(run: Run, schema: string, where: string): Promise<void> {
  await run('BEGIN');
  try {
    await run('SELECT pg_advisory_xact_lock($1)', [SETUP_LOCK]);
    const found = await versionOf(run, schema);
    if (found > VERSION) {
      throw new CrawlError(
        'QUEUE_VERSION',
        `the schema ${schema} of Postgres at ${where} was set up by a newer orcrawl (${found}, this one knows ${VERSION}): ` +
          'update orcrawl, or choose another schema',
      );
    }
    if (found < VERSION) {
      // Without a right to make schemas, one that was made beforehand will do.
      const [there] = await run('SELECT to_regnamespace($1) IS NOT NULL AS there', [quoted(schema)]);
      if (!there?.there) await run(`CREATE SCHEMA ${quoted(schema)}`);
      await run(schemaSql());
      await run(
        'INSERT INTO about (version) VALUES ($1) ON CONFLICT ("row") DO UPDATE SET version = excluded.version',
        [VERSION],
      );
    }
    await run('COMMIT');
  } catch (error) {
    await run('ROLLBACK');
    throw error;
  }
}
