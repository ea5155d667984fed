// The simplest dispatcher: so many at once, whatever the machine says.
import { aWholeNumber, checkOptions, objectWith } from '../option-checks.js';
import type { Batch, Dispatcher, Membership, TaskMonitor } from './dispatcher.js';
import { createPermits } from './permits.js';
import type { RateLimiter } from './rate-limiter.js';

/** The limits of a `SemaphoreDispatcher`. */
export interface SemaphoreDispatcherOptions {
  /** URLs in work at once. Default 5. */
  permits?: number;
  rateLimiter?: RateLimiter;
  monitor?: TaskMonitor;
}

/** What a rate limiter and a monitor must be able to do. */
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
  readonly permits: number;
  readonly rateLimiter: RateLimiter | undefined;
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
