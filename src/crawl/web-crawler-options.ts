// The options of WebCrawler.open: checked and frozen before anything starts.
import type { Awaitable, HttpHookOptions } from '../handle/context.js';
import { Log } from '../observe/log.js';
import { aBoolean, aFilledString, aFunction, anyOf, arrayOf, aWholeNumber, check } from '../option-checks.js';
import { anObject, aNumber, findProblems, oneOf, optionError, refused, type Shape } from '../option-checks.js';

/** What a hook may change of a request before it is sent. */
export type RequestToSend = HttpHookOptions & { readonly url: string };

/** Called around each attempt. What they throw fails the attempt, which is then retried as any other. */
export interface WebCrawlerHooks {
  /** Before the request is sent: change headers, method, payload, proxyUrl or timeoutMs in place. */
  beforeRequest?: (request: RequestToSend) => Awaitable<void>;
  /** When the response is there, whatever its status. */
  afterResponse?: (response: {
    url: string;
    loadedUrl: string;
    statusCode: number;
    headers: Readonly<Record<string, string | string[]>>;
  }) => Awaitable<void>;
  /** After each failed attempt. */
  onError?: (error: Error, attempt: { url: string; attempt: number; willRetry: boolean }) => Awaitable<void>;
}

/** Limits of the page cache. */
export interface CacheLimits {
  /** The oldest pages go when more is stored. Default 1 GiB. */
  maxBytes?: number;
  /** Pages stored longer ago are removed. Default 30 days. */
  maxAgeSecs?: number;
}

export interface WebCrawlerOptions {
  /** How pages are fetched. Default `http`; browsers come with a later version. */
  engine?: 'http';
  /** Most connections at once, over all batches. Default: as many as the dispatchers permit. */
  maxConnections?: number;
  /** Lets redirects reach private addresses: all, or the given CIDR ranges. Hosts in the list itself are allowed. */
  allowPrivateAddresses?: boolean | readonly string[];
  /** Where the cache lives, in a folder `cache` of its own. Default: the storage folder of the configuration. */
  storageDir?: string;
  hooks?: WebCrawlerHooks;
  /** Limits of the cache (ours). */
  cache?: CacheLimits;
  /** The log to write to (ours). Default: errors only. */
  log?: Log;
}

const needsBrowser = refused('needs a browser, and browsers come with a later version: leave it out');

const SHAPE: Shape = {
  engine: oneOf(['http']),
  browser: needsBrowser,
  maxConnections: aWholeNumber({ from: 1, to: 10_000 }),
  allowPrivateAddresses: anyOf(aBoolean, arrayOf(aFilledString)),
  storageDir: aFilledString,
  hooks: anObject,
  cache: anObject,
  log: check('a Log', (value) => value instanceof Log),
};
const HOOKS_SHAPE: Shape = {
  beforeRequest: aFunction,
  afterResponse: aFunction,
  onError: aFunction,
  onPage: needsBrowser,
};
const CACHE_SHAPE: Shape = { maxBytes: aWholeNumber({ from: 1 }), maxAgeSecs: aNumber({ above: 0, orInfinity: true }) };

export function checkedWebCrawlerOptions(given: WebCrawlerOptions = {}): WebCrawlerOptions {
  const problems = findProblems('WebCrawler', given, SHAPE);
  if (given?.engine === ('browser' as never) || given?.engine === ('auto' as never)) {
    problems.splice(0, Infinity, `WebCrawler engine "${given.engine}" ${needsBrowser.refused}`);
  }
  if (problems.length === 0) {
    problems.push(
      ...findProblems('WebCrawler hooks', given.hooks, HOOKS_SHAPE),
      ...findProblems('WebCrawler cache', given.cache, CACHE_SHAPE),
    );
  }
  if (problems.length > 0) throw optionError(problems);
  return Object.freeze({ ...given, hooks: Object.freeze({ ...given.hooks }) });
}
