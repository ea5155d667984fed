// Browsers, their contexts and pages: each lent to one visit at a time and always returned.
// Promise: every page is closed or kept when its visit ends; crashed, hung and worn-out browsers are replaced; after
// close() no page, context, process or temporary folder is left.
import { readTextFile, treeBytes } from '../../base/process-memory.js';
import { CrawlError } from '../../errors.js';
import { endsWithin } from './deadline.js';
import { createGuardRelay, type GuardRelay } from './relay/guard-relay.js';
import { launchBrowser, proxyOf, type RunningBrowser } from './launch.js';
import type { PooledPage } from './page-lease.js';
import type { BrowserContext, BrowserContextOptions } from './playwright-types.js';
import {
  type BrowserPoolCounts,
  type BrowserPoolOptions,
  type LaunchedBrowser,
  resolvePoolOptions,
} from './pool-options.js';
import { guardByRoutes, guardRedirects } from './route-guard.js';
import { openPooledContext, type PooledContext } from './pooled-context.js';

export type { BrowserPoolCounts, BrowserPoolOptions } from './pool-options.js';

export interface PageAsk {
  /** Pages of one identity share cookies and storage. Undefined: shares nothing. */
  readonly identity?: string;
  /** A proxy of the user, through which all connections of the identity go. */
  readonly proxyUrl?: string;
  /** Of the context, if one has to be made. */
  readonly contextOptions?: BrowserContextOptions;
  /** Called with a new context of the identity before its first page. */
  readonly prepare?: (context: BrowserContext) => Promise<void>;
}

export type LentPage = PooledPage;

export interface BrowserPool {
  /** A page, the borrower's until it is given back. */
  take(ask: PageAsk): Promise<LentPage>;
  /** `isGood` false: the page must not be lent again. Never rejects. */
  giveBack(lent: LentPage, isGood: boolean): Promise<void>;
  /** Lends a page for as long as `use` runs. */
  lend<T>(ask: PageAsk, use: (lent: LentPage) => Promise<T>): Promise<T>;
  /** Starts a browser now if none is running, so that problems with it show here. */
  warmUp(): Promise<void>;
  /** Forgets an identity: its context is closed when its last page is back. */
  forget(identity: string): Promise<void>;
  readonly relay: GuardRelay | undefined;
  readonly counts: BrowserPoolCounts;
  /** Of all browsers with their processes, as last measured; 0 unless `maxBrowserBytes` asks for it. */
  readonly memoryBytes: number;
  close(): Promise<void>;
}

/** A browser and what is open in it. */
interface PooledBrowser {
  readonly running: RunningBrowser;
  readonly launched: LaunchedBrowser;
  readonly contexts: Set<PooledContext>;
  /** Pages lent or being opened. */
  lent: number;
  served: number;
  bytes: number;
  isRetired: boolean;
  idleSinceMs: number;
}

const SWEEP_MS = 1_000;
/** What hooks do with a page that is about to close must end. */
const HOOKS_MS = 15_000;

export function createBrowserPool(given: BrowserPoolOptions): BrowserPool {
  const options = resolvePoolOptions(given);
  const { launch, guard } = options;
  // A browser elsewhere cannot reach a relay on this machine's loopback.
  const isRemote =
    launch.cdpUrl !== undefined && !/^(?:https?|wss?):\/\/(?:127\.|localhost|\[::1\])/.test(launch.cdpUrl);
  const browserPort = launch.cdpUrl === undefined || isRemote ? undefined : Number(new URL(launch.cdpUrl).port);
  const relay = guard === false ? undefined : createGuardRelay({ ...guard, browserPort });
  const browsers = new Set<PooledBrowser>();
  const browserOf = new Map<PooledContext, PooledBrowser>();
  const contextOf = new WeakMap<LentPage, PooledContext>();
  const closings = new Set<Promise<unknown>>();
  let starting: Promise<PooledBrowser> | undefined;
  let launches = 0;
  let lentPages = 0;
  let isClosed = false;
  let sweeper: NodeJS.Timeout | undefined;

  async function startBrowser(): Promise<PooledBrowser> {
    const server = relay && !isRemote ? await relay.serverFor(undefined) : undefined;
    await options.beforeLaunch?.();
    const running = await launchBrowser(launch, server);
    launches++;
    const browser: PooledBrowser = {
      running,
      launched: {
        pid: running.pid,
        version: running.version,
        browser: running.browser,
        retire: () => retire(browser),
      },
      contexts: new Set(),
      lent: 0,
      served: 0,
      bytes: 0,
      isRetired: false,
      idleSinceMs: now(),
    };
    browsers.add(browser);
    running.onGone(() => {
      browser.isRetired = true;
      for (const context of browser.contexts) browserOf.delete(context);
      browser.contexts.clear();
      if (browsers.delete(browser)) track(running.close());
    });
    if (isClosed) await closeBrowser(browser);
    await options.onLaunch?.(browser.launched);
    sweeper ??= setInterval(sweep, SWEEP_MS).unref();
    return browser;
  }

  function retire(browser: PooledBrowser): void {
    if (browser.isRetired) return;
    browser.isRetired = true;
    options.onRetire?.(browser.launched);
  }

  /** A browser with room for one more page; its seat is taken when this returns. */
  async function seat(): Promise<PooledBrowser> {
    for (;;) {
      if (isClosed) throw new CrawlError('ABORTED', 'the browsers are closed');
      for (const browser of browsers) {
        const isOpen =
          !browser.isRetired && (launch.userDataDir !== undefined || browser.lent < options.maxOpenPagesPerBrowser);
        if (!isOpen) continue;
        browser.lent++;
        return browser;
      }
      starting ??= startBrowser().finally(() => (starting = undefined));
      await starting;
    }
  }

  async function take(ask: PageAsk): Promise<LentPage> {
    if (isClosed) throw new CrawlError('ABORTED', 'the browsers are closed');
    const key = keyOf(ask, launch.userDataDir !== undefined);
    const known = keptContext(key);
    const browser = known ? browserOf.get(known)! : await seat();
    if (known) browser.lent++;
    lentPages++;
    let context = known;
    try {
      context ??= keptContext(key, browser) ?? (await addContext(browser, key, ask));
      context.lent++;
      const lent = await context.takePage();
      contextOf.set(lent, context);
      return lent;
    } catch (error) {
      lentPages--;
      browser.lent--;
      if (context) context.lent--;
      // A browser that opens no page is of no use to anybody.
      retire(browser);
      await settle(browser);
      throw error;
    }
  }

  /** A context that may be used: of its identity, or one for strangers that is empty. */
  function keptContext(key: string, within?: PooledBrowser): PooledContext | undefined {
    for (const browser of within ? [within] : browsers) {
      if (browser.isRetired) continue;
      for (const context of browser.contexts) {
        if (context.key !== key || context.isClosed) continue;
        if (context.identity !== undefined || launch.userDataDir !== undefined || context.lent === 0) return context;
      }
    }
    return undefined;
  }

  async function addContext(browser: PooledBrowser, key: string, ask: PageAsk): Promise<PooledContext> {
    const isGuardedByRoutes = relay !== undefined && isRemote;
    const proxy =
      relay && !isRemote && (ask.proxyUrl !== undefined || launch.cdpUrl !== undefined)
        ? { server: await relay.serverFor(ask.proxyUrl) }
        : relay || ask.proxyUrl === undefined
          ? undefined
          : proxyOf(ask.proxyUrl);
    const shown = options.contextFor?.(ask.identity);
    const context = await openPooledContext({
      key,
      identity: ask.identity,
      running: browser.running,
      contextOptions: {
        ...shown?.contextOptions,
        ...launch.contextOptions,
        ...ask.contextOptions,
        ...(proxy && { proxy }),
      },
      onPage: async (page, context, said) => {
        if (isGuardedByRoutes) await guardRedirects(page, context, relay);
        await options.onPage?.(page, context, browser.launched, said);
      },
      beforePage: options.beforePage && (() => options.beforePage!(browser.launched)),
      prepare: async (context) => {
        if (isGuardedByRoutes) await guardByRoutes(context, relay);
        await shown?.prepare(context);
        await ask.prepare?.(context);
      },
    });
    browser.contexts.add(context);
    browserOf.set(context, browser);
    return context;
  }

  async function giveBack(lent: LentPage, isGood: boolean): Promise<void> {
    const context = contextOf.get(lent);
    if (!context) return;
    contextOf.delete(lent);
    const browser = browserOf.get(context);
    try {
      if (!browser || browser.running.isGone) return;
      browser.served++;
      if (browser.served >= options.retireAfterPages) retire(browser);
      const isKept =
        isGood &&
        options.reusePages &&
        (context.identity !== undefined || options.keepStrangers) &&
        !lent.isSpoiled &&
        !lent.isGone &&
        !browser.isRetired &&
        !isClosed;
      if (!isKept && !lent.isGone && options.beforePageClose) {
        await endsWithin(HOOKS_MS, Promise.resolve(options.beforePageClose(lent.page, browser.launched)));
      }
      // If its process died or hangs, the page may not close either: the browser is closed after its other visits.
      const isTidy = isKept ? await keep(context, lent) : await discard(context, lent);
      if (!isTidy) retire(browser);
      if (!isKept && options.afterPageClose) {
        await endsWithin(HOOKS_MS, Promise.resolve(options.afterPageClose(lent.page, browser.launched)));
      }
    } finally {
      lentPages--;
      context.lent--;
      context.idleSinceMs = now();
      if (browser) {
        browser.lent--;
        browser.idleSinceMs = now();
        await settle(browser);
      }
    }
  }

  async function keep(context: PooledContext, pooled: PooledPage): Promise<boolean> {
    if (await context.keepPage(pooled)) return true;
    return context.identity === undefined ? closeContext(context) : true;
  }

  /** With the page of a stranger goes all that it stored. */
  async function discard(context: PooledContext, pooled: PooledPage): Promise<boolean> {
    if (context.identity === undefined && launch.userDataDir === undefined) return closeContext(context);
    return context.closePage(pooled);
  }

  async function closeContext(context: PooledContext): Promise<boolean> {
    browserOf.get(context)?.contexts.delete(context);
    browserOf.delete(context);
    return context.close();
  }

  /** Closes a worn-out browser that is no longer in use. */
  async function settle(browser: PooledBrowser): Promise<void> {
    if (browser.isRetired && browser.lent <= 0) await closeBrowser(browser);
  }

  async function closeBrowser(browser: PooledBrowser): Promise<void> {
    browser.isRetired = true;
    browsers.delete(browser);
    for (const context of browser.contexts) browserOf.delete(context);
    browser.contexts.clear();
    await browser.running.close();
  }

  function track(work: Promise<unknown>): void {
    const tracked = work.catch(() => undefined).finally(() => closings.delete(tracked));
    closings.add(tracked);
  }

  /** One that has grown too large serves its pages to their end, and then makes room for a fresh one. */
  function weigh(browser: PooledBrowser): void {
    const { pid } = browser.running;
    if (options.maxBrowserBytes === Infinity || pid === undefined) return;
    browser.bytes = treeBytes(pid, readTextFile);
    if (browser.bytes <= options.maxBrowserBytes) return;
    retire(browser);
    if (browser.lent <= 0) track(closeBrowser(browser));
  }

  function sweep(): void {
    const nowMs = now();
    const idle: PooledContext[] = [];
    for (const browser of browsers) {
      weigh(browser);
      if (browser.lent > 0) {
        browser.idleSinceMs = nowMs;
      } else if (nowMs - browser.idleSinceMs >= options.closeIdleBrowserMs) {
        track(closeBrowser(browser));
        continue;
      }
      for (const context of browser.contexts) if (context.lent === 0) idle.push(context);
    }
    idle.sort((a, b) => a.idleSinceMs - b.idleSinceMs);
    idle.forEach((context, index) => {
      const isTooMany = idle.length - index > options.maxIdleContexts;
      if (isTooMany || nowMs - context.idleSinceMs >= options.closeIdleContextMs) track(closeContext(context));
    });
  }

  return {
    take,
    giveBack,
    async lend(ask, use) {
      const lent = await take(ask);
      let isGood = false;
      try {
        const result = await use(lent);
        isGood = true;
        return result;
      } finally {
        await giveBack(lent, isGood);
      }
    },
    async warmUp() {
      const browser = await seat();
      browser.lent--;
    },
    async forget(identity) {
      for (const [context] of browserOf) {
        if (context.identity === identity && context.lent === 0) await closeContext(context);
      }
    },
    relay,
    get memoryBytes() {
      return [...browsers].reduce((sum, { bytes }) => sum + bytes, 0);
    },
    get counts() {
      let contexts = 0;
      let pages = 0;
      for (const context of browserOf.keys()) {
        contexts++;
        pages += context.isClosed ? 0 : context.browserContext.pages().length;
      }
      return { browsers: browsers.size, contexts, pages, lent: lentPages, launches };
    },
    async close() {
      isClosed = true;
      clearInterval(sweeper);
      await starting?.catch(() => undefined);
      await Promise.all([...browsers].map(closeBrowser));
      await endsWithin(15_000, Promise.all(closings));
      await relay?.close();
    },
  };
}

function keyOf({ identity, proxyUrl = '' }: PageAsk, isProfile: boolean): string {
  if (isProfile) return '';
  return identity === undefined ? `?${proxyUrl}` : `!${identity} ${proxyUrl}`;
}

const now = (): number => performance.now();
