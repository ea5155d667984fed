// Which crawl a Redis belongs to and whether it is empty, read before a frontier is opened in it.
// Promise: read-only; an unreachable server makes the call fail.
import { type ConnectionOptions, createConnection } from './server/connection.js';
import { KEYS } from './keys.js';
import { pairs } from './server/start-checks.js';
import { unpackStateNumbers } from './state-numbers.js';
import { CRAWL_FIELD } from './store-identity.js';

export interface StoreMark {
  /** Undefined in an empty store, and in one filled before crawls had names. */
  readonly crawl: string | undefined;
  /** URLs it ever accepted. */
  readonly accepted: number;
  readonly notes: ReadonlyMap<string, string>;
  /** The hash at `hashKey`, if given. */
  readonly hash: ReadonlyMap<string, string>;
}

/** @param names the notes to read; `hashKey` a plain hash of the same store. */
export async function readStoreMark(
  options: ConnectionOptions,
  names: readonly [string, ...string[]],
  hashKey: string,
): Promise<StoreMark> {
  const { prefix = '' } = options;
  const connection = createConnection({ patienceMs: options.connectTimeoutMs, ...options });
  try {
    await connection.connect();
    const crawl = (await connection.command('HGET', prefix + KEYS.info, CRAWL_FIELD)) as Buffer | null;
    const numbers = (await connection.command('HGET', prefix + KEYS.state, 'numbers')) as Buffer | null;
    const texts = (await connection.command('HMGET', `${prefix}notes`, ...names)) as (Buffer | null)[];
    const hash = pairs(await connection.command('HGETALL', prefix + hashKey));
    const notes = new Map<string, string>();
    texts.forEach((text, i) => {
      if (text !== null) notes.set(names[i]!, String(text));
    });
    const { accepted } = unpackStateNumbers(numbers);
    return { crawl: crawl === null ? undefined : String(crawl), accepted, notes, hash };
  } finally {
    connection.close();
  }
}

/** Names the crawl of a store filled before crawls had names. */
export async function markStore(options: ConnectionOptions, crawl: string): Promise<void> {
  const connection = createConnection({ patienceMs: options.connectTimeoutMs, ...options });
  try {
    await connection.connect();
    await connection.command('HSETNX', (options.prefix ?? '') + KEYS.info, CRAWL_FIELD, crawl);
  } finally {
    connection.close();
  }
}
