// The options of crawlers that use a browser: types, shapes, and how they become a plan for the browser pool.
// Promise: what is wrong is named before anything starts; Crawlee's names, ours where the JSDoc says "ours".
import type { Configuration } from '../../configuration.js';
import type { LaunchPlan } from '../../fetch/browser/launch.js';
import type { BrowserPoolOptions } from '../../fetch/browser/pool-options.js';
import type { BrowserType, LaunchOptions, Page } from '../../fetch/browser/playwright-types.js';
import type { PlaywrightCrawlingContext, PlaywrightHook } from '../../handle/browser-context.js';
import type { CrawlingContext } from '../../handle/context.js';
import { aBoolean, aFilledString, aFunction, anObject, anyOf, arrayOf, aNumber } from '../../option-checks.js';
import { aWholeNumber, check, findProblems, oneOf, refused, type Shape, withoutEffect } from '../../option-checks.js';
import { parseUrl } from '../../request/url.js';
import type { BasicCrawlerOptions, HttpCrawlerOptions } from '../options/options-types.js';

/** How browsers are started. */
export interface PlaywrightLaunchContext {
  /** Your own Playwright's `chromium`. Default: that of the package playwright-core. */
  launcher?: BrowserType | undefined;
  /** Playwright's launch options: `executablePath`, `channel`, `args`, `slowMo`, … */
  launchOptions?: LaunchOptions | undefined;
  /** Uses Google Chrome as installed. Default false: the first browser that is found. */
  useChrome?: boolean | undefined;
  /** Every visit is a stranger's: nothing is shared, whatever its session. Default false. */
  useIncognitoPages?: boolean | undefined;
  /** A profile on disk that keeps log-ins. All visits share it. */
  userDataDir?: string | undefined;
  /** One proxy for all visits; `proxyConfiguration` chooses per session. */
  proxyUrl?: string | undefined;
  userAgent?: string | undefined;
  /** A running browser to connect to, such as `http://127.0.0.1:9222` (ours). */
  cdpUrl?: string | undefined;
}

type PageHook = (page: Page) => unknown;

/** How many pages a browser has, and how long it lives. */
export interface PlaywrightPoolOptions {
  /** Default 20. */
  maxOpenPagesPerBrowser?: number | undefined;
  /** Default 500. */
  retireBrowserAfterPageCount?: number | undefined;
  /** Default 60. */
  closeInactiveBrowserAfterSecs?: number | undefined;
  /** Whether a page serves one visit of its session after another (ours). Default true. */
  reusePages?: boolean | undefined;
  /** Called before a browser is started; may change the launch options in place. */
  preLaunchHooks?: readonly ((pageId: string, launchContext: { launchOptions: LaunchOptions }) => unknown)[];
  /** Called when a browser was started. */
  postLaunchHooks?: readonly ((pageId: string, browser: { pid: number | undefined; version: string }) => unknown)[];
  /** Called with every new page; one that is used again is not new. */
  postPageCreateHooks?: readonly PageHook[] | undefined;
}

/** All options of a `PlaywrightCrawler`. */
export interface PlaywrightCrawlerOptions<Context extends CrawlingContext = PlaywrightCrawlingContext>
  extends
    BasicCrawlerOptions<Context>,
    Pick<
      HttpCrawlerOptions<Context>,
      'persistCookiesPerSession' | 'ignoreHttpErrorStatusCodes' | 'additionalHttpErrorStatusCodes'
    > {
  /** Called in order before the navigation, with the page; the second argument may be changed. */
  preNavigationHooks?: readonly PlaywrightHook<Context>[] | undefined;
  /** Called in order after the navigation, before the handler. */
  postNavigationHooks?: readonly PlaywrightHook<Context>[] | undefined;
  /** Longest a navigation may take. Default 60. */
  navigationTimeoutSecs?: number | undefined;
  /** Without a window. Default: the configuration's `headless`, true. */
  headless?: boolean | 'new' | 'old' | undefined;
  launchContext?: PlaywrightLaunchContext | undefined;
  browserPoolOptions?: PlaywrightPoolOptions | undefined;
  /** `parseWithCheerio` leaves out what is in frames. Default false. */
  ignoreIframes?: boolean | undefined;
  /** `parseWithCheerio` leaves out what is in shadow roots. Default false. */
  ignoreShadowRoots?: boolean | undefined;
}

/** The checks of the options that only browser crawlers have. */
export const PLAYWRIGHT_ONLY = {
  headless: anyOf(aBoolean, oneOf(['new', 'old'])),
  launchContext: anObject,
  browserPoolOptions: anObject,
  ignoreIframes: aBoolean,
  ignoreShadowRoots: aBoolean,
} as const;

const aProxy = check('an http or https URL', (value) => /^https?:$/.test(parseUrl(String(value))?.protocol ?? ''));
const aLauncher = check("Playwright's chromium", (value) => {
  const launcher = value as Partial<BrowserType> | undefined;
  return (
    typeof launcher?.launch === 'function' && typeof launcher.name === 'function' && launcher.name() === 'chromium'
  );
});
const aCdpUrl = check('an http(s) or ws(s) URL', (value) =>
  /^(?:https?|wss?):$/.test(parseUrl(String(value))?.protocol ?? ''),
);

const LAUNCH_SHAPE: Shape = {
  launcher: aLauncher,
  launchOptions: anObject,
  useChrome: aBoolean,
  useIncognitoPages: aBoolean,
  userDataDir: aFilledString,
  proxyUrl: aProxy,
  userAgent: aFilledString,
  cdpUrl: aCdpUrl,
  browserPerProxy: withoutEffect('every session has a context with its own proxy'),
  experimentalContainers: withoutEffect('every session has a context of its own'),
};
const POOL_SHAPE: Shape = {
  maxOpenPagesPerBrowser: aWholeNumber({ from: 1 }),
  retireBrowserAfterPageCount: aWholeNumber({ from: 1 }),
  closeInactiveBrowserAfterSecs: aNumber({ above: 0 }),
  reusePages: aBoolean,
  preLaunchHooks: arrayOf(aFunction),
  postLaunchHooks: arrayOf(aFunction),
  postPageCreateHooks: arrayOf(aFunction),
  prePageCreateHooks: refused(
    'is not called: contexts are made per session; use "preLaunchHooks" or "postPageCreateHooks"',
  ),
  prePageCloseHooks: refused('is not called: pages are used again; use the end of your handler'),
  postPageCloseHooks: refused('is not called: pages are used again; use the end of your handler'),
  operationTimeoutSecs: withoutEffect('operations of the pool have limits of their own'),
  retireInactiveBrowserAfterSecs: withoutEffect('see closeInactiveBrowserAfterSecs'),
  useFingerprints: withoutEffect('browsers show themselves as they are'),
  fingerprintOptions: withoutEffect('browsers show themselves as they are'),
};

export function findBrowserProblems(owner: string, given: PlaywrightCrawlerOptions): string[] {
  return [
    ...findProblems(`${owner} launchContext`, given.launchContext, LAUNCH_SHAPE),
    ...findProblems(`${owner} browserPoolOptions`, given.browserPoolOptions, POOL_SHAPE),
  ];
}

/** The browser's part of a crawler's options, frozen with them. */
export interface BrowserCrawlOptions {
  readonly headless: boolean | undefined;
  readonly launchContext: PlaywrightLaunchContext;
  readonly pool: PlaywrightPoolOptions;
  readonly ignoreIframes: boolean;
  readonly ignoreShadowRoots: boolean;
}

export function browserCrawlOptions(given: PlaywrightCrawlerOptions): BrowserCrawlOptions {
  const { headless, launchContext, browserPoolOptions, ignoreIframes, ignoreShadowRoots } = given;
  return Object.freeze({
    headless: headless === undefined ? launchContext?.launchOptions?.headless : headless !== false,
    launchContext: Object.freeze({ ...launchContext }),
    pool: Object.freeze({ ...browserPoolOptions }),
    ignoreIframes: ignoreIframes ?? false,
    ignoreShadowRoots: ignoreShadowRoots ?? false,
  });
}

export interface PoolSettings {
  readonly allowPrivateAddresses: boolean | readonly string[];
  readonly ignoreTlsErrors: boolean;
  /** Only if the user named one: browsers have their own. */
  readonly userAgent: string | undefined;
}

/** Root cannot have Chromium's sandbox, and whoever turned it off knows why. */
export function mayUseSandbox(config: Configuration): boolean {
  return process.getuid?.() !== 0 && !config.get('disableBrowserSandbox');
}

export function poolOptionsOf(
  { headless, launchContext, pool }: BrowserCrawlOptions,
  config: Configuration,
  settings: PoolSettings,
): BrowserPoolOptions {
  const launchOptions: LaunchOptions = { ...launchContext.launchOptions };
  const userAgent = launchContext.userAgent ?? settings.userAgent;
  const launch: LaunchPlan = {
    headless: headless ?? config.get('headless') ?? true,
    executablePath:
      launchOptions.executablePath ?? config.get('defaultBrowserPath') ?? chromePath(launchContext, config),
    channel:
      launchOptions.channel ?? (launchContext.useChrome && !chromePath(launchContext, config) ? 'chrome' : undefined),
    userDataDir: launchContext.userDataDir,
    cdpUrl: launchContext.cdpUrl,
    sandbox: launchOptions.chromiumSandbox ?? mayUseSandbox(config),
    launchOptions,
    launcher: launchContext.launcher,
    contextOptions: {
      ...(userAgent === undefined ? {} : { userAgent }),
      ...(settings.ignoreTlsErrors ? { ignoreHTTPSErrors: true } : {}),
    },
  };
  return {
    launch,
    guard: settings.allowPrivateAddresses === true ? false : { allowPrivateAddresses: settings.allowPrivateAddresses },
    maxOpenPagesPerBrowser: pool.maxOpenPagesPerBrowser,
    retireAfterPages: pool.retireBrowserAfterPageCount,
    closeIdleBrowserMs: pool.closeInactiveBrowserAfterSecs && pool.closeInactiveBrowserAfterSecs * 1000,
    reusePages: pool.reusePages,
    beforeLaunch: async () => {
      for (const hook of pool.preLaunchHooks ?? []) await hook('', { launchOptions });
    },
    onLaunch: async (browser) => {
      for (const hook of pool.postLaunchHooks ?? []) await hook('', browser);
    },
    onPage: async (page) => {
      for (const hook of pool.postPageCreateHooks ?? []) await hook(page);
    },
  };
}

function chromePath({ useChrome }: PlaywrightLaunchContext, config: Configuration): string | undefined {
  return useChrome ? config.get('chromeExecutablePath') : undefined;
}
