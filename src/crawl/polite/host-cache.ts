// This process's cache of hosts: records from the store with their rules parsed.
// Promise: looking up an active host is a map lookup; updates by other processes are seen within a second.
import { createBoundedMap, hostBytes, type HostRecord, type HostStore } from '../../politeness/hosts.js';
import { hostFor, type RobotsPolicy } from '../../politeness/robots/cache.js';
import { RobotsTxt } from '../../politeness/robots/robots.js';

/** A host as it was last read. */
export interface KnownHost {
  readonly origin: string;
  readonly record: HostRecord;
  isAllowed(url: string): boolean;
  readonly crawlDelaySecs: number | undefined;
}

export interface HostCache {
  /** What is at hand and recent enough to be trusted. */
  look(origin: string): KnownHost | undefined;
  /** What the store says. */
  read(origin: string): Promise<KnownHost>;
  save(origin: string, record: HostRecord): KnownHost;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Compiled rules take about this many times the room of their text. */
const RULES_FACTOR = 6;
/** Others write to a shared store: trust what was read for this long. */
const REVALIDATE_MS = 1_000;

interface Held {
  readonly host: KnownHost;
  readonly trustedUntilMs: number;
}

export function createHostCache(options: {
  readonly store: HostStore;
  readonly policyOf: (origin: string) => RobotsPolicy;
  readonly shared: boolean;
  readonly now: () => number;
}): HostCache {
  const { store, policyOf, now } = options;
  const held = createBoundedMap<Held>(MAX_BYTES);

  function keep(origin: string, record: HostRecord, before: KnownHost | undefined): KnownHost {
    // Rules are compiled once: most new records only count a failure.
    const isSame = before && before.record.rules === record.rules;
    const host = isSame ? withRecord(before, record) : knownHost(origin, record, policyOf(origin).agent ?? '');
    const bytes = hostBytes(origin, record) + RULES_FACTOR * (record.rules?.length ?? 0);
    held.set(origin, { host, trustedUntilMs: options.shared ? now() + REVALIDATE_MS : Infinity }, bytes);
    return host;
  }

  return {
    look(origin) {
      const found = held.get(origin);
      return found && found.trustedUntilMs > now() ? found.host : undefined;
    },
    async read(origin) {
      const record = hostFor(policyOf(origin), await store.get(origin).catch(() => undefined));
      return keep(origin, record, held.get(origin)?.host);
    },
    save(origin, record) {
      store.put(origin, record);
      return keep(origin, record, held.get(origin)?.host);
    },
  };
}

function knownHost(origin: string, record: HostRecord, agent: string): KnownHost {
  const robots = record.rules ? RobotsTxt.parse(record.rules) : undefined;
  return {
    origin,
    record,
    isAllowed: (url) => robots?.isAllowed(url, agent) ?? true,
    crawlDelaySecs: robots?.crawlDelay(agent),
  };
}

function withRecord(host: KnownHost, record: HostRecord): KnownHost {
  return { ...host, record };
}

const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.-]+$/;

/** Scheme, host and port of an http(s) URL in canonical spelling. */
export function originOf(url: string): string {
  const end = url.indexOf('/', 8);
  const plain = end < 0 ? url : url.slice(0, end);
  return PLAIN_ORIGIN.test(plain) ? plain : new URL(url).origin;
}
