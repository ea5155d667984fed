// Adds the headers of `--header` to the requests of a crawl. They may be secrets.
// Promise: they are sent only to hosts the user named, whatever a page links or redirects to.
import type { HttpCrawlingContext, HttpHook } from '../index.js';

export interface NamedHeaders {
  /** The user named this URL: its host gets the headers from now on. */
  name(url: string): void;
  /** Adds the headers to a request if its host was named. */
  readonly hook: HttpHook<HttpCrawlingContext>;
}

/** A seed list may be of any length. Hosts beyond this get the headers with their seeds only, not with other pages. */
const MAX_HOSTS = 100_000;

export function createNamedHeaders(header: Readonly<Record<string, string>>, maxHosts = MAX_HOSTS): NamedHeaders {
  const hosts = new Set<string>();
  return {
    name(url) {
      if (hosts.size < maxHosts) hosts.add(new URL(url).host);
    },
    hook({ request }, options) {
      // Seeds of an earlier run are marked, too; redirect targets are not.
      if (request.seeded || hosts.has(new URL(request.target).host)) Object.assign(options.headers, header);
    },
  };
}
