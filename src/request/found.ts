// Lists of URLs that a file on the web named, not the user: sitemaps and downloaded lists.
// Promise: handing such a list on to a crawler does not make its hosts the user's own, so none of them may be private
// but those that were named to get the list. A copy of the list is the user's.
import type { Request } from './request.js';

const namedBy = new WeakMap<object, ReadonlySet<string>>();
const found = new WeakSet<Request>();

/** Says that these URLs were found by asking for `named`, and returns them. */
export function foundAt(urls: string[], named: readonly string[]): string[] {
  namedBy.set(urls, new Set(named.map((url) => new URL(url).host)));
  return urls;
}

/** What requests that are made of this list must pass through, if it was found. */
export function finderOf(list: unknown): ((request: Request) => Request) | undefined {
  const named = typeof list === 'object' && list !== null ? namedBy.get(list) : undefined;
  return named && ((request) => (named.has(new URL(request.url).host) ? request : markFound(request)));
}

/** A request that takes the place of another. */
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
