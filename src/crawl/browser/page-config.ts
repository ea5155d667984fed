// The options of WebCrawler that need a browser: how it is started, and what one URL asks of its page.
// Promise: an invalid option is reported before anything starts; without a browser each of them is rejected by name.
import type { Configuration } from '../../configuration.js';
import { SEEN_ONLY } from '../../fetch/browser/live-page.js';
import type { BrowserPoolOptions } from '../../fetch/browser/pool-options.js';
import type { BrowserContextOptions, Page } from '../../fetch/browser/playwright-types.js';
import {
  aBoolean,
  aFilledString,
  aFunction,
  anObject,
  anyOf,
  aProxyUrl,
  arrayOf,
  aString,
  aWholeNumber,
} from '../../option-checks.js';
import { findProblems, oneOf, refused, type Shape, type ShapeOf } from '../../option-checks.js';
import { ACTIONS_SHAPE, actionConflicts, type PageActions, stepsOf } from './page-actions.js';
import { mayUseSandbox } from './playwright-options.js';

/** What a URL asks of the page it is loaded in. */
export interface PageConfig extends PageActions {
  /** A live page of this name, with its own cookies and state, which later calls use again. */
  sessionId?: string;
  /** Runs `jsCode` in the session's page as it is, without loading the URL, which is then only a label. */
  jsOnly?: boolean;
  /** A picture of the whole page, as PNG. */
  screenshot?: boolean;
  /** The page as PDF. */
  pdf?: boolean;
  /** The page with its resources in one file. */
  mhtml?: boolean;
  /** Keeps what the page writes to its console. */
  captureConsole?: boolean;
  /** Keeps the requests of the page. */
  captureNetwork?: boolean;
  /** Called with the live page before its URL is loaded in it. */
  beforeLoad?: PageHook;
  /** Called with the live page after everything else that was asked of it, before it is read. */
  afterLoad?: PageHook;
}

export const PAGE_SHAPE: ShapeOf<PageConfig> = {
  ...ACTIONS_SHAPE,
  sessionId: aFilledString,
  jsOnly: aBoolean,
  screenshot: aBoolean,
  pdf: aBoolean,
  mhtml: aBoolean,
  captureConsole: aBoolean,
  captureNetwork: aBoolean,
  beforeLoad: aFunction,
  afterLoad: aFunction,
};

const needsBrowser = refused('needs a browser: open the WebCrawler with engine "browser" or "auto"');

/** The same options without a browser. */
export const NO_PAGE_SHAPE: Shape = Object.fromEntries(Object.keys(PAGE_SHAPE).map((name) => [name, needsBrowser]));

export function pageConflicts(owner: string, given: PageConfig): string[] {
  const conflicts = actionConflicts(owner, given);
  if (given.jsOnly && given.sessionId === undefined) conflicts.push(`${owner} option "jsOnly" needs a "sessionId"`);
  return conflicts;
}

/** Whether only a browser can do what is asked: then `auto` does not try without. */
export function needsPage(config: PageConfig): boolean {
  const { sessionId, screenshot, pdf, mhtml, scanFullPage, captureConsole, captureNetwork } = config;
  const given = [sessionId, config.beforeLoad, config.afterLoad].some((one) => one !== undefined);
  const wanted = [screenshot, pdf, mhtml, scanFullPage, captureConsole, captureNetwork].some(Boolean);
  return given || wanted || stepsOf(config).length > 0;
}

/** Whether a page may be kept in the cache: not if it is part of a conversation, or a picture was wanted. */
export function isCacheable(config: PageConfig): boolean {
  const { sessionId, beforeLoad, afterLoad } = config;
  const isAlone = [sessionId, beforeLoad, afterLoad].every((one) => one === undefined);
  return isAlone && !stepsOf(config).some((step) => 'js' in step) && !needsArtifacts(config);
}

function needsArtifacts({ screenshot, pdf, mhtml, captureConsole, captureNetwork }: PageConfig): boolean {
  return [screenshot, pdf, mhtml, captureConsole, captureNetwork].some(Boolean);
}

export function blockedTypes(blockResources: PageConfig['blockResources']): readonly string[] {
  if (blockResources === undefined || blockResources === false) return [];
  return blockResources === true ? SEEN_ONLY : blockResources;
}

/** How the browsers of a WebCrawler are started. */
export interface BrowserConfig {
  /** Default true. */
  headless?: boolean;
  /** The same as `verbose` of the WebCrawler. */
  verbose?: boolean;
  /** Only Chromium and its kin. */
  browserType?: 'chromium';
  /** A branded browser: `chrome`, `msedge`. */
  channel?: string;
  /** The browser to start; default: one that is installed. */
  executablePath?: string;
  /** More arguments for the browser. */
  args?: readonly string[];
  /** The size of pages in pixels. */
  viewport?: { width: number; height: number };
  /** Sent and seen by scripts in place of the browser's own. */
  userAgent?: string;
  /** Such as `de-CH`: languages, dates and numbers. */
  locale?: string;
  /** Such as `Europe/Zurich`. */
  timezone?: string;
  /** A proxy (http, https, socks5 or socks5h) for all pages, credentials in the URL. */
  proxy?: string;
  /** Sent with every request of every page, to any host. */
  headers?: Readonly<Record<string, string>>;
  /** Cookies and storages to begin with, as Playwright writes them: a file or the object. */
  storageState?: string | object;
  /** A profile on disk that keeps log-ins across runs. All pages share it. */
  userDataDir?: string;
  /** The same as `userDataDir`, which it needs, or `cdpUrl`. */
  useManagedBrowser?: boolean;
  /** A running browser to connect to, such as `http://127.0.0.1:9222`. */
  cdpUrl?: string;
  /** Accepts any TLS certificate. Default false. */
  ignoreHttpsErrors?: boolean;
  /** Starts the browser without what crawls do not need. */
  lightMode?: boolean;
  /** Loads no images, media and fonts. */
  textMode?: boolean;
  /** Pages of one browser at once (ours). Default 20. */
  maxOpenPagesPerBrowser?: number;
  /** A browser is replaced after this many pages (ours). Default 500. */
  retireAfterPages?: number;
}

const BROWSER_SHAPE: ShapeOf<BrowserConfig> = {
  headless: aBoolean,
  verbose: aBoolean,
  browserType: oneOf(['chromium']),
  channel: aFilledString,
  executablePath: aFilledString,
  args: arrayOf(aString),
  viewport: anObject,
  userAgent: aFilledString,
  locale: aFilledString,
  timezone: aFilledString,
  proxy: aProxyUrl,
  headers: anObject,
  storageState: anyOf(aFilledString, anObject),
  userDataDir: aFilledString,
  useManagedBrowser: aBoolean,
  cdpUrl: aFilledString,
  ignoreHttpsErrors: aBoolean,
  lightMode: aBoolean,
  textMode: aBoolean,
  maxOpenPagesPerBrowser: aWholeNumber({ from: 1 }),
  retireAfterPages: aWholeNumber({ from: 1 }),
};

export function browserProblems(given: BrowserConfig | undefined): string[] {
  const problems = findProblems('WebCrawler browser', given, BROWSER_SHAPE);
  if (given && problems.length === 0) {
    if (given.useManagedBrowser && given.userDataDir === undefined && given.cdpUrl === undefined) {
      problems.push('WebCrawler browser option "useManagedBrowser" needs "userDataDir" or "cdpUrl"');
    }
    if (given.cdpUrl !== undefined && given.userDataDir !== undefined) {
      problems.push(
        'WebCrawler browser options "cdpUrl" and "userDataDir" cannot be combined: a running browser has its own profile',
      );
    }
  }
  return problems;
}

const LIGHT_ARGS = [
  '--disable-extensions',
  '--mute-audio',
  '--disable-gpu',
  '--disable-sync',
  '--disable-default-apps',
];

export function browserPoolOptionsOf(
  browser: BrowserConfig,
  allowPrivateAddresses: boolean | readonly string[],
  config: Configuration,
): BrowserPoolOptions {
  const { viewport, userAgent, locale, timezone, headers, storageState, ignoreHttpsErrors } = browser;
  const contextOptions: BrowserContextOptions = {
    ...(viewport && { viewport }),
    ...(userAgent !== undefined && { userAgent }),
    ...(locale !== undefined && { locale }),
    ...(timezone !== undefined && { timezoneId: timezone }),
    ...(headers && { extraHTTPHeaders: { ...headers } }),
    ...(ignoreHttpsErrors && { ignoreHTTPSErrors: true }),
    // A profile has its own state.
    ...(storageState !== undefined && browser.userDataDir === undefined && { storageState: storageState as string }),
  };
  return {
    launch: {
      headless: browser.headless ?? config.get('headless') ?? true,
      executablePath: browser.executablePath ?? config.get('defaultBrowserPath'),
      channel: browser.channel,
      args: [...(browser.lightMode ? LIGHT_ARGS : []), ...(browser.args ?? [])],
      userDataDir: browser.userDataDir,
      cdpUrl: browser.cdpUrl,
      sandbox: mayUseSandbox(config),
      contextOptions,
    },
    guard: allowPrivateAddresses === true ? false : { allowPrivateAddresses },
    maxOpenPagesPerBrowser: browser.maxOpenPagesPerBrowser,
    retireAfterPages: browser.retireAfterPages,
    // What strangers begin with would be gone after the first wiping.
    keepStrangers: storageState === undefined,
  };
}

/** A hook that is given the live page. */
export type PageHook = (page: Page, visit: { readonly url: string }) => unknown;
