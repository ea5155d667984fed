// The simplest dispatcher: a fixed number at once, regardless of load.
import { aWholeNumber, checkOptions, objectWith } from '../option-checks.js';
import type { Batch, Dispatcher, Membership, TaskMonitor } from './dispatcher.js';
import { createPermits } from './permits.js';
import type { RateLimiter } from './rate-limiter.js';

/** The limits of a `SemaphoreDispatcher`. */
export interface SemaphoreDispatcherOptions {
  /** URLs in work at once. Default 5. */
  permits?: number;
  /** Delays between the requests of a domain, longer after 429 and 503. Default none. */
  rateLimiter?: RateLimiter;
  /** Shows progress, such as `new CrawlerMonitor()`. Default none. */
  monitor?: TaskMonitor;
}

/** What a rate limiter and a monitor must provide. */
export const COMPANION_SHAPE = {
  rateLimiter: objectWith('a RateLimiter', ['afterResponse', 'takeSlot']),
  monitor: objectWith('a CrawlerMonitor', ['begin', 'started', 'ended']),
} as const;

/**
 * Runs a fixed number of URLs at once.
 *
 * @example
 * const results = await crawler.runMany(urls, {}, new SemaphoreDispatcher({ permits: 10 }));
 */
export class SemaphoreDispatcher implements Dispatcher {
  /** URLs in work at once, whatever the machine's load. */
  readonly permits: number;
  /** As given. */
  readonly rateLimiter: RateLimiter | undefined;
  /** As given. */
  readonly monitor: TaskMonitor | undefined;
  readonly #permits;

  constructor(options: SemaphoreDispatcherOptions = {}) {
    checkOptions('SemaphoreDispatcher', options, {
      permits: aWholeNumber({ from: 1, to: 10_000 }),
      ...COMPANION_SHAPE,
    });
    this.permits = options.permits ?? 5;
    this.rateLimiter = options.rateLimiter;
    this.monitor = options.monitor;
    this.#permits = createPermits(this.permits);
  }

  /** @internal */
  join(batch: Batch): Membership {
    return this.#permits.join(batch);
  }
}
