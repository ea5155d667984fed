// A robots.txt that was moved to another domain must be asked for on that domain's turn, not on ours.
// An errand is a request in that domain's queue that nobody but the gate sees: it brings back the rules and ends.
import type { Lease } from '../frontier/frontier.js';
import { Request } from '../request/request.js';

/** Under this name an errand carries the origin whose rules it fetches. */
const ERRAND = 'orcrawl.robotsOf';
/** A domain that gives no turn for this long does not answer. */
export const ERRAND_PATIENCE_MS = 300_000;
/** How often somebody looks whether the errand is back. */
export const ERRAND_LOOK_MS = 1_000;

export function createErrand(url: string, origin: string, nowMs: number): Request {
  return new Request({
    url,
    // Not the page's key: a crawl may want that URL as a page, too, and a later errand must not count as seen.
    uniqueKey: `robots.txt of ${origin} at ${nowMs}: ${url}`,
    userData: { [ERRAND]: origin },
    priority: 2,
  });
}

/** The origin an errand was sent for; undefined for any other request. */
export function errandOf(lease: Lease): string | undefined {
  if (!lease.record.includes(ERRAND)) return undefined;
  const origin: unknown = Request.fromRecord(lease.record).userData[ERRAND];
  return typeof origin === 'string' ? origin : undefined;
}
