// The crawlers of `orcrawl/crawlee`: those of `orcrawl` with Crawlee's family tree, its defaults where a script can tell,
// and its older option names. Promise: nothing here decides what happens to a request.
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import type { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import { BasicCrawler as OwnCrawler } from '../../crawl/crawlers.js';
import type {
  BasicCrawlerOptions,
  CheerioCrawlerOptions,
  CrawlerKind,
  FileDownloadOptions,
  HttpCrawlerOptions,
} from '../../crawl/options/options.js';
import type {
  BasicCrawlingContext,
  CheerioCrawlingContext,
  CrawlingContext,
  FileDownloadCrawlingContext,
  HttpCrawlingContext,
  HttpHookOptions,
} from '../../handle/context.js';
import { EventType } from '../../observe/events.js';
import { log as rootLog } from '../../observe/log.js';
import { eventManagerOf } from '../events.js';
import type { Dictionary } from '../../request/request.js';
import type { DatasetExportOptions, ExportFormat } from '../../store/dataset/export.js';
import type { RequestQueue as OwnQueue } from '../../frontier/queue/request-queue.js';
import { CrawlerExtension } from '../checks.js';
import { withNewRequestLimit } from '../storage/new-requests.js';
import { crawlerMembers } from './crawler-members.js';
import {
  asMethod,
  contextExtension,
  crawleeOptions,
  type Handler,
  type NewerOptions,
  type OlderOptions,
} from './crawler-options.js';
import {
  cleaningUp,
  type DerivedCalls,
  isOverridden,
  markOwn,
  messageFromError,
  warnOfUncalled,
  withFailureCalls,
} from './derived-classes.js';
import { addParsed, applyCookies, type ResponseStream, withCookieCall } from './derived-http.js';
import { endingBySignal } from './end-by-signal.js';

export type { NewerOptions, OlderOptions } from './crawler-options.js';

/** How long visits may take to end before the process is moved, as in Crawlee. */
const REST_SECS = 20;

/** A context whose `crawler` is the class that was made, as Crawlee types it. */
export type WithCrawler<Context, Crawler> = Context & { readonly crawler: Crawler };

/* eslint-disable @typescript-eslint/no-explicit-any -- a class within the default of its own parameter */
/**
 * Calls your handler for every request, as Crawlee's does: a failed request comes back at once.
 *
 * @example
 * const crawler = new BasicCrawler({
 *   requestHandler: async ({ sendRequest, pushData }) => pushData({ body: (await sendRequest()).body }),
 * });
 */
export class BasicCrawler<
  Context extends CrawlingContext = WithCrawler<BasicCrawlingContext, BasicCrawler<any>>,
> extends OwnCrawler<Context> {
  static {
    markOwn(this.prototype);
  }

  /** The contexts whose handler is at work. */
  protected readonly crawlingContexts = new Map<string, Context>();
  /** Yours, unless it is a router or a `streamHandler`. */
  protected requestHandler: Handler;
  readonly #kind: CrawlerKind;
  readonly #compose: (options: BasicCrawlerOptions<NoInfer<Context>>) => object;
  readonly #extend: ((context: CrawlingContext) => Promise<void>) | undefined;
  #options: BasicCrawlerOptions<NoInfer<Context>>;

  constructor(
    options: BasicCrawlerOptions<NoInfer<Context>> & OlderOptions & NewerOptions<NoInfer<Context>> = {},
    config?: Configuration,
    kind: CrawlerKind = 'basic',
  ) {
    const { options: named, extend } = contextExtension(crawleeOptions(options), kind !== 'basic');
    const overrides = (name: string) => isOverridden(new.target.prototype as object, name);
    const cleansUp = overrides('_cleanupContext');
    const tellsFailures = overrides('_getMessageFromError');
    const wantsAll =
      kind === 'adaptive' || extend !== undefined || ['_runRequestHandler', '_parseHTML'].some(overrides);
    const late: { self?: BasicCrawler<Context> } = {};
    const calls = (): DerivedCalls<Context> => ({
      log: late.self!.log,
      tellsFailures,
      cleanUp: cleansUp ? (context) => late.self!._cleanupContext(context) : undefined,
      messageOf: (error) => late.self!._getMessageFromError(error, true),
    });
    const run: Handler = (context) => late.self!._runRequestHandler(context as Context);
    const compose = (chosen: BasicCrawlerOptions<NoInfer<Context>>) =>
      asMethod(
        cleansUp || tellsFailures ? withFailureCalls(chosen as never, calls as never) : chosen,
        cleansUp ? cleaningUp(run, calls) : run,
        wantsAll || cleansUp,
      );
    super(compose(named) as never, config, kind);
    late.self = this;
    this.#options = named;
    this.#compose = compose;
    this.#kind = kind;
    this.#extend = extend;
    Object.assign(this, crawlerMembers(named));
    this.requestHandler = (named.requestHandler ?? named.router ?? this.router) as Handler;
  }

  /** Takes over the options of an extension; before a run. */
  use(extension: CrawlerExtension): void {
    if (!(extension instanceof CrawlerExtension)) {
      throw new CrawlError(
        'OPTION_INVALID',
        `Expected object \`${JSON.stringify(extension)}\` to be of type \`CrawlerExtension\``,
      );
    }
    const { name: owner } = this.constructor;
    const given = extension.getCrawlerOptions();
    for (const [name, value] of Object.entries(given)) {
      if (!Object.hasOwn(this, name)) {
        const message = `${extension.name} tries to set property "${name}" that is not configurable on ${owner} instance.`;
        throw new CrawlError('OPTION_INVALID', message);
      }
      const [before, after] = [typeof (this as Dictionary)[name], typeof value];
      if (before !== after && value != null && before !== 'undefined') {
        const message = `${extension.name} tries to set property of different type "${after}". "${owner}.${name}: ${before}".`;
        throw new CrawlError('OPTION_INVALID', message);
      }
      extension.log.debug(`sets ${owner}.${name}`);
    }
    Object.assign(this, given);
    this.#options = { ...this.#options, ...(given as object) };
    this.recompose(this.#compose(this.#options) as never);
  }

  /** Works until everything is done. Before the process is moved or ended, the crawl rests and its list is saved. */
  override async run(...given: Parameters<OwnCrawler<Context>['run']>): ReturnType<OwnCrawler<Context>['run']> {
    warnOfUncalled(Object.getPrototypeOf(this) as object, this.#kind);
    await this._init();
    const events = eventManagerOf(this.config);
    const rest = () => void this.#rest();
    events.on(EventType.MIGRATING, rest);
    events.on(EventType.ABORTING, rest);
    try {
      return await endingBySignal(() => super.run(...given));
    } finally {
      events.off(EventType.MIGRATING, rest);
      events.off(EventType.ABORTING, rest);
    }
  }

  async #rest(): Promise<void> {
    try {
      await this.autoscaledPool?.pause(REST_SECS);
    } catch (error) {
      rootLog.exception(error as Error, 'The crawl did not come to rest in time');
    }
    const { requestList } = this.#options as { requestList?: { persistState?(): Promise<void> } };
    await requestList?.persistState?.().catch((error: unknown) => {
      rootLog.exception(error as Error, 'The state of the list could not be saved');
    });
  }

  /** The queue of the crawl, which knows `maxNewRequests`. */
  override async getRequestQueue(): Promise<OwnQueue> {
    return withNewRequestLimit(await super.getRequestQueue());
  }

  /** Runs the handler of a request; derived classes put their work around it. */
  protected async _runRequestHandler(context: Context): Promise<void> {
    const id = ((context as { id?: string }).id ??= randomBytes(8).toString('hex'));
    this.crawlingContexts.set(id, context);
    try {
      await this.#extend?.(context);
      await this.requestHandler(context);
    } finally {
      this.crawlingContexts.delete(id);
    }
  }

  /** Called before every run; derived classes prepare here what they need. */
  protected async _init(): Promise<void> {}

  /** Called when a visit has ended, after the handlers of its failure; derived classes close here what they opened. */
  protected async _cleanupContext(_context: Context): Promise<void> {}

  /** What the log says of a request that failed for good. */
  protected _getMessageFromError(error: Error, forceStack = false): string {
    return messageFromError(error, forceStack);
  }

  /** Writes all items of the default dataset to a file of JSON or CSV, and gives them back. */

  override async exportData<Data extends Dictionary = Dictionary>(
    path: string,
    format?: ExportFormat,
    options: DatasetExportOptions = {},
  ): Promise<any> {
    const dataset = await this.getDataset();
    const { items } = (await dataset.getData()) as unknown as { items: Data[] };
    if ((format ?? extname(path).slice(1).toLowerCase()) !== 'json') {
      await super.exportData(path, format, options);
      return items;
    }
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${JSON.stringify(items, null, 4)}\n`);
    return items;
  }
}

/**
 * Fetches pages over HTTP.
 *
 * @example
 * const crawler = new HttpCrawler({ requestHandler: async ({ body, pushData }) => pushData({ bytes: body.length }) });
 */
export class HttpCrawler<
  Context extends CrawlingContext = WithCrawler<HttpCrawlingContext, HttpCrawler<any>>,
> extends BasicCrawler<Context> {
  static {
    markOwn(this.prototype);
  }

  readonly #parses: boolean;

  constructor(
    options: HttpCrawlerOptions<NoInfer<Context>> & OlderOptions & NewerOptions<NoInfer<Context>> = {},
    config?: Configuration,
    kind: CrawlerKind = 'http',
  ) {
    const prototype = new.target.prototype as object;
    const late: { self?: HttpCrawler<Context> } = {};
    const apply = (...given: Parameters<HttpCrawler<Context>['_applyCookies']>) => late.self!._applyCookies(...given);
    const changesCookies = isOverridden(prototype, '_applyCookies');
    const called = changesCookies ? withCookieCall<HttpCrawlerOptions>(options as never, apply as never) : options;
    super(called as never, config, kind);
    late.self = this;
    this.#parses = isOverridden(prototype, '_parseHTML');
  }

  /** Called after the hooks, with the request's cookies before and after them; changes the hooks' options. */
  protected _applyCookies(context: Context, options: HttpHookOptions, before: string, after: string): void {
    applyCookies(context, options, before, after);
  }

  /** What a page of HTML or XML is parsed into: what derived classes give back is added to the context. */
  protected async _parseHTML(_response: ResponseStream, _isXml: boolean, context: Context): Promise<object> {
    const { body, $ } = context as { body?: unknown; $?: unknown };
    return $ === undefined ? { body } : { body, $ };
  }

  protected override _runRequestHandler(context: Context): Promise<void> {
    return this.#parses ? this.#parseFirst(context) : super._runRequestHandler(context);
  }

  async #parseFirst(context: Context): Promise<void> {
    await addParsed(context, (response, isXml) => this._parseHTML(response, isXml, context));
    await super._runRequestHandler(context);
  }
}

/**
 * Fetches pages over HTTP and parses them when `$` is used.
 *
 * @example
 * const crawler = new CheerioCrawler({ requestHandler: async ({ $, pushData }) => pushData({ title: $('title').text() }) });
 */
export class CheerioCrawler<
  Context extends CrawlingContext = WithCrawler<CheerioCrawlingContext, CheerioCrawler<any>>,
> extends HttpCrawler<Context> {
  static {
    markOwn(this.prototype);
  }

  constructor(
    options: CheerioCrawlerOptions<NoInfer<Context>> & OlderOptions & NewerOptions<NoInfer<Context>> = {},
    config?: Configuration,
  ) {
    super(options as HttpCrawlerOptions<Context>, config, 'cheerio');
  }
}

/**
 * Downloads files, whole or as streams.
 *
 * @example
 * const crawler = new FileDownload({ requestHandler: ({ body, request }) => log.info(`${request.url}: ${body.length}`) });
 */
export class FileDownload<
  Context extends CrawlingContext = WithCrawler<FileDownloadCrawlingContext, FileDownload<any>>,
> extends HttpCrawler<Context> {
  static {
    markOwn(this.prototype);
  }

  constructor(
    options: FileDownloadOptions<NoInfer<Context>> & OlderOptions & NewerOptions<NoInfer<Context>> = {},
    config?: Configuration,
  ) {
    super(options as HttpCrawlerOptions<Context>, config, 'file');
  }
}
