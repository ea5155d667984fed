// Crawlee's BrowserPool: pages over browsers that are launched when needed and retired after a number of pages.
// Promise: hooks run in order and are awaited; a browser is closed when it is retired and its last page is.
// PlaywrightCrawler has a pool of its own with an address guard; this one is for scripts that use pages by themselves.
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { CrawlError } from '../../errors.js';
import { log } from '../../observe/log.js';
import type { Dictionary } from '../../request/request.js';
import type { FingerprintOptions } from '../../session/identity/fingerprints.js';
import type { BrowserController } from './controller.js';
import { createFingerprintHooks, createFingerprintParts, type FingerprintParts } from './fingerprint-hooks.js';
import type { LaunchContext } from './launch-context.js';
import type { BrowserPlugin } from './plugin.js';
import { BROWSER_CONTROLLER_EVENTS, BROWSER_POOL_EVENTS, type CommonPage } from './types.js';

type Done = void | Promise<void>;
/** Before a browser is launched. */
export type PreLaunchHook<LC = LaunchContext> = (pageId: string, launchContext: LC) => Done;
/** After a browser was launched. */
export type PostLaunchHook<BC = BrowserController> = (pageId: string, browserController: BC) => Done;
/** Before a page is opened; may change its options. */
export type PrePageCreateHook<BC = BrowserController> = (
  pageId: string,
  browserController: BC,
  pageOptions?: Dictionary,
) => Done;
/** After a page was opened. */
export type PostPageCreateHook<BC = BrowserController, Page = CommonPage> = (page: Page, browserController: BC) => Done;
/** Before a page is closed. */
export type PrePageCloseHook<BC = BrowserController, Page = CommonPage> = (page: Page, browserController: BC) => Done;
/** After a page was closed. */
export type PostPageCloseHook<BC = BrowserController> = (pageId: string, browserController: BC) => Done;

/** What runs around browsers and pages. */
export interface BrowserPoolHooks<BC = BrowserController, LC = LaunchContext, Page = CommonPage> {
  preLaunchHooks?: PreLaunchHook<LC>[];
  postLaunchHooks?: PostLaunchHook<BC>[];
  prePageCreateHooks?: PrePageCreateHook<BC>[];
  postPageCreateHooks?: PostPageCreateHook<BC, Page>[];
  prePageCloseHooks?: PrePageCloseHook<BC, Page>[];
  postPageCloseHooks?: PostPageCloseHook<BC>[];
}
/** The pages and browsers of a pool. */
export interface BrowserPoolOptions {
  browserPlugins: readonly BrowserPlugin[];
  /** Default 20. */
  maxOpenPagesPerBrowser?: number;
  /** Default 100. */
  retireBrowserAfterPageCount?: number;
  /** Default 15. */
  operationTimeoutSecs?: number;
  /** A retired browser whose pages are not closed by anybody is closed after this. Default 300. */
  closeInactiveBrowserAfterSecs?: number;
  /** A browser without pages is retired after this. Default 1. */
  retireInactiveBrowserAfterSecs?: number;
  /** Shows pages as other browsers, by the packages fingerprint-generator and fingerprint-injector. Default false. */
  useFingerprints?: boolean;
  /** Which browsers pages pretend to be in. */
  fingerprintOptions?: FingerprintOptions;
}
/** One new page. */
export interface BrowserPoolNewPageOptions {
  id?: string;
  pageOptions?: Dictionary;
  browserPlugin?: BrowserPlugin;
  proxyUrl?: string;
  proxyTier?: number;
}
/** One new page in a browser of its own. */
export interface BrowserPoolNewPageInNewBrowserOptions {
  id?: string;
  pageOptions?: Dictionary;
  browserPlugin?: BrowserPlugin;
  launchOptions?: Dictionary;
}

const CHECK_MS = 1_000;

/**
 * Pages over several browsers, with hooks.
 *
 * @example
 * const pool = new BrowserPool({ browserPlugins: [new PlaywrightPlugin(playwright.chromium)] });
 * const page = await pool.newPage();
 * await page.close();
 * await pool.destroy();
 */
export class BrowserPool extends EventEmitter {
  readonly browserPlugins: readonly BrowserPlugin[];
  maxOpenPagesPerBrowser: number;
  retireBrowserAfterPageCount: number;
  operationTimeoutMillis: number;
  closeInactiveBrowserAfterMillis: number;
  retireInactiveBrowserAfterMillis: number;
  readonly useFingerprints: boolean;
  readonly fingerprintOptions: FingerprintOptions;
  /** Of a pool with `useFingerprints`; the packages are loaded at the first call. */
  fingerprintGenerator?: FingerprintParts['generator'];
  fingerprintInjector?: FingerprintParts['injector'];
  fingerprintCache?: FingerprintParts['cache'];
  preLaunchHooks: PreLaunchHook[];
  postLaunchHooks: PostLaunchHook[];
  prePageCreateHooks: PrePageCreateHook[];
  postPageCreateHooks: PostPageCreateHook[];
  prePageCloseHooks: PrePageCloseHook[];
  postPageCloseHooks: PostPageCloseHook[];
  pageCounter = 0;
  readonly pages = new Map<string, CommonPage>();
  readonly pageIds = new WeakMap<CommonPage, string>();
  readonly startingBrowserControllers = new Set<BrowserController>();
  readonly activeBrowserControllers = new Set<BrowserController>();
  readonly retiredBrowserControllers = new Set<BrowserController>();
  readonly pageToBrowserController = new WeakMap<CommonPage, BrowserController>();
  protected browserKillerInterval: NodeJS.Timeout | undefined;
  #picking: Promise<unknown> = Promise.resolve();

  constructor(options: BrowserPoolOptions & BrowserPoolHooks) {
    super();
    const { browserPlugins, operationTimeoutSecs = 15, closeInactiveBrowserAfterSecs = 300 } = options;
    checkPlugins(browserPlugins);
    this.browserPlugins = browserPlugins;
    this.maxOpenPagesPerBrowser = options.maxOpenPagesPerBrowser ?? 20;
    this.retireBrowserAfterPageCount = options.retireBrowserAfterPageCount ?? 100;
    this.operationTimeoutMillis = operationTimeoutSecs * 1_000;
    this.closeInactiveBrowserAfterMillis = closeInactiveBrowserAfterSecs * 1_000;
    this.retireInactiveBrowserAfterMillis = (options.retireInactiveBrowserAfterSecs ?? 1) * 1_000;
    this.useFingerprints = options.useFingerprints ?? false;
    this.fingerprintOptions = options.fingerprintOptions ?? {};
    this.preLaunchHooks = options.preLaunchHooks ?? [];
    this.postLaunchHooks = options.postLaunchHooks ?? [];
    this.prePageCreateHooks = options.prePageCreateHooks ?? [];
    this.postPageCreateHooks = options.postPageCreateHooks ?? [];
    this.prePageCloseHooks = options.prePageCloseHooks ?? [];
    this.postPageCloseHooks = options.postPageCloseHooks ?? [];
    if (this.useFingerprints) this._addFingerprintHooks();
    this.browserKillerInterval = setInterval(() => {
      this.#retireIdle();
      this._closeInactiveRetiredBrowsers();
    }, CHECK_MS).unref();
  }

  /** A page of a browser that has room, or of a new one. */
  async newPage(options: BrowserPoolNewPageOptions = {}): Promise<CommonPage> {
    const { id = randomUUID(), pageOptions = {}, proxyUrl, proxyTier } = options;
    const browserPlugin = options.browserPlugin ?? this._pickBrowserPlugin();
    this.#refuseKnown(id, browserPlugin);
    // One after the other: two calls must not launch two browsers for pages that fit into one.
    const picked = this.#picking.then(async () => {
      const free = this._pickBrowserWithFreeCapacity(browserPlugin, proxyUrl, proxyTier);
      const controller = free ?? (await this._launchBrowser(id, { browserPlugin, proxyUrl, proxyTier }));
      return { controller, page: this._createPageForBrowser(id, controller, pageOptions, proxyUrl) };
    });
    this.#picking = picked.catch(() => undefined);
    const { page } = await picked;
    return page;
  }

  async newPageInNewBrowser(options: BrowserPoolNewPageInNewBrowserOptions = {}): Promise<CommonPage> {
    const { id = randomUUID(), pageOptions = {}, launchOptions } = options;
    const browserPlugin = options.browserPlugin ?? this._pickBrowserPlugin();
    this.#refuseKnown(id, browserPlugin);
    const controller = await this._launchBrowser(id, { browserPlugin, launchOptions });
    return this._createPageForBrowser(id, controller, pageOptions);
  }

  /** One page of each plugin. */
  async newPageWithEachPlugin(
    optionsList: Omit<BrowserPoolNewPageOptions, 'browserPlugin'>[] = [],
  ): Promise<CommonPage[]> {
    return Promise.all(
      this.browserPlugins.map((browserPlugin, index) => this.newPage({ ...optionsList[index], browserPlugin })),
    );
  }

  getBrowserControllerByPage(page: CommonPage): BrowserController | undefined {
    return this.pageToBrowserController.get(page);
  }

  getPage(id: string): CommonPage | undefined {
    return this.pages.get(id);
  }

  getPageId(page: CommonPage): string | undefined {
    return this.pageIds.get(page);
  }

  /** No new pages; closed when its pages are. */
  retireBrowserController(browserController: BrowserController): void {
    if (!this.activeBrowserControllers.delete(browserController)) return;
    this.retiredBrowserControllers.add(browserController);
    this.emit(BROWSER_POOL_EVENTS.BROWSER_RETIRED, browserController);
  }

  retireBrowserByPage(page: CommonPage): void {
    const controller = this.getBrowserControllerByPage(page);
    if (controller) this.retireBrowserController(controller);
  }

  retireAllBrowsers(): void {
    for (const controller of this.activeBrowserControllers) this.retireBrowserController(controller);
  }

  async closeAllBrowsers(): Promise<void> {
    await this.#picking;
    const all = [...this.activeBrowserControllers, ...this.retiredBrowserControllers];
    await Promise.all(all.map((controller) => controller.close()));
  }

  /** Closes all browsers; the pool cannot be used again. */
  async destroy(): Promise<void> {
    clearInterval(this.browserKillerInterval);
    this.browserKillerInterval = undefined;
    await this.closeAllBrowsers();
    this.activeBrowserControllers.clear();
    this.retiredBrowserControllers.clear();
    this.removeAllListeners();
  }

  // The steps of a pool, by Crawlee's names: a derived class may override them, a test may watch them.

  /** A browser has one fingerprint, or with incognito pages each of them; both by the session or proxy of the launch. */
  protected _addFingerprintHooks(): void {
    const parts = createFingerprintParts(this.fingerprintOptions);
    this.fingerprintGenerator = parts.generator;
    this.fingerprintInjector = parts.injector;
    if (parts.cache) this.fingerprintCache = parts.cache;
    // The fields, not the parts: a script may put its own in their place.
    const hooks = createFingerprintHooks(this.fingerprintOptions, () => ({
      generator: this.fingerprintGenerator!,
      injector: this.fingerprintInjector!,
      cache: this.fingerprintCache,
    }));
    this.preLaunchHooks = [...this.preLaunchHooks, hooks.preLaunch];
    this.prePageCreateHooks = [...this.prePageCreateHooks, hooks.prePageCreate];
    this.postPageCreateHooks = [hooks.postPageCreate, ...this.postPageCreateHooks];
  }

  /** One after the other. */
  protected async _executeHooks<A extends readonly unknown[]>(
    hooks: readonly ((...args: A) => Done)[],
    ...args: A
  ): Promise<void> {
    for (const hook of hooks) await hook(...args);
  }

  protected _pickBrowserPlugin(): BrowserPlugin {
    return this.browserPlugins[this.pageCounter++ % this.browserPlugins.length]!;
  }

  #refuseKnown(id: string, plugin: BrowserPlugin): void {
    if (this.pages.has(id)) throw new CrawlError('OPTION_INVALID', `Page with ID: ${id} already exists.`);
    if (!this.browserPlugins.includes(plugin)) {
      throw new CrawlError('OPTION_INVALID', 'Provided browserPlugin is not one of the plugins used by BrowserPool.');
    }
  }

  protected _pickBrowserWithFreeCapacity(
    plugin: BrowserPlugin,
    proxyUrl?: string,
    proxyTier?: number,
  ): BrowserController | undefined {
    for (const controller of this.activeBrowserControllers) {
      const { browserPlugin, launchContext, activePages } = controller;
      if (browserPlugin !== plugin || activePages >= this.maxOpenPagesPerBrowser) continue;
      if (proxyTier !== undefined && controller.proxyTier !== proxyTier) continue;
      const isShared = launchContext.useIncognitoPages && !launchContext.browserPerProxy;
      if (isShared || controller.proxyUrl === (proxyUrl?.replace(/\/$/, '') ?? plugin.proxyUrl)) return controller;
    }
    return undefined;
  }

  protected async _launchBrowser(
    pageId: string,
    { browserPlugin: plugin, ...options }: BrowserPoolNewPageOptions & BrowserPoolNewPageInNewBrowserOptions,
  ): Promise<BrowserController> {
    const controller = plugin!.createController();
    const launchContext = plugin!.createLaunchContext({ id: pageId, ...defined(options) });
    this.startingBrowserControllers.add(controller);
    try {
      await this._executeHooks(this.preLaunchHooks, pageId, launchContext);
      const browser = await this.#inTime(plugin!.launch(launchContext), 'launching a browser');
      controller.assignBrowser(browser, launchContext);
      controller.once(BROWSER_CONTROLLER_EVENTS.BROWSER_CLOSED, () => {
        this.activeBrowserControllers.delete(controller);
        this.retiredBrowserControllers.delete(controller);
        this.emit(BROWSER_POOL_EVENTS.BROWSER_CLOSED, controller);
      });
      this.activeBrowserControllers.add(controller);
      await this._executeHooks(this.postLaunchHooks, pageId, controller);
    } catch (error) {
      this.activeBrowserControllers.delete(controller);
      if (controller.browser) await controller.close();
      throw error;
    } finally {
      this.startingBrowserControllers.delete(controller);
    }
    controller.activate();
    this.emit(BROWSER_POOL_EVENTS.BROWSER_LAUNCHED, controller);
    return controller;
  }

  protected async _createPageForBrowser(
    pageId: string,
    controller: BrowserController,
    pageOptions: Dictionary,
    proxyUrl?: string,
  ): Promise<CommonPage> {
    const isIncognito = controller.launchContext.useIncognitoPages;
    const options = isIncognito
      ? { ...pageOptions, ...controller.normalizeProxyOptions(proxyUrl, pageOptions) }
      : pageOptions;
    await this._executeHooks(this.prePageCreateHooks, pageId, controller, isIncognito ? options : undefined);
    let page: CommonPage;
    try {
      const wanted = isIncognito || Object.keys(options).length > 0 ? options : undefined;
      page = await this.#inTime(controller.newPage(wanted), 'opening a page');
    } catch (error) {
      this.retireBrowserController(controller);
      throw error;
    }
    this.pages.set(pageId, page);
    this.pageIds.set(page, pageId);
    this.pageToBrowserController.set(page, controller);
    this._overridePageClose(page);
    if (controller.totalPages >= this.retireBrowserAfterPageCount) this.retireBrowserController(controller);
    await this._executeHooks(this.postPageCreateHooks, page, controller);
    this.emit(BROWSER_POOL_EVENTS.PAGE_CREATED, page);
    return page;
  }

  /** The hooks of closing belong to `page.close()`. */
  protected _overridePageClose(page: CommonPage): void {
    const close = page.close.bind(page);
    const pageId = this.getPageId(page)!;
    const controller = this.getBrowserControllerByPage(page)!;
    page.close = async (...args) => {
      await this._executeHooks(this.prePageCloseHooks, page, controller);
      await close(...args).catch((error: unknown) => log.debug(`cannot close page ${pageId}: ${String(error)}`));
      await this._executeHooks(this.postPageCloseHooks, pageId, controller);
      this.pages.delete(pageId);
      this._closeRetiredBrowserWithNoPages(controller);
      this.emit(BROWSER_POOL_EVENTS.PAGE_CLOSED, page);
    };
  }

  protected _closeRetiredBrowserWithNoPages(controller: BrowserController): void {
    if (!this.retiredBrowserControllers.has(controller) || controller.activePages > 0) return;
    this.retiredBrowserControllers.delete(controller);
    void controller.close();
  }

  protected _closeInactiveRetiredBrowsers(): void {
    const now = Date.now();
    for (const controller of this.retiredBrowserControllers) {
      const isForgotten = now - controller.lastPageOpenedAt > this.closeInactiveBrowserAfterMillis;
      if (isForgotten || controller.activePages === 0) {
        this.retiredBrowserControllers.delete(controller);
        void controller.close();
      }
    }
  }

  /** A new browser is better than one that grew old unused. */
  #retireIdle(): void {
    for (const controller of this.activeBrowserControllers) {
      const isIdle = controller.activePages === 0 && controller.totalPages > 0;
      const idleMs = Date.now() - controller.lastPageOpenedAt;
      if (isIdle && idleMs > this.retireInactiveBrowserAfterMillis) this.retireBrowserController(controller);
    }
  }

  async #inTime<T>(work: Promise<T>, what: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      const message = `${what} timed out after ${this.operationTimeoutMillis / 1_000} seconds`;
      timer = setTimeout(() => reject(new CrawlError('WAIT_TIMEOUT', message)), this.operationTimeoutMillis);
    });
    try {
      return await Promise.race([work, limit]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function defined<T extends object>(object: T): Partial<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function checkPlugins(plugins: readonly BrowserPlugin[]): void {
  const [first] = plugins ?? [];
  if (!first)
    throw new CrawlError('OPTION_INVALID', 'option "browserPlugins" of BrowserPool needs at least one plugin');
  const other = plugins.find((plugin) => plugin.constructor !== first.constructor);
  if (other) {
    const [a, b] = [first.constructor.name, other.constructor.name];
    throw new CrawlError('OPTION_INVALID', `Browser plugins must be of one kind: ${b} is not an instance of ${a}`);
  }
}
