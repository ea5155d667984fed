// The public surface: re-exports only. Importing it costs little; heavy parts load on first use.
import './crawl/crawlee-utils.js';

export {
  BasicCrawler,
  CheerioCrawler,
  FileDownload,
  HttpCrawler,
  PlaywrightCrawler,
  AdaptivePlaywrightCrawler,
} from './crawl/crawlers.js';
export type { RunOptions as CrawlerRunOptions } from './crawl/crawler.js';
export type {
  BasicCrawlerOptions,
  ChangeHandler,
  CheerioCrawlerOptions,
  DuplicatesRule,
  FileDownloadOptions,
  HttpCrawlerOptions,
  RememberOptions,
  StatusMessageCallbackParams,
  StreamHandlerContext,
} from './crawl/options/options.js';
export type {
  CrawlOrder,
  CrawlOrderOptions,
  EnoughOptions,
  LinkScorer,
  ScoredLink,
  Scorers,
  ScorerName,
} from './crawl/order/options.js';
export type {
  AdaptivePlaywrightCrawlerOptions,
  PlaywrightCrawlerOptions,
  PlaywrightLaunchContext,
  PlaywrightPoolOptions,
} from './crawl/browser/playwright-options.js';
export { launchPlaywright, playwrightUtils } from './crawl/browser/playwright-tools.js';
export { Statistics } from './crawl/run/report/statistics.js';
export type { FinalStatistics, StatisticsOptions, StatisticState } from './crawl/run/report/statistics.js';
export { downloadListOfUrls, purgeDefaultStorages, utils } from './crawl/crawlee-utils.js';
export { enqueueLinks } from './crawl/page/enqueue-links.js';
export { RobotsTxtFile } from './crawl/polite/robots-txt-file.js';
export type { SiteFileOptions } from './crawl/polite/site-files.js';
export { Sitemap } from './crawl/polite/sitemap.js';
export type { SitemapOptions, SitemapProblem, SitemapUrl } from './crawl/polite/sitemap.js';
export { SitemapRequestList } from './crawl/polite/sitemap-request-list.js';
export type { SitemapRequestListOptions } from './crawl/polite/sitemap-request-list.js';
export type { BrowserConfig, PageConfig, PageHook } from './crawl/browser/page-config.js';
export type { PageActions, PageStep } from './crawl/browser/page-actions.js';
export type { ConsoleMessage, NetworkRequest } from './fetch/browser/capture.js';
export type { SlowFigures } from './dispatch/slow-share.js';
export type { BrowserPoolCounts } from './fetch/browser/pool-options.js';
export { WebCrawler } from './crawl/web-crawler.js';
export type {
  CacheLimits,
  RequestToSend,
  WebCrawlerHooks,
  WebCrawlerOptions,
} from './crawl/options/web-crawler-options.js';
export { CrawlResult } from './crawl/batch/crawl-result.js';
export type { CacheStatus, DispatchFacts, ResultTimings } from './crawl/batch/crawl-result.js';
export type { ResultLink, ResultLinks, ResultMedia, ResultMetadata } from './crawl/page/result-content.js';
export type { BatchResults, BatchResults as ManyResults, ResultStream } from './crawl/batch/results.js';
export type { UrlItem } from './crawl/batch/tasks.js';
export type { ResultChange } from './crawl/batch/remembered.js';
export type { MarkdownConfig, ModelSchema, RunConfig, RunMemory } from './crawl/batch/run-config.js';
export { CacheMode } from './store/cache/cache.js';

export type { DocumentFacts, DocumentHeading } from './documents/documents.js';
export type { DocumentFormat } from './documents/format.js';
export type { ExtractedDocument } from './crawl/page/extraction.js';
export {
  extractContent,
  extractFields,
  extractLinks,
  extractMedia,
  extractMetadata,
  extractStructured,
  extractTables,
  toMarkdown,
} from './crawl/page/extraction.js';
export type { ExtractContentOptions, PageInput, ToMarkdownOptions } from './crawl/page/extraction.js';
export { chunkMarkdown } from './extract/markdown/chunks.js';
export type { Chunk, ChunkOptions } from './extract/markdown/chunks.js';
export type { ContentImage, ExtractedContent, PageKind } from './extract/content.js';
export type { ContentOptions } from './extract/content-options.js';
export type { Extracted, ExtractSchema, FieldSchema, FieldType } from './extract/fields/fields.js';
export type { Bm25Filter, ContentFilter, PruningFilter } from './extract/choose/filters.js';
export type { InventoryLink, InventoryMedia, LinkInventory, MediaInventory } from './extract/fields/inventory.js';
export type { PageMarkdown } from './extract/markdown/markdown-document.js';
export type { FactSource, FactSources } from './extract/facts/facts.js';
export type { MetadataImage, MicrodataItem, PageMetadata, StructuredData } from './extract/facts/structured.js';
export type { PageTable } from './extract/fields/tables.js';

export { map } from './crawl/map/map.js';
export type { MapOptions, MappedLink } from './crawl/map/map.js';
export { extractWithModel } from './crawl/model/extract.js';
export type { ModelExtracted } from './crawl/model/extract.js';
export type { ModelExtraction } from './crawl/model/options.js';
export type { AskModel, ModelAnswer, ModelEndpoint, ModelQuestion } from './crawl/model/ask.js';

export { Configuration } from './configuration.js';
export type { ConfigurationOptions } from './configuration.js';
export {
  CrawlError,
  CriticalError,
  ERROR_CLASSES,
  MissingRouteError,
  NonRetryableError,
  RequestValidationError,
  RetryRequestError,
  SessionError,
} from './errors.js';
export type { ErrorClass, ErrorCode } from './errors.js';

export { AutoscaledPool } from './dispatch/autoscaled-pool.js';
export type { AutoscaledPoolOptions } from './dispatch/pool-options.js';
export type { Dispatcher } from './dispatch/dispatcher.js';
export { MemoryAdaptiveDispatcher } from './dispatch/memory-adaptive.js';
export type { MemoryAdaptiveDispatcherOptions } from './dispatch/memory-adaptive.js';
export { RateLimiter } from './dispatch/rate-limiter.js';
export type { RateLimiterOptions } from './dispatch/rate-limiter.js';
export { SemaphoreDispatcher } from './dispatch/semaphore.js';
export type { SemaphoreDispatcherOptions } from './dispatch/semaphore.js';

export { createMemoryStorage } from './crawl/storage/memory-storage.js';
export type { ClientFrontier, FrontierOpening, StorageClient } from './storage-client.js';
export {
  ANSWERS_KEPT,
  LOSSES_ALONE,
  MAX_BULK_SKIP_DOMAINS,
  BULK_SKIPS_PER_CALL,
  BULK_SKIPS_PER_DOMAIN,
} from './frontier/frontier.js';
export type {
  Blame,
  Caller,
  Counters,
  Found,
  Frontier,
  HolderId,
  Landing,
  Lease,
  LeaseAnswer,
  LeaseCall,
  Overview,
  Pacing,
  Presence,
  QueueEntry,
  SettleAnswer,
  SettleCall,
  Settlement,
} from './frontier/frontier.js';
export type { FrontierClock } from './frontier/embedded/clock.js';
export { processLife } from './frontier/process-identity.js';
export type { Life as ProcessLife, ProcessIdentity, Reach as ProcessReach } from './frontier/process-identity.js';
export { frontierChecks } from './frontier/validation.js';
export type { EmbeddedFrontier } from './frontier/embedded/frontier.js';
export { createMemoryKv as createMemoryTables } from './frontier/embedded/store/memory.js';
export { openTableFrontier } from './frontier/embedded/table-frontier.js';
export type { TableFrontier, TableFrontierOptions } from './frontier/embedded/table-frontier.js';
export type {
  Kv as FrontierTables,
  Table as FrontierTable,
  TableName as FrontierTableName,
  Tables as FrontierTableSet,
  Visit as FrontierTableVisit,
} from './frontier/tables/kv.js';
export { fingerprintOf } from './request/fingerprint.js';
export type { Fingerprint } from './request/fingerprint.js';
export type { HostRecord, HostStore } from './politeness/hosts.js';
export type { RecordStore, Segment, SegmentStore, SegmentWriter, StorageBackend, StoredRecord } from './store/store.js';

export { RequestList } from './frontier/queue/request-list.js';
export type { RequestListOptions } from './frontier/queue/request-list.js';
export {
  RequestQueue,
  RequestQueue as RequestQueueV1,
  RequestQueue as RequestQueueV2,
} from './frontier/queue/request-queue.js';
export type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  QueueOperationInfo,
  RequestQueueInfo,
  RequestQueueOpenOptions,
  RequestQueueOperationOptions,
  RequestsLike,
} from './frontier/queue/request-queue.js';

export type {
  Awaitable,
  BasicCrawlingContext,
  CheerioCrawlingContext,
  CrawlingContext,
  ErrorHandler,
  FileDownloadCrawlingContext,
  HttpCrawlingContext,
  HttpHook,
  HttpHookOptions,
  LoadedRequest,
  RequestHandler,
  ResponseHead,
  SendRequestOptions,
  SentResponse,
} from './handle/context.js';
export type {
  AdaptivePlaywrightCrawlingContext,
  BlockRequestsOptions,
  BrowserController,
  ClickElementsOptions,
  InfiniteScrollOptions,
  PlaywrightCrawlingContext,
  PlaywrightGotoOptions,
  PlaywrightHook,
  SaveSnapshotOptions,
} from './handle/browser-context.js';
export type {
  BatchAddRequestsResult,
  EnqueueLinksOptions,
  ProcessedRequest,
  RequestTransform,
  SkippedRequestCallback,
  SkipReason,
} from './handle/enqueue-links.js';
export {
  createBasicRouter,
  createCheerioRouter,
  createFileRouter,
  createHttpRouter,
  createAdaptivePlaywrightRouter,
  createPlaywrightRouter,
  Router,
  defaultRoute,
} from './handle/router.js';
export type { UserDataSchema } from './handle/user-data-schema.js';
export type {
  RouteContext,
  RouteOptions,
  RouterHandler,
  RouterRoutes,
  RouteSchemas,
  RoutesFromSchemas,
} from './handle/router.js';
export { parseOpenGraph } from './handle/open-graph.js';
/**
 * Finds e-mail addresses, phone numbers and social profiles.
 *
 * @example
 * const emails = social.emailsFromText('Write to me@example.com');
 */
export * as social from './handle/social.js';
export { sleep } from './handle/toolbox.js';
export { extractUrls, URL_NO_COMMAS_REGEX, URL_WITH_COMMAS_REGEX } from './handle/url-lists.js';

export { EventType } from './observe/events.js';
export { CrawlerMonitor, DisplayMode } from './observe/monitor.js';
export type { CrawlerMonitorOptions } from './observe/monitor.js';
export { log, Log, LogLevel } from './observe/log.js';
export type { LoggerOptions } from './observe/log.js';

export type { PageContent } from './parse/page.js';
export type {
  ChangeKind,
  DiffChunk,
  DuplicateOf,
  FieldChange,
  LineChange,
  LineDiff,
  PageChange,
} from './fresh/page-change.js';
export { startWatch } from './crawl/watch/watch.js';
export type { ChangeItem, Watch, WatchFigures, WatchOptions } from './crawl/watch/watch.js';
export type { WeighedPage } from './fresh/remembering.js';
export { scanPage } from './parse/scan/scan.js';
export type { PageLink, ScannedPage, ScanOptions } from './parse/scan/scan.js';

export { RobotsTxt } from './politeness/robots/robots.js';
export type { RobotsMode, RobotsTxtOptions } from './politeness/robots/robots.js';

export type { GlobInput, PatternInput, RegExpInput } from './request/pattern.js';
export { Request, RequestState } from './request/request.js';
export type { AllowedHttpMethods, Dictionary, Priority, RequestOptions, Source } from './request/request.js';
export { EnqueueStrategy } from './request/scope.js';

export { parseCookieFile } from './session/cookie-file.js';
export { ProxyConfiguration } from './session/proxy.js';
export type { ProxyConfigurationOptions, ProxyInfo } from './session/proxy.js';
export { Session } from './session/session.js';
export type { SessionOptions } from './session/session.js';
export { SessionPool } from './session/session-pool.js';
export type { SessionPoolOptions } from './session/session-pool.js';

export { findPage, pageHistory } from './store/content/reading.js';
export type { FindPageOptions, StoredPage } from './store/content/reading.js';
export { Dataset } from './store/dataset/dataset.js';
export { KeyValueStore } from './store/records/key-value.js';
export { useState } from './store/records/use-state.js';

export { Simweb } from './testing/simweb/simweb.js';

export * from './crawlee/index.js';
export type { LoadedContext } from './crawl/options/options.js';
export type { SnapshotterOptions, SystemStatusOptions } from './dispatch/system-load.js';
export type { ContextCrawler, CrawlCounts } from './handle/context.js';
export type { GlobObject, RegExpObject } from './request/pattern.js';
export type { CookieObject as Cookie } from './session/cookies.js';
export type { CreateSession } from './session/session-pool.js';
export type { DatasetContent } from './store/dataset/dataset.js';
export type { RecordOptions } from './store/records/key-value.js';

// Parts of options and results that have a name of their own.
export type { DomainOverride, DomainRuleOptions } from './politeness/domain-rules.js';
export type { TrapOptions } from './politeness/traps/traps.js';
export type {
  DatasetConsumer,
  DatasetExportToOptions,
  DatasetInfo,
  DatasetIteratorOptions,
  DatasetMapper,
  DatasetReducer,
} from './store/dataset/dataset.js';
export type { DatasetDataOptions, ItemViewOptions } from './store/dataset/item-view.js';
export type { DatasetExportOptions, ExportFormat } from './store/dataset/export.js';
export type { KeyConsumer, KeyValueStoreIteratorOptions } from './store/records/key-value.js';
export type { IterableOrPage } from './store/records/iterable-or-page.js';
export type { UseStateOptions } from './store/records/use-state.js';
export type { StorageManagerOptions } from './store/opened.js';
export type { ConfigurationValue } from './configuration.js';
export type { ConfigurationKey, LogLevelName, PurgeOnStart, StorageClientOptions } from './configuration-options.js';
export type { CrawlerExperiments, RequestListLike, RequestManagerLike } from './crawl/options/options-types.js';
export type { ContentConfig, FetchConfig, CacheConfig } from './crawl/batch/run-config.js';
export type { Batch, Membership, TaskEnd, TaskMonitor } from './dispatch/dispatcher.js';
export type { FurtherSignal, LoadStatus, SystemLoad } from './dispatch/system-load.js';
export type { RequestSink } from './handle/enqueue-links.js';
export type { OpenGraphProperty, OpenGraphResult } from './handle/open-graph.js';
export type { RouterLabel } from './handle/router.js';
export type { DownloadListOfUrlsOptions, ExtractUrlsOptions } from './handle/url-lists.js';
export type { LogData, LogEntry, LogWriter } from './observe/log.js';
export type { ProgressOutput } from './observe/progress.js';
export type { PatternRequestOptions } from './request/pattern.js';
export type { PaceBy } from './request/url.js';
export type { ProxyConfigurationFunction } from './session/proxy.js';
export type { SessionState } from './session/session.js';
export type { SessionPoolState, StateStore } from './session/session-pool.js';
export type { UrlListSource } from './frontier/queue/url-list-source.js';
