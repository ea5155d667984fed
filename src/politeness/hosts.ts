// PORT. The crawl's record of each host: robots rules, failures, backoff.
// Promise: a lost or damaged record costs one more robots.txt, never a wrong decision.
import type { ErrorCode } from '../errors.js';
import { LIMITS } from '../limits.js';

/** A host here is an origin: scheme, name and port, since each has its own robots.txt. */
export interface HostRecord {
  /** The robot the rules are for; rules for another are ignored. */
  readonly agent: string;
  /** robots.txt for that agent with its sitemaps, packed; '' allows everything; undefined: never read. */
  readonly rules?: string;
  /** Wall time in ms when the rules were read, and until when they need no second look. */
  readonly readAtMs: number;
  /** Wall time in ms until which the rules need no second look. */
  readonly freshUntilMs: number;
  /** The target of robots.txt redirects, their number, and when it was requested in another queue. */
  readonly hop?: { readonly url: string; readonly count: number; readonly askedAtMs?: number };
  /** Failed attempts to read robots.txt in a row, and when the next may be made. */
  readonly tries: number;
  /** Wall time in ms before which robots.txt is not requested again. */
  readonly nextTryAtMs: number;
  /** After the last attempt: no retry until this time, and why. */
  readonly unreachableUntilMs: number;
  /** Why robots.txt could not be read, for messages. */
  readonly why?: string;
  /** The host itself could not be reached, so its URLs fail with this. */
  readonly code?: ErrorCode;
  /** Failures in a row to resolve, connect or shake hands; after too many, until when the host counts as down. */
  readonly failures: number;
  /** Wall time in ms until which the host counts as down; 0: it does not. */
  readonly downUntilMs: number;
  /** How often the host was overloaded without having recovered since. */
  readonly backoff: number;
}

/** What is known of hosts, between requests and, where it is stored, between runs. */
export interface HostStore {
  /** The host's record; undefined if missing or unreadable. */
  get(host: string): Promise<HostRecord | undefined>;
  /** Replaces the record and ends a claim. Durable soon, visible to this process at once. */
  put(host: string, record: HostRecord): void;
  /** True for one caller among all processes, until `ms` have passed or the record was put. */
  claim(host: string, ms: number): Promise<boolean>;
  /** Writes what is not written yet, and frees everything. */
  close(): Promise<void>;
}

/** Size limit for rules and sitemaps per host. */
export const MAX_RULES_BYTES = LIMITS.robotsPackBytes.max;

export function freshHost(agent: string): HostRecord {
  return {
    agent,
    readAtMs: 0,
    freshUntilMs: 0,
    tries: 0,
    nextTryAtMs: 0,
    unreachableUntilMs: 0,
    failures: 0,
    downUntilMs: 0,
    backoff: 0,
  };
}

/** A record as one line of JSON, rules last and untouched: they are most of it. */
export function packHost({ rules, ...head }: HostRecord): string {
  return rules === undefined ? JSON.stringify(head) : `${JSON.stringify(head)}\n${rules}`;
}

/** The record behind a packed one; undefined when it was not one. */
export function unpackHost(text: string): HostRecord | undefined {
  const end = text.indexOf('\n');
  try {
    const head = JSON.parse(end < 0 ? text : text.slice(0, end)) as HostRecord;
    const numbers = [head.readAtMs, head.freshUntilMs, head.tries, head.nextTryAtMs, head.unreachableUntilMs];
    numbers.push(head.failures, head.downUntilMs, head.backoff);
    if (typeof head.agent !== 'string' || !numbers.every(Number.isFinite)) return undefined;
    return end < 0 ? head : { ...head, rules: text.slice(end + 1) };
  } catch {
    return undefined;
  }
}

/** Roughly what a record takes in memory beyond its text. */
const OVERHEAD_BYTES = 400;
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** A store in memory: drops the least recently used records when full. */
export function createMemoryHosts(options: { maxBytes?: number; now?: () => number } = {}): HostStore {
  const { maxBytes = DEFAULT_MAX_BYTES, now = () => performance.now() } = options;
  const records = createBoundedMap<HostRecord>(maxBytes);
  const claims = createBoundedMap<number>(maxBytes);
  return {
    get: async (host) => records.get(host),
    put(host, record) {
      records.set(host, record, hostBytes(host, record));
      claims.delete(host);
    },
    async claim(host, ms) {
      if ((claims.get(host) ?? 0) > now()) return false;
      claims.set(host, now() + ms, OVERHEAD_BYTES);
      return true;
    },
    close: async () => undefined,
  };
}

export function hostBytes(host: string, record: HostRecord): number {
  return OVERHEAD_BYTES + 2 * (host.length + (record.rules?.length ?? 0));
}

/** A map limited in bytes that drops its least recently used entries. */
export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value, bytes: number): void;
  delete(key: string): void;
  readonly bytes: number;
}

export function createBoundedMap<Value>(maxBytes: number): BoundedMap<Value> {
  const entries = new Map<string, { value: Value; bytes: number }>();
  let total = 0;
  function remove(key: string): void {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }
  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      // Maps keep insertion order: the first is the least recently used.
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, bytes) {
      remove(key);
      entries.set(key, { value, bytes });
      total += bytes;
      while (total > maxBytes && entries.size > 1) remove(entries.keys().next().value!);
    },
    delete: remove,
    get bytes() {
      return total;
    },
  };
}
