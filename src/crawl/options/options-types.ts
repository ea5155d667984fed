// The options of the crawlers as users write them: Crawlee 3's names, and ours where the JSDoc says "ours".
// Only types live here; options-shapes.ts checks them, options.ts applies the defaults.
import type { Readable } from 'node:stream';
import type { FetchHttpClient } from '../../crawlee/http/fetch-client.js';
import type { BaseHttpClient } from '../../crawlee/http/http-client.js';
import type { AutoscaledPoolOptions } from '../../dispatch/pool-options.js';
import type { RequestQueue } from '../../frontier/queue/request-queue.js';
import type {
  Awaitable,
  BasicCrawlingContext,
  CheerioCrawlingContext,
  CrawlingContext,
  ErrorHandler,
  FileDownloadCrawlingContext,
  HttpCrawlingContext,
  HttpHook,
  LoadedRequest,
  RequestHandler,
} from '../../handle/context.js';
import type { SkippedRequestCallback } from '../../handle/enqueue-links.js';
import type { Log } from '../../observe/log.js';
import type { DomainRuleOptions } from '../../politeness/domain-rules.js';
import type { TrapOptions } from '../../politeness/traps/traps.js';
import type { SiteHints } from '../../fresh/hints/site-hints.js';
import type { WholeMemory } from '../../fresh/memory/memory.js';
import type { PageChange } from '../../fresh/page-change.js';
import type { Remembering, RememberingParts } from '../../fresh/remembering.js';
import type { Request } from '../../request/request.js';
import type { ProxyConfiguration } from '../../session/proxy.js';
import type { SessionPoolOptions } from '../../session/session-pool.js';
import type { CrawlOrderOptions } from '../order/options.js';
import type { StatisticsOptions, StatisticState } from '../run/report/statistics.js';

/** A context whose page was fetched: `request.loadedUrl` is a string. */
export type LoadedContext<Context extends CrawlingContext> = Context & { request: LoadedRequest<Context['request']> };

/** What a crawler reads its first requests from. */
export interface RequestListLike {
  /** The next request, or null while there is none. */
  fetchNextRequest(): Promise<Request | null>;
  /** Nothing to give at this moment; more may come. */
  isEmpty?(): Promise<boolean>;
  /** False for a request that the web named, not the user: it may not lead to a private address. Without it, true. */
  isSeed?(request: Request): boolean;
  /** Ends what goes on in the background; called when the run ends before the list does. */
  teardown?(): Promise<unknown>;
}

/** A source of requests that the crawler uses in place of its own queue. */
export interface RequestManagerLike extends RequestListLike {
  /** The request has ended, well or not: it does not come again. */
  markRequestHandled(request: Request): Promise<unknown>;
  /** Gives the request back to be tried again; with `forefront` before all others. */
  reclaimRequest(request: Request, options?: { forefront?: boolean }): Promise<unknown>;
}

/** Crawlee's experiments; only `requestLocking` has an effect. */
export interface CrawlerExperiments {
  /** `true` opens the queue for several processes at once (`access: 'shared'`). */
  requestLocking?: boolean | undefined;
}

/** The status of a crawl. */
export interface StatusMessageCallbackParams {
  /** The crawl's counters now. */
  state: StatisticState;
  /** The counters when the callback was last called. */
  previousState: StatisticState;
  /** The crawler whose status is told. */
  crawler: unknown;
  /** The message that would be logged without a callback. */
  message: string;
}

/** The options of every crawler. */
export interface BasicCrawlerOptions<Context extends CrawlingContext = BasicCrawlingContext> extends CrawlOrderOptions {
  /** Called for every request that was fetched. Throw to have the request retried. A router fits here too. */
  requestHandler?: RequestHandler<LoadedContext<Context>> | undefined;
  /** The same as `requestHandler`; give one of the two. */
  router?: RequestHandler<LoadedContext<Context>> | undefined;
  /** Called after each failed attempt that will be retried, before the retry; may change the request. */
  errorHandler?: ErrorHandler<Context> | undefined;
  /** Called once for a request that failed for good. */
  failedRequestHandler?: ErrorHandler<Context> | undefined;

  /** Retries after the first attempt. Default 3. */
  maxRequestRetries?: number | undefined;
  /** The same as `maxRequestRetries`: the name batches know it by (ours). */
  maxRetries?: number | undefined;
  /** Changes of session after a block or a proxy error; not counted as retries. Default 10. */
  maxSessionRotations?: number | undefined;
  /** Wait before the first retry; doubles with each further one, then × a random 0.5–1 (ours). Default 1,000. */
  retryDelayMs?: number | undefined;
  /** Longest wait before a retry (ours). Default 60,000. */
  maxRetryDelayMs?: number | undefined;
  /** Longest a handler may run. Default 60. */
  requestHandlerTimeoutSecs?: number | undefined;

  /** Requests done or failed after which the crawl ends, resumed runs included. Default no limit. */
  maxRequestsPerCrawl?: number | undefined;
  /** Links away from the seeds; 0 visits the seeds only. Default no limit. */
  maxCrawlDepth?: number | undefined;
  /** Most requests started in a minute, spread evenly. Default no limit. */
  maxRequestsPerMinute?: number | undefined;
  /** Fewest requests at once when the machine is overloaded. Default 1. */
  minConcurrency?: number | undefined;
  /** Most requests at once. Default 200. */
  maxConcurrency?: number | undefined;
  /** Options of the pool that decides how many requests run at once. */
  autoscaledPoolOptions?: Partial<AutoscaledPoolOptions> | undefined;
  /** Seconds between the end of one response and the next request to the same domain. Default 0. */
  sameDomainDelaySecs?: number | undefined;
  /**
   * Whether robots.txt is obeyed, and under which name it is read (default: that of `userAgent`). This, or
   * `sameDomainDelaySecs` above 0, turns polite mode on: nofollow is honoured and overloaded hosts rest. Default false.
   */
  respectRobotsTxtFile?: boolean | { userAgent?: string };
  /** The same as `respectRobotsTxtFile`: the name batches know it by (ours). */
  respectRobots?: boolean | undefined;
  /** What is paced together: a registrable domain with all its hosts, or each host alone (ours). Default `domain`. */
  paceBy?: 'domain' | 'host' | undefined;
  /** A longer `Retry-After` fails its request, a longer robots `Crawl-delay` skips its host (ours). Default 3,600. */
  maxDelaySecs?: number | undefined;
  /** How long robots.txt is good without another look (ours). Default 86,400. */
  robotsCacheTtlSecs?: number | undefined;
  /** In polite mode, rest this many times as long as the last response took, if that is longer (ours). Default 0. */
  adaptiveDelay?: number | undefined;
  /**
   * Refuses links into endless spaces: repeated segments, calendars, query explosions and the like (ours); see
   * docs/traps.md. Default true in polite mode, else false.
   */
  traps?: boolean | TrapOptions | undefined;
  /** Most requests of one host that a crawl's pages may queue (ours). Default no limit. */
  maxRequestsPerHost?: number | undefined;
  /** Most requests of one registrable domain that a crawl's pages may queue (ours). Default no limit. */
  maxRequestsPerDomain?: number | undefined;
  /** Repeats of the same text after which a host is left (ours). Default no limit. */
  maxSameContent?: number | undefined;
  /** Domains never visited, the only ones visited, and settings per domain; subdomains included (ours). */
  domains?: DomainRuleOptions | undefined;
  /** Most connections of this process to one address (ours). Default 20 in polite mode, else no limit. */
  maxConnectionsPerAddress?: number | undefined;
  /**
   * The part of the slots, from 0 to 1, that hosts which hang or drip may hold while requests to others wait (ours);
   * 1: all of them. See docs/politeness.md. Default 0.2.
   */
  slowHostShare?: number | undefined;
  /** A fetch that receives next to nothing for this long counts as slow (ours). Default 2. */
  slowHostPatienceSecs?: number | undefined;
  /**
   * A visit whose synchronous work blocks the event loop for longer is named on standard error while it blocks, and
   * counted (ours); 0: off. See docs/lifecycle.md. Default 10.
   */
  blockedLoopSecs?: number | undefined;

  /** Whether each request is bound to a session: cookies, a proxy, consistent headers. Default true. */
  useSessionPool?: boolean | undefined;
  /** Options of the session pool. */
  sessionPoolOptions?: SessionPoolOptions | undefined;
  /** Where proxy URLs come from. Default none: direct connections. */
  proxyConfiguration?: ProxyConfiguration | undefined;
  /** Treats pages of known bot protections as blocked and retries them with another session. Default false. */
  retryOnBlocked?: boolean | undefined;
  /** Statuses that retire the session and retry (also accepted in `sessionPoolOptions`). Default 401, 403, 429. */
  blockedStatusCodes?: readonly number[] | undefined;

  /** The queue to work from. Default the default queue of the storage folder. */
  requestQueue?: RequestQueue | undefined;
  /** A list whose requests are added to the queue. */
  requestList?: RequestListLike | undefined;
  /** A source of requests in place of `requestQueue` and `requestList`. */
  requestManager?: RequestManagerLike | undefined;
  /** Keeps running when the queue is empty, until `stop()` or `teardown()`. Default false. */
  keepAlive?: boolean | undefined;
  /** Told of every URL that was left out, and why. */
  onSkippedRequest?: SkippedRequestCallback | undefined;

  /** Accepts any TLS certificate. Default false. */
  ignoreSslErrors?: boolean | undefined;
  /**
   * Lets the crawl reach loopback, private and other special addresses: all of them, or the given CIDR
   * ranges (ours). Default false.
   */
  allowPrivateAddresses?: boolean | readonly string[] | undefined;
  /** Whether a seed may itself be at such an address (ours). Turn it off where strangers choose the seeds. Default true. */
  allowPrivateSeeds?: boolean | undefined;
  /** The User-Agent header (ours). Default `Mozilla/5.0 (compatible; orcrawl/VERSION)`. */
  userAgent?: string | undefined;
  /** Largest decoded body (ours). Default 10 MiB; FileDownload 1 GiB. In a browser: of the page as HTML. */
  maxBodyBytes?: number | undefined;
  /** Redirects followed for one request (ours). Default 10. */
  maxRedirects?: number | undefined;

  /** Speaks HTTP/2 with servers that offer it (ours). Default false. */
  http2?: boolean | undefined;

  /** The log to write to. Default a child of `log` that bears the crawler's name. */
  log?: Log | undefined;
  /** Seconds between two status messages. Default 10. */
  statusMessageLoggingInterval?: number | undefined;
  /** Called instead of logging the status message. */
  statusMessageCallback?: ((params: StatusMessageCallbackParams) => Awaitable<void>) | undefined;
  /** How statistics are kept and logged. */
  statisticsOptions?: StatisticsOptions | undefined;
  /** Crawlee's switches; only `requestLocking` has an effect. */
  experiments?: CrawlerExperiments | undefined;
  /**
   * From Crawlee: sends the crawl's requests in place of the built-in engine. The address guard checks each URL before; how
   * the client connects is its own business. `GotScrapingHttpClient` is the built-in engine.
   */
  httpClient?: BaseHttpClient | FetchHttpClient | undefined;
  /**
   * Says that requests may look like those of a browser although robots.txt is obeyed under another name (ours). Default
   * false: `useHeaderGenerator`, `useFingerprints` and a client that impersonates are errors then.
   */
  impersonateWithRobots?: boolean | undefined;
}

/** @internal */
export interface PlanParts extends Pick<RememberingParts, 'schedule' | 'importanceOf' | 'countsLinks'> {
  readonly hints?: SiteHints | undefined;
  readonly onOpen?: (remembering: Remembering) => void;
}

/** How a crawler remembers pages from one crawl to the next (ours); see docs/fresh.md. */
export interface RememberOptions {
  /** The memory's name: crawlers that use the same one share it. Default `default`. */
  name?: string | undefined;
  /** Also visits every page that is remembered, not only those given and found: unchanged pages tell no links. Default false. */
  revisit?: boolean | undefined;
  /** Also calls the handler for pages that the server reports as unchanged (304, without a body). Default false. */
  handleUnchanged?: boolean | undefined;
  /** Keeps the markdown of each page's last version, for `change.diff()`. Default false. */
  versions?: boolean | undefined;
  /**
   * With `revisit`: reads the sitemaps of the sites, and the sitemaps and feeds given here, and leaves pages alone that
   * did not change by them or by `Cache-Control` and `Expires`, where such hints proved right. Default false.
   */
  hints?: boolean | readonly string[] | undefined;
  /** @internal The update that was interrupted is continued. */
  continues?: boolean | undefined;
  /** @internal The planner of further visits, called when the memory is open. */
  plan?: ((memory: WholeMemory) => Promise<PlanParts>) | undefined;
}

/** Called for a page that is new, has changed or was removed, after its handler (ours). */
export type ChangeHandler<Context> = (context: Context & { change: PageChange }) => Awaitable<void>;

/** What becomes of a page that nearly repeats another (ours). */
export type DuplicatesRule = 'keep' | 'mark' | 'skip';

/** The options of HttpCrawler, and of every crawler that fetches pages over HTTP. */
export interface HttpCrawlerOptions<
  Context extends CrawlingContext = HttpCrawlingContext,
> extends BasicCrawlerOptions<Context> {
  /** Sends headers as a browser does, the same ones per session, by the package header-generator. Default false. */
  useHeaderGenerator?: boolean | undefined;
  /** Options of header-generator: `browsers`, `operatingSystems`, `devices`, `locales`, … */
  headerGeneratorOptions?: object | undefined;
  /** Called in order before the request is sent; the second argument may be changed. */
  preNavigationHooks?: readonly HttpHook<Context>[] | undefined;
  /** Called in order after the response arrived, before the handler. */
  postNavigationHooks?: readonly HttpHook<Context>[] | undefined;
  /** Longest a request may take, redirects and body included. Default 30. */
  navigationTimeoutSecs?: number | undefined;
  /** Keeps the cookies of a session's responses and sends them. Default true with a session pool. */
  persistCookiesPerSession?: boolean | undefined;
  /** Content types to accept besides HTML, XML and JSON, such as `image/*`. Default none. */
  additionalMimeTypes?: readonly string[] | undefined;
  /** Read PDF, Office, OpenDocument, EPUB, RTF, CSV, plain text, JSON and feeds as pages: `content`, links and `$`. Default false. */
  documents?: boolean | undefined;
  /** Ask for markdown where a site offers it, and read it as the page it stands for (ours). Default false. */
  acceptMarkdown?: boolean | undefined;
  /** The encoding of responses that name none. */
  suggestResponseEncoding?: string | undefined;
  /** The encoding of all responses, in place of the declared one. */
  forceResponseEncoding?: string | undefined;
  /** Statuses of 500 and above that are not errors. Default none. */
  ignoreHttpErrorStatusCodes?: readonly number[] | undefined;
  /** Statuses that are errors though they would not be. Default none. */
  additionalHttpErrorStatusCodes?: readonly number[] | undefined;
  /**
   * Remembers each page: the next crawl asks only whether it has changed, and handlers get `change` (ours). Of
   * HttpCrawler and CheerioCrawler; see docs/fresh.md. Default false.
   */
  remember?: boolean | RememberOptions | undefined;
  /** Called after the handler for pages that are new, changed or removed; needs `remember` (ours). */
  onChange?: ChangeHandler<LoadedContext<Context>> | undefined;
  /**
   * Pages whose main content nearly repeats that of another page: `mark` names that one in `change.duplicateOf`, `skip`
   * does not handle them either (ours). Turns `remember` on. Default `keep`.
   */
  duplicates?: DuplicatesRule | undefined;
}

/** The options of CheerioCrawler. */
export type CheerioCrawlerOptions<Context extends CrawlingContext = CheerioCrawlingContext> =
  HttpCrawlerOptions<Context>;

/** What a `streamHandler` is given: the body as it arrives. */
export type StreamHandlerContext = Omit<FileDownloadCrawlingContext, 'body' | 'stream'> & {
  /** The body as it arrives, decompressed. Read it to its end, or destroy it. */
  stream: Readable;
  /** Ends the download without an error. */
  abortDownload(): void;
};

/** The options of FileDownload. */
export interface FileDownloadOptions<
  Context extends CrawlingContext = FileDownloadCrawlingContext,
> extends HttpCrawlerOptions<Context> {
  /** Takes the file as a stream, in place of a `requestHandler` that gets it whole. */
  streamHandler?: ((context: StreamHandlerContext) => Awaitable<void>) | undefined;
}
