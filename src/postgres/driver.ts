// The package `pg`, loaded on first use, and its errors in our words: what is worth another try, and what never is.
import { CrawlError, type ErrorCode } from '../index.js';
import type { Client, ClientConfig } from 'pg';

export async function loadPg(): Promise<{ Client: new (config: ClientConfig) => Client }> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    throw new CrawlError('OPTION_INVALID', 'the package pg is not installed: run "npm install pg"', { cause });
  }
}

/** How a failed query goes on: on the same connection, on a new one, or not at all. */
export type Remedy = 'repeat' | 'reconnect' | 'none';

const CONFLICTS = new Set(['40001', '40P01', '55P03', '23505']);
/** Shut down, crashed, starting, too many connections, or no longer the primary. */
const GONE = new Set(['57P01', '57P02', '57P03', '57P05', '53300', '25006']);

export function remedyFor(error: unknown): Remedy {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return 'reconnect';
  if (CONFLICTS.has(code)) return 'repeat';
  return GONE.has(code) || code.startsWith('08') ? 'reconnect' : 'none';
}

/** `otherwise`: what an error is that has no other name. */
export function translated(error: unknown, where: string, otherwise: ErrorCode): CrawlError {
  if (error instanceof CrawlError) return error;
  const { code = '', message } = error as { code?: string; message: string };
  const fails = (name: ErrorCode, text: string) =>
    new CrawlError(name, `Postgres at ${where}: ${text}`, { cause: error });
  if (code === 'OC001') return fails('QUEUE_EMPTIED', 'the queue was removed while it was open');
  if (code === '53100') return fails('STORAGE_FULL', `its disk is full (${message})`);
  if (code === '54000') return fails('REQUEST_INVALID', `a name is too long for an index (${message})`);
  if (/^(28|3D|42501|3F)/.test(code)) {
    return fails('QUEUE_UNSUITABLE', `${message}; check user, database and rights (docs/postgres.md)`);
  }
  return fails(otherwise, `${message}${code ? ` (${code})` : ''}`);
}
