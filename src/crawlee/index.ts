// What exists for the sake of scripts written for Crawlee, over the public parts only. Exported from `orcrawl` and, by
// itself, from `orcrawl/crawlee`; docs/from-crawlee.md says what differs.
export * from './browser-names.js';
export * from './cookies.js';
export { ErrorTracker } from '../observe/error-tracker.js';
export type { ErrorTrackerOptions } from '../observe/error-tracker.js';
export { EventManager, LocalEventManager } from './events.js';
export type { EventTypeName } from './events.js';
export * from './general.js';
export { gotScraping, GotScrapingHttpClient } from './http/http-client.js';
export type { BaseHttpClient, GotScraping } from './http/http-client.js';
export { Logger, LoggerJson, LoggerText } from './logger.js';
export type { LogLineOptions } from './logger.js';
export { MemoryStorage } from './storage/memory-storage.js';
export type { MemoryStorageOptions } from './storage/memory-storage.js';
export type * from './names.js';
export { RecoverableState } from './recoverable-state.js';
export type { RecoverableStateOptions, RecoverableStatePersistenceOptions } from './recoverable-state.js';
export { RequestManagerTandem } from './requests/request-manager-tandem.js';
export type { TandemList } from './requests/request-manager-tandem.js';
export { discoverValidSitemaps, parseSitemap } from './sitemaps.js';
export type { ParsedSitemapUrl, ParseSitemapOptions, SitemapSource } from './sitemaps.js';
export { htmlToText } from './text.js';
