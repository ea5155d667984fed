// Crawlee's package browser-pool, for Playwright and Puppeteer.
export { BrowserPool } from './browser-pool.js';
export type {
  BrowserPoolHooks,
  BrowserPoolNewPageInNewBrowserOptions,
  BrowserPoolNewPageOptions,
  BrowserPoolOptions,
  PostLaunchHook,
  PostPageCloseHook,
  PostPageCreateHook,
  PreLaunchHook,
  PrePageCloseHook,
  PrePageCreateHook,
} from './browser-pool.js';
export { BrowserController } from './controller.js';
export { LaunchContext } from './launch-context.js';
export type { LaunchContextOptions } from './launch-context.js';
export { PlaywrightBrowser, PlaywrightController, PlaywrightPlugin } from './playwright.js';
export { PuppeteerController, PuppeteerPlugin } from './puppeteer.js';
export type { PuppeteerNewPageOptions } from './puppeteer.js';
export { BrowserLaunchError, BrowserPlugin } from './plugin.js';
export type { BrowserPluginOptions, CreateLaunchContextOptions } from './plugin.js';
export { BROWSER_CONTROLLER_EVENTS, BROWSER_POOL_EVENTS } from './types.js';
export type { CommonBrowser, CommonLibrary, CommonPage, UnwrapPromise } from './types.js';
export { anonymizeProxySugar } from './anonymize-proxy.js';
export type { AnonymizeProxySugarOptions } from './anonymize-proxy.js';
export { playwrightClickElements, playwrightUtils } from './click-elements.js';
export type { ClickAndInterceptOptions } from './click-elements.js';
export type { CrawlerBrowserPool } from './crawler-pool.js';
export { BrowserLauncher, PlaywrightLauncher } from './launcher.js';
export type { LauncherContext } from './launcher.js';
export { expandShadowRoots } from './shadow-roots.js';
export type * from './pool-types.js';
export type { FingerprintOptions } from '../../session/identity/fingerprints.js';
