// Actions on a lent page: scripts, waiting, scrolling, removing overlays, blocking requests.
// Promise: scripts run regardless of the page's content security policy, and changes are undone afterwards.
import { CrawlError } from '../../errors.js';
import type { PooledPage } from './page-lease.js';

interface Evaluated {
  result: { value?: unknown; description?: string };
  exceptionDetails?: { text: string; exception?: { description?: string } };
}

/** The script navigated away: its context is gone, its work is done. */
const NAVIGATED = /context was destroyed|Inspected target navigated|Cannot find context|Execution context/i;

/** The value of an expression in the page, awaited if it is a promise. */
export async function evaluate<T>(lent: PooledPage, expression: string): Promise<T> {
  const session = await lent.cdp();
  const { result, exceptionDetails } = (await session.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
    userGesture: true,
  })) as Evaluated;
  if (exceptionDetails) {
    const what = exceptionDetails.exception?.description ?? exceptionDetails.text;
    throw new CrawlError('SCRIPT_FAILED', `the script threw: ${what.slice(0, 500)}`);
  }
  return result.value as T;
}

/** Runs statements, `await` allowed. True when they led the page elsewhere. */
export async function runScript(lent: PooledPage, code: string): Promise<boolean> {
  try {
    await evaluate(lent, `(async () => {\n${code}\n})()`);
    return false;
  } catch (error) {
    if (error instanceof CrawlError || !NAVIGATED.test((error as Error).message)) throw error;
    await lent.page.waitForLoadState('domcontentloaded', { timeout: 0 });
    return true;
  }
}

const POLL_MS = 50;

/** Resolves when the expression, or the function that it is, gives something truthy. Ends with the visit. */
export async function waitForScript(lent: PooledPage, code: string, isOver: () => boolean): Promise<void> {
  const expression = `(async () => { const wanted = (${code}\n); return !!(typeof wanted === 'function' ? await wanted() : wanted); })()`;
  while (!isOver() && !lent.isGone) {
    try {
      if (await evaluate<boolean>(lent, expression)) return;
    } catch (error) {
      if (error instanceof CrawlError || !NAVIGATED.test((error as Error).message)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The links that a selector means on the page as it is now. */
export function linksOf(lent: PooledPage, selector: string): Promise<{ base: string; links: [string, string][] }> {
  const quoted = JSON.stringify(selector);
  return evaluate(
    lent,
    `({ base: document.baseURI, links: Array.from(document.querySelectorAll(${quoted}), (one) => [one.getAttribute('href') ?? '', one.getAttribute('rel') ?? '']) })`,
  );
}

const SCROLL_STEP = `(() => {
  const root = document.scrollingElement ?? document.documentElement;
  window.scrollBy(0, Math.max(200, window.innerHeight * 0.9));
  const isAtEnd = Math.ceil(root.scrollTop + window.innerHeight) >= root.scrollHeight - 2;
  return [root.scrollHeight, isAtEnd, Math.ceil(root.scrollTop)];
})()`;

export interface ScrollOptions {
  readonly delayMs: number;
  /** Rests at the bottom, in steps, before it counts as the end: what loads there makes the page longer. */
  readonly patience: number;
  readonly maxSteps: number;
  /** So many pixels, at most. */
  readonly maxHeight?: number;
  readonly mayGoOn?: () => boolean | Promise<boolean>;
}

/** Scrolls down until the page stops growing, or a limit is reached; the steps it took. */
export async function scrollDown(lent: PooledPage, options: ScrollOptions): Promise<number> {
  let rests = 0;
  let lastHeight = 0;
  for (let step = 0; step < options.maxSteps; step++) {
    const [height, isAtEnd, scrolled] = await evaluate<[number, boolean, number]>(lent, SCROLL_STEP);
    rests = isAtEnd && height === lastHeight ? rests + 1 : 0;
    lastHeight = height;
    if (rests >= options.patience || (options.maxHeight && scrolled >= options.maxHeight)) return step;
    if (options.mayGoOn && !(await options.mayGoOn())) return step;
    await new Promise((resolve) => setTimeout(resolve, options.delayMs));
  }
  return options.maxSteps;
}

/** Removes what lies over the page: fixed or sticky boxes that cover much of it, dialogs, and locks on scrolling. */
const REMOVE_OVERLAYS = `(() => {
  const names = /cookie|consent|gdpr|overlay|modal|popup|newsletter|paywall|backdrop/i;
  const area = window.innerWidth * window.innerHeight;
  let removed = 0;
  for (const one of Array.from(document.querySelectorAll('body *')).slice(0, 20000)) {
    const style = getComputedStyle(one);
    if (style.position !== 'fixed' && style.position !== 'sticky' && one.tagName !== 'DIALOG') continue;
    const box = one.getBoundingClientRect();
    const isNamed = names.test(one.id + ' ' + one.className) || one.getAttribute('role') === 'dialog' || one.tagName === 'DIALOG';
    const isLarge = box.width * box.height > area * 0.4 && Number(style.zIndex) >= 10;
    if (isNamed || isLarge) { one.remove(); removed++; }
  }
  for (const one of [document.documentElement, document.body]) one?.style.setProperty('overflow', 'auto', 'important');
  return removed;
})()`;

export function removeOverlays(lent: PooledPage): Promise<number> {
  return evaluate(lent, REMOVE_OVERLAYS);
}

/** Requests whose URL contains one of these (`*` stands for anything) fail for as long as the page is lent. */
export async function blockUrls(lent: PooledPage, patterns: readonly string[]): Promise<void> {
  const session = await lent.cdp();
  await session.send('Network.enable');
  await session.send('Network.setBlockedURLs', { urls: patterns.map(wildcard) });
  lent.undo(() => session.send('Network.setBlockedURLs', { urls: [] }));
}

function wildcard(pattern: string): string {
  return pattern.includes('*') ? pattern : `*${pattern}*`;
}

/** What `blockResources: true` leaves out: all that is only looked at. */
export const SEEN_ONLY: readonly string[] = Object.freeze(['image', 'media', 'font', 'stylesheet']);
const CDP_TYPES: Readonly<Record<string, string>> = {
  image: 'Image',
  media: 'Media',
  font: 'Font',
  stylesheet: 'Stylesheet',
  script: 'Script',
  xhr: 'XHR',
  fetch: 'Fetch',
  websocket: 'WebSocket',
  other: 'Other',
};
export const RESOURCE_TYPES: readonly string[] = Object.freeze(Object.keys(CDP_TYPES));

/** Requests of these types fail for as long as the page is lent; only they are stopped, all others pass untouched. */
export async function blockTypes(lent: PooledPage, types: readonly string[]): Promise<void> {
  if (types.length === 0) return;
  // A session of its own: the document gate has another set of patterns.
  const session = await lent.context.newCDPSession(lent.page);
  session.on('Fetch.requestPaused', ({ requestId }: { requestId: string }) => {
    void session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }).catch(() => undefined);
  });
  await session.send('Fetch.enable', {
    patterns: types.map((type) => ({ urlPattern: '*', resourceType: CDP_TYPES[type] as 'Image' })),
  });
  lent.undo(() => session.detach());
}
