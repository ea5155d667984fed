// The public crawlers: Crawlee's classes, each a thin wrapper around one composed crawler.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Configuration } from '../configuration.js';
import { CrawlError } from '../errors.js';
import type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  RequestsLike,
} from '../frontier/queue/request-queue.js';
import type {
  AnyData,
  BasicCrawlingContext,
  CheerioCrawlingContext,
  CrawlingContext,
  FileDownloadCrawlingContext,
  HttpCrawlingContext,
} from '../handle/context.js';
import type { AdaptivePlaywrightCrawlingContext, PlaywrightCrawlingContext } from '../handle/browser-context.js';
import type { RouterHandler } from '../handle/router.js';
import type { EventManagerLike } from '../observe/events.js';
import { LogLevel } from '../observe/log.js';
import type { Dictionary } from '../request/request.js';
import type { Dataset } from '../store/dataset/dataset.js';
import type { DatasetExportOptions, ExportFormat } from '../store/dataset/export.js';
import { extensionOfFormat, formatsOf } from '../store/formats.js';
import { type ComposedCrawler, composeCrawler, type RunOptions } from './crawler.js';
import type {
  BasicCrawlerOptions,
  CheerioCrawlerOptions,
  CrawlerKind,
  FileDownloadOptions,
  HttpCrawlerOptions,
} from './options/options.js';
import type { AdaptivePlaywrightCrawlerOptions, PlaywrightCrawlerOptions } from './browser/playwright-options.js';
import type { FinalStatistics } from './run/report/statistics.js';

/**
 * Calls your handler for every request; fetching is the handler's business (`sendRequest`).
 *
 * @example
 * const crawler = new BasicCrawler({
 *   async requestHandler({ request, sendRequest, pushData }) {
 *     const { body } = await sendRequest();
 *     await pushData({ url: request.url, bytes: body.length });
 *   },
 * });
 * await crawler.run(['https://example.com']);
 */
export class BasicCrawler<Context extends CrawlingContext = BasicCrawlingContext> {
  #crawler: ComposedCrawler;

  constructor(options?: BasicCrawlerOptions<NoInfer<Context>>, config?: Configuration, kind: CrawlerKind = 'basic') {
    this.#crawler = composeCrawler(kind, options as never, config ?? Configuration.getGlobalConfig(), this);
  }

  /** @internal Begins anew with other options, before a run. */
  protected recompose(options: BasicCrawlerOptions<NoInfer<Context>>): void {
    if (this.running) throw new CrawlError('OPTION_INVALID', 'the options of a crawler that runs cannot be changed');
    const { config } = this.#crawler;
    this.#crawler = composeCrawler(this.#crawler.options.kind, options as never, config, this);
  }

  /**
   * Crawls until nothing is left, a limit is reached or `stop()` is called; resolves to the statistics.
   * A run that was interrupted (crash, signal) is continued by the next one over the same storage.
   */
  run(requests?: RequestsLike, options?: RunOptions): Promise<FinalStatistics> {
    return this.#crawler.run(requests, options);
  }

  /** Ends the run when the visits under way have ended. */
  stop(reason?: string): void {
    this.#crawler.stop(reason);
  }

  /** Breaks off the run and frees everything; requests under way go back to the queue. */
  teardown(): Promise<void> {
    return this.#crawler.teardown();
  }

  /** Adds requests, before or during a run. They are written at once, not with a visit. */
  addRequests(requests: RequestsLike, options?: AddRequestsBatchedOptions): Promise<AddRequestsBatchedResult> {
    return this.#crawler.addRequests(requests, options);
  }

  /** Appends items to a dataset at once, not with a visit: a visit repeated after a crash may write them again. */
  pushData(data: Dictionary | readonly Dictionary[], datasetName?: string): Promise<void> {
    return this.#crawler.pushData(data, datasetName);
  }

  /** The dataset of this name, or the default one. */
  getDataset(name?: string): Promise<Dataset> {
    return this.#crawler.getDataset(name);
  }

  /** Items of the default dataset. */
  async getData(...options: Parameters<Dataset['getData']>): ReturnType<Dataset['getData']> {
    return (await this.getDataset()).getData(...options);
  }

  /**
   * Writes all items of the default dataset to a file, in the given format or the one of its extension. In CSV, text that
   * a spreadsheet would run gets an apostrophe in front; `rawCells: true` leaves it.
   */
  async exportData(
    path: string,
    format?: ExportFormat,
    { rawCells = false }: Pick<DatasetExportOptions, 'rawCells'> = {},
  ): Promise<void> {
    const formats = formatsOf('export');
    const wanted = format ?? extname(path).slice(1).toLowerCase();
    const chosen = formats.find((name) => (format === undefined ? extensionOfFormat(name) : name) === wanted);
    if (chosen === undefined) {
      const endings = formats.map((name) => `.${extensionOfFormat(name)}`).join(', ');
      throw new CrawlError('OPTION_INVALID', `exportData cannot write "${path}": use a file that ends in ${endings}`);
    }
    await mkdir(dirname(path), { recursive: true });
    const stream = (await this.getDataset()).exportStream(chosen, { collectAllKeys: true, rawCells });
    await pipeline(stream, createWriteStream(path));
  }

  /** A mutable value shared by all handlers and saved with the crawl. */
  useState<State extends Dictionary = Dictionary>(initial?: State): Promise<State> {
    return this.#crawler.useState(initial);
  }

  /** The queue of the crawl; opened if it is not yet. */
  getRequestQueue() {
    return this.#crawler.getRequestQueue();
  }

  /** The router that is used when no `requestHandler` was given. */
  get router(): RouterHandler<Context> {
    return this.#crawler.router as RouterHandler<AnyData>;
  }

  /** What was counted so far. */
  get stats() {
    return this.#crawler.stats;
  }

  /** The log of this crawler. */
  get log() {
    return this.#crawler.log;
  }

  /** The configuration it was given, or the global one. */
  get config() {
    return this.#crawler.config;
  }

  /** Whether a run is under way. */
  get running() {
    return this.#crawler.running;
  }

  /** The queue of the crawl, once it is open. */
  get requestQueue() {
    return this.#crawler.requestQueue;
  }

  /** Its sessions; undefined with `useSessionPool: false`. */
  get sessionPool() {
    return this.#crawler.sessionPool;
  }

  /** Slow fetches now, and what was done about them in the last run (ours). */
  get slowHosts() {
    return this.#crawler.slowHosts;
  }

  /** What decides how many visits run at once; while it runs. */
  get autoscaledPool() {
    return this.#crawler.autoscaledPool;
  }

  /** Whether a run of this crawler has ended. */
  get hasFinishedBefore(): boolean {
    return this.#crawler.hasFinishedBefore;
  }

  /** The list it was given. */
  get requestList() {
    return this.#crawler.options.requestList;
  }

  /** Crawlee's events: what this crawler and others of its Configuration announce. */
  get events(): EventManagerLike {
    return this.config.getEventManager();
  }

  /** Logs what the crawl is doing; the level is a name such as `WARNING`. */
  async setStatusMessage(
    message: string,
    { level = 'INFO' }: { level?: keyof typeof LogLevel; isStatusMessageTerminal?: boolean } = {},
  ): Promise<void> {
    this.log.internal(LogLevel[level], message);
  }

  /** The proxies it was given. */
  get proxyConfiguration() {
    return this.#crawler.options.proxyConfiguration;
  }
}

/**
 * Fetches pages over HTTP; handlers get the response, its body and `content`.
 *
 * @example
 * const crawler = new HttpCrawler({
 *   async requestHandler({ request, content, pushData, enqueueLinks }) {
 *     await pushData({ url: request.loadedUrl, title: content.title });
 *     await enqueueLinks();
 *   },
 * });
 * await crawler.run(['https://example.com']);
 */
export class HttpCrawler<Context extends CrawlingContext = HttpCrawlingContext> extends BasicCrawler<Context> {
  constructor(options?: HttpCrawlerOptions<NoInfer<Context>>, config?: Configuration) {
    super(options as BasicCrawlerOptions<Context>, config, 'http');
  }
}

/**
 * Fetches pages over HTTP; handlers get a cheerio document as `$`, built only if they touch it.
 *
 * @example
 * const crawler = new CheerioCrawler({
 *   async requestHandler({ $, request, pushData, enqueueLinks }) {
 *     await pushData({ url: request.loadedUrl, heading: $('h1').text() });
 *     await enqueueLinks({ globs: ['https://example.com/docs/**'] });
 *   },
 * });
 * await crawler.run(['https://example.com/docs']);
 */
export class CheerioCrawler<Context extends CrawlingContext = CheerioCrawlingContext> extends BasicCrawler<Context> {
  constructor(options?: CheerioCrawlerOptions<NoInfer<Context>>, config?: Configuration) {
    super(options as BasicCrawlerOptions<Context>, config, 'cheerio');
  }
}

/**
 * Loads pages in a browser; handlers get Playwright's `page`. Needs the package playwright-core and a Chromium, Chrome or
 * Edge on the system.
 *
 * @example
 * const crawler = new PlaywrightCrawler({
 *   async requestHandler({ page, request, pushData, enqueueLinks }) {
 *     await page.click('#more');
 *     await pushData({ url: request.loadedUrl, items: await page.locator('li').allTextContents() });
 *     await enqueueLinks();
 *   },
 * });
 * await crawler.run(['https://example.com']);
 */
export class PlaywrightCrawler<
  Context extends CrawlingContext = PlaywrightCrawlingContext,
> extends BasicCrawler<Context> {
  constructor(options?: PlaywrightCrawlerOptions<NoInfer<Context>>, config?: Configuration) {
    super(options as BasicCrawlerOptions<Context>, config, 'playwright');
  }
}

/**
 * Fetches pages over HTTP and loads in a browser only those that need one: an empty shell that scripts would fill, or a
 * page whose handler asks for `page`. Sites that need the browser are remembered. Handlers that use only what both have
 * (`content`, `parseWithCheerio`, `enqueueLinks`, …) run in either; `renderingType` says in which.
 *
 * @example
 * const crawler = new AdaptivePlaywrightCrawler({
 *   async requestHandler({ request, parseWithCheerio, pushData, renderingType }) {
 *     const $ = await parseWithCheerio('h1');
 *     await pushData({ url: request.loadedUrl, heading: $('h1').text(), renderingType });
 *   },
 * });
 * await crawler.run(['https://example.com']);
 */
export class AdaptivePlaywrightCrawler<
  Context extends CrawlingContext = AdaptivePlaywrightCrawlingContext,
> extends BasicCrawler<Context> {
  constructor(options?: AdaptivePlaywrightCrawlerOptions<NoInfer<Context>>, config?: Configuration) {
    super(options as BasicCrawlerOptions<Context>, config, 'adaptive');
  }
}

/**
 * Downloads files of any type, whole (`body`) or as a stream (`streamHandler`).
 *
 * @example
 * const crawler = new FileDownload({
 *   async requestHandler({ body, request, getKeyValueStore, contentType }) {
 *     const store = await getKeyValueStore();
 *     await store.setValue(new URL(request.url).pathname.slice(1), body, { contentType: contentType.type });
 *   },
 * });
 * await crawler.run(['https://example.com/report.pdf']);
 */
export class FileDownload<Context extends CrawlingContext = FileDownloadCrawlingContext> extends BasicCrawler<Context> {
  constructor(options?: FileDownloadOptions<NoInfer<Context>>, config?: Configuration) {
    super(options as BasicCrawlerOptions<Context>, config, 'file');
  }
}
