// Transactions in LMDB environments, alone or beside other processes, and several openings of one in this process.
// Promise: a writer that is killed at any moment leaves the others a whole file and a free lock; no opening waits for
// another one of this process for ever.
import { realpathSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';

/**
 * Each commit is on the disk before its writer lets go of the lock. With lmdb-js's default (flushed afterwards), some
 * kills left the others with a file they could not write to (docs/decisions/002-embedded-frontier.md).
 */
export const SHARED_WRITERS = { overlappingSync: false, eventTurnBatching: false } as const;

/** How often a transaction is begun again, and the pause before the next try. */
const BEGIN_TRIES = 20;
const BEGIN_PAUSE_MS = 10;

/**
 * A transaction beside other processes. When one of them is killed while it holds the lock, LMDB may fail to begin the
 * next transaction. lmdb-js does not say so and runs the body without one, so this looks first.
 */
export async function transactShared<T>(environment: RootDatabase, body: () => T): Promise<T> {
  for (let tries = 1; ; tries++) {
    let begun = false;
    try {
      return environment.transactionSync(() => {
        begun = (environment as RootDatabase & { getWriteTxnId(): number }).getWriteTxnId() > 0;
        if (!begun) throw new Error('the lock of the database could not be taken');
        return body();
      });
    } catch (error) {
      if (begun || tries === BEGIN_TRIES) throw error;
      await new Promise((resume) => setTimeout(resume, BEGIN_PAUSE_MS));
    }
  }
}

/**
 * By folder: the transactions of this process whose lock another thread holds while it waits for a callback on this one.
 * Whatever takes the lock here meanwhile would wait for itself for ever: lmdb-js knows only of those of its own handle.
 */
const elsewhere = new Map<string, Set<Promise<unknown>>>();

async function heldElsewhere<T>(folder: string, transaction: Promise<T>): Promise<T> {
  const pending = elsewhere.get(folder) ?? new Set();
  elsewhere.set(folder, pending.add(transaction));
  try {
    return await transaction;
  } finally {
    pending.delete(transaction);
    if (pending.size === 0) elsewhere.delete(folder);
  }
}

/** To be awaited before an environment or its tables are opened: that takes the lock of writers, on this thread. */
export async function afterOtherThreads(path: string): Promise<void> {
  const folder = realPath(path);
  while (elsewhere.has(folder)) await Promise.allSettled(elsewhere.get(folder)!);
}

/**
 * Runs transactions. `alone` (no other process writes): the commit and its flush run on another thread while this one
 * continues. With other processes, the lock must not be held while this thread is busy elsewhere: all of it runs here.
 */
export function createTransactions(
  environment: RootDatabase,
  path: string,
  { alone }: { readonly alone: boolean },
): <T>(body: () => T) => Promise<T> {
  const folder = realPath(path);
  return async (body) => {
    if (alone) return heldElsewhere(folder, environment.childTransaction(body));
    await afterOtherThreads(folder);
    return transactShared(environment, body);
  };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
