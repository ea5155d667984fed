// From the links of a page to the requests worth queueing: transform, scope, depth, duplicates, limit.
// Pure: the crawl layer says which links were found and what the queue already knows.
import { CrawlError } from '../errors.js';
import type { GlobInput, PatternInput, RegExpInput } from '../request/pattern.js';
import { type Dictionary, Request, type RequestOptions } from '../request/request.js';
import { createScope, type EnqueueStrategy } from '../request/scope.js';
import { MAX_URL_LENGTH, parseUrl } from '../request/url.js';

/** Why a URL was not queued or visited. */
export type SkipReason =
  | 'robotsTxt'
  | 'limit'
  | 'enqueueLimit'
  | 'filters'
  | 'redirect'
  | 'depth'
  | 'invalid'
  /** In polite mode: the link, or its page, asks not to be followed. */
  | 'nofollow'
  /** In polite mode: the host's robots.txt asks for longer delays than `maxDelaySecs`. */
  | 'crawlDelay';

export type SkippedRequestCallback = (skipped: { url: string; reason: SkipReason }) => void | PromiseLike<void>;

/** Changes or drops (by a falsy result) a request before it is made. */
export type RequestTransform = (options: RequestOptions) => RequestOptions | false | undefined | null;

export interface EnqueueLinksOptions {
  /** Which links of the page: a CSS selector, `a` by default. */
  selector?: string;
  /** These URLs instead of the page's links. */
  urls?: readonly string[];
  /** What relative URLs and strategies refer to; the page by default. */
  baseUrl?: string;
  /** At most so many new requests. */
  limit?: number;
  label?: string;
  userData?: Dictionary;
  strategy?: EnqueueStrategy;
  globs?: readonly GlobInput[];
  regexps?: readonly RegExpInput[];
  exclude?: readonly PatternInput[];
  transformRequestFunction?: RequestTransform;
  /** Before what is queued already. */
  forefront?: boolean;
  /** Has no effect: all requests of a visit are queued together with it. */
  waitForAllRequestsToBeAdded?: boolean;
  skipNavigation?: boolean;
  /** Another queue: requests are added to it at once, not with the visit. */
  requestQueue?: RequestSink;
  robotsTxtFile?: { isAllowed(url: string, userAgent?: string): boolean };
  onSkippedRequest?: SkippedRequestCallback;
}

/** What `enqueueLinks` needs of another queue. */
export interface RequestSink {
  addRequestsBatched(
    requests: Request[],
    options?: { forefront?: boolean; seeded?: boolean },
  ): Promise<{
    addedRequests: ProcessedRequest[];
  }>;
}

export interface ProcessedRequest {
  requestId: string;
  uniqueKey: string;
  wasAlreadyPresent: boolean;
  wasAlreadyHandled: boolean;
}

export interface BatchAddRequestsResult {
  processedRequests: ProcessedRequest[];
  unprocessedRequests: { uniqueKey: string; url: string; method?: string }[];
}

const KNOWN = new Set<string>([
  'selector',
  'urls',
  'baseUrl',
  'limit',
  'label',
  'userData',
  'strategy',
  'globs',
  'regexps',
  'exclude',
  'transformRequestFunction',
  'forefront',
  'waitForAllRequestsToBeAdded',
  'skipNavigation',
  'requestQueue',
  'robotsTxtFile',
  'onSkippedRequest',
] satisfies (keyof EnqueueLinksOptions)[]);

/** Refuses what would be ignored silently. */
export function checkEnqueueLinksOptions(options: EnqueueLinksOptions): void {
  for (const name in options) {
    if (name === 'pseudoUrls') {
      throw new CrawlError('OPTION_INVALID', 'enqueueLinks option "pseudoUrls" is gone: use "globs" or "regexps"');
    }
    if (name === 'respectRobotsTxtFile') {
      throw new CrawlError(
        'OPTION_INVALID',
        'enqueueLinks option "respectRobotsTxtFile": set it on the crawler, which then checks every request',
      );
    }
    if (!KNOWN.has(name)) throw new CrawlError('OPTION_INVALID', `enqueueLinks has no option "${name}"`);
  }
  if (options.urls !== undefined && !Array.isArray(options.urls)) {
    throw new CrawlError('OPTION_INVALID', 'enqueueLinks option "urls" must be an array of strings');
  }
  if (options.limit !== undefined && !(Number.isInteger(options.limit) && options.limit >= 0)) {
    throw new CrawlError('OPTION_INVALID', 'enqueueLinks option "limit" must be a whole number, 0 or more');
  }
}

/** The page the links are on. */
export interface LinkingPage {
  /** Undefined where there is no page: then only patterns decide. */
  readonly url: string | undefined;
  readonly loadedUrl: string | undefined;
  readonly crawlDepth: number;
}

export interface LinkRules {
  readonly maxCrawlDepth: number | undefined;
  readonly skip: (url: string, reason: SkipReason) => void;
}

/**
 * The requests that the given absolute URLs become under the options, each URL once. The caller applies
 * `limit`, which counts only requests that are new to the queue.
 */
export function selectLinks(
  urls: Iterable<string>,
  options: EnqueueLinksOptions,
  page: LinkingPage,
  rules: LinkRules,
): Request[] {
  const scope = createScope(options, { baseUrl: options.baseUrl, url: page.url, loadedUrl: page.loadedUrl });
  const { transformRequestFunction: transform, robotsTxtFile } = options;
  const crawlDepth = page.crawlDepth + 1;
  const tooDeep = rules.maxCrawlDepth !== undefined && crawlDepth > rules.maxCrawlDepth;
  const shared: Partial<RequestOptions> = { crawlDepth, enqueueStrategy: scope.strategy };
  if (options.label !== undefined) shared.label = options.label;
  if (options.userData !== undefined) shared.userData = options.userData;
  if (options.skipNavigation !== undefined) shared.skipNavigation = options.skipNavigation;

  const seen = new Set<string>();
  const requests: Request[] = [];
  for (const url of urls) {
    if (seen.has(url)) continue;
    seen.add(url);
    if (robotsTxtFile && !robotsTxtFile.isAllowed(url)) {
      rules.skip(url, 'robotsTxt');
      continue;
    }
    let request: RequestOptions = { url, ...shared };
    if (transform) {
      const transformed = transform(request);
      if (!transformed) {
        rules.skip(url, 'filters');
        continue;
      }
      request = transformed;
    }
    if (request.url.length > MAX_URL_LENGTH) {
      rules.skip(`${request.url.slice(0, 200)}…`, 'invalid');
      continue;
    }
    const decision = scope.decide(request.url);
    if (!decision.allowed) {
      // mailto:, javascript: and the like are no pages: there is nothing to tell about them.
      if (decision.reason !== 'scheme') rules.skip(request.url, 'filters');
      continue;
    }
    if (tooDeep) {
      rules.skip(request.url, 'depth');
      continue;
    }
    requests.push(new Request(decision.options ? { ...request, ...decision.options } : request));
  }
  return requests;
}

/** Absolute http(s) URLs of what the user gave, resolved against a base; what is none is reported. */
export function absoluteUrls(urls: readonly string[], baseUrl: string | undefined, skip: LinkRules['skip']): string[] {
  const absolute: string[] = [];
  for (const url of urls) {
    const parsed = typeof url === 'string' ? parseUrl(url, baseUrl) : undefined;
    if (parsed) absolute.push(parsed.href);
    else skip(String(url), 'invalid');
  }
  return absolute;
}
