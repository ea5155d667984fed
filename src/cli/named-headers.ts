// Adds the headers of `--header`, and the passwords of given URLs, to the requests of a crawl. They may be secrets.
// Promise: they are sent only to origins the user named, whatever a page links or redirects to; so a host named with
// https never gets them in clear text. No URL of the crawl contains a password.
import { withoutLogin } from '../request/login.js';
import type { Request } from '../index.js';

export interface NamedHeaders {
  /** The user named this URL: its origin gets the headers from now on. Returns the URL without its password. */
  name(url: string): string;
  /** Adds the headers to a request if its origin was named. */
  readonly hook: (context: { readonly request: Request }, options: { headers?: Record<string, string> }) => void;
}

/** A seed list may be of any length. Origins beyond this get the headers with their seeds only, not with other pages. */
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
      // Of a page in a browser there are none yet.
      const headers = (options.headers ??= {});
      const { origin } = new URL(request.target);
      const login = origins.get(origin);
      if (login !== undefined) headers.authorization = login;
      // Seeds of an earlier run are marked, too; redirect targets are not.
      if (hasHeader && (request.seeded || origins.has(origin))) Object.assign(headers, header);
    },
  };
}
