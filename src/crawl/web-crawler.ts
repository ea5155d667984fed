// WebCrawler: many URLs in, results out, all at once or as they complete. A thin layer over the crawl lifecycle.
// Promise: a failed URL is a result; after close() nothing is left open.
import path from 'node:path';
import { createRecentMap } from '../base/recent-map.js';
import { Configuration } from '../configuration.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import { createPermits } from '../dispatch/permits.js';
import { MemoryAdaptiveDispatcher } from '../dispatch/memory-adaptive.js';
import { SemaphoreDispatcher } from '../dispatch/semaphore.js';
import type { SlowFigures, SlowShare } from '../dispatch/slow-share.js';
import { CrawlError } from '../errors.js';
import type { BrowserPoolCounts } from '../fetch/browser/pool-options.js';
import type { Engine } from '../fetch/engine.js';
import type { HttpEngine } from '../fetch/http/engine.js';
import { log as rootLog, LogLevel } from '../observe/log.js';
import { objectWith, optionError, shown } from '../option-checks.js';
import type { HostStore } from '../politeness/hosts.js';
import { cookiesFrom } from '../session/cookie-file.js';
import type { PageCache } from '../store/cache/cache.js';
import { checkLogSettings } from './options/log-settings.js';
import { adaptive } from './navigate/adaptive.js';
import type { BrowserResources } from './browser/resources.js';
import type { UrlItem } from './batch/tasks.js';
import { cached } from './navigate/cache.js';
import { openMemory } from './storage/page-memory.js';
import type { CrawlOrder } from './navigate/order.js';
import type { CrawlResult } from './batch/crawl-result.js';
import { createMemoryGauge } from './batch/memory-gauge.js';
import { createBatchResults, type BatchResults, type ResultStream } from './batch/results.js';
import { resolveRunConfig, type RunConfig } from './batch/run-config.js';
import { type BatchResources, type RunningBatch, startBatch } from './batch/run.js';
import type { Many } from './batch/url-source.js';
import { blockedLoopMs } from './run/loop-blocks.js';
import { NO_SLOW_HOSTS, openSlowShare, slowHostOptions } from './run/slow-hosts.js';
import { type CacheLimits, checkedWebCrawlerOptions, type WebCrawlerOptions } from './options/web-crawler-options.js';
import { systemTime } from './time.js';

/** User agents, or proxies, of which the robots rules of hosts are remembered, and how much of them. */
const MAX_IDENTITIES = 64;
const MAX_HOSTS_BYTES = 32 * 1024 ** 2;

const aDispatcher = objectWith('a dispatcher such as MemoryAdaptiveDispatcher', ['join']);

/**
 * Crawls lists of URLs.
 *
 * @example
 * await using crawler = await WebCrawler.open({ engine: 'http' });
 * const page = await crawler.run('https://example.com/');
 * const pages = await crawler.runMany(urls, { maxRetries: 2 });
 * for await (const page of crawler.runMany(urls)) console.log(page.url, page.success);
 */
export class WebCrawler {
  readonly #options: WebCrawlerOptions;
  readonly #resources: BatchResources;
  readonly #engine: HttpEngine;
  readonly #browsers: BrowserResources | undefined;
  readonly #hasBrowser: boolean;
  readonly #batches = new Set<RunningBatch>();
  readonly #hosts = createRecentMap<string, HostStore>(MAX_IDENTITIES);
  #cache: Promise<PageCache> | undefined;
  #closed: Promise<void> | undefined;

  private constructor(
    options: WebCrawlerOptions,
    engine: HttpEngine,
    slowShare: SlowShare | undefined,
    browsers: BrowserResources | undefined,
  ) {
    this.#options = options;
    this.#engine = engine;
    this.#browsers = browsers;
    this.#hasBrowser = browsers !== undefined;
    const isVerbose = options.verbose ?? options.browser?.verbose ?? false;
    this.#resources = {
      engine: this.#engineFor(options, engine, browsers),
      http: engine,
      engineName: browsers && options.engine !== 'auto' ? 'browser' : 'http',
      flush: async () => (await this.#cache)?.flush(),
      // Always asked again: another URL of the host may have been refused just before it was allowed.
      async allowHost(url) {
        const isAllowed = options.allowPrivateSeeds !== false && engine.allowHost(url);
        return isAllowed && (browsers?.pool.relay?.allowHost(url) ?? true);
      },
      hostsOf: async (identity) => {
        const { createMemoryHosts } = await import('../politeness/hosts.js');
        const known = this.#hosts.get(identity) ?? createMemoryHosts({ maxBytes: MAX_HOSTS_BYTES });
        this.#hosts.set(identity, known);
        return known;
      },
      config: new Configuration({ persistStorage: false }),
      openMemory: async (name) => {
        const { storageDir: localDataDirectory } = options;
        const config = localDataDirectory
          ? new Configuration({ storageClientOptions: { localDataDirectory } })
          : Configuration.getGlobalConfig();
        // Other batches, of this process and of others, may use it at the same time.
        return openMemory(name, config, true);
      },
      log: options.log ?? rootLog.child({ prefix: 'WebCrawler', level: isVerbose ? LogLevel.INFO : LogLevel.ERROR }),
      isVerbose,
      cookies: options.cookies && cookiesFrom(options.cookies),
      hooks: options.hooks ?? {},
      memoryMb: createMemoryGauge(systemTime),
      time: systemTime,
      slowShare,
      blockedLoopMs: blockedLoopMs(options.blockedLoopSecs),
      connections: createPermits(options.maxConnections ?? Infinity),
    };
  }

  /** Checks the options and makes a crawler; nothing is fetched yet. */
  static async open(options?: WebCrawlerOptions): Promise<WebCrawler> {
    const checked = checkedWebCrawlerOptions(options);
    checkLogSettings(Configuration.getGlobalConfig());
    // Loaded with the first crawler: importing the package stays cheap.
    const { createHttpEngine } = await import('../fetch/http/engine.js');
    const { allowPrivateAddresses, maxConnections } = checked;
    const usesBrowser = checked.engine === undefined ? checked.browser !== undefined : checked.engine !== 'http';
    const browsers = usesBrowser
      ? await (await import('./browser/resources.js')).openBrowserResources(checked, Configuration.getGlobalConfig())
      : undefined;
    const slowShare = openSlowShare(slowHostOptions(checked), 'domain', maxConnections);
    const engine = createHttpEngine({ allowPrivateAddresses, maxConnections, watch: slowShare });
    return new WebCrawler(checked, engine, slowShare, browsers);
  }

  /** Fetches one URL; it may also stand in the config. */
  run(url: string, config?: RunConfig): Promise<CrawlResult>;
  /** The same with the URL among the options. */
  run(config: RunConfig & { url: string }): Promise<CrawlResult>;
  async run(given: string | (RunConfig & { url: string }), config?: RunConfig): Promise<CrawlResult> {
    const alone = typeof given === 'object' && given !== null ? given : undefined;
    if (alone && config !== undefined) throw optionError(['run takes a URL and a config, or a config with a "url"']);
    const { stream: _stream, url, ...rest } = alone ?? config ?? {};
    if (alone === undefined && url !== undefined) throw optionError(['run: the URL is given twice: remove "url"']);
    const [result] = await this.runMany(
      [alone ? url! : (given as string)],
      rest,
      new SemaphoreDispatcher({ permits: 1 }),
    );
    return result!;
  }

  /**
   * Fetches many URLs. Awaited: all results in the order of the list. Iterated: each as it completes. Work
   * starts when either happens; leaving a loop breaks off the rest.
   */
  runMany(
    urls: Many<UrlItem>,
    config: RunConfig & { stream: true },
    dispatcher?: Dispatcher,
  ): BatchResults<ResultStream>;
  /** Fetches many URLs; await the list of results, or iterate over them. */
  runMany(urls: Many<UrlItem>, config?: RunConfig, dispatcher?: Dispatcher): BatchResults;
  runMany(
    urls: Many<UrlItem>,
    config?: RunConfig,
    dispatcher: Dispatcher = new MemoryAdaptiveDispatcher(),
  ): BatchResults<CrawlResult[] | ResultStream> {
    this.#assertOpen();
    const resolved = resolveRunConfig(config, this.#hasBrowser);
    if (resolved.url !== undefined) throw optionError(['runMany takes its URLs as a list: remove "url" of the config']);
    if (!isIterable(urls)) throw optionError([`runMany needs a list of URLs, got ${shown(urls)}`]);
    if (!aDispatcher.accepts(dispatcher)) throw optionError([`runMany: ${shown(dispatcher)} is not a dispatcher`]);
    return createBatchResults((parts) => {
      this.#assertOpen();
      const batch = startBatch({ items: urls, config: resolved, dispatcher, resources: this.#resources, ...parts });
      this.#batches.add(batch);
      const forget = () => void this.#batches.delete(batch);
      batch.ended.then(forget, forget);
      return batch;
    }, resolved.stream);
  }

  /** Names a new session, for `sessionId`; its page opens with its first call. */
  createSession(): string {
    return this.#sessions().create();
  }

  /** Closes the page of a session at once; calls that run in it fail. False if there is no such session. */
  killSession(id: string): Promise<boolean> {
    return this.#sessions().kill(id);
  }

  /** The names of all sessions. */
  listSessions(): string[] {
    return this.#browsers ? this.#browsers.sessions.list() : [];
  }

  /** What is open in browsers now (ours). */
  get browserCounts(): BrowserPoolCounts {
    return this.#browsers?.pool.counts ?? { browsers: 0, contexts: 0, pages: 0, lent: 0, launches: 0 };
  }

  /** Slow fetches now, and what was done about them so far (ours). */
  get slowHosts(): SlowFigures {
    return this.#resources.slowShare?.figures ?? NO_SLOW_HOSTS;
  }

  /** Breaks off what runs and frees every connection. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#batches].map((batch) => batch.abort()));
    await this.#browsers?.close();
    await this.#engine.close();
    await (await this.#cache?.catch(() => undefined))?.close();
  }

  /** Cache and adaptive rendering around what fetches. */
  #engineFor(
    options: WebCrawlerOptions,
    engine: HttpEngine,
    browsers: BrowserResources | undefined,
  ): Engine<object, CrawlOrder> {
    const open = () => this.#openCache();
    const http = cached<object>(engine, { open, engineName: 'http' });
    if (!browsers) return http;
    const browser = cached(browsers.engine, { open, engineName: 'browser' });
    return options.engine === 'auto' ? adaptive({ http, browser, httpLive: {} }) : browser;
  }

  /** Opened by the first call that wants it. */
  #openCache(): Promise<PageCache> {
    const { storageDir, cache } = this.#options;
    return (this.#cache ??= openCacheIn(storageDir, cache, (error) => {
      this.#resources.log.error(`pages are not cached: ${error.message}`);
    }));
  }

  #sessions(): BrowserResources['sessions'] {
    this.#assertOpen();
    if (this.#browsers) return this.#browsers.sessions;
    throw optionError(['sessions need a browser: open the WebCrawler with engine "browser" or "auto"']);
  }

  #assertOpen(): void {
    if (this.#closed) throw new CrawlError('OPTION_INVALID', 'this WebCrawler is closed: open a new one');
  }
}

/** The cache of a storage folder; opening fails by name when the folder cannot be used. */
export async function openCacheIn(
  storageDir: string | undefined,
  limits: CacheLimits = {},
  onError?: (error: CrawlError) => void,
): Promise<PageCache> {
  const { openPageCache } = await import('../store/cache/cache-lmdb.js');
  const folder = storageDir ?? Configuration.getGlobalConfig().localDataDirectory();
  const { maxBytes, maxAgeSecs } = limits;
  return openPageCache(path.resolve(folder, 'cache'), {
    maxBytes,
    maxAgeMs: maxAgeSecs === undefined ? undefined : maxAgeSecs * 1000,
    onError,
  });
}

function isIterable(urls: unknown): boolean {
  if (typeof urls !== 'object' || urls === null) return false;
  return Symbol.iterator in urls || Symbol.asyncIterator in urls;
}
