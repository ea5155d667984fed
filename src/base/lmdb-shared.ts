// LMDB environments that several processes write to: how they are opened, and how a transaction begins in one.
// Promise: a writer that is killed at any moment leaves the others a whole file and a free lock.
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
