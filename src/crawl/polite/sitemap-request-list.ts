// Requests from sitemaps, read in the background while a crawl works on them (Crawlee's SitemapRequestList).
// Promise: never more than `maxBufferSize` requests in memory; reading waits for the consumer.
import { CrawlError } from '../../errors.js';
import { log } from '../../observe/log.js';
import {
  aFilledString,
  aFunction,
  anObject,
  arrayOf,
  aString,
  aWholeNumber,
  check,
  checkOptions,
  type Shape,
  type ShapeOf,
  withoutEffect,
} from '../../option-checks.js';
import { type SitemapProblem, type SitemapUrl, walkSitemaps } from '../../politeness/sitemaps/walk.js';
import type { GlobInput, PatternInput, RegExpInput } from '../../request/pattern.js';
import { type Dictionary, Request, type RequestOptions } from '../../request/request.js';
import { createScope, type Scope } from '../../request/scope.js';
import { parseHttpUrl } from '../../request/url.js';
import { belongsBy, pause, SITEMAP_SHAPE, sitemapLimits, type SitemapOptions, withSitemaps } from './site-files.js';
import { namedUrls } from './sitemap.js';
import { systemTime } from '../time.js';

/** Which sitemaps are read, and which of their URLs become requests. */
export interface SitemapRequestListOptions extends SitemapOptions {
  /** Sitemaps or indexes of sitemaps; nested ones are followed. */
  sitemapUrls: readonly string[];
  /** Only URLs that match one of `globs` and `regexps` become requests, if any are given. */
  globs?: readonly GlobInput[];
  /** Only URLs that match one of these; with `globs`, one of both. */
  regexps?: readonly RegExpInput[];
  /** URLs that match one of these do not. */
  exclude?: readonly PatternInput[];
  /** The label of every request, for a router. */
  label?: string;
  /** Copied into every request. */
  userData?: Dictionary;
  /** Changes a request before it is made, or leaves it out (a falsy result). The entry tells `lastmod` and more. */
  transformRequestFunction?: (request: RequestOptions, entry: SitemapUrl) => RequestOptions | false | undefined | null;
  /** Requests held until they are taken. Default 2,000. */
  maxBufferSize?: number;
  /** Loading ends after this time, with what there is. */
  timeoutMillis?: number;
  /** Crawlee's way to give `maxDepth` and, as `sitemapRetries`, `maxRetries`. */
  parseSitemapOptions?: { maxDepth?: number; sitemapRetries?: number };
}

const SHAPE: ShapeOf<SitemapRequestListOptions> = {
  ...SITEMAP_SHAPE,
  sitemapUrls: arrayOf(aString),
  // Each pattern is checked where it is compiled, with its index in the message.
  globs: check('an array', Array.isArray),
  regexps: check('an array', Array.isArray),
  exclude: check('an array', Array.isArray),
  label: aFilledString,
  userData: anObject,
  transformRequestFunction: aFunction,
  maxBufferSize: aWholeNumber({ from: 1 }),
  timeoutMillis: aWholeNumber({ from: 1 }),
  parseSitemapOptions: anObject,
};
const CRAWLEE: Shape = {
  persistStateKey: withoutEffect('the queue that the list is copied into persists'),
  config: withoutEffect('the list opens no storage'),
};

const MAX_BUFFERED = 2_000;

/**
 * A list of requests that sitemaps name, loaded while it is used.
 *
 * @example
 * const requestList = await SitemapRequestList.open({ sitemapUrls: ['https://example.com/sitemap.xml'], regexps: [/docs/] });
 * await new CheerioCrawler({ requestList, requestHandler }).run();
 */
export class SitemapRequestList {
  readonly #options: SitemapRequestListOptions;
  readonly #scope: Scope;
  readonly #namedHosts: ReadonlySet<string>;
  readonly #buffer: Request[] = [];
  readonly #reclaimed: Request[] = [];
  readonly #inProgress = new Set<Request>();
  readonly #ending = new AbortController();
  readonly #problems: SitemapProblem[] = [];
  #waiting: (() => void)[] = [];
  #loading: Promise<void> | undefined;
  /** Loading has ended, also too early. */
  #isLoaded = false;
  #isWhole = false;
  #failure: unknown;
  #fetched = 0;

  protected constructor(options: SitemapRequestListOptions) {
    this.#options = options;
    const { globs, regexps, exclude } = options;
    this.#scope = createScope({ globs, regexps, exclude, strategy: 'all' });
    this.#namedHosts = new Set(options.sitemapUrls.map((url) => new URL(url).host));
  }

  /** Starts loading; resolves at once. */
  static async open(options: SitemapRequestListOptions): Promise<SitemapRequestList> {
    checkOptions('SitemapRequestList', options, { ...SHAPE, ...CRAWLEE });
    if (!options?.sitemapUrls) throw new CrawlError('OPTION_INVALID', 'SitemapRequestList needs "sitemapUrls"');
    const { maxDepth, sitemapRetries } = options.parseSitemapOptions ?? {};
    const list = new this(
      Object.freeze({
        ...options,
        sitemapUrls: namedUrls(options.sitemapUrls),
        maxDepth: options.maxDepth ?? maxDepth,
        maxRetries: options.maxRetries ?? sitemapRetries,
      }),
    );
    list.#loading = list.#load();
    return list;
  }

  /** The next request, waiting while sitemaps are being read; null when there will be no more. */
  async fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
    for (;;) {
      const request = this.#reclaimed.shift() ?? this.#buffer.shift();
      if (request) {
        this.#inProgress.add(request);
        this.#fetched++;
        this.#notify();
        return request as Request<T>;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isLoaded) return null;
      await this.#change();
    }
  }

  /** The request has ended, well or not: it does not come again. */
  async markRequestHandled(request: Request): Promise<void> {
    this.#inProgress.delete(request);
  }

  /** Gives the request back: it comes again. */
  async reclaimRequest(request: Request): Promise<void> {
    if (!this.#inProgress.delete(request)) return;
    this.#fetched--;
    this.#reclaimed.push(request);
    this.#notify();
  }

  /** Nothing at hand now; unless `isFinished()`, more may come. */
  async isEmpty(): Promise<boolean> {
    return this.#reclaimed.length === 0 && this.#buffer.length === 0;
  }

  /** Whether all sitemaps are read and all their requests have ended. */
  async isFinished(): Promise<boolean> {
    return this.#isLoaded && this.#inProgress.size === 0 && (await this.isEmpty());
  }

  /** Whether every sitemap was read to its end. */
  isSitemapFullyLoaded(): boolean {
    return this.#isWhole;
  }

  /** Requests that have not ended: given back, under way, and waiting. */
  protected get unfinished(): readonly Request[] {
    return [...this.#reclaimed, ...this.#inProgress, ...this.#buffer];
  }

  /** Requests that come before those of the sitemaps. */
  protected putFirst(requests: readonly Request[]): void {
    this.#reclaimed.push(...requests);
    this.#notify();
  }

  /** Requests found so far. */
  length(): number {
    return this.#fetched + this.#reclaimed.length + this.#buffer.length;
  }

  /** Requests that have ended. */
  handledCount(): number {
    return this.#fetched - this.#inProgress.size;
  }

  /** True on the hosts of `sitemapUrls`, which the user named; other hosts were named by the sitemaps. */
  isSeed(request: Request): boolean {
    return this.#namedHosts.has(parseHttpUrl(request.url).host);
  }

  /** Files that could not be read, or not to their end; the first 1,000. */
  get problems(): readonly SitemapProblem[] {
    return this.#problems;
  }

  /** Crawlee's, without effect: the queue that the list is copied into is what persists. */
  async persistState(): Promise<void> {}

  /** Ends loading and frees the connection; what is at hand can still be taken. */
  async teardown(): Promise<void> {
    this.#ending.abort();
    this.#notify();
    await this.#loading;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (let request = await this.fetchNextRequest(); request; request = await this.fetchNextRequest()) yield request;
  }

  /** Crawlee's name for iterating over the list. */
  waitForNextRequest(): AsyncGenerator<Request> {
    return this[Symbol.asyncIterator]();
  }

  async #load(): Promise<void> {
    const { sitemapUrls, timeoutMillis, signal: given } = this.#options;
    const tooLong = new AbortController();
    // Not `after`: an unread list must not keep the process alive.
    const cancel = systemTime.every(timeoutMillis ?? Infinity, () => tooLong.abort());
    const signal = AbortSignal.any([this.#ending.signal, tooLong.signal, ...(given ? [given] : [])]);
    const wakeUp = (): void => this.#notify();
    signal.addEventListener('abort', wakeUp, { once: true });
    try {
      await withSitemaps(sitemapUrls, { ...this.#options, signal }, (open) =>
        walkSitemaps(sitemapUrls, {
          open,
          take: (urls) => this.#take(urls, signal),
          belongs: belongsBy(this.#options),
          follows: this.#options.nestedSitemapFilter,
          onProblem: (problem) => this.#tell(problem),
          limits: sitemapLimits(this.#options, { maxUrls: Infinity, maxCharacters: Infinity }),
          wait: (ms) => pause(ms, signal),
          signal,
        }),
      );
      this.#isWhole = !signal.aborted;
    } catch (error) {
      // Problems with files are reported, not thrown; this is an option that the engine rejected.
      this.#failure = error;
    } finally {
      cancel();
      signal.removeEventListener('abort', wakeUp);
      this.#isLoaded = true;
      this.#notify();
    }
  }

  async #take(urls: readonly SitemapUrl[], signal: AbortSignal): Promise<void> {
    const { maxBufferSize = MAX_BUFFERED } = this.#options;
    for (const entry of urls) {
      const request = this.#requestFor(entry);
      if (!request) continue;
      while (this.#buffer.length >= maxBufferSize && !signal.aborted) await this.#change();
      if (signal.aborted) return;
      this.#buffer.push(request);
      if (this.#buffer.length === 1) this.#notify();
    }
  }

  #requestFor(entry: SitemapUrl): Request | undefined {
    const decision = this.#scope.decide(entry.url);
    if (!decision.allowed) return undefined;
    const { label, userData, transformRequestFunction: transform } = this.#options;
    const options: RequestOptions = {
      label,
      userData: userData && { ...userData },
      ...decision.options,
      url: entry.url,
    };
    const chosen = transform ? transform(options, entry) : options;
    return chosen ? new Request(chosen) : undefined;
  }

  #tell(problem: SitemapProblem): void {
    const { url, error } = problem;
    if (this.#problems.length >= 1_000) return;
    this.#problems.push(problem);
    log.warning(`sitemap ${url}: ${error.message}`, { code: error.code });
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
