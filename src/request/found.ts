// Marks lists of URLs that come from the web, not the user: sitemaps and downloaded lists.
// Promise: passing such a list to a crawler does not make its hosts the user's own, so only hosts named to get the list
// may be private. A copy of the list counts as the user's.
import type { Request } from './request.js';

const namedBy = new WeakMap<object, ReadonlySet<string>>();
const found = new WeakSet<Request>();

/** Marks these URLs as found in `named`, and returns them. */
export function foundAt<Item>(urls: Item[], named: readonly string[]): Item[] {
  namedBy.set(urls, new Set(named.map((url) => new URL(url).host)));
  return urls;
}

/** The check for requests made from this list, if it was found. */
export function finderOf(list: unknown): ((request: Request) => Request) | undefined {
  const named = typeof list === 'object' && list !== null ? namedBy.get(list) : undefined;
  return named && ((request) => (named.has(new URL(request.url).host) ? request : markFound(request)));
}

/** A request that replaces another. */
export function foundLike(before: Request, request: Request): Request {
  return isFound(before) ? markFound(request) : request;
}

export function isFound(request: Request): boolean {
  return found.has(request);
}

function markFound(request: Request): Request {
  found.add(request);
  return request;
}
