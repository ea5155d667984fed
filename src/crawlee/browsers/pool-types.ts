// Types of Crawlee's package browser-pool that have no values.
import type { Dictionary } from '../../request/request.js';
import type { BrowserController } from './controller.js';
import type { BrowserPlugin } from './plugin.js';
import type { BROWSER_CONTROLLER_EVENTS, BROWSER_POOL_EVENTS, CommonPage } from './types.js';

/** The listeners of a controller. */
export interface BrowserControllerEvents {
  [BROWSER_CONTROLLER_EVENTS.BROWSER_CLOSED]: (controller: BrowserController) => void;
}
/** The listeners of a pool. */
export interface BrowserPoolEvents<BC = BrowserController, Page = CommonPage> {
  [BROWSER_POOL_EVENTS.PAGE_CREATED]: (page: Page) => void | Promise<void>;
  [BROWSER_POOL_EVENTS.PAGE_CLOSED]: (page: Page) => void | Promise<void>;
  [BROWSER_POOL_EVENTS.BROWSER_RETIRED]: (browserController: BC) => void | Promise<void>;
  [BROWSER_POOL_EVENTS.BROWSER_LAUNCHED]: (browserController: BC) => void | Promise<void>;
}
/** The plugins of a list, one by one. */
export type InferBrowserPluginArray<Input extends readonly unknown[]> = {
  -readonly [At in keyof Input]: Input[At] extends BrowserPlugin ? Input[At] : never;
};
/** From Crawlee; browsers show themselves as they are. */
export interface GetFingerprintReturn {
  fingerprint: Dictionary;
}
/** From Crawlee; browsers show themselves as they are. */
export interface FingerprintGenerator {
  getFingerprint: (options?: Dictionary) => GetFingerprintReturn;
}
