// A page wish as the RunConfig of the library: how it is fetched, read and acted on.
import { CacheMode, type RunConfig } from '../../index.js';
import { actOn, nothingTaken, PHONE_AGENT, preparePage, type Taken } from './actions.js';
import { needsBrowser, type PageWish } from './formats.js';

export const DEFAULT_TIMEOUT_MS = 30_000;

/** Headers that belong to the connection, not to who asks. */
const NOT_GIVEN = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'upgrade']);

export interface PlannedPage {
  readonly config: RunConfig;
  /** Filled while the page is open. */
  readonly taken: Taken;
}

export function planPage(wish: PageWish, respectRobots = false): PlannedPage {
  const { options } = wish;
  const taken = nothingTaken();
  const config: RunConfig = {
    ...contentConfig(wish),
    headers: headersOf(wish),
    pageTimeoutMs: options.timeout ?? DEFAULT_TIMEOUT_MS,
    maxRetries: 1,
    ...(options.mobile && { userAgent: PHONE_AGENT }),
    ...(options.skipTlsVerification && { ignoreSslErrors: true }),
    ...cacheOf(wish),
    ...(respectRobots && { respectRobots }),
    ...(needsBrowser(wish) && {
      delayBeforeReturnMs: options.waitFor ?? 100,
      beforeLoad: (page) => preparePage(page, wish),
      afterLoad: (page) => actOn(page, wish, taken),
    }),
  };
  return { config, taken };
}

export function contentConfig({ options }: PageWish): Pick<RunConfig, 'targetElements' | 'excludedSelector'> {
  const { includeTags = [], excludeTags = [] } = options;
  return {
    ...(includeTags.length > 0 && { targetElements: includeTags }),
    ...(excludeTags.length > 0 && { excludedSelector: excludeTags.join(', ') }),
  };
}

export function headersOf({ options }: PageWish): Record<string, string> {
  const languages = options.location?.languages?.join(', ');
  const given = Object.entries(options.headers ?? {}).filter(([name]) => !NOT_GIVEN.has(name.toLowerCase()));
  return { ...(languages && { 'accept-language': languages }), ...Object.fromEntries(given) };
}

/** Stored pages are used when the request says how old they may be. */
function cacheOf({ options }: PageWish): Pick<RunConfig, 'cacheMode' | 'cacheTtlSecs'> {
  const { maxAge = 0, storeInCache = true } = options;
  if (maxAge <= 0) return { cacheMode: CacheMode.BYPASS };
  return { cacheMode: storeInCache ? CacheMode.ENABLED : CacheMode.READ_ONLY, cacheTtlSecs: maxAge / 1000 };
}
