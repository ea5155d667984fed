// Calls become transactions here: those made together, or while one is being committed, share the next.
// All of a group happen or none does, and each resolves only after its commit.
import { asCrawlError, type CrawlError } from '../../errors.js';
import type { Kv } from '../tables/kv.js';

/** What a call's body returns to be refused alone, without undoing the calls it shares a transaction with. */
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
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
}

/** So that a transaction stays short however many callers there are. */
const MAX_GROUP = 64;

export function createGroups(kv: Kv, frame: { begin(): void; afterEach(): void; end(): void; failed(): void }): Groups {
  const waiting: Call[] = [];
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    // Calls made in the same breath, such as a settle and the lease that follows it, share one commit.
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
        // Not the store's own failure, which its adapter names: the tables contradict each other.
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
