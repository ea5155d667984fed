// Selects the links of a page to queue: transform, scope, depth, duplicates.
// Pure: the crawl layer supplies the links found and what the queue already knows.
import { CrawlError } from '../errors.js';
import { limitReached } from '../limits.js';
import { nearestName } from '../option-checks.js';
import type { GlobInput, PatternInput, RegExpInput } from '../request/pattern.js';
import type { Fingerprint } from '../request/fingerprint.js';
import { type Dictionary, Request, type RequestOptions, validateRequestOptions } from '../request/request.js';
import { createScope, type EnqueueStrategy } from '../request/scope.js';
import { isHostTooLong, MAX_URL_LENGTH, parseUrl } from '../request/url.js';
import { urlKeyOf } from '../request/url-key.js';

/** Why a URL was not queued or visited. */
export type SkipReason =
  | 'robotsTxt'
  | 'limit'
  | 'enqueueLimit'
  | 'filters'
  | 'redirect'
  /** Where domains are paced: it redirects to a page that the queue has already. */
  | 'duplicate'
  /** With `duplicates: 'skip'`: its main content repeats that of another page. */
  | 'nearDuplicate'
  | 'depth'
  | 'invalid'
  /** In polite mode: the link, or its page, asks not to be followed. */
  | 'nofollow'
  /** In polite mode: the host's robots.txt asks for longer delays than `maxDelaySecs`. */
  | 'crawlDelay'
  /** A domain list, a trap, a budget or a host that repeats itself: docs/traps.md. */
  | `DOMAIN_${string}`
  | `TRAP_${string}`
  | `BUDGET_${string}`
  | 'SAME_CONTENT';

/** Called for each request that is left out. */
export type SkippedRequestCallback = (skipped: { url: string; reason: SkipReason }) => void | PromiseLike<void>;

/** Changes or drops (by a falsy result) a request before it is made. */
export type RequestTransform = (options: RequestOptions) => RequestOptions | false | undefined | null;

/** Which links of a page are queued, and as what. */
export interface EnqueueLinksOptions {
  /** Which links of the page: a CSS selector, `a` by default. */
  selector?: string;
  /** These URLs instead of the page's links. */
  urls?: readonly string[];
  /** What relative URLs and strategies refer to; the page by default. */
  baseUrl?: string;
  /** At most so many new requests. */
  limit?: number;
  /** The label of the new requests: which route of a router handles them. */
  label?: string;
  /** Data that the new requests carry to their handler; each gets a copy. */
  userData?: Dictionary;
  /** How far from the page a link may lead. Default `same-hostname`; `all` with `globs` or `regexps`. */
  strategy?: EnqueueStrategy;
  /** Only URLs that match one of these globs, or of `regexps`: `https://example.com/docs/**`. */
  globs?: readonly GlobInput[];
  /** Only URLs that match one of these regular expressions, or of `globs`. */
  regexps?: readonly RegExpInput[];
  /** The same as `globs` and `regexps` in one list: only URLs that match one of these. */
  include?: readonly PatternInput[];
  /** Never URLs that match one of these globs or regular expressions. */
  exclude?: readonly PatternInput[];
  /** Changes each request before it is queued, or leaves it out by a falsy result. */
  transformRequestFunction?: RequestTransform;
  /** Before what is queued already. */
  forefront?: boolean;
  /** Has no effect in a handler: all requests of a visit are queued together with it. */
  waitForAllRequestsToBeAdded?: boolean;
  /** The new requests go to their handler without being fetched. */
  skipNavigation?: boolean;
  /** Another queue: requests are added to it at once, not with the visit. */
  requestQueue?: RequestSink;
  /** Leaves out what these rules forbid; crawlers with `respectRobotsTxtFile` do so by themselves. */
  robotsTxtFile?: { isAllowed(url: string, userAgent?: string): boolean };
  /** Whether and as whom `robotsTxtFile` is obeyed. Default true. The crawler's own check stays as it is. */
  respectRobotsTxtFile?: boolean | { userAgent?: string };
  /** Told of each link that is left out, and why; besides the crawler's own callback. */
  onSkippedRequest?: SkippedRequestCallback;
}

/** What `enqueueLinks` needs of another queue. */
export interface RequestSink {
  /** Adds many requests, in batches. */
  addRequestsBatched(
    requests: Request[],
    options?: { forefront?: boolean; seeded?: boolean; waitForAllRequestsToBeAdded?: boolean },
  ): Promise<{
    addedRequests: ProcessedRequest[];
  }>;
}

/** What the queue did with a link. */
export interface ProcessedRequest {
  /** Made from the unique key: the same in every queue. */
  requestId: string;
  /** What makes a request the same as another. */
  uniqueKey: string;
  /** The queue had it before: nothing was added. */
  wasAlreadyPresent: boolean;
  /** The queue had it, and it has ended. */
  wasAlreadyHandled: boolean;
}

/** What became of the links that `enqueueLinks` found. */
export interface BatchAddRequestsResult {
  /** Those that the queue took or had already. */
  processedRequests: ProcessedRequest[];
  /** Those that could not be added. */
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
  'include',
  'exclude',
  'transformRequestFunction',
  'forefront',
  'waitForAllRequestsToBeAdded',
  'skipNavigation',
  'requestQueue',
  'robotsTxtFile',
  'respectRobotsTxtFile',
  'onSkippedRequest',
] satisfies (keyof EnqueueLinksOptions)[]);

/** Rejects options that would be ignored silently. `obeysRobots`: the crawler checks every request anyway. */
export function checkEnqueueLinksOptions(options: EnqueueLinksOptions, obeysRobots = false): void {
  for (const name in options) {
    if (name === 'pseudoUrls') {
      throw new CrawlError(
        'OPTION_INVALID',
        'enqueueLinks option "pseudoUrls" was removed: use "globs" or "regexps" (see docs/from-crawlee.md)',
      );
    }
    if (KNOWN.has(name)) continue;
    const nearest = nearestName(name, [...KNOWN]);
    const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`;
    throw new CrawlError('OPTION_INVALID', `enqueueLinks has no option "${name}"${hint}`);
  }
  if (options.urls !== undefined && !Array.isArray(options.urls)) {
    throw new CrawlError('OPTION_INVALID', 'enqueueLinks option "urls" must be an array of strings');
  }
  if (options.respectRobotsTxtFile && !options.robotsTxtFile && !obeysRobots) {
    throw new CrawlError(
      'OPTION_INVALID',
      'enqueueLinks option "respectRobotsTxtFile" needs "robotsTxtFile". Or set it on the crawler, which then checks every request; see docs/from-crawlee.md.',
    );
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

/** A link worth queueing. Most are known to the queue already: a request is made only of one that is not. */
export interface SelectedLink {
  readonly url: string;
  readonly uniqueKey: string;
  readonly fingerprint: Fingerprint;
  toRequest(): Request;
}

/** A link that differs from its neighbours only in its URL. */
class PlainLink implements SelectedLink {
  readonly uniqueKey: string;
  readonly fingerprint: Fingerprint;

  constructor(
    readonly url: string,
    readonly shared: Partial<RequestOptions>,
  ) {
    const key = urlKeyOf(url);
    this.uniqueKey = key.uniqueKey;
    this.fingerprint = key.fingerprint;
  }

  /** Trusted: the URL comes from the URL parser, and what it shares with the others was checked once for all. */
  toRequest(): Request {
    return Request.ofLink({ url: this.url, ...this.shared }, this.uniqueKey, this.fingerprint);
  }
}

/** A link whose request the user's code has a say in. */
class OwnLink implements SelectedLink {
  readonly #request: Request;

  constructor(options: RequestOptions) {
    this.#request = new Request(options);
  }

  get url(): string {
    return this.#request.url;
  }
  get uniqueKey(): string {
    return this.#request.uniqueKey;
  }
  get fingerprint(): Fingerprint {
    return this.#request.fingerprint;
  }
  toRequest(): Request {
    return this.#request;
  }
}

/**
 * The links that the given absolute URLs (in the URL parser's spelling) are under the options, each URL once.
 * The caller applies `limit`, which counts only requests that are new to the queue.
 */
export function selectLinks(
  urls: Iterable<string>,
  options: EnqueueLinksOptions,
  page: LinkingPage,
  rules: LinkRules,
): SelectedLink[] {
  const scope = createScope(options, { baseUrl: options.baseUrl, url: page.url, loadedUrl: page.loadedUrl });
  const { transformRequestFunction: transform, respectRobotsTxtFile: robots } = options;
  const robotsTxtFile = robots === false ? undefined : options.robotsTxtFile;
  const robotsAgent = typeof robots === 'object' ? robots.userAgent : undefined;
  const crawlDepth = page.crawlDepth + 1;
  const tooDeep = rules.maxCrawlDepth !== undefined && crawlDepth > rules.maxCrawlDepth;
  const shared: Partial<RequestOptions> = { crawlDepth, enqueueStrategy: scope.strategy };
  if (options.label !== undefined) shared.label = options.label;
  if (options.userData !== undefined) shared.userData = options.userData;
  if (options.skipNavigation !== undefined) shared.skipNavigation = options.skipNavigation;
  validateRequestOptions({ url: 'http://checked.invalid/', ...shared });

  const seen = new Set<string>();
  const links: SelectedLink[] = [];
  for (const found of urls) {
    if (seen.has(found)) continue;
    seen.add(found);
    if (robotsTxtFile && !robotsTxtFile.isAllowed(found, robotsAgent)) {
      rules.skip(found, 'robotsTxt');
      continue;
    }
    const transformed = transform?.({ url: found, ...shared });
    if (transform && !transformed) {
      rules.skip(found, 'filters');
      continue;
    }
    const url = transformed ? transformed.url : found;
    if (url.length > MAX_URL_LENGTH || isHostTooLong(url)) {
      limitReached(url.length > MAX_URL_LENGTH ? 'urlCharacters' : 'hostCharacters');
      rules.skip(`${url.slice(0, 200)}…`, 'invalid');
      continue;
    }
    const decision = scope.decide(url);
    if (!decision.allowed) {
      // mailto:, javascript: and the like are not pages: they are not reported.
      if (decision.reason !== 'scheme') rules.skip(url, 'filters');
      continue;
    }
    if (tooDeep) {
      rules.skip(url, 'depth');
      continue;
    }
    if (!transformed && !decision.options) links.push(new PlainLink(url, shared));
    else links.push(new OwnLink({ ...(transformed || { url, ...shared }), ...decision.options }));
  }
  return links;
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
