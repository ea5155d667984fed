// What a handler is given when its page is in a browser: types only; crawl/ builds the objects.
import type { CheerioAPI } from 'cheerio';
import type { Browser, Download, GotoOptions, Page, PageResponse } from '../fetch/browser/playwright-types.js';
import type { PageContent } from '../parse/page.js';
import type { Dictionary, Request } from '../request/request.js';
import type { CookieObject } from '../session/cookies.js';
import type { AnyData, Awaitable, ContextCrawler, CrawlingContext } from './context.js';
import type { BatchAddRequestsResult, EnqueueLinksOptions } from './enqueue-links.js';

/** How long, how far and by what a page is scrolled. */
export interface InfiniteScrollOptions {
  /** Longest it may take; 0: until the handler's own limit. Default 0. */
  timeoutSecs?: number;
  /** How far down, in pixels; 0: no limit. Default 0. */
  maxScrollHeight?: number;
  /** How long the bottom of the page must stay the bottom. Default 4. */
  waitForSecs?: number;
  /** Has no effect: scrolling goes down only. */
  scrollDownAndUp?: boolean;
  /** Clicked whenever it is there, for lists with a "more" button. */
  buttonSelector?: string;
  /** Called after each step; `true` stops. */
  stopScrollCallback?: () => Awaitable<unknown>;
}

/** Which requests of a page are blocked. */
export interface BlockRequestsOptions {
  /** Parts of URLs, `*` for anything, in place of the usual ones (images, styles, fonts, archives). */
  urlPatterns?: readonly string[];
  /** More of them. */
  extraUrlPatterns?: readonly string[];
}

/** Which snapshot of a page is saved, and where. */
export interface SaveSnapshotOptions {
  /** Default `SNAPSHOT`. */
  key?: string;
  /** Of the JPEG, 0–100. Default 50. */
  screenshotQuality?: number;
  /** Default true. */
  saveScreenshot?: boolean;
  /** Default true. */
  saveHtml?: boolean;
  /** Default: the default store. */
  keyValueStoreName?: string | null;
}

/** Which elements are clicked, and what is queued of the requests that follow. */
export interface ClickElementsOptions extends Omit<EnqueueLinksOptions, 'selector' | 'urls'> {
  /** What to click. */
  selector: string;
  /** How long nothing may happen after the clicks. Default 1. */
  waitForPageIdleSecs?: number;
  /** Longest to wait for that. Default 5. */
  maxWaitForPageIdleSecs?: number;
  /** As of Playwright's `click`. */
  clickOptions?: { button?: 'left' | 'right' | 'middle'; clickCount?: number; delay?: number };
}

/** The browser behind a page, as far as handlers need it. */
export interface BrowserController {
  /** Of the browser. */
  readonly id: string;
  /** The browser of the page; null for one with a profile on disk. */
  readonly browser: Browser | null;
  /** The cookies of the page. */
  getCookies(page: Page): Promise<CookieObject[]>;
  /** Sets cookies for the page. */
  setCookies(page: Page, cookies: readonly CookieObject[]): Promise<void>;
  /** The page is closed when the visit ends, in place of being used again. */
  retirePage(): void;
}

/** What handlers of a `PlaywrightCrawler` get. */
export interface PlaywrightCrawlingContext<UserData extends Dictionary = AnyData> extends CrawlingContext<
  ContextCrawler,
  UserData
> {
  /** The page, lent for the visit: closed or used again when the handler has ended. */
  page: Page;
  /** Playwright's response of the navigation; undefined before it, and with `skipNavigation`. */
  response: PageResponse | undefined;
  /** The browser of the page: its cookies, and `retirePage()`. */
  browserController: BrowserController;
  /** Title, text, links and metadata of the page as it was when the handler began, or the last wait ended. */
  content: PageContent;
  /** The page as it is now as a cheerio document; with a selector, waits for it first. */
  parseWithCheerio(selector?: string, timeoutMs?: number): Promise<CheerioAPI>;
  /** Waits until the selector matches. Default 5 seconds. */
  waitForSelector(selector: string, timeoutMs?: number): Promise<void>;
  /** Clicks elements and queues where they would have led: navigations are noted and not made. */
  enqueueLinksByClickingElements(options: ClickElementsOptions): Promise<BatchAddRequestsResult>;
  /** The downloads of this visit so far. They fail unless `launchOptions` of the crawler say `acceptDownloads: true`. */
  listDownloads(): Promise<Download[]>;
  /** Scrolls down until the page stops growing. */
  infiniteScroll(options?: InfiniteScrollOptions): Promise<void>;
  /** Lets requests for what is only looked at fail, for this visit. Call it in a preNavigationHook. */
  blockRequests(options?: BlockRequestsOptions): Promise<void>;
  /** Stores a screenshot and the page's HTML in a key-value store. */
  saveSnapshot(options?: SaveSnapshotOptions): Promise<void>;
  /** Runs a script file in the page. */
  injectFile(filePath: string, options?: { surviveNavigations?: boolean }): Promise<unknown>;
  /** Needs the package `jquery` in your project. */
  injectJQuery(options?: { surviveNavigations?: boolean }): Promise<unknown>;
  /** Makes a function of the text of a script, to be called with the page. */
  compileScript(scriptString: string, context?: Dictionary): CompiledScriptFunction;
  /** Removes cookie notices and other boxes that lie over the page. */
  closeCookieModals(): Promise<void>;
}

/** What a compiled script is called with: more than the page if its text uses it. */
export interface CompiledScriptParams {
  page: Page;
  request?: Request;
}
/** A function made of the text of a script. */
export type CompiledScriptFunction = (params: CompiledScriptParams) => Promise<unknown>;

/** The second argument of browser hooks: Playwright's options of `page.goto`, to be changed in place. */
export type PlaywrightGotoOptions = GotoOptions & {
  /** Sent with the request of the page itself, to its own origin only (ours). */
  headers?: Record<string, string>;
};
/** Runs before or after a page is loaded; before it, `gotoOptions` can be changed. */
export type PlaywrightHook<Context = PlaywrightCrawlingContext> = (
  context: Context,
  gotoOptions: PlaywrightGotoOptions,
) => Awaitable<void>;

/** The context of AdaptivePlaywrightCrawler; touching what only a page can do has the request loaded in a browser. */
export interface AdaptivePlaywrightCrawlingContext<
  UserData extends Dictionary = AnyData,
> extends PlaywrightCrawlingContext<UserData> {
  /** How this page was fetched. */
  renderingType: 'static' | 'browser';
  /** The elements that match; without any in the HTML, the page is loaded in a browser and they are waited for. */
  querySelector(selector: string, timeoutMs?: number): Promise<ReturnType<CheerioAPI>>;
}
