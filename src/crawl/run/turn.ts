// A domain's turn: when a request may be sent, and how long its domain rests afterwards.
// One pacing policy for scripts, batches and pods: all inputs (delay, Crawl-delay, Retry-After, backoff after
// overload and failures, rate limiter) meet here, and the longest rest wins.
import type { RateLimiter } from '../../dispatch/rate-limiter.js';
import { CrawlError } from '../../errors.js';
import type { Capture } from '../../fetch/engine.js';
import type { Landing } from '../../frontier/frontier.js';
import { type Ending, isOverload, isUnreached, type PaceRules, type Rest, restAfter } from '../../politeness/delay.js';
import type { HostRecord } from '../../politeness/hosts.js';
import type { Time } from '../time.js';
import { retryAfterMs, type RetryAdvice } from './retry.js';

/** What follows from an ending: for the domain, and for the request if it is tried again. */
export interface TurnEnd extends RetryAdvice {
  readonly landing: Omit<Landing, 'lease'>;
  /** The request fails for this reason, before any other. */
  readonly error?: CrawlError;
}

export interface Turn {
  /** Resolves when no other queue is requesting from the domain; only where several queues share one. */
  readonly ready?: (signal: AbortSignal) => Promise<void>;
  /** The request goes on the wire now. */
  begin(): void;
  /** It ended; nothing is known of how when `ending` is missing. */
  end(ending?: Ending): TurnEnd;
  /** It ended and will be repeated on the same turn: how long the domain rests in between. */
  restMs(ending?: Ending): number;
  /** The attempt ended without a reported end; `restMs` 0: nothing was sent. */
  readonly release?: (restMs?: number) => void;
}

/** Checked by an engine right before it sends: a request whose lease expired belongs to another holder. */
export function leaseCheck(isGood: () => boolean): () => void {
  return () => {
    if (!isGood()) throw new CrawlError('LEASE_LOST', 'the lease expired before the request was sent');
  };
}

/** How a response ended. */
export function endingOf({ statusCode, headers, timings }: Capture, time: Time): Ending {
  const tookMs = timings.totalMs;
  if (!isOverload(statusCode)) return { statusCode, tookMs };
  const asked = retryAfterMs(headers['retry-after'], time.wallMs());
  return asked === undefined ? { statusCode, tookMs } : { statusCode, tookMs, retryAfterMs: asked };
}

const UNKNOWN: Ending = Object.freeze({ statusCode: 200, tookMs: 0 });
const NOTHING: TurnEnd = Object.freeze({ landing: Object.freeze({}) });

/** The turn of a domain without remembered state: only its own responses make it rest. */
export function createPlainTurn(maxDelayMs: number, delayMs: number): Turn {
  return {
    begin: () => undefined,
    end(ending) {
      if (!ending || 'failure' in ending || ending.retryAfterMs === undefined) return NOTHING;
      const { retryAfterMs: asked } = ending;
      if (asked > maxDelayMs) return { landing: {}, error: tooLong(asked, maxDelayMs) };
      return { landing: { pauseMs: asked + ROUNDING_MS }, afterMs: 0, isRetryAfter: true };
    },
    restMs: () => delayMs,
  };
}

/** A host that is remembered. */
export interface TurnHost {
  readonly origin: string;
  readonly record: HostRecord;
  readonly crawlDelaySecs: number | undefined;
}

/** What the turns of a polite crawl share: known hosts, and the log of requests. */
export interface TurnHosts<Host extends TurnHost, Left> {
  /** The host as it is now. */
  current(host: Host): Host;
  save(host: Host, record: HostRecord): void;
  /** Accounts for a request that ended. */
  note(left: Left, startMs: number, ending: Ending, restMs: number): void;
  nowMs(): number;
  wallMs(): number;
}

/** The turn of a polite crawl. A class: every visit has one. */
export class HostTurn<Host extends TurnHost, Left> implements Turn {
  readonly #hosts: TurnHosts<Host, Left>;
  readonly #host: Host;
  readonly #pace: PaceRules;
  readonly #left: Left;
  #startMs = 0;

  /** @param left the request that leaves, for whoever is told of it */
  constructor(hosts: TurnHosts<Host, Left>, host: Host, pace: PaceRules, left: Left) {
    this.#hosts = hosts;
    this.#host = host;
    this.#pace = pace;
    this.#left = left;
  }

  begin(): void {
    this.#startMs = this.#hosts.nowMs();
  }

  end(ending: Ending = UNKNOWN): TurnEnd {
    const { delayMs, pauseMs, isTooLong } = this.#account(ending);
    return { landing: landingOf(delayMs, pauseMs), ...adviceFor(ending, isTooLong, this.#pace) };
  }

  restMs(ending: Ending = UNKNOWN): number {
    const { delayMs, pauseMs } = this.#account(ending);
    return Math.max(delayMs, pauseMs);
  }

  #account(ending: Ending): Rest {
    const hosts = this.#hosts;
    const host = hosts.current(this.#host);
    const rest = restAfter(ending, host.record, host.crawlDelaySecs, this.#pace, hosts.wallMs());
    if (rest.record !== host.record) hosts.save(host, rest.record);
    hosts.note(this.#left, this.#startMs, ending, Math.max(rest.delayMs, rest.pauseMs));
    return rest;
  }
}

/** The domain rests for what went wrong: the request itself need not wait longer, and comes first after it. */
function adviceFor(ending: Ending, isTooLong: boolean, pace: PaceRules): Omit<TurnEnd, 'landing'> {
  if ('failure' in ending) {
    return ending.failure === 'FETCH_TIMEOUT' || isUnreached(ending.failure) ? { afterMs: 0 } : {};
  }
  if (!isOverload(ending.statusCode)) return {};
  if (isTooLong) return { error: tooLong(ending.retryAfterMs!, pace.maxDelayMs) };
  return ending.retryAfterMs === undefined ? { afterMs: 0 } : { afterMs: 0, isRetryAfter: true };
}

/**
 * A turn whose domain is also paced by a rate limiter, which several batches may share.
 *
 * @param delayMs the domain's delay now, which another process may have chosen
 */
export function createLimitedTurn(inner: Turn, limiter: RateLimiter, domain: string, delayMs?: number): Turn {
  let free: ((restMs: number) => void) | undefined;

  function release(restMs: number): void {
    free?.(restMs);
    free = undefined;
  }

  function limited(ending: Ending | undefined) {
    if (!ending || 'failure' in ending) return undefined;
    return limiter.afterResponse(domain, ending.statusCode, ending.retryAfterMs, delayMs);
  }

  return {
    async ready(signal) {
      await inner.ready?.(signal);
      free = await slotOf(limiter, domain, signal);
    },
    begin: () => inner.begin(),
    end(ending) {
      const end = inner.end(ending);
      const rest = limited(ending);
      if (!rest) return end;
      const landing = longerOf(end.landing, rest);
      release(Math.max(landing.delayMs ?? 0, landing.pauseMs ?? 0));
      const isSlower = limiter.codes.includes((ending as { statusCode: number }).statusCode);
      if (!isSlower || end.error) return { ...end, landing };
      return { landing, afterMs: 0, isRetryAfter: true, maxRetryAfters: limiter.maxRetries };
    },
    restMs: (ending) => Math.max(inner.restMs(ending), limited(ending)?.delayMs ?? 0),
    release: (restMs = limiter.baseDelayMs[0]) => release(restMs),
  };
}

/** Of two opinions how a domain rests, the longer of each kind. */
function longerOf(one: TurnEnd['landing'], other: TurnEnd['landing']): TurnEnd['landing'] {
  const delayMs = Math.max(one.delayMs ?? -1, other.delayMs ?? -1);
  const pauseMs = Math.max(one.pauseMs ?? 0, other.pauseMs ?? 0);
  return { ...(delayMs < 0 ? {} : { delayMs }), ...(pauseMs > 0 ? { pauseMs } : {}) };
}

/** The limiter's slot of a domain, or an error when the attempt is broken off meanwhile. */
async function slotOf(limiter: RateLimiter, domain: string, signal: AbortSignal): Promise<(restMs: number) => void> {
  const slot = limiter.takeSlot(domain);
  const broken = new Promise<undefined>((resolve) =>
    signal.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
  const taken = await Promise.race([slot, broken]);
  if (taken) return taken;
  void slot.then((late) => late(0));
  throw new CrawlError('ABORTED', 'stopped while waiting for its domain');
}

/** The store counts whole milliseconds, rounded down at both ends of a rest. */
export const ROUNDING_MS = 1;

export function landingOf(delayMs: number, pauseMs: number): Omit<Landing, 'lease'> {
  const delay = delayMs > 0 ? delayMs + ROUNDING_MS : 0;
  return pauseMs > 0 ? { delayMs: delay, pauseMs: pauseMs + ROUNDING_MS } : { delayMs: delay };
}

function tooLong(askedMs: number, maxDelayMs: number): CrawlError {
  return new CrawlError(
    'RETRY_AFTER_TOO_LONG',
    `Retry-After is ${Math.round(askedMs / 1000)} s, above maxDelaySecs (${maxDelayMs / 1000})`,
  );
}
