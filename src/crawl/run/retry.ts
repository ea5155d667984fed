// Retry policy: what happens to a request after a failed attempt. Pure; reads error classes, never messages.
// The wait between attempts grows exponentially with jitter, so that many failures do not return together.
import type { CrawlError } from '../../errors.js';
import { CriticalError, NonRetryableError, RetryRequestError, SessionError } from '../../errors.js';
import type { Request } from '../../request/request.js';

export interface RetryLimits {
  readonly maxRequestRetries: number;
  /** How often a request comes back when its host asked it to. Default 100. */
  readonly maxRetryAfters?: number;
  readonly maxSessionRotations: number;
  readonly retryDelayMs: number;
  readonly maxRetryDelayMs: number;
}

export type Verdict =
  | { readonly kind: 'stop-crawl' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'rotate-session' }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly isRetryAfter?: true };

/** What the end of an attempt means for the next one. */
export interface RetryAdvice {
  /** In place of the usual wait: the domain itself rests. */
  readonly afterMs?: number;
  /** The host said when to come back: that attempt does not count as a retry. */
  readonly isRetryAfter?: boolean;
  /** How often that holds for a request, which then fails. Default: the limits', after which coming back is a retry. */
  readonly maxRetryAfters?: number;
}

/** A host that always says "later" must fail at some point. */
const MAX_RETRY_AFTERS = 100;

export function decideRetry(
  error: CrawlError,
  request: Request,
  limits: RetryLimits,
  random: () => number,
  advice: RetryAdvice = {},
): Verdict {
  if (error instanceof CriticalError || error.class === 'fatal') return { kind: 'stop-crawl' };
  if (request.noRetry || error instanceof NonRetryableError || error.class === 'permanent') return { kind: 'fail' };
  if (advice.isRetryAfter) {
    const most = advice.maxRetryAfters ?? limits.maxRetryAfters ?? MAX_RETRY_AFTERS;
    if (request.retryAfterCount < most) return { kind: 'retry', afterMs: advice.afterMs ?? 0, isRetryAfter: true };
    if (advice.maxRetryAfters !== undefined) return { kind: 'fail' };
  }
  // A proxy that fails is the session's: another session has another one.
  if (error instanceof SessionError || error.code === 'PROXY_FAILED') {
    return request.sessionRotationCount < limits.maxSessionRotations ? { kind: 'rotate-session' } : { kind: 'fail' };
  }
  if (error instanceof RetryRequestError) return { kind: 'retry', afterMs: 0 };
  if (request.retryCount >= (request.maxRetries ?? limits.maxRequestRetries)) return { kind: 'fail' };
  return { kind: 'retry', afterMs: advice.afterMs ?? backoffMs(request.retryCount, limits, random) };
}

/** min(max, base × 2^attempts) × a random factor from 0.5 to 1. */
export function backoffMs(
  attemptsBefore: number,
  limits: Pick<RetryLimits, 'retryDelayMs' | 'maxRetryDelayMs'>,
  random: () => number,
): number {
  const full = Math.min(limits.maxRetryDelayMs, limits.retryDelayMs * 2 ** Math.min(attemptsBefore, 30));
  return Math.round(full * (0.5 + random() / 2));
}

/** The shortest wait that can be said in seconds; a date is exact to the second only. */
const SHORTEST_WAIT_MS = 1_000;

/**
 * The wait that a Retry-After header requests, or undefined if it is missing or invalid. "At once" (0, a date
 * that has passed) is none: it would bring the request back without a wait, over and over.
 */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return undefined;
  // What is neither seconds nor an HTTP date is nothing: Date.parse would read a date into almost any text.
  const isDate = /^[a-z]{3,9},? /i.test(text);
  const waitMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : isDate ? Date.parse(text) - nowMs : NaN;
  return waitMs > 0 ? Math.max(waitMs, SHORTEST_WAIT_MS) : undefined;
}
