// The headers of `--header`, and the passwords of given URLs, on their way to a request of a crawl. They may be secrets.
// Promise: they go to the origins that the person named and to no other, whatever a page links or redirects to; so a
// host named with https never gets them in clear text. No URL of the crawl has a password in it.
import { withoutLogin } from '../request/login.js';
import type { HttpCrawlingContext, HttpHook } from '../index.js';

export interface NamedHeaders {
  /** The person named this URL: its origin gets the headers from now on. The URL to ask for, without its password. */
  name(url: string): string;
  /** Gives a request the headers of its origin. */
  readonly hook: HttpHook<HttpCrawlingContext>;
}

/** A list of seeds may be of any length. Origins beyond get the headers with their seeds only, not with further pages. */
const MAX_ORIGINS = 100_000;

export function createNamedHeaders(
  header: Readonly<Record<string, string>> = {},
  maxOrigins = MAX_ORIGINS,
): NamedHeaders {
  const hasHeader = Object.keys(header).length > 0;
  /** With the login of the URL that was named first. */
  const origins = new Map<string, string | undefined>();
  return {
    name(typed) {
      const { url, authorization } = withoutLogin(typed);
      if (!hasHeader && authorization === undefined) return url;
      const { origin } = new URL(url);
      const known = origins.get(origin);
      if (known === undefined && (origins.has(origin) || origins.size < maxOrigins)) origins.set(origin, authorization);
      // Another login for the same origin stays where it was typed.
      return authorization === undefined || origins.get(origin) === authorization ? url : typed;
    },
    hook({ request }, options) {
      if (origins.size === 0 && !hasHeader) return;
      const { origin } = new URL(request.target);
      const login = origins.get(origin);
      if (login !== undefined) options.headers.authorization = login;
      // A seed of an earlier run knows it, too; what it redirects to is none.
      if (hasHeader && (request.seeded || origins.has(origin))) Object.assign(options.headers, header);
    },
  };
}
