// Which processes have this store open: one on this machine that died without closing loses its leases at once, to
// whichever process looks first. Leases of processes on other machines expire.
import { lifeOf, type ProcessIdentity } from '../process-identity.js';
import type { Connection } from './server/connection.js';
import { KEYS } from './keys.js';
import { pairs } from './server/start-checks.js';

/** Takes all leases from dead openings, and forgets them. */
export async function releaseDead(
  connection: Connection,
  options: { prefix: string; token: string; bootId: string; release: (holders: readonly string[]) => Promise<unknown> },
): Promise<void> {
  const { prefix, token: self, bootId } = options;
  const others = pairs(await connection.command('HGETALL', prefix + KEYS.openers));
  others.delete(self);
  const lives = [...others].map(([token, text]) => ({ token, life: lifeIn(text, bootId) }));
  if (!lives.some(({ life }) => life !== 'alive')) return;
  const holders = [...pairs(await connection.command('HGETALL', prefix + KEYS.life))].map(([holder, text]) => ({
    holder,
    opening: text.slice(text.indexOf(' ') + 1),
  }));
  const gone: string[] = [];
  for (const { token, life } of lives) {
    const held = holders.filter(({ opening }) => opening === token).map(({ holder }) => holder);
    if (life === 'dead' && held.length > 0) await options.release(held);
    // One on another machine that holds nothing needs no entry.
    if (life === 'dead' || (life === 'unknown' && held.length === 0)) gone.push(token);
  }
  if (gone.length === 0) return;
  for (const token of gone) await resignAsKeeper(connection, prefix, token);
  await connection.command('HDEL', prefix + KEYS.openers, ...gone);
}

/** Frees the keeper's role if that opening has it: the next candidate need not wait for its end. */
export async function resignAsKeeper(connection: Connection, prefix: string, token: string): Promise<void> {
  const keeper = (await connection.command('HGET', prefix + KEYS.keeper, 'token')) as Buffer | null;
  if (keeper !== null && String(keeper) === token) await connection.command('DEL', prefix + KEYS.keeper);
}

/** Whether the process of an entry is still alive. */
export function lifeIn(text: string, bootId: string): 'alive' | 'dead' | 'unknown' {
  try {
    return lifeOf(JSON.parse(text) as ProcessIdentity, bootId, 'network');
  } catch {
    return 'unknown';
  }
}
