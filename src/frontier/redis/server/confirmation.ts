// Waits until replicas have what was written: one WAIT for all calls answered since the last one was sent.
// Promise: it confirms only what the same connection wrote. A call without it is in doubt, and made again.
import type { Redis } from 'ioredis';
import { unreachable } from './translate.js';

export interface Confirmation {
  /** Resolves when enough replicas have everything this connection was answered so far. */
  confirmed(): Promise<void>;
  /** The connection was lost: what it wrote cannot be confirmed on another. */
  forget(): void;
}

const LONGEST_WAIT_MS = 1_000;

export function createConfirmation(
  redis: Redis,
  { where, replicas, silenceMs }: { readonly where: string; readonly replicas: number; readonly silenceMs: number },
): Confirmation {
  if (replicas === 0) return { confirmed: () => Promise.resolve(), forget: () => undefined };
  // The server must answer before the connection counts as silent.
  const waitMs = Math.max(1, Math.floor(Math.min(LONGEST_WAIT_MS, silenceMs / 2)));
  let connection = 0;
  let next: Promise<void> | undefined;

  async function wait(own: number): Promise<void> {
    // Calls that are answered in the same turn share it.
    await new Promise((resume) => setImmediate(resume));
    next = undefined;
    if (own !== connection) throw unreachable(where, new Error('the connection was lost before a replica confirmed'));
    const count = await redis.call('WAIT', replicas, waitMs).catch((error: unknown) => {
      throw unreachable(where, error);
    });
    if (Number(count) >= replicas) return;
    throw unreachable(where, new Error(`no replica confirmed a write within ${waitMs} ms (durability: replicated)`));
  }

  return {
    confirmed: () => (next ??= wait(connection)),
    forget() {
      connection++;
      next = undefined;
    },
  };
}
