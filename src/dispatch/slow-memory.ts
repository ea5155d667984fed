// Which domains were recently slow, and how long their requests wait in the queue.
// Bounded; an entry is dropped after a while or with the first answer in time.

export interface SlowMemory {
  has(domain: string): boolean;
  /** The domain was slow just now. One that answered in time before is allowed one slow fetch. */
  note(domain: string): void;
  /** The domain answered in time. */
  forget(domain: string): void;
  /** How long a request to one of them waits; spread out, or they would all return together. */
  waitMs(): number;
  readonly size: number;
}

const MAX_DOMAINS = 10_000;
const REMEMBERED_MS = 600_000;
const LEAST_WAIT_MS = 1_000;
/** Limits all of them together to about a hundred queue calls per second. */
const WAIT_PER_DOMAIN_MS = 10;

export function createSlowMemory(nowMs: () => number, random: () => number): SlowMemory {
  /** Domain → when it was slow, oldest first. */
  const domains = new Map<string, number>();
  /** Domains that answered in time while others were slow, oldest first. */
  const answering = new Set<string>();

  return {
    has(domain) {
      const notedAtMs = domains.get(domain);
      if (notedAtMs === undefined) return false;
      if (nowMs() - notedAtMs < REMEMBERED_MS) return true;
      domains.delete(domain);
      return false;
    },
    note(domain) {
      if (answering.delete(domain)) return;
      domains.delete(domain);
      domains.set(domain, nowMs());
      if (domains.size > MAX_DOMAINS) domains.delete(domains.keys().next().value!);
    },
    forget(domain) {
      domains.delete(domain);
      answering.delete(domain);
      answering.add(domain);
      if (answering.size > MAX_DOMAINS) answering.delete(answering.values().next().value!);
    },
    waitMs: () => Math.round(Math.max(LEAST_WAIT_MS, domains.size * WAIT_PER_DOMAIN_MS) * (0.75 + random() / 2)),
    get size() {
      return domains.size;
    },
  };
}
