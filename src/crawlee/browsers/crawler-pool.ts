// `crawler.browserPool`: Crawlee's pool as a view of the browsers that a crawler has open.
// Promise: hooks and events come as in a pool of one's own; pages that are opened by it go through the crawler's browser,
// and so through its address guard, as long as one is running.
import { Configuration } from '../../configuration.js';
import type { PlaywrightLaunchContext, PlaywrightPoolOptions } from '../../crawl/browser/playwright-options.js';
import type { LaunchedBrowser } from '../../fetch/browser/pool-options.js';
import type { Page } from '../../fetch/browser/playwright-types.js';
import type { Dictionary } from '../../request/request.js';
import { BrowserPool, type BrowserPoolHooks } from './browser-pool.js';
import type { BrowserController } from './controller.js';
import type { LaunchContext } from './launch-context.js';
import { PlaywrightLauncher } from './launcher.js';
import { BROWSER_CONTROLLER_EVENTS, BROWSER_POOL_EVENTS, type CommonPage } from './types.js';

/** The pool of a crawler. */
export class CrawlerBrowserPool extends BrowserPool {
  readonly #controllers = new WeakMap<LaunchedBrowser, BrowserController>();
  readonly #launched = new WeakMap<BrowserController, LaunchedBrowser>();
  readonly #given: PlaywrightPoolOptions;
  #launchContext: LaunchContext | undefined;

  constructor(
    given: PlaywrightPoolOptions & BrowserPoolHooks = {},
    launchContext: PlaywrightLaunchContext = {},
    config: Configuration = Configuration.getGlobalConfig(),
  ) {
    const { launcher: _launcher, cdpUrl: _cdp, ...context } = launchContext;
    const plugin = new PlaywrightLauncher(context, config).createBrowserPlugin();
    // The crawler's own browsers show fingerprints by themselves.
    const defined = Object.entries(given).filter(([, value]) => value !== undefined);
    super({ ...(Object.fromEntries(defined) as BrowserPoolHooks), browserPlugins: [plugin], useFingerprints: false });
    this.#given = given;
  }

  /** The options of a crawler whose browsers this pool shows. */
  get crawlerOptions(): PlaywrightPoolOptions {
    const { prePageCloseHooks = [], postPageCloseHooks = [], reusePages } = this.#given;
    return {
      ...this.#given,
      reusePages: reusePages ?? prePageCloseHooks.length + postPageCloseHooks.length === 0,
      preLaunchHooks: [(pageId, { launchOptions }) => this.#beforeLaunch(pageId, launchOptions as Dictionary)],
      postLaunchHooks: [(pageId, launched) => this.#afterLaunch(pageId, launched)],
      prePageCreateHooks: [(pageId, launched) => this.#beforePage(pageId, launched)],
      postPageCreateHooks: [(page, launched, pageId) => this.#afterPage(page, launched, pageId)],
      prePageCloseHooks: [(page, launched) => this.#beforeClose(page, launched)],
      postPageCloseHooks: [(pageId, launched) => this.#afterClose(pageId, launched)],
      onRetire: (launched) => super.retireBrowserController(this.#controllerOf(launched)),
    };
  }

  override retireBrowserController(controller: BrowserController): void {
    super.retireBrowserController(controller);
    this.#launched.get(controller)?.retire();
  }

  async #beforeLaunch(pageId: string, launchOptions: Dictionary): Promise<void> {
    const context = this.browserPlugins[0]!.createLaunchContext({ id: pageId });
    context.launchOptions = launchOptions;
    this.#launchContext = context;
    await this._executeHooks(this.preLaunchHooks, pageId, context);
    // Whoever gave the context other options meant the browser's.
    if (context.launchOptions !== launchOptions) Object.assign(launchOptions, context.launchOptions);
  }

  #controllerOf(launched: LaunchedBrowser): BrowserController {
    const known = this.#controllers.get(launched);
    if (known) return known;
    const [plugin] = this.browserPlugins;
    const controller = plugin!.createController();
    this.#controllers.set(launched, controller);
    this.#launched.set(controller, launched);
    if (launched.browser) {
      controller.assignBrowser(launched.browser as never, this.#launchContext ?? plugin!.createLaunchContext());
      controller.activate();
      launched.browser.on('disconnected', () => {
        controller.isActive = false;
        controller.emit(BROWSER_CONTROLLER_EVENTS.BROWSER_CLOSED, controller);
        this.activeBrowserControllers.delete(controller);
        this.retiredBrowserControllers.delete(controller);
        this.emit(BROWSER_POOL_EVENTS.BROWSER_CLOSED, controller);
      });
    }
    return controller;
  }

  async #afterLaunch(pageId: string, launched: LaunchedBrowser): Promise<void> {
    const controller = this.#controllerOf(launched);
    this.activeBrowserControllers.add(controller);
    await this._executeHooks(this.postLaunchHooks, pageId, controller);
    this.emit(BROWSER_POOL_EVENTS.BROWSER_LAUNCHED, controller);
  }

  async #beforePage(pageId: string, launched: LaunchedBrowser): Promise<void> {
    this.pageCounter++;
    await this._executeHooks(this.prePageCreateHooks, pageId, this.#controllerOf(launched));
  }

  async #afterPage(page: Page, launched: LaunchedBrowser, pageId: string): Promise<void> {
    const controller = this.#controllerOf(launched);
    const common = page as unknown as CommonPage;
    controller.activePages++;
    controller.totalPages++;
    controller.lastPageOpenedAt = Date.now();
    this.pages.set(pageId, common);
    this.pageIds.set(common, pageId);
    this.pageToBrowserController.set(common, controller);
    await this._executeHooks(this.postPageCreateHooks, common, controller);
    this.emit(BROWSER_POOL_EVENTS.PAGE_CREATED, common);
  }

  async #beforeClose(page: Page, launched: LaunchedBrowser): Promise<void> {
    await this._executeHooks(this.prePageCloseHooks, page as unknown as CommonPage, this.#controllerOf(launched));
  }

  async #afterClose(pageId: string, launched: LaunchedBrowser): Promise<void> {
    const controller = this.#controllerOf(launched);
    controller.activePages--;
    await this._executeHooks(this.postPageCloseHooks, pageId, controller);
    const page = this.pages.get(pageId);
    this.pages.delete(pageId);
    this.emit(BROWSER_POOL_EVENTS.PAGE_CLOSED, page);
  }
}
