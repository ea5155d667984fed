// Names → addresses, with a bounded cache in front of the resolver: one query per name at a time,
// answers cached for their TTL, failures briefly. Independent of the guard.

/** Asks the outside world for the addresses of a name. Rejects with node's DNS errors. */
export type Resolve = (hostname: string) => Promise<ResolvedName>;

export interface ResolvedName {
  readonly addresses: readonly string[];
  /** How long the answer may be kept; without it, the cache's default. */
  readonly ttlMs?: number;
}

export interface NameCache {
  /** The addresses of a name, at least one. */
  addresses(hostname: string): Promise<readonly string[]>;
  /** Forgets a name, for instance when none of its addresses answered. */
  forget(hostname: string): void;
  readonly size: number;
}

export interface NameCacheOptions {
  readonly resolve: Resolve;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly maxNames?: number;
}

interface Entry {
  readonly answer: Promise<readonly string[]>;
  expiresAtMs: number;
}

/** Names of a busy process over a minute; some 200 bytes each. */
const MAX_NAMES = 10_000;
/** When the resolver tells no time to live. */
const DEFAULT_TTL_MS = 60_000;
/** Shorter ones would ask again for every page, longer ones would miss a host that moves. */
const MIN_TTL_MS = 10_000;
const MAX_TTL_MS = 600_000;
/** Long enough to spare the resolver a queue full of one dead host, short enough for a retry to find it alive. */
const FAILURE_TTL_MS = 5_000;

export function createNameCache({ resolve, now, maxNames = MAX_NAMES }: NameCacheOptions): NameCache {
  const entries = new Map<string, Entry>();

  function ask(hostname: string): Promise<readonly string[]> {
    const entry: Entry = {
      answer: answerOf(hostname, (ttlMs) => (entry.expiresAtMs = now() + ttlMs)),
      expiresAtMs: Infinity,
    };
    // Lookups await the stored promise; without any, a failure must not become an unhandled rejection.
    entry.answer.catch(() => undefined);
    if (entries.size >= maxNames) entries.delete(entries.keys().next().value!);
    entries.set(hostname, entry);
    return entry.answer;
  }

  async function answerOf(hostname: string, settle: (ttlMs: number) => void): Promise<readonly string[]> {
    try {
      const { addresses, ttlMs = DEFAULT_TTL_MS } = await resolve(hostname);
      if (addresses.length === 0) throw Object.assign(new Error(`no address for ${hostname}`), { code: 'ENODATA' });
      settle(Math.min(Math.max(ttlMs, MIN_TTL_MS), MAX_TTL_MS));
      return addresses;
    } catch (error) {
      settle(FAILURE_TTL_MS);
      throw error;
    }
  }

  return {
    addresses(hostname) {
      const known = entries.get(hostname);
      if (known && known.expiresAtMs > now()) return known.answer;
      entries.delete(hostname);
      return ask(hostname);
    },
    forget: (hostname) => void entries.delete(hostname),
    get size() {
      return entries.size;
    },
  };
}
