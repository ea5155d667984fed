// The browsers of a WebCrawler: pool, live sessions and engine, opened with the crawler and closed with it.
import type { Configuration } from '../../configuration.js';
import { programOf } from '../../fetch/browser/launch.js';
import { createBrowserPool, type BrowserPool, type LentPage } from '../../fetch/browser/pool.js';
import type { Engine } from '../../fetch/engine.js';
import { type BrowserSessions, createBrowserSessions } from '../../session/browser-sessions.js';
import type { CookieObject } from '../../session/cookies.js';
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

/** Finds the browser now; one with a profile or one that is already running is also opened now. */
export async function openBrowserResources(
  options: WebCrawlerOptions,
  config: Configuration,
): Promise<BrowserResources> {
  const browser = { ...options.browser, ...(options.cookies && { storageState: stateOf(options.cookies) }) };
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
    maxPages: options.maxSessions,
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
        // Of `auto`, only shells that scripts fill come here.
        settles: options.engine === 'auto' ? 'always' : 'empty',
      }),
    ),
    async close() {
      await sessions.close();
      await pool.close();
    },
  };
}

/** Cookies as Playwright writes them. */
function stateOf(cookies: readonly CookieObject[]): object {
  const complete = cookies.map(({ url, ...cookie }) => ({
    path: '/',
    secure: false,
    httpOnly: false,
    expires: -1,
    sameSite: 'Lax',
    ...cookie,
    domain: cookie.domain ?? new URL(url!).hostname,
  }));
  return { cookies: complete, origins: [] };
}
