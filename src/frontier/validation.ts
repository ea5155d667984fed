// Validates the frontier's options and calls before anything is written, so that a call either happens completely or
// is refused with a reason. Inside, everything is trusted.
import { CrawlError } from '../errors.js';
import type { Fingerprint } from '../request/fingerprint.js';
import {
  type Caller,
  type HolderId,
  type LeaseCall,
  MAX_BULK_SKIP_DOMAINS,
  type Pacing,
  type QueueEntry,
  type SettleCall,
} from './frontier.js';

export const DEFAULT_LEASE_MS = 180_000;
/** Ten years: a longer delay is a mistake, and store time stays far within its 48 bits. */
const MAX_DURATION_MS = 315_360_000_000;
export const MAX_TURNS = 65_535;
const MAX_DOMAIN_LENGTH = 1_024;

export function checkedPacing(pacing: Pacing): Pacing {
  const { delayMs, turns } = pacing;
  if (!isDuration(delayMs)) invalidOption('pacing.delayMs', 'milliseconds, 0 or more', delayMs);
  if (!Number.isInteger(turns) || turns < 1 || turns > MAX_TURNS) {
    invalidOption('pacing.turns', `a whole number from 1 to ${MAX_TURNS}`, turns);
  }
  return { delayMs: Math.ceil(delayMs), turns };
}

export function checkedLeaseMs(leaseMs = DEFAULT_LEASE_MS): number {
  if (!isDuration(leaseMs) || leaseMs < 1) invalidOption('leaseMs', 'milliseconds, 1 or more', leaseMs);
  return Math.ceil(leaseMs);
}

export function checkCaller({ holder, call }: Caller): void {
  if (typeof holder !== 'string' || holder === '') invalid('holder', 'a non-empty string', holder);
  if (!Number.isSafeInteger(call) || call < 0) invalid('call', 'a whole number, 0 or more', call);
}

export function checkEntries(entries: readonly QueueEntry[]): void {
  for (const { fingerprint, domain, record, priority } of entries) {
    checkFingerprint(fingerprint);
    if (typeof domain !== 'string' || domain === '' || domain.length > MAX_DOMAIN_LENGTH) {
      invalid('domain', `a name of 1 to ${MAX_DOMAIN_LENGTH} characters`, domain);
    }
    if (typeof record !== 'string') invalid('record', 'a string', record);
    if (priority !== undefined && (!Number.isInteger(priority) || Math.abs(priority) > 2)) {
      invalid('priority', 'a whole number from -2 to 2', priority);
    }
  }
}

export function checkFingerprint(fingerprint: Fingerprint): void {
  const { hi, lo } = fingerprint;
  if (hi >>> 0 !== hi || lo >>> 0 !== lo) invalid('fingerprint', 'two unsigned 32-bit halves', fingerprint);
}

export function checkLeaseCall(call: LeaseCall): void {
  checkCaller(call);
  if (!Number.isInteger(call.max) || call.max < 0) invalid('max', 'a whole number, 0 or more', call.max);
  if (call.maxEnded !== undefined && Number.isNaN(call.maxEnded)) invalid('maxEnded', 'a number', call.maxEnded);
  if (call.bulkSkipDomains !== undefined && !isBulkSkipList(call.bulkSkipDomains))
    invalid('bulkSkipDomains', `at most ${MAX_BULK_SKIP_DOMAINS} names`, call.bulkSkipDomains);
}

/** A settle call with its durations rounded up to whole milliseconds. */
export function checkedSettleCall(call: SettleCall): SettleCall {
  checkCaller(call);
  for (const { delayMs, pauseMs } of call.landings ?? []) {
    if (delayMs !== undefined && !isDuration(delayMs)) invalid('landing.delayMs', 'milliseconds, 0 or more', delayMs);
    if (pauseMs !== undefined && !isDuration(pauseMs)) invalid('landing.pauseMs', 'milliseconds, 0 or more', pauseMs);
  }
  for (const settlement of call.settlements) {
    if (settlement.links) checkEntries(settlement.links);
    if (settlement.record !== undefined && typeof settlement.record !== 'string') {
      invalid('record', 'a string', settlement.record);
    }
    if (settlement.kind === 'retry' && !isDuration(settlement.afterMs)) {
      invalid('afterMs', 'milliseconds, 0 or more', settlement.afterMs);
    }
    if ((settlement.kind === 'failed' || settlement.kind === 'skipped') && typeof settlement.reason !== 'string') {
      invalid('reason', 'a string', settlement.reason);
    }
  }
  for (const [key, value] of Object.entries(call.notes ?? {})) {
    if (value !== null && typeof value !== 'string') invalid(`notes.${key}`, 'a string or null', value);
  }
  return {
    ...call,
    landings: call.landings?.map((landing) => ({ ...landing, ...wholeDurations(landing) })),
    settlements: call.settlements.map((settlement) =>
      settlement.kind === 'retry' ? { ...settlement, afterMs: Math.ceil(settlement.afterMs) } : settlement,
    ),
  };
}

/**
 * The checks that a frontier makes before anything is written: a call happens as a whole, or is refused with
 * `REQUEST_INVALID` (its options with `OPTION_INVALID`). For a backend of your own.
 *
 * @example
 * const pacing = frontierChecks.pacing({ delayMs: 0, turns: 10 });
 */
export const frontierChecks = {
  pacing: checkedPacing,
  leaseMs: checkedLeaseMs,
  caller: checkCaller,
  entries: checkEntries,
  fingerprint: checkFingerprint,
  lease: checkLeaseCall,
  /** Answers the call with its durations rounded up to whole milliseconds. */
  settle: checkedSettleCall,
} as const;

function wholeDurations({ delayMs, pauseMs }: { delayMs?: number; pauseMs?: number }) {
  return {
    ...(delayMs === undefined ? {} : { delayMs: Math.ceil(delayMs) }),
    ...(pauseMs === undefined ? {} : { pauseMs: Math.ceil(pauseMs) }),
  };
}

/** The error of a holder whose leases were taken. */
export function holderLost(holder: HolderId): CrawlError {
  return new CrawlError('LEASE_LOST', `holder ${holder} was lost and its leases were taken: start a new holder`);
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_DURATION_MS;
}

function isBulkSkipList(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length <= MAX_BULK_SKIP_DOMAINS && value.every((name) => typeof name === 'string')
  );
}

function invalid(name: string, expected: string, got: unknown): never {
  throw new CrawlError('REQUEST_INVALID', `${name} must be ${expected}, not ${show(got)}`);
}

function invalidOption(name: string, expected: string, got: unknown): never {
  throw new CrawlError('OPTION_INVALID', `${name} must be ${expected}, not ${show(got)}`);
}

function show(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(JSON.stringify(value) ?? value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
