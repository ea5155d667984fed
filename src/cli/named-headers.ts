// The headers of `--header` on their way to a request of a crawl. They may be secrets.
// Promise: they go to the origins that the person named and to no other, whatever a page links or redirects to; so a
// host named with https never gets them in clear text.
import type { HttpCrawlingContext, HttpHook } from '../index.js';

export interface NamedHeaders {
  /** The person named this URL: its origin gets the headers from now on. */
  name(url: string): void;
  /** Gives a request the headers of its origin. */
  readonly hook: HttpHook<HttpCrawlingContext>;
}

/** A list of seeds may be of any length. Origins beyond get the headers with their seeds only, not with further pages. */
const MAX_ORIGINS = 100_000;

export function createNamedHeaders(header: Readonly<Record<string, string>>, maxOrigins = MAX_ORIGINS): NamedHeaders {
  const origins = new Set<string>();
  return {
    name(url) {
      if (origins.size < maxOrigins) origins.add(new URL(url).origin);
    },
    hook({ request }, options) {
      // A seed of an earlier run knows it, too; what it redirects to is none.
      if (request.seeded || origins.has(new URL(request.target).origin)) Object.assign(options.headers, header);
    },
  };
}
