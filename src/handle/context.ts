// What a handler is given: capabilities by crawler type, as types. A handler that uses only what two
// contexts share compiles for both; crawl/ builds the objects, lazily where a property costs work.
import type { IncomingHttpHeaders } from 'node:http';
import type { SendOptions } from '../fetch/http/send-request.js';
import type { PageChange } from '../fresh/page-change.js';
import type { CheerioAPI } from 'cheerio';
import type { Readable } from 'node:stream';
import type { DocumentFacts } from '../documents/model.js';
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
  /** Default: the URL of the visit. */
  url?: string;
  /** Added to the URL's query. */
  searchParams?: string | URLSearchParams | Record<string, string | number | boolean>;
  /** Default: that of the request of the visit. */
  method?: string;
  /** Added to those of the visit within its origin. */
  headers?: Record<string, string>;
  /** What is sent. */
  body?: string | Uint8Array;
  /** Sent as JSON, with its content type. */
  json?: unknown;
  /** Sent as a form, with its content type. */
  form?: Record<string, string | number | boolean>;
  /** What `body` of the answer is: text (default), parsed JSON or bytes. */
  responseType?: 'text' | 'json' | 'buffer';
  /** Longest the whole exchange may take. */
  timeoutMs?: number;
  /** The same as in got: milliseconds under `request`. */
  timeout?: { request?: number };
  /** Ends it early. */
  signal?: AbortSignal;
  /** The proxy of this request instead of the visit's. */
  proxyUrl?: string;
  /** Sent as HTTP authentication, with `password`. */
  username?: string;
  /** The password for basic authentication. */
  password?: string;
  /** Default true; `false` returns the redirect itself. */
  followRedirect?: boolean;
  /** More are an error. */
  maxRedirects?: number;
  /** Default false; `true` throws for statuses other than 2xx and 3xx. */
  throwHttpErrors?: boolean;
  /** got's name for TLS options; of these `rejectUnauthorized: false` accepts any certificate. */
  https?: { rejectUnauthorized?: boolean };
  /** Cookies of this request instead of the session's: a jar of tough-cookie. */
  cookieJar?: SendOptions['cookieJar'];
  /** The encoding of a text body instead of the response's own. */
  encoding?: BufferEncoding;
  /** Headers of a browser, made by the package header-generator. Default: what the crawler does. */
  useHeaderGenerator?: boolean;
  /** Options of header-generator; given alone, they ask for headers, too. */
  headerGeneratorOptions?: object;
  /** From got, without effect: the visit is tried again, not the request. */
  retry?: unknown;
  /** From got, without effect: see `http2` of the crawler. */
  http2?: boolean;
  /** From got, without effect: bodies are always decoded. */
  decompress?: boolean;
  /** From got, without effect. */
  insecureHTTPParser?: boolean;
  /** From got, without effect: headers are those of the session. */
  sessionToken?: object;
}

/** The response to `sendRequest`. */
export interface SentResponse<Body = string> {
  /** As `responseType` asked. */
  body: Body;
  /** Of the last response, after redirects. */
  statusCode: number;
  /** Names in lower case. */
  headers: IncomingHttpHeaders;
  /** Where redirects led. */
  url: string;
  /** Status 2xx. */
  ok: boolean;
  /** The body as bytes. */
  rawBody: Buffer;
  /** What was asked for, before redirects. */
  requestUrl: string;
  /** Where redirects led, in order. */
  redirectUrls: URL[];
}

export interface AddRequestsOptions {
  /** Puts them before those that wait. */
  forefront?: boolean;
}

/** What a handler may ask of its crawler. These write at once, not with the visit. */
export interface ContextCrawler {
  /** Adds requests. */
  addRequests(requests: RequestsLike, options?: AddRequestsBatchedOptions): Promise<AddRequestsBatchedResult>;
  /** Ends the run when the visits under way have ended. */
  stop(reason?: string): void;
  /** Breaks off the run; requests under way go back to the queue. */
  teardown(): Promise<void>;
  /** Appends items to a dataset. */
  pushData(data: Dictionary | readonly Dictionary[], datasetName?: string): Promise<void>;
  /** The dataset of this name, or the default one. */
  getDataset(name?: string): Promise<Dataset>;
  /** Items of the default dataset. */
  getData(...options: Parameters<Dataset['getData']>): ReturnType<Dataset['getData']>;
  /** Writes the default dataset to a file, in the format of its extension. */
  exportData(path: string, format?: ExportFormat): Promise<void>;
  /** A mutable value shared by all handlers and saved with the crawl. */
  useState<State extends Dictionary = Dictionary>(initial?: State): Promise<State>;
  /** The queue of the crawl; opened if it is not yet. */
  getRequestQueue(): Promise<RequestQueue>;
  /** The queue of the crawl, once it is open. */
  readonly requestQueue: RequestQueue | undefined;
  /** The sessions of the crawl; undefined with `useSessionPool: false`. */
  readonly sessionPool: SessionPool | undefined;
  /** What decides how many visits run at once; while the crawl runs. */
  readonly autoscaledPool: AutoscaledPool | undefined;
  /** The proxies it was given. */
  readonly proxyConfiguration: ProxyConfiguration | undefined;
  /** Whether a run is under way. */
  readonly running: boolean;
  /** What was counted so far. */
  readonly stats: CrawlCounts;
  /** The log of the crawler. */
  readonly log: Log;
}

/** What a crawl counted so far; on pods, what this process did. */
export interface CrawlCounts {
  /** The counters. */
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
  /** Of this attempt; another one for each retry. */
  id: string;
  /** What is visited: URL, label, user data, retries. */
  request: Request<UserData>;
  /** The session of this visit: its cookies, its score, `retire()`. Undefined with `useSessionPool: false`. */
  session?: Session;
  /** The proxy that this visit goes through; undefined for a direct connection. */
  proxyInfo?: ProxyInfo;
  /** The log of the crawler, for lines of yours. */
  log: Log;
  /** The crawler: what it does takes effect at once, not with the visit. */
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
  /** The key-value store of this name, or the default one. */
  getKeyValueStore(name?: string): Promise<KeyValueStore>;
  /** A mutable value shared by all handlers and saved with the crawl. */
  useState<State extends Dictionary = Dictionary>(initial?: State): Promise<State>;
}

/** What handlers of a `BasicCrawler` get. */
export type BasicCrawlingContext<UserData extends Dictionary = Dictionary> = CrawlingContext<ContextCrawler, UserData>;

/** The response's head. */
export interface ResponseHead {
  /** Such as 200. */
  statusCode: number;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  /** Of the page, after redirects. */
  url: string;
  /** The words that belong to the status, such as `Not Found`. */
  readonly statusMessage: string;
  /** Status 2xx. */
  readonly ok: boolean;
  /** Always true: handlers get whole responses. */
  readonly complete: boolean;
  /** Such as `1.1`. */
  readonly httpVersion: string;
  /** Names and values in turn. */
  readonly rawHeaders: string[];
  /** Where redirects led, one after the other. */
  readonly redirectUrls: URL[];
  /** From Crawlee: of a stream's events, `end` and `close` still come. */
  on(event: string, listener: () => void): this;
}

/** What handlers of an `HttpCrawler` get. */
export interface HttpCrawlingContext<UserData extends Dictionary = AnyData, JSONData = AnyData> extends CrawlingContext<
  ContextCrawler,
  UserData
> {
  /** Status and headers of the page. */
  response: ResponseHead;
  /** A string for HTML and XML in a CheerioCrawler; else a Buffer. */
  body: string | Buffer;
  /** The media type, in lower case, and the encoding of the body. */
  contentType: { type: string; encoding: BufferEncoding };
  /** The parsed body of a JSON response. */
  json: JSONData;
  /** Title, text, links and metadata from one pass over the bytes; nothing is scanned until read. */
  content: PageContent;
  /** What changed since the last visit; only with `remember` (ours). Worked out when first read. */
  change?: PageChange;
  /** What a file says about itself that was read as a document, with `documents: true`. */
  document?: DocumentFacts;
  /** Throws unless the page contains the selector; there is nothing to wait for without a browser. */
  waitForSelector(selector: string, timeoutMs?: number): Promise<void>;
  /** The page as a cheerio document; with a selector, it must be there. */
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
  /** Status and headers of the file. */
  response: ResponseHead;
  /** The media type, in lower case, and the encoding of the body. */
  contentType: { type: string; encoding: BufferEncoding };
  /** The whole file; empty when a `streamHandler` takes it. */
  body: Buffer;
  /** The body as it arrives, with a `streamHandler`. */
  stream?: Readable;
}

/** The second argument of HTTP hooks: change it in place to change the request. */
export interface HttpHookOptions {
  /** Sent with the request. */
  headers: Record<string, string>;
  /** The HTTP method. */
  method: string;
  /** The body to send. */
  payload?: string | Uint8Array;
  /** The proxy to go through. */
  proxyUrl?: string;
  /** Longest the whole request may take. */
  timeoutMs: number;
  /** As in got: milliseconds for the whole request, in place of `timeoutMs`. */
  timeout?: number | { readonly request?: number };
  /** Added to the URL's query. */
  searchParams?: string | URLSearchParams | Readonly<Record<string, string | number | boolean>>;
  /** Headers of a browser, made by the package header-generator. Default: what the crawler does. */
  useHeaderGenerator?: boolean;
  /** Options of header-generator; given alone, they ask for headers, too. */
  headerGeneratorOptions?: object;
}

/** Your code for one page. */
export type RequestHandler<Context> = (context: Context) => Awaitable<void>;
/** Called after a failed attempt (`errorHandler`), or when a request has failed for good (`failedRequestHandler`). */
export type ErrorHandler<Context = CrawlingContext> = (context: Context, error: Error) => Awaitable<void>;
/** Runs before or after a page is fetched; before it, `options` can be changed. */
export type HttpHook<Context> = (context: Context, options: HttpHookOptions) => Awaitable<void>;
