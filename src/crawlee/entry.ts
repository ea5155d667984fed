// `orcrawl/crawlee`: everything a script that was written for Crawlee imports, by Crawlee's names. It is `orcrawl` and
// what only such scripts need; where a name means two things, Crawlee's wins here.
export * from '../index.js';
export * from './load/index.js';
export type { SnapshotterOptions, SystemStatusOptions } from './load/index.js';
export { AutoscaledPool } from './load/autoscaled-pool.js';
export { getCurrentCpuTicksV2, getMemoryInfo, getMemoryInfoV2 } from './machine.js';
export type { MemoryInfo } from './machine.js';
export type * from './storage/clients.js';
export type { CrawleeStorageClient as StorageClient } from './storage/clients.js';
export { getRequestId } from './storage/memory-queue.js';
export * from './checks.js';
export * from './links/index.js';
export * from './storage/values.js';
export { processHttpRequestOptions } from './http/http-client.js';
export type {
  BaseHttpClient,
  BaseHttpResponseData,
  GotScraping,
  HttpRequest,
  HttpRequestOptions,
  HttpResponse,
  RedirectHandler,
  ResponseTypes,
  StreamingHttpResponse,
} from './http/http-client.js';
export { RobotsTxtFile as RobotsFile } from '../crawl/polite/robots-txt-file.js';
export * from './browsers/index.js';
export { BrowserController, playwrightUtils } from './browsers/index.js';
export type * from './type-names.js';
export { BasicCrawler, CheerioCrawler, FileDownload, HttpCrawler } from './crawlers/crawlers.js';
export type { NewerOptions, OlderOptions } from './crawlers/crawlers.js';
export { AdaptivePlaywrightCrawler, createPlaywrightRouter, PlaywrightCrawler } from './crawlers/playwright-crawler.js';
export type {
  AdaptivePlaywrightCrawlerOptions,
  PlaywrightCrawlerOptions,
  PlaywrightCrawlingContext,
} from './crawlers/playwright-crawler.js';
export { BrowserCrawler } from './crawlers/browser-crawler.js';
export type { BrowserCrawlerOptions } from './crawlers/browser-crawler.js';
export type { RenderingCounts, RenderingOptions } from './crawlers/adaptive-runs.js';
export { Statistics } from './statistics.js';
export type { StatisticsOptions } from './statistics.js';
export { RequestListAdapter } from './requests/request-list-adapter.js';
export {
  Dataset,
  KeyValueStore,
  RequestProvider,
  RequestQueue,
  RequestQueueV1,
  RequestQueueV2,
} from './storage/client-storages.js';
export type { AddRequestsBatchedOptions, AddRequestsBatchedResult } from './storage/new-requests.js';
export { SitemapRequestList } from './requests/sitemap-request-list.js';
export type { SitemapRequestListOptions } from './requests/sitemap-request-list.js';
export type { FetchHttpClient } from './http/fetch-client.js';
export { StorageManager } from './storage/storage-manager.js';
export type { IStorage, StorageClass } from './storage/storage-manager.js';
export { Session } from './sessions/session.js';
export type { SessionOptions } from './sessions/session.js';
export { SessionPool } from './sessions/session-pool.js';
export type { CreateSession, SessionPoolOptions } from './sessions/session-pool.js';
export { ErrorSnapshotter, ErrorTracker } from './error-snapshotter.js';
export type { ErrorSnapshot, SnapshotContext, SnapshotResult } from './error-snapshotter.js';
export { ByteCounterStream } from './http/byte-counter.js';
export { MinimumSpeedStream } from './http/minimum-speed.js';
export { RequestHandlerResult } from './requests/request-handler-result.js';
export type { RecordedStore } from './requests/request-handler-result.js';
export { RenderingTypePredictor } from './crawlers/rendering-type-predictor.js';
export type { RenderingType, RenderingTypePredictorOptions } from './crawlers/rendering-type-predictor.js';
export { RequestList } from './requests/request-list.js';
export type { RequestListOptions } from './requests/request-list.js';
export { Browser, ImpitHttpClient } from './http/impit-client.js';
export type { ImpitHttpClientOptions } from './http/impit-client.js';
