// The result of runMany: awaited, all results in the order of the list; iterated, each as it completes.
// Promise: work starts when it is awaited or first pulled; leaving a loop early aborts the rest and frees everything.
import { CrawlError } from '../../errors.js';
import type { CrawlResult } from './crawl-result.js';
import { createResultChannel } from './channel.js';
import type { RunningBatch } from './run.js';

/** Results as they complete. */
export type ResultStream = AsyncIterableIterator<CrawlResult>;

/**
 * The results of a batch. `Awaited` is what awaiting gives: all of them, or with `stream: true` the stream.
 *
 * @example
 * for await (const result of crawler.runMany(urls)) console.log(result.url);
 */
export interface BatchResults<Awaited = CrawlResult[]> extends PromiseLike<Awaited>, AsyncIterable<CrawlResult> {
  /** As of a promise: starts the batch, and handles the failure of the list itself. Failed URLs are results. */
  catch<T = never>(onRejected?: ((reason: unknown) => T | PromiseLike<T>) | null): Promise<Awaited | T>;
  /** As of a promise: starts the batch, and runs when all results are there or the list failed. */
  finally(onFinally?: (() => void) | null): Promise<Awaited>;
  [Symbol.asyncIterator](): ResultStream;
}

export type StartBatch<Result = CrawlResult> = (parts: {
  readonly onResult: (result: Result, index: number) => void;
  readonly unread?: () => number;
}) => RunningBatch;

export function createBatchResults<Awaited>(start: StartBatch, isStream: boolean): BatchResults<Awaited> {
  let all: Promise<Awaited> | undefined;
  let stream: ResultStream | undefined;

  function settled(): Promise<Awaited> {
    if (all) return all;
    all = isStream ? Promise.resolve(openStream() as Awaited) : (collect(start as StartBatch) as Promise<Awaited>);
    return all;
  }

  function openStream(): ResultStream {
    if (stream) throw new CrawlError('OPTION_INVALID', 'the results of a batch can be iterated once');
    return (stream = streamOf(start));
  }

  return {
    then: (onFulfilled, onRejected) => settled().then(onFulfilled, onRejected),
    catch: (onRejected) => settled().catch(onRejected),
    finally: (onFinally) => settled().finally(onFinally),
    [Symbol.asyncIterator]() {
      if (all && !isStream) {
        throw new CrawlError('OPTION_INVALID', 'these results were awaited: iterate over the awaited array');
      }
      return openStream();
    },
  };
}

async function collect(start: StartBatch): Promise<CrawlResult[]> {
  const results: CrawlResult[] = [];
  await start({ onResult: (result, index) => void (results[index] = result) }).ended;
  // Without the places of near copies that were skipped.
  return results.filter(() => true);
}

/** Results as they complete; leaving it aborts the rest. */
export function streamOf<Result>(start: StartBatch<Result>): AsyncIterableIterator<Result> {
  const channel = createResultChannel<Result>(() => batch?.wake());
  let batch: RunningBatch | undefined;
  let isLeft = false;

  function begin(): void {
    batch = start({ onResult: (result) => channel.push(result), unread: () => channel.waiting });
    batch.ended.then(
      () => channel.end(),
      (error: unknown) => channel.end(error),
    );
  }

  return {
    async next() {
      if (isLeft) return { done: true, value: undefined };
      if (!batch) begin();
      const result = await channel.next();
      return result && !isLeft ? { done: false, value: result } : { done: true, value: undefined };
    },
    async return() {
      isLeft = true;
      channel.end();
      await batch?.abort();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
