// A controller owns one browser of a pool: its pages, its cookies, its end.
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { CrawlError } from '../../errors.js';
import { log } from '../../observe/log.js';
import type { Dictionary } from '../../request/request.js';
import type { CookieObject } from '../../session/cookies.js';
import type { LaunchContext } from './launch-context.js';
import type { BrowserPlugin } from './plugin.js';
import { BROWSER_CONTROLLER_EVENTS, type CommonBrowser, type CommonPage } from './types.js';

const CLOSE_LIMIT_MS = 5_000;

/**
 * The base of controllers; a plugin makes them.
 *
 * @example
 * const controller = pool.getBrowserControllerByPage(page);
 * await controller?.setCookies(page, [{ name: 'a', value: '1', url: 'https://example.com' }]);
 */
export abstract class BrowserController extends EventEmitter {
  id = randomUUID() as string;
  browser!: CommonBrowser;
  launchContext!: LaunchContext;
  proxyTier: number | undefined;
  proxyUrl: string | undefined;
  isActive = false;
  activePages = 0;
  totalPages = 0;
  lastPageOpenedAt = Date.now();
  #activate!: () => void;
  #commit!: () => void;
  readonly #activated = new Promise<void>((resolve) => (this.#activate = resolve));
  readonly #launched = new Promise<void>((resolve) => (this.#commit = resolve));

  constructor(readonly browserPlugin: BrowserPlugin) {
    super();
  }

  /** Pages may be opened from now on. */
  activate(): void {
    if (!this.browser) throw new Error('Cannot activate BrowserController without an assigned browser.');
    this.isActive = true;
    this.#activate();
  }

  assignBrowser(browser: CommonBrowser, launchContext: LaunchContext): void {
    if (this.browser) throw new Error('BrowserController already has a browser instance assigned.');
    this.browser = browser;
    this.launchContext = launchContext;
    this.proxyTier = launchContext.proxyTier;
    this.proxyUrl = launchContext.proxyUrl;
    this.#commit();
  }

  /** Closes the browser; one that does not close is killed. */
  async close(): Promise<void> {
    await this.#launched;
    await this._close().catch((error: unknown) => log.debug(`cannot close browser ${this.id}: ${String(error)}`));
    this.isActive = false;
    this.emit(BROWSER_CONTROLLER_EVENTS.BROWSER_CLOSED, this);
    setTimeout(() => void this._kill().catch(() => undefined), CLOSE_LIMIT_MS).unref();
  }

  async kill(): Promise<void> {
    await this.#launched;
    await this._kill();
    this.isActive = false;
    this.emit(BROWSER_CONTROLLER_EVENTS.BROWSER_CLOSED, this);
  }

  async newPage(pageOptions?: Dictionary): Promise<CommonPage> {
    this.activePages++;
    this.totalPages++;
    await this.#activated;
    const page = await this._newPage(pageOptions).catch((error: unknown) => {
      this.activePages--;
      throw error;
    });
    this.lastPageOpenedAt = Date.now();
    return page;
  }

  async setCookies(page: CommonPage, cookies: CookieObject[]): Promise<void> {
    return this._setCookies(page, cookies);
  }

  async getCookies(page: CommonPage): Promise<CookieObject[]> {
    return this._getCookies(page);
  }

  protected abstract _close(): Promise<void>;
  protected abstract _kill(): Promise<void>;
  protected abstract _newPage(pageOptions?: Dictionary): Promise<CommonPage>;
  protected abstract _setCookies(page: CommonPage, cookies: CookieObject[]): Promise<void>;
  protected abstract _getCookies(page: CommonPage): Promise<CookieObject[]>;
  /** A proxy in the form that the library's pages take. */
  abstract normalizeProxyOptions(proxyUrl: string | undefined, pageOptions: unknown): Record<string, unknown>;
}

/** Options of a page would change the context that all pages of the browser share. */
export function sharedContextError(): CrawlError {
  return new CrawlError(
    'OPTION_INVALID',
    'A new page can be created with provided context only when using incognito pages or experimental containers.',
  );
}
