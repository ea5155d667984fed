// Turns any source of requests into batches for the queue: pulled only as needed; a slow source
// does not hold back what it already gave.
import { finderOf } from '../../request/found.js';
import { type Request, type Source, toRequest } from '../../request/request.js';
import { downloadRequests, isUrlList, type UrlListSource } from './url-list-source.js';

/** Requests as they can be given: URLs, options, `Request` objects or lists of URLs to download, in any iterable. */
export type RequestsLike = Iterable<Source | UrlListSource> | AsyncIterable<Source | UrlListSource>;

export async function* inBatches(requests: RequestsLike, size: number): AsyncGenerator<Request[]> {
  let batch: Request[] = [];
  const asFound = finderOf(requests) ?? ((request: Request) => request);
  for await (const some of Symbol.asyncIterator in requests ? arriving(requests) : [requests]) {
    // What a slow source gave so far does not wait for more.
    if (some === 'pause') {
      if (batch.length > 0) yield batch;
      batch = [];
      continue;
    }
    for (const source of some) {
      for (const request of isUrlList(source) ? await downloadRequests(source) : [asFound(toRequest(source))]) {
        batch.push(request);
        if (batch.length < size) continue;
        yield batch;
        batch = [];
      }
    }
  }
  if (batch.length > 0) yield batch;
}

const SLOW_SOURCE_MS = 100;

/** The items of an asynchronous source, and 'pause' when the next one is slow. */
async function* arriving<T>(source: AsyncIterable<T>): AsyncGenerator<[T] | 'pause'> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      let timer: NodeJS.Timeout | undefined;
      const slow = new Promise<'pause'>((resolve) => (timer = setTimeout(resolve, SLOW_SOURCE_MS, 'pause')));
      const first = await Promise.race([next, slow]).finally(() => clearTimeout(timer));
      if (first === 'pause') yield first;
      const { done, value } = await next;
      if (done) return;
      yield [value];
    }
  } finally {
    await iterator.return?.();
  }
}

/** The first request of each key: a list that names one twice adds it once. */
export function distinctOf(requests: readonly Request[]): readonly Request[] {
  const keys = new Set<string>();
  for (const { uniqueKey } of requests) keys.add(uniqueKey);
  if (keys.size === requests.length) return requests;
  return requests.filter(({ uniqueKey }) => keys.delete(uniqueKey));
}
