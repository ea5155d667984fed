// PORT. The cache of fetched pages: captures by request, reused as the cache mode allows.
// Promise: a page is stored completely or not at all; several processes may share a folder, and a killed one leaves it readable.
import { withoutFragment } from '../../request/url.js';

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
  /** Reads and never fetches: a miss fails with CACHE_MISS. */
  STORED_ONLY: 'stored_only',
  /** Always fetches and refreshes the stored copy. */
  WRITE_ONLY: 'write_only',
  /** Neither reads nor writes for this call. */
  BYPASS: 'bypass',
} as const);
export type CacheMode = (typeof CacheMode)[keyof typeof CacheMode];

export const CACHE_MODES: readonly CacheMode[] = Object.values(CacheMode);

/** The key of stored pages, besides the headers named by their `Vary`. */
export interface PageKey {
  readonly method: string;
  /** As `pageUrlOf` has it. */
  readonly url: string;
  readonly engine: string;
  readonly userAgent: string;
}

/**
 * The URL under which a page is stored, exactly as requested. A crawl may treat `/a` and `/a/`, or two orders of a
 * query, as one page; they are still two resources, and one must not answer for the other.
 */
export function pageUrlOf(url: string): string {
  return withoutFragment(new URL(url).href);
}

/** A stored page without its body. */
export interface PageFacts extends PageKey {
  /** Request headers that selected this answer, in lower case; null if the request had none. */
  readonly varied: Readonly<Record<string, string | null>>;
  readonly loadedUrl: string;
  readonly redirectChain: readonly string[];
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** When it was fetched, or last found unchanged: milliseconds since 1970. */
  readonly storedAtMs: number;
  readonly bodyBytes: number;
  /** Data for HTTP's caching rules, as packed by http-cache-semantics. */
  readonly policy: object;
}

export interface StoredPage extends PageFacts {
  readonly body: Buffer;
}

/** A cache of pages. */
export interface PageCache {
  /** The newest page for this key with these varied headers. */
  find(key: PageKey, headers: Readonly<Record<string, string>>): Promise<StoredPage | undefined>;
  /** Stores a page, replacing the one with the same key and varied headers. Written soon; found at once. */
  put(page: StoredPage): void;
  /** Removes every page of a URL. */
  forget(url: string): Promise<number>;
  /** The stored pages without their bodies, the oldest first. */
  list(): Iterable<PageFacts>;
  /** Removes pages stored before a time, `Infinity` for all; returns how many. */
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
