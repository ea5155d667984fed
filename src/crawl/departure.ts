// One request on its way: when it left, how it ended, and what that means for its domain and for itself.
// Without politeness only a host's own word counts (Retry-After); with it the gate gives departures that know the host.
import { CrawlError } from '../errors.js';
import type { Capture } from '../fetch/engine.js';
import type { Landing } from '../frontier/frontier.js';
import { type Ending, isOverload } from '../politeness/delay.js';
import { retryAfterMs } from './retry.js';

/** What follows from an ending. */
export interface Landed {
  readonly landing: Omit<Landing, 'lease'>;
  /** If it is tried again: after this long, in place of the usual wait. */
  readonly afterMs?: number;
  /** The host said when to come back: coming back then is no retry. */
  readonly isAppointment?: boolean;
  /** The request fails for this reason, whatever else went wrong. */
  readonly error?: CrawlError;
}

export interface Departure {
  /** The request goes on the wire now. */
  departed(): void;
  /** It ended; nothing is known of how when `ending` is missing. */
  landed(ending?: Ending): Landed;
  /** It ended and will be repeated on the same turn: how long the domain rests in between. */
  restMs(ending?: Ending): number;
}

/** What an engine asks right before it writes a request: one whose lease ran out is somebody else's by now. */
export function leaseCheck(isGood: () => boolean): () => void {
  return () => {
    if (!isGood()) throw new CrawlError('LEASE_LOST', 'the lease ran out before the request was sent');
  };
}

/** How a response ended. */
export function endingOf({ statusCode, headers, timings }: Capture): Ending {
  const tookMs = timings.totalMs;
  if (!isOverload(statusCode)) return { statusCode, tookMs };
  const asked = retryAfterMs(headers['retry-after'], Date.now());
  return asked === undefined ? { statusCode, tookMs } : { statusCode, tookMs, retryAfterMs: asked };
}

const NOTHING: Landed = Object.freeze({ landing: Object.freeze({}) });

/** Where nothing but a Retry-After pauses a host. */
export function createPlainDeparture(maxDelayMs: number, delayMs: number): Departure {
  return {
    departed: () => undefined,
    landed(ending) {
      if (!ending || 'failure' in ending || ending.retryAfterMs === undefined) return NOTHING;
      const { retryAfterMs: asked } = ending;
      if (asked > maxDelayMs) return { landing: {}, error: tooLong(asked, maxDelayMs) };
      return { landing: { pauseMs: asked + ROUNDING_MS }, afterMs: 0, isAppointment: true };
    },
    restMs: () => delayMs,
  };
}

/** The store counts whole milliseconds, rounded down at both ends of a rest. */
export const ROUNDING_MS = 1;

export function tooLong(askedMs: number, maxDelayMs: number): CrawlError {
  return new CrawlError(
    'RETRY_AFTER_TOO_LONG',
    `the host asks to come back in ${Math.round(askedMs / 1000)} s, and maxDelaySecs is ${maxDelayMs / 1000}`,
  );
}
