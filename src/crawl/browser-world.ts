// The browsers of a WebCrawler: pool, live sessions and engine, opened with the crawler and closed with it.
import type { Configuration } from '../configuration.js';
import { programOf } from '../fetch/browser/launch.js';
import { createBrowserPool, type BrowserPool, type LentPage } from '../fetch/browser/pool.js';
import type { Engine } from '../fetch/engine.js';
import { type BrowserSessions, createBrowserSessions } from '../session/browser-sessions.js';
import type { Entry } from './batch-entries.js';
import { browserPoolOptionsOf } from './browser-config.js';
import { createBrowserEngine } from './browser-engine.js';
import type { WebCrawlerOptions } from './web-crawler-options.js';

export interface BrowserWorld {
  readonly pool: BrowserPool;
  readonly sessions: BrowserSessions<LentPage>;
  engineFor(entryOf: (signal: AbortSignal | undefined) => Entry | undefined): Engine;
  close(): Promise<void>;
}

const SESSION_TTL_SECS = 1_800;

/** Finds the browser now; one with a profile, and one that runs already, are also opened now. */
export async function openBrowserWorld(options: WebCrawlerOptions, config: Configuration): Promise<BrowserWorld> {
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
    engineFor: (entryOf) =>
      createBrowserEngine({
        pool,
        sessions,
        browser,
        onPage: options.hooks?.onPage,
        visitOf({ signal }) {
          const entry = entryOf(signal);
          return (
            entry && {
              config: entry.config,
              begin: () => void (entry.attemptStartedAtMs = performance.now()),
            }
          );
        },
      }),
    async close() {
      await sessions.close();
      await pool.close();
    },
  };
}
