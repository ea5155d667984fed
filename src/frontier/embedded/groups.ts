// Groups calls into transactions: those made together, or during a commit, share the next one.
// All calls of a group happen or none does, and each resolves only after its commit.
import { asCrawlError, type CrawlError } from '../../errors.js';
import type { Kv } from '../tables/kv.js';

/** Returned by a call's body to be refused alone, without undoing the other calls in its transaction. */
export class Refusal {
  constructor(readonly error: CrawlError) {}
}

interface Call {
  readonly body: () => unknown;
  readonly undone: (() => void) | undefined;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export interface Groups {
  /** Runs a body in a transaction. `undone` is called if its transaction fails after the body ran. */
  run<T>(body: () => T | Refusal, undone?: () => void): Promise<T>;
  /** Resolves when no call is running. */
  idle(): Promise<void>;
}

/** So that a transaction stays short however many callers there are. */
const MAX_GROUP = 64;

export function createGroups(kv: Kv, frame: { begin(): void; afterEach(): void; end(): void; failed(): void }): Groups {
  const waiting: Call[] = [];
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    // Calls made at the same time, such as a settle and the next lease, share one commit.
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting.splice(0, MAX_GROUP);
      let ran = 0;
      try {
        const results = await kv.transact(() => {
          frame.begin();
          const outcomes = group.map((call) => {
            ran++;
            const outcome = call.body();
            frame.afterEach();
            return outcome;
          });
          frame.end();
          return outcomes;
        });
        results.forEach((result, i) => {
          if (result instanceof Refusal) group[i]!.reject(result.error);
          else group[i]!.resolve(result as never);
        });
      } catch (error) {
        frame.failed();
        for (const call of group.slice(0, ran)) call.undone?.();
        // Not a failure of the store, which its adapter reports: the tables are inconsistent.
        for (const call of group) call.reject(asCrawlError(error, 'QUEUE_CORRUPT'));
      }
    }
    working = undefined;
  }

  return {
    run<T>(body: () => T | Refusal, undone?: () => void): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        waiting.push({ body, undone, resolve: resolve as (value: never) => void, reject });
        working ??= work();
      });
    },
    async idle() {
      await working;
    },
  };
}
