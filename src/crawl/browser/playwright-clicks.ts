// enqueueLinksByClickingElements: clicks and records each click's target, without going there.
// Promise: the page does not navigate; every wait has a limit; pop-ups are recorded and closed.
import type { PooledPage } from '../../fetch/browser/page-lease.js';
import { frameOf } from '../../fetch/browser/navigate.js';
import type { Page, PageRequest } from '../../fetch/browser/playwright-types.js';
import type { ClickElementsOptions } from '../../handle/browser-context.js';
import { systemTime } from '../time.js';

const CLICK_TIMEOUT_MS = 2_000;
/** A page with more of them is a trap. */
const MAX_CLICKS = 1_000;
const MAX_URLS = 10_000;

// The page's own history leads away from it without a request that could be held back.
const STAY = `for (const name of ['go', 'back', 'forward']) history[name] = () => undefined`;
const MAY_GO = `for (const name of ['go', 'back', 'forward']) delete history[name]`;

/** As much of an element as the functions below use, which run in the page. */
interface Styled {
  readonly style: { setProperty(name: string, value: string, priority: string): void };
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
}
type Styles = readonly [before: string | null, now: string | null];

/** What a click needs: an element that is shown, has a size and lies on top. */
function bringForward(element: Styled): Styles {
  const before = element.getAttribute('style');
  const shown = { visibility: 'visible', display: 'block', position: 'fixed', left: '0', top: '0', opacity: '1' };
  const sized = { 'min-width': '10px', 'min-height': '10px', 'z-index': '2147483647', 'pointer-events': 'auto' };
  for (const [name, value] of Object.entries({ ...shown, ...sized })) {
    element.style.setProperty(name, value, 'important');
  }
  return [before, element.getAttribute('style')];
}

/** Unless the click changed it. */
function putBack(element: Styled, [before, now]: Styles): void {
  if (element.getAttribute('style') !== now) return;
  if (before === null) element.removeAttribute('style');
  else element.setAttribute('style', before);
}

/** Clicks everything that a selector finds, also what is hidden or covered. */
export async function clickAll(page: Page, selector: string, clickOptions: object): Promise<void> {
  const elements = await page.$$(selector);
  for (const element of elements.slice(0, MAX_CLICKS)) {
    try {
      const styles = await element.evaluate(bringForward as (element: unknown) => Styles);
      await element.click({ timeout: CLICK_TIMEOUT_MS, force: true, ...clickOptions });
      await element.evaluate(putBack as (element: unknown, styles: Styles) => void, styles);
    } catch {
      // Gone, disabled or within something hidden: there is nothing to note.
    }
  }
}

export async function urlsByClicking(
  lent: PooledPage,
  options: ClickElementsOptions,
  { monotonicMs, wait } = systemTime,
): Promise<string[]> {
  const { selector, clickOptions, waitForPageIdleSecs = 1, maxWaitForPageIdleSecs = 5 } = options;
  const { page } = lent;
  const urls = new Set<string>();
  let lastEventMs = monotonicMs();
  const start = page.url();
  const note = (url: string) => {
    lastEventMs = monotonicMs();
    if (/^https?:/.test(url) && urls.size < MAX_URLS) urls.add(url);
  };
  const onPopup = (popup: Page) => {
    note(popup.url());
    void popup.close().catch(() => undefined);
  };
  const { keepPopups } = lent;
  const onNavigated = () => void (page.url() !== start && note(page.url()));
  lent.keepPopups = false;
  // Routes stay with a page; this one is closed after the visit.
  await page.route('**/*', async (route) => {
    lastEventMs = monotonicMs();
    const request = route.request();
    if (!request.isNavigationRequest() || frameOf(request) !== page.mainFrame()) return route.fallback();
    note(request.url());
    return route.abort('aborted');
  });
  // A pop-up has a URL only once it has requested it.
  const onContextRequest = (request: PageRequest) => {
    if (request.isNavigationRequest() && !page.frames().includes(frameOf(request)!)) note(request.url());
  };
  lent.context.on('request', onContextRequest);
  page.on('popup', onPopup);
  page.on('framenavigated', onNavigated);
  try {
    await page.evaluate(STAY);
    await clickAll(page, selector, { noWaitAfter: true, ...clickOptions });
    const endMs = monotonicMs() + maxWaitForPageIdleSecs * 1000;
    lastEventMs = monotonicMs();
    while (monotonicMs() < endMs && monotonicMs() - lastEventMs < waitForPageIdleSecs * 1000) {
      await wait(50);
    }
  } finally {
    lent.context.off('request', onContextRequest);
    page.off('popup', onPopup);
    page.off('framenavigated', onNavigated);
    await page.unroute('**/*').catch(() => undefined);
    await page.evaluate(MAY_GO).catch(() => undefined);
    lent.keepPopups = keepPopups;
  }
  return [...urls];
}
