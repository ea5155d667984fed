// Crawlee's `playwrightUtils` and `launchPlaywright`: the context's tools for your own pages.
// Promise: in a handler they work like the context's, and changes are undone with the visit. Nothing is
// loaded before one of them is called.
import { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import type { Browser, GotoOptions, Page, PageResponse } from '../../fetch/browser/playwright-types.js';
import type {
  BlockRequestsOptions,
  ClickElementsOptions,
  InfiniteScrollOptions,
  SaveSnapshotOptions,
} from '../../handle/browser-context.js';
import type { BatchAddRequestsResult, RequestSink } from '../../handle/enqueue-links.js';
import { optionError } from '../../option-checks.js';
import { Request, type RequestOptions } from '../../request/request.js';
import { KeyValueStore } from '../../store/records/key-value.js';
import { enqueueLinks } from '../page/enqueue-links.js';
import { browserCrawlOptions, findBrowserProblems, poolOptionsOf } from './playwright-options.js';
import type { PlaywrightLaunchContext } from './playwright-options.js';
import { compileScript } from './playwright-scripts.js';

const GOTO_TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 20;

const loadTools = () => import('./playwright-context.js');
const loadLive = () => import('../../fetch/browser/live-page.js');
const lentOf = async (page: Page) => (await import('../../fetch/browser/page-lease.js')).pooledPageOf(page);

/** Runs a script file in the page; with `surviveNavigations` also in every document it shows later. */
async function injectFile(page: Page, filePath: string, options: { surviveNavigations?: boolean } = {}) {
  return (await loadTools()).injectFile(page, filePath, options);
}

/** Needs the package `jquery` in your project. It is in every document that the page shows later, unless told otherwise. */
async function injectJQuery(page: Page, { surviveNavigations = true }: { surviveNavigations?: boolean } = {}) {
  const tools = await loadTools();
  return tools.injectFile(page, tools.jqueryFile(), { surviveNavigations });
}

/** Lets requests for what is only looked at fail. Call it before the navigation. */
async function blockRequests(page: Page, options: BlockRequestsOptions = {}): Promise<void> {
  const [tools, live] = await Promise.all([loadTools(), loadLive()]);
  await live.blockUrls(await lentOf(page), tools.blockedPatterns(options));
}

/** Scrolls down until the page stops growing. */
async function infiniteScroll(page: Page, options: InfiniteScrollOptions = {}): Promise<void> {
  await (await loadTools()).scrollToEnd(await lentOf(page), options);
}

/** Removes cookie notices and other boxes that lie over the page. */
async function closeCookieModals(page: Page): Promise<void> {
  await (await loadLive()).removeOverlays(await lentOf(page));
}

/** The page as it is now as a Cheerio document, with what is in frames and shadow roots in place. */
async function parseWithCheerio(page: Page, ignoreShadowRoots = false, ignoreIframes = false) {
  const { wholeHtml } = await loadTools();
  const { loadDocument } = await import('../../handle/document.js');
  return loadDocument(await wholeHtml(page, { ignoreIframes, ignoreShadowRoots }));
}

/** Stores a screenshot and the page's HTML in a key-value store. */
async function saveSnapshot(page: Page, options: SaveSnapshotOptions & { config?: Configuration } = {}): Promise<void> {
  const { config = Configuration.getGlobalConfig(), ...snapshot } = options;
  await (await loadTools()).saveSnapshot(page, snapshot, (name) => KeyValueStore.open(name, { config }));
}

/** Goes to a request's URL with its method, body and headers. */
async function gotoExtended(
  page: Page,
  request: Request | RequestOptions,
  gotoOptions: GotoOptions = {},
): Promise<PageResponse | null> {
  const { url, method, payload, headers } = request instanceof Request ? request : new Request(request);
  const [{ navigate }, { createDeadline }, lent] = await Promise.all([
    import('../../fetch/browser/navigate.js'),
    import('../../fetch/browser/deadline.js'),
    lentOf(page),
  ]);
  const deadline = createDeadline(gotoOptions.timeout || GOTO_TIMEOUT_MS, url);
  const redirects = { redirects: 'follow', maxRedirects: MAX_REDIRECTS } as const;
  try {
    const order = { url, method, payload, headers: { ...headers }, ...redirects };
    return (await navigate(lent, order, gotoOptions, deadline, undefined)).response ?? null;
  } finally {
    deadline.end();
  }
}

/** Clicks elements and queues where they would have led: navigations are noted and not made. */
async function enqueueLinksByClickingElements(
  options: ClickElementsOptions & { page: Page; requestQueue: RequestSink },
): Promise<BatchAddRequestsResult> {
  const { page, ...clicking } = options;
  const { urlsByClicking } = await import('./playwright-clicks.js');
  const urls = await urlsByClicking(await lentOf(page), clicking);
  const { selector: _s, waitForPageIdleSecs: _w, maxWaitForPageIdleSecs: _m, clickOptions: _c, ...rest } = clicking;
  return enqueueLinks({ baseUrl: page.url(), ...rest, urls, requestQueue: options.requestQueue });
}

/**
 * Crawlee's tools for Playwright pages, by themselves. In handlers the context has the same, without `page`.
 *
 * @example
 * const crawler = new PlaywrightCrawler({
 *   preNavigationHooks: [async ({ page }) => playwrightUtils.blockRequests(page)],
 *   requestHandler: async ({ page, pushData }) => pushData({ title: await page.title() }),
 * });
 */
export const playwrightUtils = Object.freeze({
  injectFile,
  injectJQuery,
  gotoExtended,
  blockRequests,
  infiniteScroll,
  saveSnapshot,
  parseWithCheerio,
  compileScript,
  closeCookieModals,
  enqueueLinksByClickingElements,
});

/** Pages of one context, that of a profile if there is one, unless they want options of their own. */
function sharing(browser: Browser): Browser {
  const newPage = browser.newPage.bind(browser);
  let shared: ReturnType<Browser['newContext']> | undefined;
  browser.newPage = async (options) => {
    if (options !== undefined) return newPage(options);
    const [open] = browser.contexts();
    if (open) return open.newPage();
    shared ??= browser.newContext();
    const context = await shared;
    context.once('close', () => (shared = undefined));
    return context.newPage();
  };
  return browser;
}

/**
 * Starts the browser that crawlers would use and hands it over: yours to close, and without the address guard.
 *
 * @example
 * const browser = await launchPlaywright({ launchOptions: { headless: true } });
 * const page = await browser.newPage();
 * await browser.close();
 */
export async function launchPlaywright(
  launchContext: PlaywrightLaunchContext = {},
  config: Configuration = Configuration.getGlobalConfig(),
): Promise<Browser> {
  const problems = findBrowserProblems('launchPlaywright', { launchContext });
  if (problems.length > 0) throw optionError(problems);
  const { launchBrowser, proxyOf } = await import('../../fetch/browser/launch.js');
  const { launchOptions = {}, proxyUrl, userAgent } = launchContext;
  const settings = { allowPrivateAddresses: true, ignoreTlsErrors: false, userAgent: undefined };
  const { launch } = poolOptionsOf(browserCrawlOptions({ launchContext }), config, settings);
  const args = [...(launchOptions.args ?? []), ...(userAgent === undefined ? [] : [`--user-agent=${userAgent}`])];
  const proxy = proxyUrl === undefined ? launchOptions.proxy : proxyOf(proxyUrl);
  const running = await launchBrowser(
    { ...launch, endsBySignals: true, launchOptions: { ...launchOptions, args, proxy } },
    undefined,
  );
  // Its owner closes the browser, not us: what is left on disk goes then.
  running.onGone(() => void running.close().catch(() => undefined));
  if (running.browser) return launchContext.useIncognitoPages ? running.browser : sharing(running.browser);
  await running.close();
  throw new CrawlError('OPTION_INVALID', 'launchPlaywright: this version of Playwright has no browser for a profile');
}
