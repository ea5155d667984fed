// The headers of `--header` on their way to a request of a crawl. They may be secrets.
// Promise: they go to the hosts that the person named and to no other, whatever a page links or redirects to.
import type { HttpCrawlingContext, HttpHook } from '../index.js';

export interface NamedHeaders {
  /** The person named this URL: its host gets the headers from now on. */
  name(url: string): void;
  /** Gives a request the headers of its host. */
  readonly hook: HttpHook<HttpCrawlingContext>;
}

/** A list of seeds may be of any length. Hosts beyond get the headers with their seeds only, not with further pages. */
const MAX_HOSTS = 100_000;

export function createNamedHeaders(header: Readonly<Record<string, string>>, maxHosts = MAX_HOSTS): NamedHeaders {
  const hosts = new Set<string>();
  return {
    name(url) {
      if (hosts.size < maxHosts) hosts.add(new URL(url).host);
    },
    hook({ request }, options) {
      // A seed of an earlier run knows it, too; what it redirects to is none.
      if (request.seeded || hosts.has(new URL(request.target).host)) Object.assign(options.headers, header);
    },
  };
}
