// What `values()` and `entries()` return: something to iterate over, or to await for a page, as in Crawlee.
// Promise: nothing is read until one of the two is used.

/** A promise of one page of items, and an iterable of all of them. */
export type IterableOrPage<Item, Page> = AsyncIterable<Item> & Promise<Page>;

export function iterableOrPage<Item, Page>(
  iterate: () => AsyncIterator<Item>,
  loadPage: () => Promise<Page>,
): IterableOrPage<Item, Page> {
  let page: Promise<Page> | undefined;
  const load = (): Promise<Page> => (page ??= loadPage());
  return {
    [Symbol.asyncIterator]: iterate,
    [Symbol.toStringTag]: 'IterableOrPage',
    then: (onLoaded, onFailed) => load().then(onLoaded, onFailed),
    catch: (onFailed) => load().catch(onFailed),
    finally: (onEnd) => load().finally(onEnd),
  };
}
