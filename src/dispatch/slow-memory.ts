// Which domains were slow a while ago, and how often their requests were sent back since.
// Bounded, and forgotten after a time or with the first answer in time: a host is not judged for ever.

export interface SlowMemory {
  has(domain: string): boolean;
  /** The domain was slow just now. */
  note(domain: string): void;
  /** A fetch of the domain began. */
  started(domain: string): void;
  forget(domain: string): void;
  /** How long its next request waits: longer each time, and longer when many domains wait. */
  waitMs(domain: string): number;
  readonly size: number;
}

interface Known {
  readonly notedAtMs: number;
  waits: number;
}

const MAX_DOMAINS = 10_000;
const REMEMBERED_MS = 600_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 8_000;
/** So that all of them together ask the queue no more than a hundred times per second. */
const WAIT_PER_DOMAIN_MS = 10;

export function createSlowMemory(nowMs: () => number): SlowMemory {
  /** The longest known first. */
  const domains = new Map<string, Known>();

  function look(domain: string): Known | undefined {
    const known = domains.get(domain);
    if (!known || nowMs() - known.notedAtMs < REMEMBERED_MS) return known;
    domains.delete(domain);
    return undefined;
  }

  return {
    has: (domain) => look(domain) !== undefined,
    note(domain) {
      const waits = domains.get(domain)?.waits ?? 0;
      domains.delete(domain);
      domains.set(domain, { notedAtMs: nowMs(), waits });
      if (domains.size > MAX_DOMAINS) domains.delete(domains.keys().next().value!);
    },
    started(domain) {
      const known = domains.get(domain);
      if (known) known.waits = 0;
    },
    forget: (domain) => void domains.delete(domain),
    waitMs(domain) {
      const known = look(domain);
      if (!known) return 0;
      const ownMs = Math.min(FIRST_WAIT_MS * 2 ** known.waits, LONGEST_WAIT_MS);
      if (known.waits < 10) known.waits++;
      return Math.max(ownMs, domains.size * WAIT_PER_DOMAIN_MS);
    },
    get size() {
      return domains.size;
    },
  };
}
