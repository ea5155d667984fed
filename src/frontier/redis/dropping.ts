// Removes a store: only its own keys, only if no other process has it open, and completely even if interrupted.
// It is marked first, so that no process mistakes a half-removed store for a complete one.
import { CrawlError } from '../../errors.js';
import type { Connection } from './server/connection.js';
import { KEYS, OWN_KEYS } from './keys.js';
import { lifeIn } from './openers.js';
import { pairs } from './server/start-checks.js';

/** As long as a store's id. */
const DROPPING = 'DROPPING';
const KEYS_A_STEP = 1_000;

export function isBeingDropped(storeId: unknown): boolean {
  return String(storeId) === DROPPING;
}

export async function dropStore(
  connection: Connection,
  { prefix, token, bootId }: { prefix: string; token: string; bootId: string },
): Promise<void> {
  const others = pairs(await connection.command('HGETALL', prefix + KEYS.openers));
  others.delete(token);
  const inUse = [...others.values()].find((text) => lifeIn(text, bootId) !== 'dead');
  if (inUse !== undefined) {
    const { pid, host } = JSON.parse(inUse) as { pid: number; host: string };
    throw new CrawlError(
      'QUEUE_IN_USE',
      `the queue in Redis at ${connection.where} is in use: process ${pid} on ${host} shares it; wait until it ends`,
    );
  }
  await connection.command('HSET', prefix + KEYS.state, 'store', DROPPING);
  await finishDrop(connection, prefix);
}

/** Removes what is left of a store that is being dropped. */
export async function finishDrop(connection: Connection, prefix: string): Promise<void> {
  const pattern = `${prefix.replace(/[\\*?[\]]/g, '\\$&')}*`;
  const last = new Set([prefix + KEYS.state, prefix + KEYS.schemaVersion]);
  const start = Buffer.byteLength(prefix);
  let cursor = '0';
  do {
    const scan = connection.command('SCAN', cursor, 'MATCH', pattern, 'COUNT', KEYS_A_STEP);
    const [next, keys] = (await scan) as [Buffer, Buffer[]];
    cursor = String(next);
    const own = keys.filter((key) => OWN_KEYS.test(key.toString('latin1', start)) && !last.has(key.toString('latin1')));
    if (own.length > 0) await connection.command('UNLINK', ...own);
  } while (cursor !== '0');
  await connection.command('UNLINK', ...last);
}
