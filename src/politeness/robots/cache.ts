// The robots.txt policy (pure): what a host allows now, and what an attempt to read its robots.txt changes.
// RFC 9309: 4xx allows all, 5xx and no answer forbid all, five redirects are followed, rules are cached for a day.
import { ERROR_CLASSES, type ErrorCode } from '../../errors.js';
import { isUnreached } from '../delay.js';
import { freshHost, type HostRecord, MAX_RULES_BYTES } from '../hosts.js';
import { RobotsTxt } from './robots.js';

export interface RobotsPolicy {
  /** The name under which rules are looked up; undefined when robots.txt is not respected. */
  readonly agent: string | undefined;
  /** How long rules are cached. */
  readonly ttlMs: number;
  /** The wait after the first failed attempt is five times this, after the second twenty-five times. */
  readonly retryMs: number;
  /** Upper limit for a host's `Retry-After`. */
  readonly maxDelayMs: number;
}

/** What a host allows now. */
export type Standing =
  | { readonly kind: 'rules'; readonly rules: string }
  /** Fetch its robots.txt first, from here. */
  | { readonly kind: 'read'; readonly url: string }
  /** Fetch its robots.txt first, not before this time. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** `code`: not only its robots.txt, the host itself was not reached. */
  | { readonly kind: 'unreachable'; readonly why: string; readonly code?: ErrorCode }
  | { readonly kind: 'down'; readonly why: string };

/** The result of a robots.txt request. */
export type RobotsAnswer =
  | { readonly kind: 'answer'; readonly statusCode: number; readonly body: Uint8Array; readonly retryAfterMs?: number }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'failure'; readonly code: ErrorCode; readonly message: string };

export const ROBOTS_TRIES = 3;
const MAX_REDIRECTS = 5;
const RETRY_FACTOR = 5;
/** The user waits for a seed: an unreachable host is tried once more, soon. */
const SEED_TRIES = 2;
const SEED_RETRY_MS = 1_000;
/** An unreadable robots.txt is tried again after this time. */
const UNREACHABLE_MS = 3_600_000;
/** While robots.txt cannot be read, rules as old as this are better than none. */
const OLDEST_RULES_MS = 7 * 86_400_000;
/** Limit for a stored error text; a hostile host must not make it long. */
const MAX_WHY = 300;

/** The URL of a host's robots.txt. */
export function robotsUrl(origin: string): string {
  return `${origin}/robots.txt`;
}

/** The verdict for a host, by its record if that is for our agent. */
export function hostFor(policy: RobotsPolicy, record: HostRecord | undefined): HostRecord {
  const agent = policy.agent ?? '';
  if (!record) return freshHost(agent);
  if (record.agent === agent) return record;
  const { failures, downUntilMs, backoff } = record;
  return { ...freshHost(agent), failures, downUntilMs, backoff };
}

export function standingOf(record: HostRecord, origin: string, policy: RobotsPolicy, nowMs: number): Standing {
  if (record.downUntilMs > nowMs) {
    return { kind: 'down', why: `${origin} could not be reached ${record.failures} times in a row` };
  }
  if (policy.agent === undefined) return { kind: 'rules', rules: '' };
  const { rules, readAtMs, freshUntilMs, unreachableUntilMs, hop } = record;
  // A clock set back must not make rules valid forever.
  const isFresh = nowMs < freshUntilMs && freshUntilMs - nowMs <= policy.ttlMs;
  if (rules !== undefined && isFresh) return { kind: 'rules', rules };
  if (nowMs >= unreachableUntilMs) {
    const waitMs = Math.min(record.nextTryAtMs - nowMs, policy.maxDelayMs);
    return waitMs > 0 ? { kind: 'wait', ms: waitMs } : { kind: 'read', url: hop?.url ?? robotsUrl(origin) };
  }
  if (rules !== undefined && nowMs - readAtMs < OLDEST_RULES_MS) return { kind: 'rules', rules };
  const { why = `cannot read robots.txt of ${origin}`, code } = record;
  return { kind: 'unreachable', why, ...(code === undefined ? {} : { code }) };
}

/**
 * The host after an attempt to read its robots.txt, and how long it must rest because of it.
 *
 * @param isSeed whether the user named the host: then one that cannot be reached says so within seconds
 */
export function afterReading(
  record: HostRecord,
  answer: RobotsAnswer,
  policy: RobotsPolicy,
  nowMs: number,
  isSeed = false,
): { readonly record: HostRecord; readonly pauseMs: number } {
  switch (answer.kind) {
    case 'redirect': {
      const count = (record.hop?.count ?? 0) + 1;
      // Too many redirects: treated as missing, as the RFC allows.
      if (count > MAX_REDIRECTS) return { record: withRules(record, '', policy, nowMs), pauseMs: 0 };
      return { record: { ...reached(record), hop: { url: answer.to, count } }, pauseMs: 0 };
    }
    case 'failure':
      return unreached(record, answer, policy, nowMs, isSeed);
    case 'answer': {
      const { statusCode, body, retryAfterMs } = answer;
      if (statusCode >= 200 && statusCode < 300) {
        const rules = RobotsTxt.parse(body).packFor(policy.agent ?? '*', MAX_RULES_BYTES);
        return { record: withRules(reached(record), rules, policy, nowMs), pauseMs: 0 };
      }
      const isTooMany = statusCode === 429;
      if (statusCode < 500 && !(isTooMany && record.tries + 1 < ROBOTS_TRIES)) {
        return { record: withRules(reached(record), '', policy, nowMs), pauseMs: 0 };
      }
      const waitMs = retryAfterMs ?? growingWaitMs(record, policy);
      return failed(reached(record), { why: `cannot read robots.txt: status ${statusCode}` }, waitMs, policy, nowMs);
    }
    default:
      return answer satisfies never;
  }
}

/** No answer. What will not pass is not tried again. */
function unreached(
  record: HostRecord,
  { code, message }: Extract<RobotsAnswer, { kind: 'failure' }>,
  policy: RobotsPolicy,
  nowMs: number,
  isSeed: boolean,
): { record: HostRecord; pauseMs: number } {
  // Where a moved file cannot be had, its own host is none the worse.
  const isDead = isUnreached(code) && record.hop === undefined;
  const failure = isDead ? { why: message, code } : { why: `cannot read robots.txt: ${code}: ${message}` };
  const isSoon = isSeed && isDead && record.rules === undefined;
  const isLast = ERROR_CLASSES[code] === 'permanent' || (isSoon && record.tries + 1 >= SEED_TRIES);
  const waitMs = isSoon ? Math.min(SEED_RETRY_MS, policy.retryMs) : growingWaitMs(record, policy);
  return failed(record, failure, isLast ? undefined : waitMs, policy, nowMs);
}

function growingWaitMs({ tries }: HostRecord, { retryMs }: RobotsPolicy): number {
  return retryMs * RETRY_FACTOR ** (tries + 1);
}

/** @param waitMs until the next try; undefined: there is none */
function failed(
  record: HostRecord,
  { why, code }: { readonly why: string; readonly code?: ErrorCode },
  waitMs: number | undefined,
  policy: RobotsPolicy,
  nowMs: number,
): { record: HostRecord; pauseMs: number } {
  const tries = record.tries + 1;
  const { hop: _hop, code: _code, ...before } = record;
  const rest = { ...before, why: why.slice(0, MAX_WHY), ...(code === undefined ? {} : { code }) };
  if (waitMs === undefined || tries >= ROBOTS_TRIES) {
    const unreachableUntilMs = nowMs + UNREACHABLE_MS;
    return { record: { ...rest, tries: 0, nextTryAtMs: 0, unreachableUntilMs }, pauseMs: 0 };
  }
  const pauseMs = Math.min(waitMs, policy.maxDelayMs);
  return { record: { ...rest, tries, nextTryAtMs: nowMs + pauseMs }, pauseMs };
}

function withRules(record: HostRecord, rules: string, policy: RobotsPolicy, nowMs: number): HostRecord {
  const { hop: _hop, why: _why, code: _code, ...rest } = record;
  const freshUntilMs = nowMs + policy.ttlMs;
  return { ...rest, rules, readAtMs: nowMs, freshUntilMs, tries: 0, nextTryAtMs: 0, unreachableUntilMs: 0 };
}

/** Any answer: the host is up. */
function reached(record: HostRecord): HostRecord {
  return record.failures === 0 ? record : { ...record, failures: 0, downUntilMs: 0 };
}
