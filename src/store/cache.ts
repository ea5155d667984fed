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
