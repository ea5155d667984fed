// The options of a browser pool with their defaults, and its figures.
import type { LaunchPlan } from './launch.js';
import type { GuardRelayOptions } from './relay/guard-relay.js';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from './playwright-types.js';

export interface BrowserPoolOptions {
  readonly launch: LaunchPlan;
  /** False: browsers connect by themselves. Only when every address is allowed. */
  readonly guard: GuardRelayOptions | false;
  /** Pages of one browser that are lent at once; more start another browser. Default 20. */
  readonly maxOpenPagesPerBrowser?: number;
  /** A browser that served so many pages is replaced when its last page comes back. Default 500. */
  readonly retireAfterPages?: number;
  /** A browser whose processes take more memory is replaced when its last page comes back. Default Infinity. */
  readonly maxBrowserBytes?: number;
  /** A browser unused for this long is closed. Default 60,000. */
  readonly closeIdleBrowserMs?: number;
  /** A context unused for this long is closed. Default 15,000. */
  readonly closeIdleContextMs?: number;
  /** Contexts kept for identities that may come back. Default 20. */
  readonly maxIdleContexts?: number;
  /** Whether a page serves one visit after another. Default true. */
  readonly reusePages?: boolean;
  /** Whether the context of a stranger is wiped and used again, or closed. Default true. */
  readonly keepStrangers?: boolean;
  /** Asked for every new context: what it shows of its browser. What the launch or the page asks for comes first. */
  readonly contextFor?: (identity: string | undefined) => ContextIdentity;
  /** Called before a page is opened; `onPage` gets what it says. */
  readonly beforePage?: (launched: LaunchedBrowser) => unknown;
  /** Called with every new page, before it is used. */
  readonly onPage?: (page: Page, context: BrowserContext, launched: LaunchedBrowser, said: unknown) => unknown;
  /** Called when a page comes back that will not be used again, before it is closed. */
  readonly beforePageClose?: (page: Page, launched: LaunchedBrowser) => unknown;
  /** Called when such a page was closed. */
  readonly afterPageClose?: (page: Page, launched: LaunchedBrowser) => unknown;
  /** Called before a browser is started. */
  readonly beforeLaunch?: () => unknown;
  readonly onLaunch?: (launched: LaunchedBrowser) => unknown;
  /** Called when a browser gets no more pages. */
  readonly onRetire?: (launched: LaunchedBrowser) => unknown;
}

/** How a context shows its browser. */
export interface ContextIdentity {
  readonly contextOptions: BrowserContextOptions;
  /** Called with the new context before its first page. */
  prepare(context: BrowserContext): Promise<void>;
}

/** A browser as hooks see it: the same object for all of its pages. */
export interface LaunchedBrowser {
  readonly pid: number | undefined;
  readonly version: string;
  /** Playwright's; undefined for a profile in old versions of it. */
  readonly browser?: Browser | undefined;
  /** Gives it no more pages; it is closed when its last one is back. */
  retire(): void;
}

type Hooks =
  | 'contextFor'
  | 'beforePage'
  | 'onPage'
  | 'beforePageClose'
  | 'afterPageClose'
  | 'onLaunch'
  | 'beforeLaunch'
  | 'onRetire';

export type ResolvedPoolOptions = Readonly<Required<Omit<BrowserPoolOptions, Hooks>>> & Pick<BrowserPoolOptions, Hooks>;

export function resolvePoolOptions(given: BrowserPoolOptions): ResolvedPoolOptions {
  return Object.freeze({
    ...given,
    maxOpenPagesPerBrowser: given.maxOpenPagesPerBrowser ?? 20,
    retireAfterPages: given.retireAfterPages ?? 500,
    maxBrowserBytes: given.maxBrowserBytes ?? Infinity,
    closeIdleBrowserMs: given.closeIdleBrowserMs ?? 60_000,
    closeIdleContextMs: given.closeIdleContextMs ?? 15_000,
    maxIdleContexts: given.maxIdleContexts ?? 20,
    reusePages: given.reusePages ?? true,
    keepStrangers: given.keepStrangers ?? true,
  });
}

/** What is open now. */
export interface BrowserPoolCounts {
  /** Browser processes that run now. */
  readonly browsers: number;
  /** Contexts now: each has cookies and storages of its own. */
  readonly contexts: number;
  /** Pages now open, in use or kept for the next one. */
  readonly pages: number;
  /** Pages that somebody has. */
  readonly lent: number;
  /** Browsers ever started. */
  readonly launches: number;
}
