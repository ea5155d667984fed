// The options of WebCrawler.open: checked and frozen before anything starts.
import type { Awaitable, HttpHookOptions } from '../../handle/context.js';
import { Log } from '../../observe/log.js';
import { aBoolean, aFilledString, aFunction, anyOf, arrayOf, aWholeNumber, check } from '../../option-checks.js';
import { anObject, aNumber, findProblems, oneOf, optionError, refused, type Shape } from '../../option-checks.js';
import type { CookieObject } from '../../session/cookies.js';
import { RUN_SHAPE } from '../batch/run-config.js';
import { type BrowserConfig, browserProblems, PAGE_SHAPE, type PageHook } from '../browser/page-config.js';

/** What a hook may change of a request before it is sent. */
export type RequestToSend = HttpHookOptions & { readonly url: string };

/** Called around each attempt. What they throw fails the attempt, which is then retried as any other. */
export interface WebCrawlerHooks {
  /** Before the request is sent: change headers, method, payload, proxyUrl or timeoutMs in place. */
  beforeRequest?: ((request: RequestToSend) => Awaitable<void>) | undefined;
  /** When the response has arrived, with any status. */
  afterResponse?: (response: {
    url: string;
    loadedUrl: string;
    statusCode: number;
    headers: Readonly<Record<string, string | string[]>>;
  }) => Awaitable<void>;
  /** With the live page, before its URL is loaded in it. Browsers only. */
  onPage?: PageHook | undefined;
  /** After each failed attempt. */
  onError?: (error: Error, attempt: { url: string; attempt: number; willRetry: boolean }) => Awaitable<void>;
}

/** Limits of the page cache. */
export interface CacheLimits {
  /** The oldest pages go when more is stored. Default 1 GiB. */
  maxBytes?: number | undefined;
  /** Pages stored longer ago are removed. Default 30 days. */
  maxAgeSecs?: number | undefined;
}

/** All options of a `WebCrawler`. */
export interface WebCrawlerOptions {
  /**
   * How pages are fetched: over HTTP, in a browser, or `auto`: over HTTP first, and in a browser what shows nothing
   * without scripts. Default `browser` when `browser` is given, else `http`.
   */
  engine?: 'http' | 'browser' | 'auto' | undefined;
  /** How browsers are started. */
  browser?: BrowserConfig | undefined;
  /** Sessions unused for this long are closed. Default 1,800. */
  sessionTtlSecs?: number | undefined;
  /**
   * Most live pages of sessions at once: for a further one the session that was idle longest is closed, and while all are
   * in use it waits. Default no limit.
   */
  maxSessions?: number | undefined;
  /** Cookies that every URL begins with, over HTTP and in browsers; `parseCookieFile` reads them from a file. */
  cookies?: readonly CookieObject[] | undefined;
  /** Logs one line per result, to `log` where that is set. Default false: only errors are logged. */
  verbose?: boolean | undefined;
  /** Most connections at once, over all batches. Default: as many as the dispatchers permit. */
  maxConnections?: number | undefined;
  /**
   * The part of a dispatcher's permits, from 0 to 1, that hosts which hang or drip may hold while requests to others
   * wait; 1: all of them. Default 0.2.
   */
  slowHostShare?: number | undefined;
  /** A fetch that receives next to nothing for this long counts as slow. Default 2. */
  slowHostPatienceSecs?: number | undefined;
  /** A visit that blocks the event loop for longer is reported while it blocks; 0: off. Default 10. */
  blockedLoopSecs?: number | undefined;
  /** Lets redirects reach private addresses: all, or the given CIDR ranges. Hosts in the list itself are allowed. */
  allowPrivateAddresses?: boolean | readonly string[] | undefined;
  /** Whether hosts in the list may be at private addresses. Turn it off where strangers make the list. Default true. */
  allowPrivateSeeds?: boolean | undefined;
  /** Where the cache lives, in a folder `cache` of its own. Default: the storage folder of the configuration. */
  storageDir?: string | undefined;
  /** Functions called before each request and after each response. */
  hooks?: WebCrawlerHooks | undefined;
  /** Limits of the cache (ours). */
  cache?: CacheLimits | undefined;
  /** The log to write to (ours). Default: errors only. */
  log?: Log | undefined;
}

const SHAPE: Shape = {
  engine: oneOf(['http', 'browser', 'auto']),
  browser: anObject,
  sessionTtlSecs: aNumber({ above: 0 }),
  maxSessions: aWholeNumber({ from: 1 }),
  cookies: arrayOf(check('a cookie with name, value and domain', isCookie)),
  verbose: aBoolean,
  maxConnections: aWholeNumber({ from: 1, to: 10_000 }),
  slowHostShare: aNumber({ from: 0, to: 1 }),
  slowHostPatienceSecs: aNumber({ above: 0 }),
  blockedLoopSecs: aNumber({ from: 0 }),
  allowPrivateAddresses: anyOf(aBoolean, arrayOf(aFilledString)),
  allowPrivateSeeds: aBoolean,
  storageDir: aFilledString,
  hooks: anObject,
  cache: anObject,
  log: check('a Log', (value) => value instanceof Log),
};
/** What is chosen for each run, such as `ignoreSslErrors`. */
const OF_A_RUN: Shape = Object.fromEntries(
  [...Object.keys(RUN_SHAPE), ...Object.keys(PAGE_SHAPE)].map((name) => [
    name,
    refused('is an option of a run: give it to run(url, options) or runMany(urls, options)'),
  ]),
);
function isCookie(value: unknown): boolean {
  const { name, value: text, domain, url } = (value ?? {}) as Partial<CookieObject>;
  return typeof name === 'string' && typeof text === 'string' && typeof (domain ?? url) === 'string';
}

const HOOKS_SHAPE: Shape = {
  beforeRequest: aFunction,
  afterResponse: aFunction,
  onError: aFunction,
  onPage: aFunction,
};
const CACHE_SHAPE: Shape = { maxBytes: aWholeNumber({ from: 1 }), maxAgeSecs: aNumber({ above: 0, orInfinity: true }) };

export function checkedWebCrawlerOptions(given: WebCrawlerOptions = {}): WebCrawlerOptions {
  const problems = findProblems('WebCrawler', given, { ...OF_A_RUN, ...SHAPE });
  if (problems.length === 0) {
    problems.push(
      ...findProblems('WebCrawler hooks', given.hooks, HOOKS_SHAPE),
      ...findProblems('WebCrawler cache', given.cache, CACHE_SHAPE),
      ...browserProblems(given.browser),
      ...withoutBrowser(given),
      ...cookieConflicts(given),
    );
  }
  if (problems.length > 0) throw optionError(problems);
  return Object.freeze({ ...given, hooks: Object.freeze({ ...given.hooks }) });
}

/** Without a browser, its options would be ignored silently. */
function withoutBrowser({ engine, browser, hooks, sessionTtlSecs, maxSessions }: WebCrawlerOptions): string[] {
  if (engine !== 'http' && (engine !== undefined || browser !== undefined)) return [];
  const given = { browser, 'hooks.onPage': hooks?.onPage, sessionTtlSecs, maxSessions };
  return Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `WebCrawler option "${name}" needs a browser: set engine to "browser" or "auto"`);
}

/** A browser begins with one set of cookies. */
function cookieConflicts({ cookies, browser }: WebCrawlerOptions): string[] {
  if (cookies === undefined || browser === undefined) return [];
  return (['storageState', 'userDataDir', 'cdpUrl'] as const)
    .filter((name) => browser[name] !== undefined)
    .map((name) => `WebCrawler options "cookies" and "browser.${name}" cannot be combined: both set the cookies`);
}
