// The options of crawlers that use a browser: types, shapes, and how they become a plan for the browser pool.
// Promise: invalid options are reported before anything starts; Crawlee's names, ours where the JSDoc says "ours".
import type { RenderingMemory } from '../navigate/rendering.js';
import { randomUUID } from 'node:crypto';
import type { Configuration } from '../../configuration.js';
import type { LaunchPlan } from '../../fetch/browser/launch.js';
import type { BrowserPoolOptions, LaunchedBrowser } from '../../fetch/browser/pool-options.js';
import type { BrowserContextOptions, BrowserType, LaunchOptions, Page } from '../../fetch/browser/playwright-types.js';
import type {
  AdaptivePlaywrightCrawlingContext,
  PlaywrightCrawlingContext,
  PlaywrightHook,
} from '../../handle/browser-context.js';
import type { CrawlingContext } from '../../handle/context.js';
import {
  aBoolean,
  aFilledString,
  aFunction,
  anObject,
  anyOf,
  arrayOf,
  aNumber,
  aProxyUrl,
} from '../../option-checks.js';
import { aWholeNumber, check, findProblems, oneOf, type Shape, withoutEffect } from '../../option-checks.js';
import type { FingerprintOptions } from '../../session/identity/fingerprints.js';
import { log } from '../../observe/log.js';
import { parseUrl } from '../../request/url.js';
import type { BasicCrawlerOptions, HttpCrawlerOptions } from '../options/options-types.js';
import { ACTIONS_SHAPE, actionConflicts, type PageActions } from './page-actions.js';

/** How browsers are started. */
export interface PlaywrightLaunchContext {
  /** Your own Playwright's `chromium`. Default: that of the package playwright-core. */
  launcher?: BrowserType | undefined;
  /** Playwright's launch options: `executablePath`, `args`, …, and those of contexts: `locale`, `viewport`, … */
  launchOptions?: (LaunchOptions & BrowserContextOptions) | undefined;
  /** Uses Google Chrome as installed. Default false: the first browser that is found. */
  useChrome?: boolean | undefined;
  /** Visits share nothing, even within a session. Default false. */
  useIncognitoPages?: boolean | undefined;
  /** A profile on disk that keeps log-ins. All visits share it. */
  userDataDir?: string | undefined;
  /** One proxy for all visits; `proxyConfiguration` chooses per session. */
  proxyUrl?: string | undefined;
  /** Sent and seen by scripts in place of the browser's own. */
  userAgent?: string | undefined;
  /** A running browser to connect to, such as `http://127.0.0.1:9222` (ours). */
  cdpUrl?: string | undefined;
  /** From Crawlee, without effect: every session has a context with its own proxy. */
  browserPerProxy?: boolean | undefined;
  /** From Crawlee, without effect: every session has its own context. */
  experimentalContainers?: boolean | undefined;
  /** From Crawlee, without effect: certificates of proxies are checked. */
  ignoreProxyCertificate?: boolean | undefined;
}

type PageHook = (page: Page, browser: LaunchedBrowser, pageId: string) => unknown;
type PageIdHook = (pageId: string, browser: LaunchedBrowser) => unknown;

/** How many pages a browser has, and how long it lives. */
export interface PlaywrightPoolOptions {
  /** Default 20. */
  maxOpenPagesPerBrowser?: number | undefined;
  /** Default 500. */
  retireBrowserAfterPageCount?: number | undefined;
  /** Default 60. */
  closeInactiveBrowserAfterSecs?: number | undefined;
  /** Whether a page serves one visit of its session after another (ours). Default true, false with hooks of closing. */
  reusePages?: boolean | undefined;
  /** Called before a browser is started; may change the launch options in place. */
  preLaunchHooks?: readonly ((pageId: string, launchContext: { launchOptions: LaunchOptions }) => unknown)[];
  /** Called when a browser was started. */
  postLaunchHooks?: readonly PageIdHook[] | undefined;
  /** Called when a browser gets no more pages (ours). */
  onRetire?: ((browser: LaunchedBrowser) => unknown) | undefined;
  /** Called before a page is opened; one that is used again is not. */
  prePageCreateHooks?: readonly PageIdHook[] | undefined;
  /** Called with every new page; one that is used again is not new. */
  postPageCreateHooks?: readonly PageHook[] | undefined;
  /** Called after a page's visit, before it is closed. */
  prePageCloseHooks?: readonly PageHook[] | undefined;
  /** Called when a page was closed. */
  postPageCloseHooks?: readonly PageIdHook[] | undefined;
  /**
   * Shows every session's pages as another browser, by the packages fingerprint-generator and fingerprint-injector. Default
   * false: browsers show themselves as they are.
   */
  useFingerprints?: boolean | undefined;
  /** Which browsers pages pretend to be in. */
  fingerprintOptions?: FingerprintOptions | undefined;
  /** From Crawlee, without effect: operations of the pool have their own limits. */
  operationTimeoutSecs?: number | undefined;
  /** From Crawlee, without effect: see `closeInactiveBrowserAfterSecs`. */
  retireInactiveBrowserAfterSecs?: number | undefined;
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
  /** How browsers are started. */
  launchContext?: PlaywrightLaunchContext | undefined;
  /** How many pages a browser may have, and when it is replaced. */
  browserPoolOptions?: PlaywrightPoolOptions | undefined;
  /**
   * What is done with every page before hooks and the handler get it (ours): scripts, waits, scrolling. The
   * AdaptivePlaywrightCrawler waits up to 5 seconds until the text of a page that needs the browser settles.
   */
  pageOptions?: PageActions | undefined;
  /** `parseWithCheerio` leaves out what is in frames. Default false. */
  ignoreIframes?: boolean | undefined;
  /** `parseWithCheerio` leaves out what is in shadow roots. Default false. */
  ignoreShadowRoots?: boolean | undefined;
}

/**
 * All options of an `AdaptivePlaywrightCrawler`; those of Crawlee's that decide how pages are judged have no effect, but in
 * `orcrawl/crawlee`.
 */
export interface AdaptivePlaywrightCrawlerOptions<
  Context extends CrawlingContext = AdaptivePlaywrightCrawlingContext,
> extends PlaywrightCrawlerOptions<Context> {
  /** From Crawlee, without effect: pages are judged by their bytes. */
  renderingTypeDetectionRatio?: number | undefined;
  /** From Crawlee, without effect. */
  renderingTypePredictor?: object | undefined;
  /** From Crawlee, without effect: a page is handled once. */
  resultChecker?: ((result: never) => unknown) | undefined;
  /** From Crawlee, without effect: a page is handled once. */
  resultComparator?: ((first: never, second: never) => unknown) | undefined;
  /** From Crawlee, without effect. */
  shouldPropagateError?: ((error: never) => unknown) | undefined;
  /** From Crawlee, without effect. */
  preventDirectStorageAccess?: boolean | undefined;
  /** @internal Says which pages need a browser, in place of what was learned from their bytes. */
  renderingMemory?: RenderingMemory | undefined;
}

/** The checks of the options that only browser crawlers have. */
export const PLAYWRIGHT_ONLY = {
  headless: anyOf(aBoolean, oneOf(['new', 'old'])),
  launchContext: anObject,
  browserPoolOptions: anObject,
  pageOptions: anObject,
  ignoreIframes: aBoolean,
  ignoreShadowRoots: aBoolean,
} as const;

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
  proxyUrl: aProxyUrl,
  userAgent: aFilledString,
  cdpUrl: aCdpUrl,
  browserPerProxy: withoutEffect('every session has a context with its own proxy'),
  experimentalContainers: withoutEffect('every session has its own context'),
  ignoreProxyCertificate: withoutEffect('certificates of proxies are checked'),
};
const POOL_SHAPE: Shape = {
  maxOpenPagesPerBrowser: aWholeNumber({ from: 1 }),
  retireBrowserAfterPageCount: aWholeNumber({ from: 1 }),
  closeInactiveBrowserAfterSecs: aNumber({ above: 0 }),
  reusePages: aBoolean,
  preLaunchHooks: arrayOf(aFunction),
  postLaunchHooks: arrayOf(aFunction),
  postPageCreateHooks: arrayOf(aFunction),
  prePageCreateHooks: arrayOf(aFunction),
  prePageCloseHooks: arrayOf(aFunction),
  postPageCloseHooks: arrayOf(aFunction),
  onRetire: aFunction,
  operationTimeoutSecs: withoutEffect('pool operations have their own limits'),
  retireInactiveBrowserAfterSecs: withoutEffect('see closeInactiveBrowserAfterSecs'),
  useFingerprints: aBoolean,
  fingerprintOptions: anObject,
};

const FINGERPRINT_SHAPE: Shape = {
  fingerprintGeneratorOptions: anObject,
  useFingerprintCache: aBoolean,
  fingerprintCacheSize: aWholeNumber({ from: 1 }),
};

export function findBrowserProblems(owner: string, given: PlaywrightCrawlerOptions): string[] {
  return [
    ...findProblems(`${owner} launchContext`, given.launchContext, LAUNCH_SHAPE),
    ...findProblems(`${owner} browserPoolOptions`, given.browserPoolOptions, POOL_SHAPE),
    ...findProblems(`${owner} fingerprintOptions`, given.browserPoolOptions?.fingerprintOptions, FINGERPRINT_SHAPE),
    ...findProblems(`${owner} pageOptions`, given.pageOptions, ACTIONS_SHAPE),
    ...actionConflicts(`${owner} pageOptions`, given.pageOptions ?? {}),
  ];
}

/** The browser's part of a crawler's options, frozen with them. */
export interface BrowserCrawlOptions {
  readonly headless: boolean | undefined;
  readonly launchContext: PlaywrightLaunchContext;
  readonly pool: PlaywrightPoolOptions;
  readonly page: PageActions;
  readonly ignoreIframes: boolean;
  readonly ignoreShadowRoots: boolean;
  /** In place of the adaptive crawler's own. */
  readonly renderingMemory: RenderingMemory | undefined;
}

export function browserCrawlOptions(given: PlaywrightCrawlerOptions): BrowserCrawlOptions {
  const { headless, launchContext, browserPoolOptions, pageOptions, ignoreIframes, ignoreShadowRoots } = given;
  return Object.freeze({
    headless: headless === undefined ? launchContext?.launchOptions?.headless : headless !== false,
    launchContext: Object.freeze({ ...launchContext }),
    pool: Object.freeze({ ...browserPoolOptions }),
    page: Object.freeze({ ...pageOptions }),
    ignoreIframes: ignoreIframes ?? false,
    ignoreShadowRoots: ignoreShadowRoots ?? false,
    renderingMemory: (given as AdaptivePlaywrightCrawlerOptions).renderingMemory,
  });
}

export interface PoolSettings {
  readonly allowPrivateAddresses: boolean | readonly string[];
  readonly ignoreTlsErrors: boolean;
  /** Only if the user named one: browsers have their own. */
  readonly userAgent: string | undefined;
}

/** Root cannot use Chromium's sandbox, and an explicit setting is respected. */
export function mayUseSandbox(config: Configuration): boolean {
  return process.getuid?.() !== 0 && !config.get('disableBrowserSandbox');
}

/** What Crawlee's scripts put among the launch options, since its pages share a context that is launched with the browser. */
const OF_CONTEXTS = [
  'acceptDownloads',
  'bypassCSP',
  'colorScheme',
  'deviceScaleFactor',
  'extraHTTPHeaders',
  'geolocation',
  'hasTouch',
  'httpCredentials',
  'isMobile',
  'javaScriptEnabled',
  'locale',
  'permissions',
  'reducedMotion',
  'screen',
  'timezoneId',
  'viewport',
] as const satisfies readonly (keyof BrowserContextOptions)[];

/** The options of contexts among those of the launch. */
function contextPart(launchOptions: object): BrowserContextOptions {
  const found = Object.entries(launchOptions).filter(([name]) => (OF_CONTEXTS as readonly string[]).includes(name));
  return Object.fromEntries(found);
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
      ...contextPart(launchOptions),
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
    reusePages: pool.reusePages ?? !(pool.prePageCloseHooks?.length || pool.postPageCloseHooks?.length),
    ...pageHooks(pool, launchOptions),
  };
}

/** The hooks of the options as those of the pool. A page has an id from before it is opened until it is closed. */
function pageHooks(pool: PlaywrightPoolOptions, launchOptions: LaunchOptions): Partial<BrowserPoolOptions> {
  const idOf = new WeakMap<Page, string>();
  return {
    onRetire: pool.onRetire,
    beforeLaunch: async () => {
      for (const hook of pool.preLaunchHooks ?? []) await hook(randomUUID(), { launchOptions });
    },
    onLaunch: async (launched) => {
      for (const hook of pool.postLaunchHooks ?? []) await hook(randomUUID(), launched);
    },
    beforePage: async (launched) => {
      const id = randomUUID();
      for (const hook of pool.prePageCreateHooks ?? []) await hook(id, launched);
      return id;
    },
    onPage: async (page, _context, launched, said) => {
      const id = said as string;
      idOf.set(page, id);
      for (const hook of pool.postPageCreateHooks ?? []) await hook(page, launched, id);
    },
    ...(pool.prePageCloseHooks && {
      beforePageClose: (page: Page, launched: LaunchedBrowser) =>
        callAll(pool.prePageCloseHooks, page, launched, idOf.get(page)!),
    }),
    ...(pool.postPageCloseHooks && {
      afterPageClose: (page: Page, launched: LaunchedBrowser) =>
        callAll(pool.postPageCloseHooks, idOf.get(page)!, launched, idOf.get(page)!),
    }),
  };
}

/** Hooks of closing cannot fail a visit that has ended. */
async function callAll<T>(
  hooks: readonly ((subject: T, launched: LaunchedBrowser, pageId: string) => unknown)[] | undefined,
  subject: T,
  launched: LaunchedBrowser,
  pageId: string,
): Promise<void> {
  for (const hook of hooks ?? []) {
    try {
      await hook(subject, launched, pageId);
    } catch (error) {
      log.exception(error as Error, 'a hook of a closing page threw');
    }
  }
}

function chromePath({ useChrome }: PlaywrightLaunchContext, config: Configuration): string | undefined {
  return useChrome ? config.get('chromeExecutablePath') : undefined;
}
