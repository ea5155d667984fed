// Crawlee's BrowserCrawler: the base of a team's own crawlers of browsers, which is given plugins.
// Promise: its browsers are those of a PlaywrightCrawler, with their address guard; a plugin only says how to launch them.
import type { Configuration } from '../../configuration.js';
import type { PlaywrightLaunchContext } from '../../crawl/browser/playwright-options.js';
import type { CrawlingContext } from '../../handle/context.js';
import { log as rootLog } from '../../observe/log.js';
import { PlaywrightPlugin } from '../browsers/playwright.js';
import type { BrowserPlugin } from '../browsers/plugin.js';
import { markOwn } from './derived-classes.js';
import {
  PlaywrightCrawler,
  type PlaywrightCrawlerOptions,
  type PlaywrightCrawlingContext,
} from './playwright-crawler.js';

type PoolOptions<Context extends CrawlingContext> = NonNullable<
  PlaywrightCrawlerOptions<Context>['browserPoolOptions']
>;

/** The options of a `BrowserCrawler`: those of a `PlaywrightCrawler`, and plugins. */
export type BrowserCrawlerOptions<Context extends CrawlingContext = PlaywrightCrawlingContext> = Omit<
  PlaywrightCrawlerOptions<Context>,
  'browserPoolOptions'
> & {
  /** The first plugin says how browsers are launched. */
  browserPoolOptions?: (PoolOptions<Context> & { browserPlugins?: readonly BrowserPlugin[] }) | undefined;
};

/**
 * A crawler of browsers to derive from.
 *
 * @example
 * class Patient extends BrowserCrawler {
 *   protected override async _navigationHandler({ page, request }: PlaywrightCrawlingContext) {
 *     return page.goto(request.url, { waitUntil: 'networkidle' });
 *   }
 * }
 */
export class BrowserCrawler<
  Context extends CrawlingContext = PlaywrightCrawlingContext,
> extends PlaywrightCrawler<Context> {
  static {
    markOwn(this.prototype);
  }

  constructor(options: BrowserCrawlerOptions<NoInfer<Context>> = {}, config?: Configuration) {
    super(withoutPlugins(options), config);
  }
}

function withoutPlugins<Context extends CrawlingContext>(
  options: BrowserCrawlerOptions<Context>,
): PlaywrightCrawlerOptions<Context> {
  const { browserPlugins = [], ...browserPoolOptions } = options.browserPoolOptions ?? {};
  const [plugin] = browserPlugins;
  if (!plugin) return options;
  const launchContext = { ...launchContextOf(plugin), ...options.launchContext };
  return { ...options, browserPoolOptions, launchContext } as PlaywrightCrawlerOptions<Context>;
}

function launchContextOf(plugin: BrowserPlugin): PlaywrightLaunchContext {
  const { library, launchOptions, proxyUrl, userDataDir, useIncognitoPages } = plugin;
  const own = { proxyUrl, userDataDir: userDataDir || undefined, useIncognitoPages };
  if (plugin instanceof PlaywrightPlugin) return { ...own, launchOptions, launcher: library as never };
  rootLog.warningOnce(
    `The pages of a crawler are Playwright's, not those of ${plugin.name}: see "Different on purpose" in docs/from-crawlee.md`,
  );
  const { executablePath, args } = launchOptions;
  return {
    ...own,
    launchOptions: { ...(executablePath ? { executablePath } : {}), ...(args ? { args } : {}) } as never,
  };
}
