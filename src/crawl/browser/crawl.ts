// A crawl's browsers: the pool, the sessions' contexts and the navigation, opened with a run and closed with it.
import type { Configuration } from '../../configuration.js';
import { programOf } from '../../fetch/browser/launch.js';
import { createBrowserPool, type BrowserPool } from '../../fetch/browser/pool.js';
import type { Engine } from '../../fetch/engine.js';
import type { SessionPool } from '../../session/session-pool.js';
import { type BrowserIdentities, createBrowserIdentities } from './identities.js';
import { createBrowserEngine, type LivePage } from './engine.js';
import { createBrowserSide, earlyOrder } from './side.js';
import { addPageWishes } from './page-wishes.js';
import { adaptive } from '../navigate/adaptive.js';
import { createHttpSide, type HttpSideParts } from '../navigate/http-side.js';
import { createNavigation, type NavigationParts, type NavigationRules } from '../navigate/navigate.js';
import type { RefuseVisit } from '../navigate/redirect.js';
import { addPage } from '../page/page-context.js';
import type { ResolvedOptions } from '../options/options.js';
import { poolOptionsOf } from './playwright-options.js';
import type { Navigate, Visit } from '../run/attempt.js';

export interface BrowserCrawl {
  readonly pool: BrowserPool;
  readonly navigate: Navigate;
  readonly sessionPool: BrowserIdentities | undefined;
  close(): Promise<void>;
}

export interface BrowserCrawlParts extends Pick<NavigationParts<object>, 'allowHost' | 'onStatus'> {
  readonly options: ResolvedOptions;
  readonly rules: NavigationRules;
  readonly config: Configuration;
  readonly sessionPool: SessionPool | undefined;
  readonly refuseVisit: RefuseVisit | undefined;
  /** The user agent of a URL's domain, if it has its own. */
  readonly ownUserAgentFor: (url: string) => string | undefined;
  /** Pages without a browser, for the adaptive crawler. */
  readonly http: Engine;
  readonly httpSideParts: Omit<HttpSideParts<object>, 'add'>;
}

const NO_LIVE = Object.freeze({});

/** Starts a browser at once: if it is missing, the crawl ends before the first request. */
export async function openBrowserCrawl(parts: BrowserCrawlParts): Promise<BrowserCrawl> {
  const { options, config, sessionPool, rules, refuseVisit, onStatus } = parts;
  const { launchContext } = options.browser!;
  const isAdaptive = options.kind === 'adaptive';
  const { useFingerprints = false, fingerprintOptions } = options.browser!.pool;
  const fingerprints = useFingerprints
    ? await (await import('../../session/identity/fingerprints.js')).openFingerprints(fingerprintOptions)
    : undefined;
  const plannedPool = poolOptionsOf(options.browser!, config, {
    allowPrivateAddresses: options.allowPrivateAddresses,
    ignoreTlsErrors: options.ignoreSslErrors,
    userAgent: options.hasOwnUserAgent ? options.userAgent : undefined,
  });
  // Another visitor is another browser: a context without a session is not used twice.
  const poolOptions = fingerprints
    ? { ...plannedPool, contextFor: fingerprints.contextFor, keepStrangers: false }
    : plannedPool;
  const pool = createBrowserPool(poolOptions);
  const identities = sessionPool && createBrowserIdentities(sessionPool, options.proxyConfiguration !== undefined);
  try {
    // The adaptive one may never need it.
    if (isAdaptive) programOf(poolOptions.launch);
    else await pool.warmUp();
  } catch (error) {
    await pool.close();
    throw error;
  }
  const browser = createBrowserEngine<object>({ pool });
  const browserSide = createBrowserSide<object>({
    rules,
    options,
    preNavigationHooks: options.preNavigationHooks,
    postNavigationHooks: options.postNavigationHooks,
    refuseVisit,
    ownUserAgentFor: parts.ownUserAgentFor,
  });
  const httpSide = createHttpSide<object>({
    ...parts.httpSideParts,
    add(visit, capture) {
      const page = addPage(visit, capture, options);
      addPageWishes(visit);
      return page;
    },
  });
  const early = (visit: Visit) => {
    const identity = launchContext.useIncognitoPages ? undefined : visit.identity.session?.id;
    return earlyOrder(visit, rules, identity, launchContext.proxyUrl, options.browser!.page);
  };
  const navigate = createNavigation<object>({
    engine: isAdaptive
      ? adaptive<object, LivePage>({
          http: parts.http,
          browser,
          httpLive: NO_LIVE,
          memory: options.browser!.renderingMemory,
        })
      : (browser as never),
    rules,
    sideOf: (live) => (live && 'lent' in live ? (browserSide as never) : httpSide),
    early,
    allowHost: async (url) => (await parts.allowHost(url)) && (pool.relay?.allowHost(url) ?? true),
    refuseVisit,
    onStatus,
  });
  return { pool, navigate, sessionPool: identities, close: () => pool.close() };
}
