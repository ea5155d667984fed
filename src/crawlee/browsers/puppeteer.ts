// Puppeteer's part of a BrowserPool: launching, pages, cookies. The library itself is the caller's; crawlers use Playwright.
// Promise: a proxy with a login works, though Chromium takes none: a local relay sends it, and ends with its browser or page.
import type { Dictionary } from '../../request/request.js';
import type { CookieObject } from '../../session/cookies.js';
import { anonymizeProxySugar } from './anonymize-proxy.js';
import { BrowserController, sharedContextError } from './controller.js';
import type { LaunchContext } from './launch-context.js';
import { BrowserPlugin } from './plugin.js';
import { proxyPartsOf } from './proxy-parts.js';
import type { CommonBrowser, CommonPage } from './types.js';

/** A page in a context of its own. */
export interface PuppeteerNewPageOptions extends Dictionary {
  proxyServer?: string;
  proxyUsername?: string;
  proxyPassword?: string;
  proxyBypassList?: string[];
}

interface Page extends CommonPage {
  cookies(): Promise<CookieObject[]>;
  setCookie(...cookies: CookieObject[]): Promise<void>;
}
interface Context {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}
interface Browser extends CommonBrowser {
  createBrowserContext?(options: Dictionary): Promise<Context>;
  /** What older versions call it. */
  createIncognitoBrowserContext?(options: Dictionary): Promise<Context>;
  process?(): { kill(signal: string): boolean } | null;
}

/**
 * Pages and cookies of a browser of Puppeteer.
 *
 * @example
 * const controller = new PuppeteerController(new PuppeteerPlugin(puppeteer));
 */
export class PuppeteerController extends BrowserController {
  override normalizeProxyOptions(proxyUrl: string | undefined, _pageOptions: unknown): Record<string, unknown> {
    if (!proxyUrl) return {};
    const { server, username, password } = proxyPartsOf(proxyUrl);
    return {
      proxyServer: server,
      ...(username === undefined ? {} : { proxyUsername: username }),
      ...(password === undefined ? {} : { proxyPassword: password }),
    };
  }

  protected override async _newPage(pageOptions?: PuppeteerNewPageOptions): Promise<CommonPage> {
    if (this.launchContext.useIncognitoPages) return this.#newContextPage(pageOptions ?? {});
    if (pageOptions !== undefined) throw sharedContextError();
    const page = (await this.browser.newPage()) as Page;
    this.#whenClosed(page, async () => undefined);
    return page;
  }

  async #newContextPage(options: PuppeteerNewPageOptions): Promise<Page> {
    const { proxyUsername, proxyPassword, ...contextOptions } = options;
    const [relay, closeRelay] = await anonymizeProxySugar(contextOptions.proxyServer, proxyUsername, proxyPassword);
    try {
      const context = await newContext(this.browser as Browser, {
        ...contextOptions,
        ...(relay === undefined ? {} : { proxyServer: relay }),
      });
      const page = await context.newPage();
      this.#whenClosed(page, async () => {
        // The browser may have ended before.
        await context.close().catch(() => undefined);
        await closeRelay();
      });
      return page;
    } catch (error) {
      await closeRelay();
      throw error;
    }
  }

  #whenClosed(page: Page, cleanUp: () => Promise<void>): void {
    page.once?.('close', () => {
      this.activePages--;
      void cleanUp();
    });
  }

  protected override async _close(): Promise<void> {
    await this.browser.close?.();
  }

  protected override async _kill(): Promise<void> {
    const child = (this.browser as Browser).process?.();
    if (child) child.kill('SIGKILL');
    else await this.browser.close?.();
  }

  protected override async _getCookies(page: CommonPage): Promise<CookieObject[]> {
    return (page as Page).cookies();
  }

  protected override async _setCookies(page: CommonPage, cookies: CookieObject[]): Promise<void> {
    await (page as Page).setCookie(...cookies);
  }
}

function newContext(browser: Browser, options: Dictionary): Promise<Context> {
  if (browser.createBrowserContext) return browser.createBrowserContext(options);
  return browser.createIncognitoBrowserContext!(options);
}

/**
 * Launches browsers of Puppeteer for a BrowserPool.
 *
 * @example
 * const pool = new BrowserPool({ browserPlugins: [new PuppeteerPlugin(puppeteer)] });
 */
export class PuppeteerPlugin extends BrowserPlugin {
  protected override async _launch(launchContext: LaunchContext): Promise<CommonBrowser> {
    const { launchOptions, userDataDir, proxyUrl } = launchContext;
    const [relay, closeRelay] = await anonymizeProxySugar(proxyUrl);
    const args = [...((launchOptions['args'] as string[] | undefined) ?? [])];
    if (proxyUrl) args.push(`--proxy-server=${relay ?? proxyUrl}`);
    try {
      const folder = userDataDir === '' ? {} : { userDataDir };
      const browser = (await this.library.launch({ ...launchOptions, ...folder, args })) as CommonBrowser;
      browser.once?.('disconnected', () => void closeRelay());
      return browser;
    } catch (cause) {
      await closeRelay();
      return this._throwAugmentedLaunchError(cause, launchOptions['executablePath'] as string | undefined);
    }
  }

  protected override _createController(): BrowserController {
    return new PuppeteerController(this);
  }

  /** Chromium's switch cannot hold a login: the proxy is added at the launch, by way of a relay if it has one. */
  protected override async _addProxyToLaunchOptions(): Promise<void> {}

  protected override _isChromiumBasedBrowser(): boolean {
    return (this.library.product ?? 'chrome') === 'chrome';
  }
}
