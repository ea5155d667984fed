// How long a domain rests between requests: a random base, longer after 429 and 503, shorter again after success.
// Promise: the delay is never below the base or above the maximum; the queue enforces it by the domain's turn,
// and a limiter shared by several batches allows one request per domain at a time.
import { createRecentMap } from '../base/recent-map.js';
import { aNumber, aWholeNumber, arrayOf, check, checkOptions, optionError } from '../option-checks.js';

/** How a `RateLimiter` spaces requests to one domain. */
export interface RateLimiterOptions {
  /** Rest between a response and the next request of its domain: milliseconds, or a range. Default [1000, 3000]. */
  baseDelayMs?: number | readonly [number, number];
  /** The longest rest that the limiter chooses; `Retry-After` may ask for more. Default 60,000. */
  maxDelayMs?: number;
  /** How often a URL is fetched again after one of the codes, regardless of `RunConfig.maxRetries`. Default 3. */
  maxRetries?: number;
  /** Statuses that mean "slower". Default 429 and 503. */
  codes?: readonly number[];
}

/** Chance and time, for tests. */
interface RateLimiterParts {
  readonly random?: () => number;
  readonly after?: (ms: number, call: () => void) => void;
}

/** How a domain rests after a response. */
export interface Rest {
  readonly delayMs: number;
  readonly pauseMs?: number;
}

const isDelay = (value: unknown): value is number => aNumber({ from: 0 }).accepts(value);
const aDelayRange = check(
  'milliseconds from 0, or [least, most]',
  (value) =>
    isDelay(value) ||
    (Array.isArray(value) && value.length === 2 && value.every(isDelay) && (value[0] as number) <= value[1]!),
);

/** Growth starts here if the base is shorter. */
const FIRST_STEP_MS = 500;
const DECAY = 0.75;
/** Domains with a delay above the base; beyond this the least recently used are dropped. */
const MAX_SLOWED = 10_000;
/** A longer Retry-After is rejected. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Paces the requests of each domain.
 *
 * @example
 * const rateLimiter = new RateLimiter({ baseDelayMs: [500, 1500], maxRetries: 2 });
 * await crawler.runMany(urls, {}, new MemoryAdaptiveDispatcher({ rateLimiter }));
 */
export class RateLimiter {
  /** Least and most; each delay is drawn in between, and grows while the domain refuses. */
  readonly baseDelayMs: readonly [number, number];
  /** No delay is longer, however often a domain refuses. */
  readonly maxDelayMs: number;
  /** So many refusals of a URL are answered with another try. */
  readonly maxRetries: number;
  /** Statuses that count as a refusal. */
  readonly codes: readonly number[];
  readonly #random: () => number;
  readonly #after: NonNullable<RateLimiterParts['after']>;
  readonly #slowed = createRecentMap<string, number>(MAX_SLOWED);
  /** When each busy or resting domain is free for another batch. */
  readonly #slots = new Map<string, Promise<void>>();

  constructor(options: RateLimiterOptions = {}, parts: RateLimiterParts = {}) {
    checkOptions('RateLimiter', options, {
      baseDelayMs: aDelayRange,
      maxDelayMs: aNumber({ above: 0 }),
      maxRetries: aWholeNumber({ from: 0 }),
      codes: arrayOf(aWholeNumber({ from: 400, to: 599 })),
    });
    const { baseDelayMs = [1_000, 3_000], maxDelayMs = 60_000 } = options;
    const [least, most] = typeof baseDelayMs === 'number' ? [baseDelayMs, baseDelayMs] : baseDelayMs;
    if (most > maxDelayMs) throw optionError([`RateLimiter: baseDelayMs ${most} is above maxDelayMs ${maxDelayMs}`]);
    this.baseDelayMs = Object.freeze([least, most] as const);
    this.maxDelayMs = maxDelayMs;
    this.maxRetries = options.maxRetries ?? 3;
    this.codes = Object.freeze([...(options.codes ?? [429, 503])]);
    this.#random = parts.random ?? Math.random;
    this.#after = parts.after ?? ((ms, call) => void setTimeout(call, ms).unref());
  }

  /** @internal How the domain rests after this response; `delayMs` is its delay so far, if the queue knows. */
  afterResponse(domain: string, statusCode: number, retryAfterMs: number | undefined, delayMs = 0): Rest {
    const [least, most] = this.baseDelayMs;
    const base = least + this.#random() * (most - least);
    // Rounded up by a millisecond where it is kept.
    const kept = delayMs > most + 1 ? delayMs : undefined;
    const before = this.#slowed.get(domain) ?? kept;
    this.#slowed.delete(domain);
    if (!this.codes.includes(statusCode)) {
      const decayed = (before ?? 0) * DECAY;
      if (decayed <= Math.max(most, 1)) return { delayMs: base };
      this.#slowed.set(domain, decayed);
      return { delayMs: decayed };
    }
    const jitter = 0.75 + this.#random() / 2;
    const doubled = 2 * Math.max(before ?? 0, base, FIRST_STEP_MS) * jitter;
    const slower = Math.max(least, Math.min(doubled, this.maxDelayMs));
    this.#slowed.set(domain, slower);
    if (retryAfterMs === undefined) return { delayMs: slower };
    return { delayMs: slower, pauseMs: Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) };
  }

  /**
   * @internal Takes the domain's slot, after its current owner. Within one batch the queue's turn has seen to
   * that already; two batches have two queues. The returned function frees it after a rest.
   */
  async takeSlot(domain: string): Promise<(restMs: number) => void> {
    const before = this.#slots.get(domain);
    let free!: () => void;
    const own = new Promise<void>((resolve) => (free = resolve));
    const chained = before ? before.then(() => own) : own;
    this.#slots.set(domain, chained);
    await before;
    return (restMs) => {
      const open = () => {
        free();
        if (this.#slots.get(domain) === chained) this.#slots.delete(domain);
      };
      if (restMs > 0) this.#after(restMs, open);
      else open();
    };
  }
}
