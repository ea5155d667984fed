// A time limit for user code: it may hang, throw late or reject late, and the crawl continues.

import { CrawlError } from '../../errors.js';
import type { Time } from '../time.js';

/**
 * Runs `work` for at most `limitMs`, and until `signal` aborts. After that the returned promise rejects
 * with `late()` or ABORTED; anything the work does or throws later is ignored.
 */
export async function withinMs<T>(
  time: Time,
  limitMs: number,
  work: () => T | PromiseLike<T>,
  late: () => Error,
  signal?: AbortSignal,
): Promise<T> {
  const working = work();
  // Handlers that return nothing to wait for need no timer.
  if (!isThenable(working)) return working;
  let cancel: (() => void) | undefined;
  let onAbort: (() => void) | undefined;
  // Let go at the end: a removed listener stays in the chain of those of the signal until a full collection, and by way
  // of `late` would keep what the caller knows, which is the page.
  let onLate: (() => Error) | undefined = late;
  const limit = new Promise<never>((_, reject) => {
    cancel = time.after(limitMs, () => reject(onLate!()));
    onAbort = () => reject(new CrawlError('ABORTED', 'aborted because the crawl is ending'));
    signal?.addEventListener('abort', onAbort, { once: true });
    // The work's first step may have been to end the crawl.
    if (signal?.aborted) onAbort();
  });
  try {
    return await Promise.race([working, limit]);
  } finally {
    cancel?.();
    onLate = undefined;
    if (onAbort) signal?.removeEventListener('abort', onAbort);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
