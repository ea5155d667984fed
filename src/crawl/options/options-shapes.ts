// What each crawler option accepts, and which Crawlee options have no effect or were removed.
// Promise: an option missing here does not compile, so every option is checked.
import {
  aBoolean,
  aFilledString,
  aFunction,
  aHeaderLine,
  aNumber,
  aString,
  aWholeNumber,
  anObject,
  anyOf,
  arrayOf,
  check,
  objectWith,
  oneOf,
  refused,
  replacedBy,
  withoutEffect,
} from '../../option-checks.js';
import type { Shape, ShapeOf } from '../../option-checks.js';
import { encodingForLabel } from '../../parse/encoding/labels.js';
import { PLAYWRIGHT_ONLY, type PlaywrightCrawlerOptions } from '../browser/playwright-options.js';
import { ORDER_SHAPE } from '../order/options.js';
import type { BasicCrawlerOptions, FileDownloadOptions, HttpCrawlerOptions } from './options-types.js';

/** Longer delays are rejected as mistakes. */
const TEN_YEARS_SECS = 315_360_000;
const aCount = aWholeNumber({ from: 0, orInfinity: true });
const aLimit = aWholeNumber({ from: 1, orInfinity: true });
const aTimeout = aNumber({ above: 0, orInfinity: true });
const statusCodes = arrayOf(aWholeNumber({ from: 100, to: 999 }));
export const aMimeType = check('a content type such as "image/png" or "image/*"', (value) => {
  return typeof value === 'string' && /^\s*[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+\s*(?:;|$)/.test(value);
});
const anEncoding = check('the name of an encoding such as "utf-8" or "windows-1250"', isEncoding);

function isEncoding(value: unknown): boolean {
  return typeof value === 'string' && encodingForLabel(encodingLabel(value)) !== null;
}

/** The standard's label of an encoding that is named as iconv names it: `win1250`, `cp1251`. */
export function encodingLabel(name: string): string {
  return name.replace(/^(?:win|cp)[-_]?(?=125\d$|874$)/i, 'windows-');
}

/** Crawlee 3 options that are known and change nothing, and those that its users should have left behind. */
const FROM_CRAWLEE: Shape = {
  useFingerprints: withoutEffect('it belongs in browserPoolOptions; HTTP crawlers have useHeaderGenerator'),
  fingerprintOptions: withoutEffect('it belongs in browserPoolOptions; HTTP crawlers have headerGeneratorOptions'),
  handleRequestFunction: replacedBy('"requestHandler"'),
  handlePageFunction: replacedBy('"requestHandler"'),
  handleRequestTimeoutSecs: replacedBy('"requestHandlerTimeoutSecs"'),
  handlePageTimeoutSecs: replacedBy('"requestHandlerTimeoutSecs"'),
  handleFailedRequestFunction: replacedBy('"failedRequestHandler"'),
  prepareRequestFunction: replacedBy('"preNavigationHooks"'),
  postResponseFunction: replacedBy('"postNavigationHooks"'),
  requestTimeoutSecs: replacedBy('"navigationTimeoutSecs"'),
  gotoFunction: replacedBy('"preNavigationHooks"'),
  gotoTimeoutSecs: replacedBy('"navigationTimeoutSecs"'),
  pseudoUrls: replacedBy('"globs" and "regexps" of enqueueLinks()'),
  headless: refused('belongs to PlaywrightCrawler'),
  launchContext: refused('belongs to PlaywrightCrawler'),
  browserPoolOptions: refused('belongs to PlaywrightCrawler'),
};

type Checked<Options> = ShapeOf<Options>;

const BASIC = {
  requestHandler: aFunction,
  router: aFunction,
  errorHandler: aFunction,
  failedRequestHandler: aFunction,
  maxRequestRetries: aCount,
  maxRetries: aCount,
  maxSessionRotations: aCount,
  retryDelayMs: aNumber({ from: 0 }),
  maxRetryDelayMs: aNumber({ from: 0 }),
  requestHandlerTimeoutSecs: aTimeout,
  ...ORDER_SHAPE,
  maxRequestsPerCrawl: aLimit,
  maxCrawlDepth: aCount,
  maxRequestsPerMinute: aLimit,
  minConcurrency: aWholeNumber({ from: 1 }),
  maxConcurrency: aWholeNumber({ from: 1 }),
  autoscaledPoolOptions: anObject,
  sameDomainDelaySecs: aNumber({ from: 0 }),
  respectRobotsTxtFile: check('true, false or { userAgent }', isRobotsOption),
  respectRobots: aBoolean,
  paceBy: oneOf(['domain', 'host']),
  maxDelaySecs: aNumber({ above: 0, to: TEN_YEARS_SECS }),
  robotsCacheTtlSecs: aNumber({ from: 0 }),
  adaptiveDelay: aNumber({ from: 0 }),
  traps: anyOf(aBoolean, anObject),
  maxRequestsPerHost: aLimit,
  maxRequestsPerDomain: aLimit,
  maxSameContent: aLimit,
  domains: anObject,
  maxConnectionsPerAddress: aLimit,
  slowHostShare: aNumber({ from: 0, to: 1 }),
  slowHostPatienceSecs: aNumber({ above: 0 }),
  blockedLoopSecs: aNumber({ from: 0 }),
  useSessionPool: aBoolean,
  sessionPoolOptions: anObject,
  proxyConfiguration: objectWith('a ProxyConfiguration', ['newUrl', 'newProxyInfo']),
  retryOnBlocked: aBoolean,
  blockedStatusCodes: statusCodes,
  requestQueue: objectWith('a RequestQueue', ['addRequest', 'fetchNextRequest', 'markRequestHandled']),
  requestList: objectWith('a RequestList', ['fetchNextRequest']),
  requestManager: objectWith('a request manager', ['fetchNextRequest', 'markRequestHandled', 'reclaimRequest']),
  keepAlive: aBoolean,
  onSkippedRequest: aFunction,
  ignoreSslErrors: aBoolean,
  allowPrivateAddresses: anyOf(aBoolean, arrayOf(aFilledString)),
  allowPrivateSeeds: aBoolean,
  userAgent: aHeaderLine,
  maxBodyBytes: aLimit,
  maxRedirects: aWholeNumber({ from: 0, to: 1_000 }),
  http2: aBoolean,
  log: objectWith('a Log', ['debug', 'info', 'warning', 'error', 'child']),
  statusMessageLoggingInterval: aNumber({ above: 0, orInfinity: true }),
  statusMessageCallback: aFunction,
  statisticsOptions: anObject,
  experiments: anObject,
  httpClient: anyOf(objectWith('an HTTP client', ['sendRequest', 'stream']), objectWith('one with', ['fetch'])),
  impersonateWithRobots: aBoolean,
} as const satisfies Checked<BasicCrawlerOptions>;

const HTTP = {
  ...BASIC,
  useHeaderGenerator: aBoolean,
  headerGeneratorOptions: anObject,
  preNavigationHooks: arrayOf(aFunction),
  postNavigationHooks: arrayOf(aFunction),
  navigationTimeoutSecs: aTimeout,
  persistCookiesPerSession: aBoolean,
  additionalMimeTypes: arrayOf(aMimeType),
  documents: aBoolean,
  acceptMarkdown: aBoolean,
  suggestResponseEncoding: anEncoding,
  forceResponseEncoding: anEncoding,
  ignoreHttpErrorStatusCodes: statusCodes,
  additionalHttpErrorStatusCodes: statusCodes,
  remember: check('true, false or { name, revisit, handleUnchanged, versions, hints }', isMemory),
  onChange: aFunction,
  duplicates: oneOf(['keep', 'mark', 'skip']),
} as const satisfies Checked<HttpCrawlerOptions>;

/** Files and pages of browsers are not remembered. */
const NOT_REMEMBERED: Shape = Object.fromEntries(
  ['remember', 'onChange', 'duplicates'].map((name) => [name, refused('belongs to HttpCrawler and CheerioCrawler')]),
);

function isMemory(value: unknown): boolean {
  if (typeof value === 'boolean') return true;
  if (!anObject.accepts(value)) return false;
  const { name, hints, plan: _internal, ...flags } = value as Record<string, unknown>;
  const isName =
    name === undefined || (typeof name === 'string' && /^[\w.~-]{1,200}$/.test(name) && !/^\.+$/.test(name));
  const areHints = typeof (hints ?? true) === 'boolean' || arrayOf(aFilledString).accepts(hints);
  const known = ['revisit', 'handleUnchanged', 'versions', 'continues'];
  return (
    isName &&
    areHints &&
    Object.entries(flags).every(([flag, on]) => known.includes(flag) && typeof (on ?? true) === 'boolean')
  );
}

const FILE = { ...HTTP, streamHandler: aFunction } as const satisfies Checked<FileDownloadOptions>;

const {
  additionalMimeTypes: _types,
  documents: _documents,
  acceptMarkdown: _markdown,
  suggestResponseEncoding: _suggested,
  forceResponseEncoding: _forced,
  ...NAVIGATING
} = HTTP;
const PLAYWRIGHT = { ...NAVIGATING, ...PLAYWRIGHT_ONLY } as const satisfies Checked<PlaywrightCrawlerOptions>;

const OF_ADAPTIVE: Shape = {
  renderingTypeDetectionRatio: withoutEffect('pages are classified by their bytes'),
  resultChecker: withoutEffect('pages are classified by their bytes'),
  shouldPropagateError: withoutEffect('pages are classified by their bytes'),
  resultComparator: withoutEffect('pages are classified by their bytes'),
  renderingTypePredictor: withoutEffect('sites are remembered by what their pages needed'),
  renderingMemory: objectWith('a memory of renderings', ['expected', 'learn']),
  preventDirectStorageAccess: withoutEffect('a handler adds everything through its context in one transaction'),
};

function isRobotsOption(value: unknown): boolean {
  if (typeof value === 'boolean') return true;
  if (!anObject.accepts(value)) return false;
  const { userAgent, ...others } = value as { userAgent?: unknown };
  return Object.keys(others).length === 0 && (userAgent === undefined || aString.accepts(userAgent));
}

/** The kinds of crawler, each with the public class that its error messages name. */
export const CRAWLER_NAMES = {
  basic: 'BasicCrawler',
  http: 'HttpCrawler',
  cheerio: 'CheerioCrawler',
  file: 'FileDownload',
  playwright: 'PlaywrightCrawler',
  adaptive: 'AdaptivePlaywrightCrawler',
} as const;
export type CrawlerKind = keyof typeof CRAWLER_NAMES;

export const SHAPES: Readonly<Record<CrawlerKind, Shape>> = Object.freeze({
  basic: { ...FROM_CRAWLEE, ...BASIC },
  http: { ...FROM_CRAWLEE, ...HTTP },
  cheerio: { ...FROM_CRAWLEE, ...HTTP },
  file: { ...FROM_CRAWLEE, ...FILE, ...NOT_REMEMBERED },
  playwright: { ...FROM_CRAWLEE, ...PLAYWRIGHT, ...NOT_REMEMBERED },
  adaptive: { ...FROM_CRAWLEE, ...OF_ADAPTIVE, ...PLAYWRIGHT, ...NOT_REMEMBERED },
});
