// A lent page: what the visit did to it decides whether it may be lent again.
// Promise: listeners and pop-ups of one visit never reach the next; a page changed beyond its document is closed.
import type { EventEmitter } from 'node:events';
import { limitReached, LIMITS } from '../../limits.js';
import { parseUrl } from '../../request/url.js';
import type { BrowserContext, CDPSession, Page } from './playwright-types.js';

/** What changes a page for good, and cannot be taken back. */
const LASTING = [
  'addInitScript',
  'addLocatorHandler',
  'emulateMedia',
  'exposeBinding',
  'exposeFunction',
  'route',
  'routeFromHAR',
  'routeWebSocket',
  'setDefaultNavigationTimeout',
  'setDefaultTimeout',
  'setExtraHTTPHeaders',
  'setViewportSize',
] as const;

/** The same of a context. */
const LASTING_OF_CONTEXTS = [
  'addInitScript',
  'exposeBinding',
  'exposeFunction',
  'route',
  'routeFromHAR',
  'routeWebSocket',
  'setDefaultNavigationTimeout',
  'setDefaultTimeout',
  'setExtraHTTPHeaders',
  'setGeolocation',
  'setHTTPCredentials',
  'setOffline',
] as const;

/** Tells of everything that a borrower does to a context for good, or that a page made it keep beyond any wiping. */
export function watchContext(context: BrowserContext, onChange: () => void): void {
  for (const name of LASTING_OF_CONTEXTS) watch(context, name, onChange);
  // The browser keeps a password from a URL or a script and cannot be made to forget it.
  context.on('request', (request) => {
    const url = request.url();
    if (url.includes('@') && parseUrl(url)?.username !== '') onChange();
  });
}

/** More pop-ups than this from one visit are closed as they open. */
const MAX_POPUPS = LIMITS.popups.max;

/** A page of the pool with what is known about it. */
export interface PooledPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** A DevTools session of the page, opened once. */
  cdp(): Promise<CDPSession>;
  /** The page served another visit before. */
  isReused: boolean;
  /** It is not to be lent again. */
  isSpoiled: boolean;
  /** Whether pop-ups live as long as the visit, or are closed at once. */
  keepPopups: boolean;
  /** Something ended the page: crash, close, or the browser's end. */
  readonly isGone: boolean;
  onCrash(listener: () => void): () => void;
  /** Called once when the page is given back: takes back a change that would last. */
  undo(change: () => Promise<unknown>): void;
  /** Removes what the borrower left: listeners, pop-ups and everything registered with `undo`. */
  tidy(): Promise<void>;
}

const known = new WeakMap<Page, PooledPage>();

/** What the pool knows of a page; for one that is the user's own, made now, and its pop-ups stay. */
export function pooledPageOf(page: Page): PooledPage {
  const found = known.get(page);
  if (found) return found;
  const own = createPooledPage(page, page.context(), Infinity);
  own.keepPopups = true;
  return own;
}

export function createPooledPage(page: Page, context: BrowserContext, maxPopups = MAX_POPUPS): PooledPage {
  // Playwright's pages are emitters in all but their types.
  const emitter = page as unknown as EventEmitter;
  let session: Promise<CDPSession> | undefined;
  let isGone = false;
  const crashListeners = new Set<() => void>();
  const popups = new Set<Page>();
  const changes: (() => Promise<unknown>)[] = [];

  const pooled: PooledPage = {
    page,
    context,
    cdp: () => (session ??= context.newCDPSession(page)),
    isReused: false,
    isSpoiled: false,
    keepPopups: false,
    get isGone() {
      return isGone || page.isClosed();
    },
    onCrash(listener) {
      crashListeners.add(listener);
      return () => void crashListeners.delete(listener);
    },
    undo: (change) => void changes.push(change),
    async tidy() {
      for (const name of emitter.eventNames()) {
        for (const listener of emitter.listeners(name)) {
          if (!ours.get(name)?.has(listener)) emitter.removeListener(name, listener as never);
        }
      }
      await Promise.all([...popups].map(closeQuietly));
      for (const change of changes.splice(0)) await change();
    },
  };

  const onEnd = () => {
    isGone = true;
    for (const listener of crashListeners) listener();
  };
  const onPopup = (popup: Page) => {
    if (pooled.keepPopups && popups.size >= maxPopups) limitReached('popups');
    if (!pooled.keepPopups || popups.size >= maxPopups) return void closeQuietly(popup);
    popups.add(popup);
    popup.on('close', () => popups.delete(popup));
    popup.on('popup', onPopup);
  };
  page.on('crash', onEnd);
  page.on('close', onEnd);
  page.on('popup', onPopup);
  for (const name of LASTING) watch(page, name, () => (pooled.isSpoiled = true));
  const ours = new Map<string | symbol, ReadonlySet<unknown>>(
    emitter.eventNames().map((name) => [name, new Set<unknown>(emitter.listeners(name))]),
  );
  known.set(page, pooled);
  return pooled;
}

async function closeQuietly(page: Page): Promise<void> {
  await page.close().catch(() => undefined);
}

function watch<Owner extends object>(owner: Owner, name: keyof Owner, onCall: () => void): void {
  const own = owner[name] as ((...args: unknown[]) => unknown) | undefined;
  if (typeof own !== 'function') return;
  Object.defineProperty(owner, name, {
    configurable: true,
    value: (...args: unknown[]) => {
      onCall();
      return own.apply(owner, args);
    },
  });
}
