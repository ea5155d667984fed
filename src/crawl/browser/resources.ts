// The browsers of a WebCrawler: pool, live sessions and engine, opened with the crawler and closed with it.
import type { Configuration } from '../../configuration.js';
import { programOf } from '../../fetch/browser/launch.js';
import { createBrowserPool, type BrowserPool, type LentPage } from '../../fetch/browser/pool.js';
import type { Engine } from '../../fetch/engine.js';
import { type BrowserSessions, createBrowserSessions } from '../../session/browser-sessions.js';
import { browserPoolOptionsOf } from './page-config.js';
import type { CrawlOrder } from '../navigate/order.js';
import { createBrowserEngine, withoutPage } from './engine.js';
import type { WebCrawlerOptions } from '../options/web-crawler-options.js';

export interface BrowserResources {
  readonly pool: BrowserPool;
  readonly sessions: BrowserSessions<LentPage>;
  readonly engine: Engine<object, CrawlOrder>;
  close(): Promise<void>;
}

const SESSION_TTL_SECS = 1_800;

/** Finds the browser now; one with a profile, and one that runs already, are also opened now. */
export async function openBrowserResources(
  options: WebCrawlerOptions,
  config: Configuration,
): Promise<BrowserResources> {
  const browser = options.browser ?? {};
  const poolOptions = browserPoolOptionsOf(browser, options.allowPrivateAddresses ?? false, config);
  programOf(poolOptions.launch);
  const pool = createBrowserPool(poolOptions);
  if (browser.userDataDir !== undefined || browser.cdpUrl !== undefined) {
    await pool.warmUp().catch(async (error: unknown) => {
      await pool.close();
      throw error;
    });
  }
  const identityOf = (id: string) => `session ${id}`;
  const sessions = createBrowserSessions<LentPage>({
    open: (id) => pool.take({ identity: identityOf(id), proxyUrl: browser.proxy }),
    close: async (lent, id) => {
      await pool.giveBack(lent, false);
      await pool.forget(identityOf(id));
    },
    isAlive: (lent) => !lent.isGone,
    ttlMs: (options.sessionTtlSecs ?? SESSION_TTL_SECS) * 1000,
  });
  return {
    pool,
    sessions,
    engine: withoutPage(
      createBrowserEngine<object>({
        pool,
        sessions,
        proxyUrl: browser.proxy,
        textMode: browser.textMode,
        onPage: options.hooks?.onPage,
      }),
    ),
    async close() {
      await sessions.close();
      await pool.close();
    },
  };
}
