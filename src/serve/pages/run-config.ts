// A page wish as the RunConfig of the library: how it is fetched, read and acted on.
import { CacheMode, type RunConfig } from '../../index.js';
import { AD_SELECTORS } from './ads.js';
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
    ...(!readsDocuments(wish) && { documents: false }),
    ...(respectRobots && { respectRobots }),
    ...(needsBrowser(wish) && {
      delayBeforeReturnMs: options.waitFor ?? 100,
      beforeLoad: (page) => preparePage(page, wish),
      afterLoad: (page) => actOn(page, wish, taken),
    }),
  };
  return { config, taken };
}

export function contentConfig({
  options,
}: PageWish): Pick<RunConfig, 'content' | 'targetElements' | 'excludedSelector'> {
  const { includeTags = [], excludeTags = [], blockAds = false, content } = options;
  const excluded = [...excludeTags, ...(blockAds ? AD_SELECTORS : [])];
  return {
    ...(content && { content }),
    ...(includeTags.length > 0 && { targetElements: includeTags }),
    ...(excluded.length > 0 && { excludedSelector: excluded.join(', ') }),
  };
}

/** Files are read as pages unless the request names no parser. */
const readsDocuments = ({ options: { parsers, parsePDF } }: PageWish): boolean =>
  parsers === undefined ? parsePDF !== false : parsers.length > 0;

export function headersOf(wish: PageWish): Record<string, string> {
  const given = Object.entries(wish.options.headers ?? {}).filter(([name]) => !NOT_GIVEN.has(name.toLowerCase()));
  return { ...languageOf(wish), ...Object.fromEntries(given) };
}

/** The languages that a request asks for, as every host may know them. */
export function languageOf({ options }: PageWish): Record<string, string> {
  const languages = options.location?.languages?.join(', ');
  return languages ? { 'accept-language': languages } : {};
}

/** Stored pages are used when the request says how old they may be, or must be. */
function cacheOf({ options }: PageWish): Pick<RunConfig, 'cacheMode' | 'cacheTtlSecs'> {
  const { maxAge = 0, minAge, storeInCache = true } = options;
  if (minAge !== undefined) {
    return { cacheMode: CacheMode.STORED_ONLY, ...(maxAge > 0 && { cacheTtlSecs: maxAge / 1000 }) };
  }
  if (maxAge <= 0) return { cacheMode: options.storeInCache === true ? CacheMode.WRITE_ONLY : CacheMode.BYPASS };
  return { cacheMode: storeInCache ? CacheMode.ENABLED : CacheMode.READ_ONLY, cacheTtlSecs: maxAge / 1000 };
}
