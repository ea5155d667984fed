// A crawl's browsers: the pool, the sessions' contexts and the navigation, opened with a run and closed with it.
import type { Configuration } from '../configuration.js';
import { programOf } from '../fetch/browser/launch.js';
import { createBrowserPool, type BrowserPool } from '../fetch/browser/pool.js';
import type { Session } from '../session/session.js';
import type { SessionPool } from '../session/session-pool.js';
import type { AttemptHost, Navigate } from './attempt.js';
import { createBrowserIdentities } from './browser-identities.js';
import { createRenderingMemory } from './adaptive-rendering.js';
import { createAdaptiveNavigation, dressForPages, refuseShell } from './adaptive-visit.js';
import type { HttpVisitParts } from './http-visit.js';
import { dressPage } from './page-context.js';
import type { ResolvedOptions } from './options.js';
import { poolOptionsOf } from './playwright-options.js';
import { createBrowserNavigation } from './playwright-visit.js';

export interface BrowserCrawl {
  readonly pool: BrowserPool;
  readonly navigate: Navigate;
  readonly sessionPool: AttemptHost['sessionPool'];
  close(): Promise<void>;
}

export interface BrowserCrawlParts {
  readonly options: ResolvedOptions;
  readonly config: Configuration;
  readonly sessionPool: SessionPool | undefined;
  readonly allowHost: (url: string) => Promise<boolean>;
  readonly onStatus: (statusCode: number) => void;
  /** Navigation without a browser, for the adaptive crawler. */
  readonly http: (dress: HttpVisitParts['dress']) => Navigate;
}

/** Starts a browser at once: one that is missing ends the crawl before anything is asked for. */
export async function openBrowserCrawl(parts: BrowserCrawlParts): Promise<BrowserCrawl> {
  const { options, config, sessionPool } = parts;
  const poolOptions = poolOptionsOf(options.browser!, config, {
    allowPrivateAddresses: options.allowPrivateAddresses,
    ignoreTlsErrors: options.ignoreSslErrors,
    userAgent: options.hasOwnUserAgent ? options.userAgent : undefined,
  });
  const pool = createBrowserPool(poolOptions);
  const identities = sessionPool && createBrowserIdentities(sessionPool, options.proxyConfiguration !== undefined);
  try {
    // The adaptive one may never need it.
    if (options.kind === 'adaptive') programOf(poolOptions.launch);
    else await pool.warmUp();
  } catch (error) {
    await pool.close();
    throw error;
  }
  const release = (session: Session) => identities?.release(session);
  const browser = createBrowserNavigation({
    pool,
    options,
    allowHost: async (url) => {
      pool.relay?.allowHost(url);
      return parts.allowHost(url);
    },
    onStatus: parts.onStatus,
    release,
  });
  const navigate =
    options.kind === 'adaptive'
      ? createAdaptiveNavigation({
          http: parts.http((visit, capture) => {
            dressPage(visit, capture, options);
            dressForPages(visit);
            refuseShell(capture);
          }),
          browser,
          memory: createRenderingMemory(),
          isPaced: options.polite,
          release,
        })
      : browser;
  return {
    pool,
    navigate,
    sessionPool: identities as AttemptHost['sessionPool'],
    close: () => pool.close(),
  };
}
