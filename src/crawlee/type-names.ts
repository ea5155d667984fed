// Further types under Crawlee's names, exported from `orcrawl/crawlee` alone; most are other names for ours.
import type { PlaywrightLaunchContext } from '../crawl/browser/playwright-options.js';
import type {
  AnyData,
  Awaitable,
  CrawlingContext,
  ErrorHandler,
  FileDownloadCrawlingContext,
} from '../handle/context.js';
import type { HttpCrawlingContext, HttpHook, LoadedRequest, RequestHandler } from '../handle/context.js';
import type {
  AdaptivePlaywrightCrawlingContext,
  PlaywrightGotoOptions,
  PlaywrightHook,
} from '../handle/browser-context.js';
import type { SkipReason } from '../handle/enqueue-links.js';
import type { defaultRoute } from '../handle/router.js';
import type { StatisticExtras, StatisticState } from '../crawl/run/report/statistics.js';
import type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  QueueOperationInfo,
  RequestQueueOperationOptions,
  RequestsLike,
} from '../frontier/queue/request-queue.js';
import type { Dictionary, Request, RequestOptions, Source } from '../request/request.js';
import type { ProxyInfo } from '../session/proxy.js';
import type { Session } from '../session/session.js';
import type { PlaywrightCrawlingContext } from './crawlers/playwright-crawler.js';
import type { CrawleeStorageClient } from './storage/clients.js';

export type { Cheerio, CheerioAPI } from 'cheerio';
/** An element of a Cheerio document. */
export type { Element } from 'domhandler';

/* eslint-disable @typescript-eslint/no-explicit-any -- as Crawlee declares them */
/** Anything that `new` makes a T of. */
export type Constructor<T = unknown> = new (...args: any[]) => T;
/* eslint-enable @typescript-eslint/no-explicit-any */
/** Whether a type is `any`. */
export type IsAny<T> = 0 extends 1 & T ? true : false;
/** A type with some properties that are always there. */
export type WithRequired<T, K extends keyof T> = T & { [P in K]-?: T[P] };
/** A context without what belongs to one kind of crawler. */
export type RestrictedCrawlingContext<UserData extends Dictionary = Dictionary> = Omit<
  CrawlingContext<unknown, UserData>,
  'crawler'
>;
/** Whether state is saved. */
export interface PersistenceOptions {
  enable?: boolean;
}
/** Statistics as they are saved. */
export type StatisticPersistedState = StatisticState & StatisticExtras;
/** An error of the system. */
export interface ErrnoException extends Error {
  errno?: number | undefined;
  code?: string | number | undefined;
  path?: string | undefined;
  syscall?: string | undefined;
  cause?: unknown;
}
/** Files of a page that failed. */
export interface SnapshotResult {
  screenshotFileName?: string;
  htmlFileName?: string;
}
/** Why a link was left out. */
export type SkippedRequestReason = SkipReason;
/** A proxy and its tier. */
export interface TieredProxy {
  proxyUrl: string | null;
  proxyTier?: number;
}
/** How an error is kept. */
export interface PushErrorMessageOptions {
  omitStack?: boolean;
}
/** A list of requests at a URL. */
export interface InternalSource {
  requestsFromUrl: string;
  regex?: RegExp;
}
/** The context of a route. */
export type RouterHandlerContext<Context, UserData extends Dictionary> = Omit<Context, 'request'> & {
  request: LoadedRequest<Request<UserData>>;
};
/** The data of a request. */
export type GetUserDataFromRequest<T> = T extends Request<infer UserData> ? UserData : never;
/** A storage, by which it is found. */
export interface IStorage {
  id: string;
  name?: string;
}
/** How a dataset is opened. */
export interface DatasetOptions extends IStorage {
  client: CrawleeStorageClient;
  storageObject?: Record<string, unknown>;
}
/** How a key-value store is opened. */
export type KeyValueStoreOptions = DatasetOptions;
/** How a queue is opened. */
export type RequestProviderOptions = DatasetOptions;
/** Where a list is, as it is saved. */
export interface RequestListState {
  nextIndex: number;
  nextUniqueKey: string | null;
  inProgress: string[];
}
/** Gives the sources of a list when it is opened. */
export type RequestListSourcesFunction = () => Promise<(string | RequestOptions)[]>;
/** A list of requests, as crawlers use it. */
export interface IRequestList {
  length(): number;
  isFinished(): Promise<boolean>;
  isEmpty(): Promise<boolean>;
  handledCount(): number;
  persistState(): Promise<void>;
  fetchNextRequest(): Promise<Request | null>;
  reclaimRequest(request: Request): Promise<void>;
  markRequestHandled(request: Request): Promise<void>;
}
/** A source of requests that takes new ones, as crawlers use it. */
export interface IRequestManager {
  isFinished(): Promise<boolean>;
  isEmpty(): Promise<boolean>;
  handledCount(): Promise<number>;
  getTotalCount(): number;
  getPendingCount(): number;
  fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null>;
  [Symbol.asyncIterator](): AsyncGenerator<Request>;
  markRequestHandled(request: Request): Promise<QueueOperationInfo | void | null>;
  reclaimRequest(request: Request, options?: RequestQueueOperationOptions): Promise<QueueOperationInfo | null>;
  addRequest(requestLike: Source, options?: RequestQueueOperationOptions): Promise<QueueOperationInfo>;
  addRequestsBatched(requests: RequestsLike, options?: AddRequestsBatchedOptions): Promise<AddRequestsBatchedResult>;
}
/** Which sitemaps of a robots.txt. */
export interface RobotsTxtFileSitemapsOptions {
  enqueueStrategy?: 'all' | 'same-hostname' | 'same-domain' | 'same-origin';
}
/** A handler of a `FileDownload`. */
export type FileDownloadRequestHandler<UserData extends Dictionary = AnyData> = RequestHandler<
  FileDownloadCrawlingContext<UserData>
>;
/** An error handler of a `FileDownload`. */
export type FileDownloadErrorHandler<UserData extends Dictionary = AnyData> = ErrorHandler<
  FileDownloadCrawlingContext<UserData>
>;
/** A hook of a `FileDownload`. */
export type FileDownloadHook<UserData extends Dictionary = AnyData> = HttpHook<FileDownloadCrawlingContext<UserData>>;
/** A hook of an HTTP crawler. */
export type InternalHttpHook<Context> = (context: Context, gotOptions: Dictionary) => Awaitable<void>;
/** The context of an HTTP crawler. */
export type InternalHttpCrawlingContext<UserData extends Dictionary = AnyData> = HttpCrawlingContext<UserData>;
/** The context of a browser's crawler. */
export type BrowserCrawlingContext<UserData extends Dictionary = AnyData> = PlaywrightCrawlingContext<UserData>;
/** A handler of a browser's crawler. */
export type BrowserRequestHandler<Context = PlaywrightCrawlingContext> = (context: Context) => Awaitable<void>;
/** An error handler of a browser's crawler. */
export type BrowserErrorHandler<Context = PlaywrightCrawlingContext> = (
  context: Context,
  error: Error,
) => Awaitable<void>;
/** A hook of a browser's crawler. */
export type BrowserHook = PlaywrightHook;
/** How a browser is launched. */
export type BrowserLaunchContext = PlaywrightLaunchContext;
/** A handler of a `PlaywrightCrawler`. */
export type PlaywrightRequestHandler<UserData extends Dictionary = AnyData> = RequestHandler<
  PlaywrightCrawlingContext<UserData>
>;
/** How a page is opened. */
export type PlaywrightDirectNavigationOptions = PlaywrightGotoOptions;
/** The context of an `AdaptivePlaywrightCrawler`. */
export type AdaptivePlaywrightCrawlerContext<UserData extends Dictionary = AnyData> =
  AdaptivePlaywrightCrawlingContext<UserData>;
/** What is known of a browser to be imitated. */
export interface BrowserSpecification {
  name: string;
  minVersion?: number;
  maxVersion?: number;
  httpVersion?: string;
}
/** Which browsers fingerprints are of. */
export interface FingerprintGeneratorOptions {
  browsers?: readonly (string | BrowserSpecification)[];
  operatingSystems?: readonly string[];
  devices?: readonly string[];
  locales?: readonly string[];
  screen?: { minWidth?: number; maxWidth?: number; minHeight?: number; maxHeight?: number };
  slim?: boolean;
}
/** What a context is made of. */
export interface CreateContextOptions {
  request: Request;
  session?: Session;
  proxyInfo?: ProxyInfo;
}
/** A response as handlers of HTTP crawlers see it. */
export type PlainResponse = HttpCrawlingContext['response'];
/** How a queue keeps its requests in memory. */
export interface InternalRequestProviderOptions {
  id: string;
  name?: string;
  logPrefix: string;
  requestCacheMaxSize: number;
  recentlyHandledRequestsMaxSize: number;
}
/** The user data of the default route, by the routes of a router. */
export type DefaultRouteUserData<Routes, Fallback extends Dictionary> = Routes extends {
  [defaultRoute]: infer Data extends Dictionary;
}
  ? Data
  : Fallback;
