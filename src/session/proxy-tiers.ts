// Which tier of proxies a domain needs: the cheapest one that is not known to fail there.
// Promise: a failure moves the domain up at once; after a while of success the cheaper tier is tried again, at
// intervals that double while it keeps failing; memory is bounded whatever the number of domains.
import { createRecentMap } from '../base/recent-map.js';

// Requests to a domain before a failed tier is tried again, at first and at most.
const FIRST_REST = 10;
const MAX_REST = 640;
// Requests after the trial before no failure counts as success.
const TRIAL_WATCH = 10;
const MAX_DOMAINS = 10_000;

export interface ProxyTiers {
  /** The tier for the domain's next request; each call counts as one request. */
  next(domain: string): number;
  failed(domain: string, tier: number): void;
}

interface TierRecord {
  /** open: in use; resting: it failed; watched: one request is trying it, the others wait for the result. */
  state: 'open' | 'resting' | 'watched';
  /** Requests to the domain until the next state. */
  left: number;
  /** How long the tier rests after its next failure. */
  nextRest: number;
}

/** Keeps the tiers' records by domain. */
export function createProxyTiers(tierCount: number): ProxyTiers {
  const domains = createRecentMap<string, TierRecord[]>(MAX_DOMAINS);

  function recordsOf(domain: string): TierRecord[] {
    let records = domains.get(domain);
    if (records === undefined) {
      records = Array.from({ length: tierCount }, () => ({ state: 'open', left: 0, nextRest: FIRST_REST }));
      domains.set(domain, records);
    }
    return records;
  }

  return {
    next: (domain) => {
      const records = recordsOf(domain);
      for (const record of records) {
        if (record.left > 0) record.left--;
        if (record.left === 0 && record.state === 'watched') {
          record.state = 'open';
          record.nextRest = FIRST_REST;
        }
      }
      for (const [tier, record] of records.entries()) {
        if (record.state === 'open') return tier;
        if (record.state === 'resting' && record.left === 0) {
          record.state = 'watched';
          record.left = TRIAL_WATCH;
          return tier;
        }
      }
      return tierCount - 1;
    },
    failed: (domain, tier) => {
      const record = recordsOf(domain)[tier];
      // Failures of concurrent requests count once.
      if (record === undefined || record.state === 'resting') return;
      record.state = 'resting';
      record.left = record.nextRest;
      record.nextRest = Math.min(record.nextRest * 2, MAX_REST);
    },
  };
}
