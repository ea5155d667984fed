// Passes results from the run to the reader, in the order in which they complete.
// Promise: the run knows how many wait, and starts nothing more while there are too many.

export interface ResultChannel<Result> {
  push(result: Result): void;
  /** No more will come; with an error, reading ends in it after what is there. */
  end(error?: unknown): void;
  /** The next result; undefined at the end. */
  next(): Promise<Result | undefined>;
  /** Unread results. */
  readonly waiting: number;
}

/** @param onRead a result was taken: there may be room for more */
export function createResultChannel<Result>(onRead: () => void): ResultChannel<Result> {
  let results: Result[] = [];
  let taken = 0;
  let ended: { readonly error: unknown } | undefined;
  let readers: { resolve: (result: Result | undefined) => void; reject: (error: unknown) => void }[] = [];

  function take(): Result {
    const result = results[taken]!;
    results[taken++] = undefined as never;
    // Shifting an array is linear; once in a while it is cheap.
    if (taken >= 64 && taken * 2 >= results.length) {
      results = results.slice(taken);
      taken = 0;
    }
    return result;
  }

  return {
    push(result) {
      const reader = readers.shift();
      if (reader) reader.resolve(result);
      else results.push(result);
    },
    end(error) {
      if (ended) return;
      ended = { error };
      const waitingReaders = readers;
      readers = [];
      for (const { resolve, reject } of waitingReaders) {
        if (error === undefined) resolve(undefined);
        else reject(error);
      }
    },
    async next() {
      if (taken < results.length) {
        const result = take();
        onRead();
        return result;
      }
      if (ended) {
        if (ended.error !== undefined) throw ended.error;
        return undefined;
      }
      return new Promise((resolve, reject) => readers.push({ resolve, reject }));
    },
    get waiting() {
      return results.length - taken;
    },
  };
}
