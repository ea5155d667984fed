// A pooled context: one browser context with its pages, for one session or, wiped in between, for visits without one.
// Promise: cookies, storages and caches of a visit without a session are gone for the next one; if it left something
// that cannot be wiped (a password, a header, a route) the context is closed.
import { CrawlError } from '../../errors.js';
import { endsWithin } from './deadline.js';
import { createPooledPage, type PooledPage, watchContext } from './page-lease.js';
import type { RunningBrowser } from './launch.js';
import type { BrowserContext, BrowserContextOptions, Page } from './playwright-types.js';

export interface PooledContext {
  readonly key: string;
  /** Undefined: for strangers. */
  readonly identity: string | undefined;
  readonly browserContext: BrowserContext;
  readonly idle: PooledPage[];
  /** Pages that somebody has. */
  lent: number;
  idleSinceMs: number;
  readonly isClosed: boolean;
  /** A page of the context, kept or new. */
  takePage(): Promise<PooledPage>;
  /** Makes the page ready for the next visit and keeps it; false when it could not and was closed. */
  keepPage(pooled: PooledPage): Promise<boolean>;
  /** Closes one page; false when the browser did not do it in time. */
  closePage(pooled: PooledPage): Promise<boolean>;
  /** Closes the context with all that is in it; a profile's stays open. */
  close(): Promise<boolean>;
}

/** Opening a page takes a fraction of a second; a browser that needs longer is sick. */
const OPEN_TIMEOUT_MS = 20_000;
const CLOSE_TIMEOUT_MS = 5_000;
const RESET_TIMEOUT_MS = 3_000;

export interface PooledContextParts {
  readonly key: string;
  readonly identity: string | undefined;
  readonly running: RunningBrowser;
  readonly contextOptions: BrowserContextOptions;
  /** Called before a page is opened; `onPage` gets what it says. */
  readonly beforePage?: (() => unknown) | undefined;
  readonly onPage: ((page: Page, context: BrowserContext, said: unknown) => unknown) | undefined;
  /** Called with a new context before its first page. */
  readonly prepare: ((context: BrowserContext) => Promise<void>) | undefined;
}

export async function openPooledContext(parts: PooledContextParts): Promise<PooledContext> {
  const { running, identity, key } = parts;
  const isProfile = running.profile !== undefined;
  const context = await opened(running.newContext({ acceptDownloads: false, ...parts.contextOptions }), 'context');
  await parts.prepare?.(context);
  const idle: PooledPage[] = [];
  const pages = new Set<PooledPage>();
  // A profile comes with a page; without any, some browsers end.
  const initial = new Set(context.pages());
  let isClosed = false;
  const isForStrangers = identity === undefined && !isProfile;
  let isChanged = false;
  if (isForStrangers) watchContext(context, () => (isChanged = true));
  context.on('close', () => (isClosed = true));

  async function newPage(): Promise<PooledPage> {
    const said = await parts.beforePage?.();
    const page = await opened(context.newPage(), 'page');
    const pooled = createPooledPage(page, context);
    pages.add(pooled);
    page.on('close', () => pages.delete(pooled));
    const wasChanged = isChanged;
    await parts.onPage?.(page, context, said);
    // What the crawl's own hook does is done to every page.
    pooled.isSpoiled = false;
    isChanged = wasChanged;
    return pooled;
  }

  async function closePage(pooled: PooledPage): Promise<boolean> {
    pages.delete(pooled);
    if (pooled.page.isClosed()) return true;
    await endsWithin(CLOSE_TIMEOUT_MS, pooled.tidy());
    return endsWithin(CLOSE_TIMEOUT_MS, pooled.page.close({ runBeforeUnload: false }));
  }

  const pooledContext: PooledContext = {
    key,
    identity,
    browserContext: context,
    idle,
    lent: 0,
    idleSinceMs: 0,
    get isClosed() {
      return isClosed;
    },
    async takePage() {
      for (let kept = idle.pop(); kept; kept = idle.pop()) {
        if (kept.isGone) continue;
        kept.isReused = true;
        return kept;
      }
      return newPage();
    },
    async keepPage(pooled) {
      const isReady =
        !isChanged && (await endsInTime(RESET_TIMEOUT_MS, () => reset(pooled, context, isForStrangers))) && !isChanged;
      // Pages that appeared in the context and belong to no visit.
      if (pooledContext.lent <= 1)
        await closeStrays(context, new Set([...initial, ...[...pages].map(({ page }) => page)]));
      if (isReady && !pooled.isGone && !isClosed) {
        idle.push(pooled);
        return true;
      }
      await closePage(pooled);
      return false;
    },
    closePage,
    async close() {
      isClosed = true;
      idle.length = 0;
      if (isProfile) {
        const closed = await Promise.all([...pages].map(closePage));
        return closed.every(Boolean);
      }
      return endsWithin(CLOSE_TIMEOUT_MS, context.close());
    },
  };
  return pooledContext;
}

/** Rejects when `work` hangs: the browser is of no more use then. */
async function opened<T>(work: Promise<T>, what: string): Promise<T> {
  if (!(await endsWithin(OPEN_TIMEOUT_MS, work))) {
    throw new CrawlError('BROWSER_FAILED', `the browser did not open a ${what} within ${OPEN_TIMEOUT_MS} ms`);
  }
  return work.catch((cause: unknown) => {
    throw new CrawlError('BROWSER_FAILED', `the browser did not open a ${what}: ${(cause as Error).message}`, {
      cause,
    });
  });
}

async function endsInTime(limitMs: number, work: () => Promise<void>): Promise<boolean> {
  let isGood = false;
  await endsWithin(
    limitMs,
    work().then(() => (isGood = true)),
  );
  return isGood;
}

/**
 * For the same identity the next navigation replaces the document, as in anybody's tab. For strangers the document goes
 * first, because what still runs could store something after the wiping.
 */
async function reset(pooled: PooledPage, context: BrowserContext, isForStrangers: boolean): Promise<void> {
  await pooled.tidy();
  if (!isForStrangers) return;
  const session = await pooled.cdp();
  await pooled.page.goto('about:blank', { timeout: RESET_TIMEOUT_MS });
  await Promise.all([
    // "*" is every origin of the context: local and session storage, databases, caches, service workers.
    session.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' }),
    session.send('Network.clearBrowserCache'),
    context.clearCookies(),
    context.clearPermissions(),
    // State that a tab carries from one site to the next.
    session.send('Runtime.evaluate', { expression: 'window.name = ""' }),
    session.send('Page.resetNavigationHistory'),
  ]);
}

async function closeStrays(context: BrowserContext, known: ReadonlySet<Page>): Promise<void> {
  const strays = context.pages().filter((page) => !known.has(page));
  if (strays.length === 0) return;
  await endsWithin(CLOSE_TIMEOUT_MS, Promise.allSettled(strays.map((page) => page.close())));
}
