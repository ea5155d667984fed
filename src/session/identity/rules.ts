// When a crawl may show itself as something else than it is.
// Promise: never by default, and never while robots.txt is obeyed under a name that requests do not show, unless the user
// says that this is meant.
import { IDENTITY_DOCS } from './peer.js';

interface Given {
  readonly respectRobotsTxtFile?: unknown;
  readonly impersonateWithRobots?: unknown;
  readonly useHeaderGenerator?: unknown;
  readonly browserPoolOptions?: { readonly useFingerprints?: unknown } | undefined;
  readonly httpClient?: unknown;
}

/** Whether a client shows itself as a browser. */
export function impersonates(httpClient: unknown): boolean {
  return (httpClient as { impersonates?: unknown } | undefined)?.impersonates === true;
}

/** The options that hide who is asking although robots.txt is read under another name. */
export function identityConflicts(owner: string, given: Given): string[] {
  const { respectRobotsTxtFile: robots = false, impersonateWithRobots = false } = given;
  if (robots === false || impersonateWithRobots === true) return [];
  const hiding = [
    ...(given.useHeaderGenerator === true ? ['useHeaderGenerator'] : []),
    ...(given.browserPoolOptions?.useFingerprints === true ? ['browserPoolOptions.useFingerprints'] : []),
    ...(impersonates(given.httpClient) ? ['httpClient'] : []),
  ];
  return hiding.map((name) => `${owner} option "${name}" ${WITH_ROBOTS}`);
}

export const WITH_ROBOTS = `hides the name under which robots.txt is obeyed: set "impersonateWithRobots" if you mean that (${IDENTITY_DOCS})`;
