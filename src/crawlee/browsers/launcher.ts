// Crawlee's launchers: how a launch context becomes a plugin, and a browser.
import { existsSync } from 'node:fs';
import { Configuration } from '../../configuration.js';
import type { PlaywrightLaunchContext } from '../../crawl/browser/playwright-options.js';
import { launchPlaywright } from '../../crawl/browser/playwright-tools.js';
import { CrawlError } from '../../errors.js';
import { isProxyUrl, PROXY_PROTOCOLS } from '../../request/proxy-url.js';
import type { Dictionary } from '../../request/request.js';
import { parseUrl } from '../../request/url.js';
import { PlaywrightPlugin } from './playwright.js';
import type { BrowserPlugin, BrowserPluginOptions } from './plugin.js';
import type { CommonBrowser, CommonLibrary } from './types.js';

/** How a browser is launched, whatever the library. */
export interface LauncherContext extends BrowserPluginOptions {
  launcher?: CommonLibrary;
  useChrome?: boolean;
  userAgent?: string;
}
type PluginClass<Plugin extends BrowserPlugin> = new (library: CommonLibrary, options?: BrowserPluginOptions) => Plugin;

const VIEWPORT = { width: 1366, height: 768 };
const CHROME_PATHS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  win32: 'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
};

/**
 * The base of launchers; `PlaywrightLauncher` is one.
 *
 * @example
 * class MyLauncher extends BrowserLauncher<MyPlugin> {
 *   Plugin = MyPlugin;
 * }
 */
export abstract class BrowserLauncher<Plugin extends BrowserPlugin = BrowserPlugin> {
  launcher: CommonLibrary;
  proxyUrl: string | undefined;
  useChrome: boolean | undefined;
  launchOptions: Dictionary;
  otherLaunchContextProps: Dictionary;
  userAgent: string | undefined;
  abstract Plugin: PluginClass<Plugin>;

  constructor(
    launchContext: LauncherContext,
    readonly config: Configuration = Configuration.getGlobalConfig(),
  ) {
    const { launcher, proxyUrl, useChrome, userAgent, launchOptions = {}, ...others } = launchContext;
    this._validateProxyUrlProtocol(proxyUrl);
    this.launcher = launcher!;
    this.proxyUrl = proxyUrl;
    this.useChrome = useChrome;
    this.userAgent = userAgent;
    this.launchOptions = launchOptions;
    this.otherLaunchContextProps = others;
  }

  /** A package of the user's project, with advice when it is missing. */
  static requireLauncherOrThrow<T>(launcher: string, _image?: string): T {
    throw new CrawlError('BROWSER_MISSING', `${launcher} is not loaded here: give it as "launcher"`);
  }

  createBrowserPlugin(): Plugin {
    const { launcher, proxyUrl, otherLaunchContextProps } = this;
    return new this.Plugin(launcher, {
      ...(proxyUrl === undefined ? {} : { proxyUrl }),
      launchOptions: this.createLaunchOptions(),
      ...otherLaunchContextProps,
    });
  }

  async launch(): Promise<CommonBrowser> {
    const plugin = this.createBrowserPlugin();
    return plugin.launch(plugin.createLaunchContext());
  }

  /** What the user gave wins; the context and the configuration fill in the rest. */
  createLaunchOptions(): Dictionary {
    const { launchOptions: given, config, userAgent } = this;
    const switches = {
      '--no-sandbox': config.get('disableBrowserSandbox') === true,
      [`--user-agent=${userAgent}`]: Boolean(userAgent),
    };
    const added = Object.keys(switches).filter((name) => switches[name]);
    const chrome = this.useChrome && given['executablePath'] == null;
    return {
      defaultViewport: VIEWPORT,
      ...given,
      args: [...((given['args'] as string[] | undefined) ?? []), ...added],
      headless: given['headless'] ?? this._getDefaultHeadlessOption(),
      ...(chrome ? { executablePath: this._getChromeExecutablePath() } : {}),
    };
  }

  protected _getDefaultHeadlessOption(): boolean {
    return this.config.get('headless') !== false && !this.config.get('xvfb');
  }

  protected _getChromeExecutablePath(): string {
    return this.config.get('chromeExecutablePath') ?? this._getTypicalChromeExecutablePath();
  }

  protected _getTypicalChromeExecutablePath(): string {
    const usual = CHROME_PATHS[process.platform];
    if (usual !== undefined) return usual;
    return ['/usr/bin/google-chrome', '/usr/bin/chromium'].find((path) => existsSync(path)) ?? '/usr/bin/google-chrome';
  }

  protected _validateProxyUrlProtocol(proxyUrl?: string): void {
    if (proxyUrl === undefined) return;
    const url = parseUrl(proxyUrl);
    if (url && (isProxyUrl(url) || url.protocol === 'socks4:')) return;
    throw new CrawlError('OPTION_INVALID', `Invalid "proxyUrl": it must be an ${PROXY_PROTOCOLS} URL`);
  }
}

/** Chromium as crawlers find it, loaded when the first browser is launched. */
const FOUND_CHROMIUM: CommonLibrary = {
  name: () => 'chromium',
  launch: (launchOptions = {}) => launchPlaywright({ launchOptions: playwrightOptions(launchOptions) }),
};

/** The viewport is Puppeteer's; pages of Playwright have their own. */
function playwrightOptions({ defaultViewport: _viewport, ...options }: Dictionary): Dictionary {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/**
 * Launches browsers of Playwright as Crawlee does; crawlers have their own way.
 *
 * @example
 * const browser = await new PlaywrightLauncher({ launchOptions: { headless: true } }).launch();
 * await browser.close?.();
 */
export class PlaywrightLauncher extends BrowserLauncher<PlaywrightPlugin> {
  override Plugin: PluginClass<PlaywrightPlugin> = PlaywrightPlugin;

  constructor(launchContext: PlaywrightLaunchContext = {}, config: Configuration = Configuration.getGlobalConfig()) {
    const { launcher = FOUND_CHROMIUM, launchOptions = {}, ...rest } = launchContext as LauncherContext;
    const executablePath =
      launchOptions['executablePath'] ?? (rest.useChrome ? undefined : config.get('defaultBrowserPath'));
    super({ ...rest, launcher, launchOptions: { ...launchOptions, executablePath } }, config);
  }
}
