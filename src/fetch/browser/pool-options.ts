// The options of a browser pool with their defaults, and its figures.
import type { LaunchPlan } from './launch.js';
import type { GuardRelayOptions } from './relay/guard-relay.js';
import type { BrowserContext, Page } from './playwright-types.js';

export interface BrowserPoolOptions {
  readonly launch: LaunchPlan;
  /** False: browsers connect by themselves. Only when every address is allowed. */
  readonly guard: GuardRelayOptions | false;
  /** Pages of one browser that are lent at once; more start another browser. Default 20. */
  readonly maxOpenPagesPerBrowser?: number;
  /** A browser that served so many pages is replaced when its last page comes back. Default 500. */
  readonly retireAfterPages?: number;
  /** A browser that nobody used for so long is closed. Default 60,000. */
  readonly closeIdleBrowserMs?: number;
  /** A context that nobody used for so long is closed. Default 15,000. */
  readonly closeIdleContextMs?: number;
  /** Contexts kept for identities that may come back. Default 20. */
  readonly maxIdleContexts?: number;
  /** Whether a page serves one visit after another. Default true. */
  readonly reusePages?: boolean;
  /** Whether the context of a stranger is wiped and used again, or closed. Default true. */
  readonly keepStrangers?: boolean;
  /** Called with every new page, before it is used. */
  readonly onPage?: (page: Page, context: BrowserContext) => unknown;
  /** Called before a browser is started. */
  readonly beforeLaunch?: () => unknown;
  readonly onLaunch?: (launched: { readonly pid: number | undefined; readonly version: string }) => unknown;
}

type Hooks = 'onPage' | 'onLaunch' | 'beforeLaunch';

export type ResolvedPoolOptions = Readonly<Required<Omit<BrowserPoolOptions, Hooks>>> & Pick<BrowserPoolOptions, Hooks>;

export function resolvePoolOptions(given: BrowserPoolOptions): ResolvedPoolOptions {
  return Object.freeze({
    ...given,
    maxOpenPagesPerBrowser: given.maxOpenPagesPerBrowser ?? 20,
    retireAfterPages: given.retireAfterPages ?? 500,
    closeIdleBrowserMs: given.closeIdleBrowserMs ?? 60_000,
    closeIdleContextMs: given.closeIdleContextMs ?? 15_000,
    maxIdleContexts: given.maxIdleContexts ?? 20,
    reusePages: given.reusePages ?? true,
    keepStrangers: given.keepStrangers ?? true,
  });
}

/** What is open now. */
export interface BrowserPoolCounts {
  readonly browsers: number;
  readonly contexts: number;
  readonly pages: number;
  /** Pages that somebody has. */
  readonly lent: number;
  /** Browsers ever started. */
  readonly launches: number;
}
