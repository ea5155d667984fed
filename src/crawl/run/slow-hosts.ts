// The share of slots for slow hosts: from the options of a crawl or batch, and in a run.
import { createSlowShare, type SlowFigures, type SlowShare } from '../../dispatch/slow-share.js';
import type { AutoscaledPool } from '../../dispatch/autoscaled-pool.js';
import { domainOf, type PaceBy } from '../../request/url.js';
import type { LeaseFeed, TakenLease } from './lease-feed.js';

/** The default share of slow hosts: a fifth leaves the others four times as much. */
export const DEFAULT_SLOW_HOST_SHARE = 0.2;
/** Most hosts answer within a second; two leave room for a busy machine. */
export const DEFAULT_SLOW_HOST_PATIENCE_SECS = 2;

export interface SlowHostOptions {
  /** Part of the slots. */
  readonly slowHostShare: number;
  readonly slowHostPatienceMs: number;
}

export const NO_SLOW_HOSTS: SlowFigures = Object.freeze({ slow: 0, ended: 0, putBack: 0 });

/** Applies the defaults. */
export function slowHostOptions(given: {
  readonly slowHostShare?: number | undefined;
  readonly slowHostPatienceSecs?: number | undefined;
}): SlowHostOptions {
  return {
    slowHostShare: given.slowHostShare ?? DEFAULT_SLOW_HOST_SHARE,
    slowHostPatienceMs: (given.slowHostPatienceSecs ?? DEFAULT_SLOW_HOST_PATIENCE_SECS) * 1_000,
  };
}

export function openSlowShare(
  { slowHostShare, slowHostPatienceMs }: SlowHostOptions,
  paceBy: PaceBy,
  maxSlots?: number,
): SlowShare | undefined {
  return createSlowShare({
    share: slowHostShare,
    patienceMs: slowHostPatienceMs,
    domainOf: (url) => domainOf(url, paceBy),
    maxSlots,
  });
}

/** Has a run keep to the share; returns how it leaves. */
export function joinSlowShare(
  share: SlowShare,
  run: {
    readonly pool: Pick<AutoscaledPool, 'desiredConcurrency' | 'currentConcurrency'>;
    readonly feed: Pick<LeaseFeed, 'domains' | 'sift' | 'refill'>;
    readonly putBack: (taken: TakenLease, waitMs: number) => Promise<void>;
    readonly onError: (error: unknown) => void;
  },
): () => void {
  const { pool, feed, onError } = run;
  return share.join({
    slots: () => pool.desiredConcurrency,
    running: () => pool.currentConcurrency,
    waiting: () => feed.domains(),
    makeRoom() {
      // Requests to slow hosts must not keep others from being at hand.
      const waits: number[] = [];
      const gone = feed.sift(({ lease }) => {
        const waitMs = share.waitMs(lease.domain, false);
        if (waitMs > 0) waits.push(waitMs);
        return waitMs > 0;
      });
      for (const [index, taken] of gone.entries()) run.putBack(taken, waits[index]!).catch(onError);
      feed.refill().catch(onError);
    },
  });
}
