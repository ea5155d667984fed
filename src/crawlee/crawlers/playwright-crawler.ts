// Crawlee's PlaywrightCrawler: its handler sees whatever the server sent, also errors of the server, and `browserPool` shows
// the browsers. Promise: everything else is the crawler of `orcrawl`, where a status means the same in every placement.
import { Configuration } from '../../configuration.js';
import type {
  AdaptivePlaywrightCrawlerOptions as OwnAdaptiveOptions,
  PlaywrightCrawlerOptions as OwnOptions,
  PlaywrightLaunchContext,
} from '../../crawl/browser/playwright-options.js';
import type { PageResponse } from '../../fetch/browser/playwright-types.js';
import type { AnyData, CrawlingContext } from '../../handle/context.js';
import { createPlaywrightRouter as createRouter, type CreateRouter } from '../../handle/router.js';
import type {
  AdaptivePlaywrightCrawlingContext,
  ClickElementsOptions,
  PlaywrightCrawlingContext as OwnContext,
  PlaywrightGotoOptions,
} from '../../handle/browser-context.js';
import type { BatchAddRequestsResult } from '../../handle/enqueue-links.js';
import { clicksAnywhere } from '../browsers/click-elements.js';
import type { BrowserPoolHooks } from '../browsers/browser-pool.js';
import { CrawlerBrowserPool } from '../browsers/crawler-pool.js';
import type { Dictionary } from '../../request/request.js';
import type { CookieObject } from '../../session/cookies.js';
import { type AdaptiveRuns, createAdaptiveRuns, type RenderingCounts, type RenderingOptions } from './adaptive-runs.js';
import { BasicCrawler, type NewerOptions, type OlderOptions, type WithCrawler } from './crawlers.js';
import type { CommonPage } from '../browsers/types.js';
import { isOverridden, markOwn } from './derived-classes.js';
import { endNavigationCall, withNavigationCalls } from './derived-browser.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a crawler of any context
type AnyPlaywrightCrawler = PlaywrightCrawler<any>;

/** What handlers of a `PlaywrightCrawler` get; its crawler has a `browserPool`. */
export type PlaywrightCrawlingContext<UserData extends Dictionary = AnyData> = WithCrawler<
  OwnContext<UserData>,
  AnyPlaywrightCrawler
>;

/**
 * A router for PlaywrightCrawler.
 *
 * @example
 * const router = createPlaywrightRouter();
 * router.addDefaultHandler(async ({ page, crawler }) => crawler.browserPool.retireBrowserByPage(page));
 */
export const createPlaywrightRouter: CreateRouter<PlaywrightCrawlingContext> = createRouter as never;

const SERVER_ERRORS = Array.from({ length: 100 }, (_, i) => 500 + i);

/** Hooks of Crawlee's pool get its controllers, those of ours get browsers. */
type WithPoolHooks<Options extends OwnOptions<never>> = Omit<Options, 'browserPoolOptions'> & {
  browserPoolOptions?:
    (Omit<NonNullable<Options['browserPoolOptions']>, keyof BrowserPoolHooks> & BrowserPoolHooks) | undefined;
};
type Hooks = OwnOptions<never>['preNavigationHooks'];

/** The options of a `PlaywrightCrawler`, with the hooks of Crawlee's pool and its older and newer options. */
export type PlaywrightCrawlerOptions<Context extends CrawlingContext = PlaywrightCrawlingContext> = WithPoolHooks<
  OwnOptions<Context>
> &
  OlderOptions &
  NewerOptions<Context>;

/** The options of an `AdaptivePlaywrightCrawler`, with those that decide how pages are judged. */
export type AdaptivePlaywrightCrawlerOptions<Context extends CrawlingContext = AdaptivePlaywrightCrawlingContext> =
  WithPoolHooks<Omit<OwnAdaptiveOptions<Context>, keyof RenderingOptions>> &
    RenderingOptions &
    OlderOptions &
    NewerOptions<Context>;

interface CookieContext {
  renderingType?: string;
  page?: CommonPage;
  session?: { setCookies(cookies: CookieObject[], url: string): void };
  request: { url: string; loadedUrl?: string };
}
interface ClickingContext {
  page?: CommonPage;
  enqueueLinksByClickingElements?: (options: ClickElementsOptions) => Promise<BatchAddRequestsResult>;
}

/** Clicks in Crawlee's contexts may lead to any host. */
function withClicksAnywhere(context: ClickingContext): void {
  // Without a page the context is that of a fetch, and to ask it for clicks means to want a browser.
  if (!context.page) return;
  const value = clicksAnywhere(context.enqueueLinksByClickingElements!.bind(context));
  Object.defineProperty(context, 'enqueueLinksByClickingElements', { value, writable: true, configurable: true });
}

/** The session has the cookies of the page when its handler begins; ours gets them when it has ended. */
async function keepCookies(context: CookieContext): Promise<void> {
  // To ask the context of a fetch for its page means to want a browser.
  if (context.renderingType === 'static') return;
  const { page, session, request } = context;
  if (!page?.context || !session) return;
  const url = request.loadedUrl ?? request.url;
  const cookies = await page.context().cookies(url);
  if (cookies.length > 0) session.setCookies(cookies, url);
}

/** Options whose browsers a pool shows. */
function shownBy<Options extends OwnOptions<never>>(
  options: WithPoolHooks<Options>,
  config: Configuration | undefined,
): { pool: CrawlerBrowserPool; options: Options } {
  const pool = new CrawlerBrowserPool(options.browserPoolOptions as never, options.launchContext, config);
  const withController = (context: { page?: CommonPage; browserController?: unknown }) => {
    const controller = context.page && pool.getBrowserControllerByPage(context.page);
    if (controller?.browser) context.browserController = controller;
  };
  const preNavigationHooks = [withController, withClicksAnywhere, ...(options.preNavigationHooks ?? [])] as Hooks;
  const keepsCookies = options.useSessionPool !== false && options.persistCookiesPerSession !== false;
  const after = [...(options.postNavigationHooks ?? []), ...(keepsCookies ? [keepCookies] : [])];
  const hooks = { preNavigationHooks, ...(after.length > 0 ? { postNavigationHooks: after as Hooks } : {}) };
  return { pool, options: { ...options, ...hooks, browserPoolOptions: pool.crawlerOptions } as never };
}

/**
 * A crawler with a live page for each request, as Crawlee has it: statuses from 500 on reach the handler.
 *
 * @example
 * const crawler = new PlaywrightCrawler({
 *   async requestHandler({ page, response, pushData }) {
 *     await pushData({ status: response?.status(), title: await page.title() });
 *   },
 * });
 */
export class PlaywrightCrawler<
  Context extends CrawlingContext = PlaywrightCrawlingContext,
> extends BasicCrawler<Context> {
  static {
    markOwn(this.prototype);
  }

  /** The browsers, with hooks and events. */
  readonly browserPool: CrawlerBrowserPool;
  readonly launchContext: PlaywrightLaunchContext;

  constructor(given: PlaywrightCrawlerOptions<NoInfer<Context>> = {}, config?: Configuration) {
    const overrides = (name: string) => isOverridden(new.target.prototype as object, name);
    const late: { self?: PlaywrightCrawler<Context> } = {};
    const called = withNavigationCalls<WithPoolHooks<OwnOptions<never>>>(given as never, {
      applyCookies: overrides('_applyCookies')
        ? (context, ...cookies) => late.self!._applyCookies(context as Context, ...cookies)
        : undefined,
      navigate: overrides('_navigationHandler')
        ? (context, options) => late.self!._navigationHandler(context as Context, options)
        : undefined,
    });
    const { pool, options } = shownBy<OwnOptions<never>>(called, config);
    const { ignoreHttpErrorStatusCodes = [], additionalHttpErrorStatusCodes = [] } = options;
    const pages = SERVER_ERRORS.filter((status) => !additionalHttpErrorStatusCodes.includes(status));
    const statuses = { ignoreHttpErrorStatusCodes: [...ignoreHttpErrorStatusCodes, ...pages] };
    super({ ...options, ...statuses } as never, config, 'playwright');
    late.self = this;
    this.browserPool = pool;
    this.launchContext = given.launchContext ?? {};
  }

  /** Called after the hooks, with the request's cookies before and after them; those of the session are set next. */
  protected async _applyCookies(_context: Context, _before: string, _after: string): Promise<void> {}

  /** Loads the page; derived classes may do so in another way. Its address guard and limits hold all the same. */
  protected async _navigationHandler(
    context: Context,
    gotoOptions: PlaywrightGotoOptions,
  ): Promise<PageResponse | null | undefined> {
    const { page, request } = context as unknown as OwnContext;
    return page.goto(request.target, gotoOptions);
  }

  protected override _runRequestHandler(context: Context): Promise<void> {
    endNavigationCall(context);
    return super._runRequestHandler(context);
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    await this.browserPool.destroy();
  }
}

const RENDERING = [
  'renderingTypeDetectionRatio',
  'renderingTypePredictor',
  'resultChecker',
  'resultComparator',
  'shouldPropagateError',
] as const satisfies (keyof RenderingOptions)[];

/** The options that decide how pages are judged, and the others. */
function withoutRendering(options: RenderingOptions): { rendering: RenderingOptions; others: object } {
  const others: Record<string, unknown> = { ...options };
  for (const name of RENDERING) delete others[name];
  return { rendering: options, others };
}

/**
 * Pages over HTTP where that is enough, in a browser where it is not; with the pool of Crawlee's crawlers.
 *
 * @example
 * const crawler = new AdaptivePlaywrightCrawler({
 *   requestHandler: async ({ querySelector, pushData }) => pushData({ title: (await querySelector('title')).text() }),
 * });
 */
export class AdaptivePlaywrightCrawler<
  Context extends CrawlingContext = AdaptivePlaywrightCrawlingContext,
> extends BasicCrawler<Context> {
  static {
    markOwn(this.prototype);
  }

  /** The browsers, with hooks and events. */
  readonly browserPool: CrawlerBrowserPool;
  readonly launchContext: PlaywrightLaunchContext;

  readonly #runs: AdaptiveRuns;

  constructor(
    given: AdaptivePlaywrightCrawlerOptions<NoInfer<Context>> = {},
    config: Configuration = Configuration.getGlobalConfig(),
  ) {
    const { pool, options } = shownBy<OwnAdaptiveOptions<never>>(given as never, config);
    const { rendering, others } = withoutRendering(options as RenderingOptions);
    const runs = createAdaptiveRuns(rendering, config);
    super({ ...others, ...(runs.memory ? { renderingMemory: runs.memory } : {}) } as never, config, 'adaptive');
    this.#runs = runs;
    this.browserPool = pool;
    this.launchContext = given.launchContext ?? {};
  }

  override async run(...args: Parameters<BasicCrawler<Context>['run']>): ReturnType<BasicCrawler<Context>['run']> {
    await this.#runs.initialize();
    return super.run(...args);
  }

  protected override async _runRequestHandler(context: Context): Promise<void> {
    const handler = (given: unknown) => super._runRequestHandler(given as Context);
    await this.#runs.run(context as never, handler, this.stats.state as RenderingCounts);
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    await this.browserPool.destroy();
  }
}
