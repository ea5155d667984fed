// Feeds the list of a batch into the queue: arrays, iterables and async iterables, pulled only as needed.
// Promise: holds no more than the dispatcher can use soon; calls `return()` on a source that is left early.

/** What may be iterated over. */
export type Many<T> = Iterable<T> | AsyncIterable<T>;

export interface UrlSource<T> {
  /** At least one item, at most `max`, and never a wait for company; undefined at the end. */
  take(max: number): Promise<T[] | undefined>;
  /** Nothing more is wanted. */
  leave(): void;
}

export function openSource<T>(items: Many<T>): UrlSource<T> {
  if (typeof items === 'object' && items !== null && Symbol.asyncIterator in items) {
    return fromAsync(items[Symbol.asyncIterator]());
  }
  return fromSync((items as Iterable<T>)[Symbol.iterator]());
}

function fromSync<T>(iterator: Iterator<T>): UrlSource<T> {
  let isOver = false;
  let failure: { readonly error: unknown } | undefined;

  function next(): IteratorResult<T> | undefined {
    try {
      return iterator.next();
    } catch (error) {
      failure = { error };
      return undefined;
    }
  }

  return {
    async take(max) {
      const taken: T[] = [];
      while (!isOver && taken.length < max) {
        const result = next();
        if (result && !result.done) taken.push(result.value);
        else isOver = true;
      }
      if (taken.length > 0) return taken;
      if (!failure) return undefined;
      const { error } = failure;
      failure = undefined;
      throw error;
    },
    leave() {
      if (isOver) return;
      isOver = true;
      iterator.return?.();
    },
  };
}

/** Long enough for a generator that has its next item ready, too short to matter. */
const soon = (): Promise<undefined> => new Promise((resolve) => setImmediate(resolve, undefined));

function fromAsync<T>(iterator: AsyncIterator<T>): UrlSource<T> {
  let coming: Promise<IteratorResult<T>> | undefined;
  let isOver = false;
  return {
    async take(max) {
      const taken: T[] = [];
      while (!isOver && taken.length < max) {
        coming ??= iterator.next();
        // What was taken before a failure goes first; the failure is met by the next call.
        const next = taken.length === 0 ? await coming : await Promise.race([coming, soon()]).catch(() => undefined);
        if (!next) break;
        coming = undefined;
        if (next.done) isOver = true;
        else taken.push(next.value);
      }
      return taken.length === 0 ? undefined : taken;
    },
    leave() {
      if (isOver) return;
      isOver = true;
      coming?.catch(() => undefined);
      // A generator that never yields again cannot be waited for.
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
    },
  };
}
