// What a handler is given: capabilities by crawler type, as types. A handler that uses only what two
// contexts share compiles for both; crawl/ builds the objects, lazily where a property costs work.
import type { CheerioAPI } from 'cheerio';
import type { Readable } from 'node:stream';
import type { AutoscaledPool } from '../dispatch/autoscaled-pool.js';
import type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  RequestQueue,
  RequestsLike,
} from '../frontier/queue/request-queue.js';
import type { Log } from '../observe/log.js';
import type { PageContent } from '../parse/page.js';
import type { Dictionary, Request, Source } from '../request/request.js';
import type { ProxyConfiguration, ProxyInfo } from '../session/proxy.js';
import type { Session } from '../session/session.js';
import type { SessionPool } from '../session/session-pool.js';
import type { Dataset } from '../store/dataset/dataset.js';
import type { ExportFormat } from '../store/dataset/export.js';
import type { KeyValueStore } from '../store/records/key-value.js';
import type { BatchAddRequestsResult, EnqueueLinksOptions } from './enqueue-links.js';

/** A value, or a promise of one. */
export type Awaitable<T> = T | PromiseLike<T>;

/** Any user data: Crawlee's default, so that typed routers and untyped crawlers fit together. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyData = any;

/** A request whose page was fetched. */
export type LoadedRequest<R extends Request> = R & { loadedUrl: string };

/** A request that a handler makes by itself. */
export interface SendRequestOptions {
  url?: string;
  /** Added to the URL's query. */
  searchParams?: string | URLSearchParams | Record<string, string | number | boolean>;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  json?: unknown;
  form?: Record<string, string | number | boolean>;
  responseType?: 'text' | 'json' | 'buffer';
  timeoutMs?: number;
}

/** The response to `sendRequest`. */
export interface SentResponse<Body = string> {
  body: Body;
  statusCode: number;
  headers: Record<string, string | string[]>;
  url: string;
  ok: boolean;
}

export interface AddRequestsOptions {
  forefront?: boolean;
}

/** What a handler may ask of its crawler. These write at once, not with the visit. */
export interface ContextCrawler {
  addRequests(requests: RequestsLike, options?: AddRequestsBatchedOptions): Promise<AddRequestsBatchedResult>;
  stop(reason?: string): void;
  teardown(): Promise<void>;
  pushData(data: Dictionary | readonly Dictionary[], datasetName?: string): Promise<void>;
  getDataset(name?: string): Promise<Dataset>;
  getData(...options: Parameters<Dataset['getData']>): ReturnType<Dataset['getData']>;
  exportData(path: string, format?: ExportFormat): Promise<void>;
  useState<State extends Dictionary = Dictionary>(initial?: State): Promise<State>;
  getRequestQueue(): Promise<RequestQueue>;
  readonly requestQueue: RequestQueue | undefined;
  readonly sessionPool: SessionPool | undefined;
  readonly autoscaledPool: AutoscaledPool | undefined;
  readonly proxyConfiguration: ProxyConfiguration | undefined;
  readonly running: boolean;
  readonly stats: CrawlCounts;
  readonly log: Log;
}

/** What a crawl counted so far; on pods, what this process did. */
export interface CrawlCounts {
  readonly state: {
    readonly requestsFinished: number;
    readonly requestsFailed: number;
    readonly requestsRetries: number;
    readonly errors: Readonly<Record<string, number>>;
    readonly requestsWithStatusCode: Readonly<Record<string, number>>;
  };
}

/** What every handler has. */
export interface CrawlingContext<Crawler = ContextCrawler, UserData extends Dictionary = Dictionary> {
  id: string;
  request: Request<UserData>;
  session?: Session;
  proxyInfo?: ProxyInfo;
  log: Log;
  crawler: Crawler;
  /** Queues the links of the page that fit the rules, together with the visit: a failed attempt queues none. */
  enqueueLinks(options?: EnqueueLinksOptions): Promise<BatchAddRequestsResult>;
  /** Queues requests together with the visit. */
  addRequests(requests: readonly Source[], options?: AddRequestsOptions): Promise<void>;
  /** Stores items together with the visit: a failed attempt stores none. */
  pushData(data: Dictionary | readonly Dictionary[], datasetName?: string): Promise<void>;
  /**
   * Sends another request with the visit's session and proxy. Method, headers and payload are the request's unless
   * given, within its origin; another origin gets only what is given. Passes the address guard, is not paced.
   */
  sendRequest<Body = string>(options?: SendRequestOptions): Promise<SentResponse<Body>>;
  getKeyValueStore(name?: string): Promise<KeyValueStore>;
  /** A mutable value shared by all handlers and saved with the crawl. */
  useState<State extends Dictionary = Dictionary>(initial?: State): Promise<State>;
}

/** What handlers of a `BasicCrawler` get. */
export type BasicCrawlingContext<UserData extends Dictionary = Dictionary> = CrawlingContext<ContextCrawler, UserData>;

/** The response's head. */
export interface ResponseHead {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  url: string;
}

/** What handlers of an `HttpCrawler` get. */
export interface HttpCrawlingContext<UserData extends Dictionary = AnyData, JSONData = AnyData> extends CrawlingContext<
  ContextCrawler,
  UserData
> {
  response: ResponseHead;
  /** A string for HTML and XML in a CheerioCrawler; else a Buffer. */
  body: string | Buffer;
  contentType: { type: string; encoding: BufferEncoding };
  /** The parsed body of a JSON response. */
  json: JSONData;
  /** Title, text, links and metadata from one pass over the bytes; nothing is scanned until read. */
  content: PageContent;
  /** Throws unless the page contains the selector; there is nothing to wait for without a browser. */
  waitForSelector(selector: string, timeoutMs?: number): Promise<void>;
  parseWithCheerio(selector?: string, timeoutMs?: number): Promise<CheerioAPI>;
}

/** What handlers of a `CheerioCrawler` get. */
export interface CheerioCrawlingContext<
  UserData extends Dictionary = AnyData,
  JSONData = AnyData,
> extends HttpCrawlingContext<UserData, JSONData> {
  /** The page as a cheerio document, built when first touched. */
  $: CheerioAPI;
}

/** What handlers of a `FileDownload` crawler get. */
export interface FileDownloadCrawlingContext<UserData extends Dictionary = AnyData> extends CrawlingContext<
  ContextCrawler,
  UserData
> {
  response: ResponseHead;
  contentType: { type: string; encoding: BufferEncoding };
  /** The whole file; empty when a `streamHandler` takes it. */
  body: Buffer;
  stream?: Readable;
}

/** The second argument of HTTP hooks: change it in place to change the request. */
export interface HttpHookOptions {
  headers: Record<string, string>;
  method: string;
  payload?: string | Uint8Array;
  proxyUrl?: string;
  timeoutMs: number;
  /** As in got: milliseconds for the whole request, in place of `timeoutMs`. */
  timeout?: number | { readonly request?: number };
  /** Added to the URL's query. */
  searchParams?: string | URLSearchParams | Readonly<Record<string, string | number | boolean>>;
}

/** Your code for one page. */
export type RequestHandler<Context> = (context: Context) => Awaitable<void>;
/** Called after a failed attempt (`errorHandler`), or when a request has failed for good (`failedRequestHandler`). */
export type ErrorHandler<Context> = (context: Context, error: Error) => Awaitable<void>;
/** Runs before or after a page is fetched; before it, `options` can be changed. */
export type HttpHook<Context> = (context: Context, options: HttpHookOptions) => Awaitable<void>;
