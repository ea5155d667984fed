// PORT. The cache of fetched pages: captures by what was asked for, used again as the cache mode allows.
// Promise: a page is stored whole or not at all; several processes may share a folder, and a killed one leaves it readable.

/**
 * What a call reads from and writes to the cache.
 *
 * @example
 * await crawler.run('https://example.com/', { cacheMode: CacheMode.ENABLED, cacheTtlSecs: 3600 });
 */
export const CacheMode = Object.freeze({
  /** Reads and writes. */
  ENABLED: 'enabled',
  /** Opens no cache at all. */
  DISABLED: 'disabled',
  /** Reads and never writes: a miss is fetched and not stored. */
  READ_ONLY: 'read_only',
  /** Always fetches and refreshes the stored copy. */
  WRITE_ONLY: 'write_only',
  /** Neither reads nor writes for this call. */
  BYPASS: 'bypass',
} as const);
export type CacheMode = (typeof CacheMode)[keyof typeof CacheMode];

export const CACHE_MODES: readonly CacheMode[] = Object.values(CacheMode);

/** What tells stored pages apart, besides the headers that their `Vary` names. */
export interface PageKey {
  readonly method: string;
  /** As `pageUrlOf` has it. */
  readonly url: string;
  readonly engine: string;
  readonly userAgent: string;
}

/**
 * The URL by which a page is stored: what a server is asked for, letter by letter. A crawl may take `/a` and `/a/`, or
 * two orders of a query, for one page worth a visit; they are still two resources, and one is no answer for the other.
 */
export function pageUrlOf(url: string): string {
  const { href } = new URL(url);
  const fragmentAt = href.indexOf('#');
  return fragmentAt < 0 ? href : href.slice(0, fragmentAt);
}

/** A stored page but for its body. */
export interface PageFacts extends PageKey {
  /** Request headers that chose this answer, in lower case; null where the request had none. */
  readonly varied: Readonly<Record<string, string | null>>;
  readonly loadedUrl: string;
  readonly redirectChain: readonly string[];
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** When it was fetched, or last found unchanged: milliseconds since 1970. */
  readonly storedAtMs: number;
  readonly bodyBytes: number;
  /** What HTTP's caching rules need to know, as http-cache-semantics packs it. */
  readonly policy: object;
}

export interface StoredPage extends PageFacts {
  readonly body: Buffer;
}

/** A cache of pages. */
export interface PageCache {
  /** The newest page for this key whose varied headers these are. */
  find(key: PageKey, headers: Readonly<Record<string, string>>): Promise<StoredPage | undefined>;
  /** Stores a page in place of the one with the same key and varied headers. Written soon; found at once. */
  put(page: StoredPage): void;
  /** Removes every page of a URL. */
  forget(url: string): Promise<number>;
  /** The stored pages without their bodies, the oldest first. */
  list(): Iterable<PageFacts>;
  /** Removes what was stored before a moment, `Infinity` for all; how many that were. */
  prune(beforeMs: number): Promise<number>;
  /** Resolves when everything put so far is written. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Whether a page stored for these headers answers a request with those. */
export function isSameVariant(
  varied: Readonly<Record<string, string | null>>,
  headers: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(varied).every(([name, value]) => (headers[name] ?? null) === value);
}
