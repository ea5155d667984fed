// The pacing policy (pure): how long a domain rests after a response or failure, and when a host is down.
// The frontier enforces the result. Promise: no rest is shorter than required.
import type { ErrorCode } from '../errors.js';
import type { HostRecord } from './hosts.js';

export interface PaceRules {
  /** At least, between the end of a response and the next request of its domain. */
  readonly minDelayMs: number;
  /** Longer waits fail instead. */
  readonly maxDelayMs: number;
  /** The first rest after an overload or a failed connection; it doubles. */
  readonly backoffMs: number;
  /** Rest this many times as long as a response took; 0: regardless of its duration. */
  readonly adaptiveFactor: number;
}

/** How a request that left the machine ended. */
export type Ending =
  | { readonly statusCode: number; readonly retryAfterMs?: number; readonly tookMs: number }
  | { readonly failure: ErrorCode };

export interface Rest {
  /** The domain's delay from now on. */
  readonly delayMs: number;
  /** Rest at least this long once. */
  readonly pauseMs: number;
  /** The host requires a wait above the maximum. */
  readonly isTooLong: boolean;
  /** The new host state; the same object if nothing changed. */
  readonly record: HostRecord;
}

/** Failures in a row to resolve, connect or shake hands after which a host is down, and for how long. */
export const FAILURES_UNTIL_DOWN = 5;
export const DOWN_MS = 3_600_000;
/** Longer backoffs do not help: the host is tried every five minutes. */
const MAX_BACKOFF_MS = 300_000;
const MAX_BACKOFF_LEVEL = 12;

const UNREACHED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'DNS_NOT_FOUND',
  'CONNECT_REFUSED',
  'CONNECT_RESET',
  'CONNECT_FAILED',
  'CONNECT_TIMEOUT',
  'TLS_INVALID',
]);

/** Whether the host was not reached. */
export function isUnreached(failure: ErrorCode): boolean {
  return UNREACHED.has(failure);
}

/** Whether the status means overload. */
export function isOverload(statusCode: number): boolean {
  return statusCode === 429 || statusCode === 503;
}

/** The domain's new delay after a request, and a longer rest if needed. */
export function restAfter(
  ending: Ending,
  record: HostRecord,
  crawlDelaySecs: number | undefined,
  rules: PaceRules,
  nowMs: number,
): Rest {
  const { pauseMs, isTooLong, tookMs, ...change } = decideRest(ending, record, rules, nowMs);
  const changed = { ...record, ...change };
  const next = isSame(changed, record) ? record : changed;
  return { delayMs: delayOf(next, crawlDelaySecs, rules, tookMs), pauseMs, isTooLong, record: next };
}

/** A host's delay: the longest of our minimum, its Crawl-delay and its backoff. */
export function delayOf(
  record: HostRecord,
  crawlDelaySecs: number | undefined,
  rules: PaceRules,
  tookMs: number = 0,
): number {
  const { minDelayMs, maxDelayMs, adaptiveFactor } = rules;
  const asked = Math.min((crawlDelaySecs ?? 0) * 1_000, maxDelayMs);
  const adaptive = Math.min(tookMs * adaptiveFactor, maxDelayMs);
  const recovering = record.backoff > 0 ? backoffOf(record.backoff, rules) : 0;
  return Math.max(minDelayMs, asked, adaptive, recovering);
}

type RestDecision = Pick<HostRecord, 'failures' | 'downUntilMs' | 'backoff'> & {
  pauseMs: number;
  isTooLong: boolean;
  tookMs: number;
};

function decideRest(ending: Ending, record: HostRecord, rules: PaceRules, nowMs: number): RestDecision {
  const { backoff } = record;
  const reached = { failures: 0, downUntilMs: 0, isTooLong: false, tookMs: 0 };
  if ('failure' in ending) {
    if (isUnreached(ending.failure)) {
      const failures = record.failures + 1;
      const downUntilMs = failures >= FAILURES_UNTIL_DOWN ? nowMs + DOWN_MS : 0;
      return { ...reached, failures, downUntilMs, backoff, pauseMs: backoffOf(failures, rules) };
    }
    if (ending.failure === 'FETCH_TIMEOUT') {
      const level = Math.min(backoff + 1, MAX_BACKOFF_LEVEL);
      return { ...reached, backoff: level, pauseMs: backoffOf(level, rules) };
    }
    // Not caused by the host (a proxy, our own limits), or specific to this page.
    return { ...reached, failures: record.failures, downUntilMs: record.downUntilMs, backoff, pauseMs: 0 };
  }
  const { statusCode, retryAfterMs, tookMs } = ending;
  if (!isOverload(statusCode)) return { ...reached, tookMs, backoff: Math.max(0, backoff - 1), pauseMs: 0 };
  // Retry-After is better than a guess.
  if (retryAfterMs !== undefined && retryAfterMs <= rules.maxDelayMs) {
    return { ...reached, tookMs, backoff, pauseMs: retryAfterMs };
  }
  const level = Math.min(backoff + 1, MAX_BACKOFF_LEVEL);
  const isTooLong = retryAfterMs !== undefined;
  return { ...reached, tookMs, backoff: level, pauseMs: backoffOf(level, rules), isTooLong };
}

function backoffOf(level: number, { backoffMs, minDelayMs, maxDelayMs }: PaceRules): number {
  return Math.min(Math.max(backoffMs, minDelayMs) * 2 ** (level - 1), Math.max(MAX_BACKOFF_MS, minDelayMs), maxDelayMs);
}

function isSame(a: HostRecord, b: HostRecord): boolean {
  return a.failures === b.failures && a.downUntilMs === b.downUntilMs && a.backoff === b.backoff;
}
