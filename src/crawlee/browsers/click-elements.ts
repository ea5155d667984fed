// Crawlee's `playwrightClickElements`: clicks of one's own, and where they would have led.
import { playwrightUtils as ownUtils } from '../../crawl/browser/playwright-tools.js';
import type { Page } from '../../fetch/browser/playwright-types.js';
import type { ClickElementsOptions } from '../../handle/browser-context.js';

/** What is clicked, and how long is waited for what it does. */
export interface ClickAndInterceptOptions {
  page: Page;
  selector: string;
  waitForPageIdleMillis?: number;
  maxWaitForPageIdleMillis?: number;
  clickOptions?: object;
}

/** Clicks everything that a selector finds; what cannot be clicked is passed over. */
async function clickElements(page: Page, selector: string, clickOptions: object = {}): Promise<void> {
  const { clickAll } = await import('../../crawl/browser/playwright-clicks.js');
  await clickAll(page, selector, clickOptions);
}

/** Clicks, and says where that would have led; the page stays where it is. */
async function clickElementsAndInterceptNavigationRequests(
  options: ClickAndInterceptOptions,
): Promise<{ url: string }[]> {
  const { page, selector, waitForPageIdleMillis = 1_000, maxWaitForPageIdleMillis = 5_000, clickOptions } = options;
  const [{ urlsByClicking }, { pooledPageOf }] = await Promise.all([
    import('../../crawl/browser/playwright-clicks.js'),
    import('../../fetch/browser/page-lease.js'),
  ]);
  const urls = await urlsByClicking(pooledPageOf(page), {
    selector,
    waitForPageIdleSecs: waitForPageIdleMillis / 1_000,
    maxWaitForPageIdleSecs: maxWaitForPageIdleMillis / 1_000,
    ...(clickOptions === undefined ? {} : { clickOptions }),
  });
  return urls.map((url) => ({ url }));
}

type Clicking<Options extends ClickElementsOptions, Result> = (options: Options) => Promise<Result>;

/** A click may lead to any host, as in Crawlee; ours keep to the host of the page unless told otherwise. */
export function clicksAnywhere<Options extends ClickElementsOptions, Result>(
  clicking: Clicking<Options, Result>,
): Clicking<Options, Result> {
  return (options) => clicking({ strategy: 'all', ...options });
}

/**
 * Crawlee's tools for Playwright pages, by themselves. In handlers the context has the same, without `page`.
 *
 * @example
 * await playwrightUtils.injectJQuery(page);
 */
export const playwrightUtils = Object.freeze({
  ...ownUtils,
  enqueueLinksByClickingElements: clicksAnywhere(ownUtils.enqueueLinksByClickingElements),
});

/**
 * Crawlee's tools for clicks, by themselves.
 *
 * @example
 * await playwrightClickElements.clickElements(page, 'button.more');
 */
export const playwrightClickElements = Object.freeze({
  enqueueLinksByClickingElements: playwrightUtils.enqueueLinksByClickingElements,
  clickElements,
  clickElementsAndInterceptNavigationRequests,
});
