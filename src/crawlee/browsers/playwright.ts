// Playwright's part of a BrowserPool: launching, pages, cookies. The library itself is the caller's.
import { EventEmitter } from 'node:events';
import { CrawlError } from '../../errors.js';
import type { Dictionary } from '../../request/request.js';
import type { CookieObject } from '../../session/cookies.js';
import { BrowserController, sharedContextError } from './controller.js';
import type { LaunchContext } from './launch-context.js';
import { BrowserPlugin } from './plugin.js';
import { proxyPartsOf } from './proxy-parts.js';
import type { CommonBrowser, CommonContext, CommonPage } from './types.js';

/**
 * A persistent context of Playwright that is used as a browser.
 *
 * @example
 * const browser = new PlaywrightBrowser({ browserContext, version: '120' });
 */
export class PlaywrightBrowser extends EventEmitter implements CommonBrowser {
  protected readonly _browserContext: CommonContext;
  readonly #version: string;
  #isConnected = true;

  constructor({ browserContext, version }: { browserContext: CommonContext; version: string }) {
    super();
    this._browserContext = browserContext;
    this.#version = version;
    browserContext.on?.('close', () => {
      this.#isConnected = false;
      this.emit('disconnected');
    });
  }

  async close(): Promise<void> {
    await this._browserContext.close();
  }

  contexts(): CommonContext[] {
    return [this._browserContext];
  }

  isConnected(): boolean {
    return this.#isConnected;
  }

  version(): string {
    return this.#version;
  }

  async newPage(): Promise<CommonPage> {
    return (await this._browserContext.newPage()) as CommonPage;
  }

  async newContext(): Promise<never> {
    throw new CrawlError('OPTION_INVALID', 'newContext() needs useIncognitoPages: true, which gives pages their own');
  }
}

/**
 * Pages and cookies of a browser of Playwright.
 *
 * @example
 * const controller = new PlaywrightController(new PlaywrightPlugin(playwright.chromium));
 */
export class PlaywrightController extends BrowserController {
  /** The proxy as Playwright takes it; what the page's options say of it beside the URL stays. */
  override normalizeProxyOptions(proxyUrl: string | undefined, pageOptions: unknown): Record<string, unknown> {
    if (!proxyUrl) return {};
    const { proxy } = (pageOptions ?? {}) as { proxy?: object };
    return { proxy: { ...proxy, ...proxyPartsOf(proxyUrl) } };
  }

  protected override async _newPage(pageOptions?: Dictionary): Promise<CommonPage> {
    const { useIncognitoPages } = this.launchContext;
    if (pageOptions !== undefined && !useIncognitoPages) throw sharedContextError();
    const page = (await this.browser.newPage(...(useIncognitoPages ? [pageOptions] : []))) as CommonPage;
    page.once?.('close', () => {
      this.activePages--;
    });
    return page;
  }

  protected override async _close(): Promise<void> {
    await this.browser.close?.();
  }

  protected override async _kill(): Promise<void> {
    if (this.browser.isConnected?.() !== false) await this.browser.close?.();
  }

  protected override async _getCookies(page: CommonPage): Promise<CookieObject[]> {
    return (await page.context?.().cookies()) ?? [];
  }

  protected override async _setCookies(page: CommonPage, cookies: CookieObject[]): Promise<void> {
    await page.context?.().addCookies(cookies);
  }
}

/**
 * Launches browsers of Playwright for a BrowserPool.
 *
 * @example
 * const plugin = new PlaywrightPlugin(playwright.chromium, { useIncognitoPages: true });
 */
export class PlaywrightPlugin extends BrowserPlugin {
  protected override async _launch(launchContext: LaunchContext): Promise<CommonBrowser> {
    const { launchOptions, useIncognitoPages, userDataDir } = launchContext;
    try {
      if (useIncognitoPages || !this.library.launchPersistentContext) {
        return (await this.library.launch(launchOptions)) as CommonBrowser;
      }
      const context = (await this.library.launchPersistentContext(userDataDir, launchOptions)) as CommonContext;
      const version = ((context.browser() as CommonBrowser | null)?.version?.() as string | undefined) ?? '';
      return new PlaywrightBrowser({ browserContext: context, version });
    } catch (cause) {
      return this._throwAugmentedLaunchError(cause, launchOptions['executablePath'] as string | undefined);
    }
  }

  protected override _createController(): BrowserController {
    return new PlaywrightController(this);
  }

  protected override async _addProxyToLaunchOptions(launchContext: LaunchContext): Promise<void> {
    launchContext.launchOptions = { ...launchContext.launchOptions, proxy: proxyPartsOf(launchContext.proxyUrl!) };
  }

  protected override _isChromiumBasedBrowser(): boolean {
    return this.library.name?.() === 'chromium';
  }
}
