// What a crawl orders from its engines: the request, and everything an engine or interceptor needs to know about its
// visit, without lookups.
import type { Capture, FetchOrder } from '../../fetch/engine.js';
import type { GotoOptions } from '../../fetch/browser/playwright-types.js';
import type { CacheMode } from '../../store/cache/cache.js';
import type { PageConfig } from '../browser/page-config.js';

/** What an order wants of the cache. */
export interface CacheAsk {
  readonly mode: CacheMode;
  readonly ttlMs: number;
  readonly validate: boolean;
}

/** What an order wants of the page it is loaded in. */
export interface PageOrder extends PageConfig {
  /** The identity whose cookies and storage the page uses; undefined: none. */
  readonly identity?: string | undefined;
  readonly goto?: GotoOptions;
  /** Sent by the browser; the order's own headers are those of HTTP. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly userAgent?: string | undefined;
  /** The page is lent as it is: its URL is not loaded. */
  readonly skipNavigation?: boolean;
  /** Whether to wait until the page's text settles, if no other wait is set. */
  readonly settles?: 'always' | 'empty' | undefined;
  /** What the capture's body is. `shown`: what the page shows, with all that was asked of it; `html`; default: nothing. */
  readonly reads?: 'shown' | 'html' | undefined;
}

export interface CrawlOrder<Live extends object = object> extends FetchOrder {
  readonly cache?: CacheAsk | undefined;
  readonly page?: PageOrder;
  /** Pages with the same label are alike. */
  readonly label?: string | undefined;
  /** The request's name. */
  readonly key?: string;
  /** Called with what the engine lends before anything is sent: gives the order as it is to be sent. */
  readonly prepare?: (live: Live) => Promise<CrawlOrder<Live>>;
  /** The page could not be loaded: asked while it is still lent. */
  readonly failing?: (error: unknown) => Promise<void>;
  /** The order waited for its turn in a session and begins now. */
  readonly onBegin?: () => void;
  /**
   * It is to be sent once more, after this answer. Resolves to true when its domain may be asked again, to false when
   * that needs a turn of its own: then the visit ends and comes back.
   */
  readonly again?: (capture: Capture | undefined) => Promise<boolean>;
}
