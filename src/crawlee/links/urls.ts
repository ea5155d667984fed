// Crawlee's functions on URLs: strategies, search parameters, absolute URLs, the links of a loaded document.
import type { CheerioAPI } from 'cheerio';
import { CrawlError } from '../../errors.js';
import { EnqueueStrategy } from '../../request/scope.js';
import { parseUrl, registrableDomain } from '../../request/url.js';

/** Search parameters in any form; undefined ones are left out. */
export type SearchParams = string | URLSearchParams | Record<string, string | number | boolean | null | undefined>;

/**
 * Why a URL that is not http or https is refused.
 *
 * @example
 * const isRefused = filterUrl('ftp://example.com', 'https://example.com', 'all').reason === UNSUPPORTED_SCHEME_MESSAGE;
 */
export const UNSUPPORTED_SCHEME_MESSAGE = 'unsupported URL scheme (only http and https are allowed)';

/**
 * A URL made absolute; undefined when that is impossible.
 *
 * @example
 * tryAbsoluteURL('/a', 'https://example.com/b'); // 'https://example.com/a'
 */
export function tryAbsoluteURL(href: string, baseUrl: string): string | undefined {
  try {
    return new URL(href, baseUrl).href;
  } catch {
    return undefined;
  }
}

/**
 * Whether a URL is near enough to another one; ports do not count, except for the same origin.
 *
 * @example
 * matchesEnqueueStrategy('same-domain', new URL('https://shop.example.com'), new URL('https://example.com')); // true
 */
export function matchesEnqueueStrategy(strategy: EnqueueStrategy, target: URL, origin: URL): boolean {
  if (strategy === EnqueueStrategy.SameOrigin) return target.origin === origin.origin;
  if (strategy === EnqueueStrategy.SameHostname) return target.hostname === origin.hostname;
  if (strategy === EnqueueStrategy.SameDomain) {
    return registrableDomain(target.hostname) === registrableDomain(origin.hostname);
  }
  return true;
}

/**
 * Whether a URL may be followed from another one, and if not, why.
 *
 * @example
 * const { allowed, reason } = filterUrl('https://other.example', 'https://example.com', 'same-domain');
 */
export function filterUrl(
  target: string | URL,
  origin: string | URL,
  strategy: EnqueueStrategy,
): { allowed: boolean; reason?: string } {
  const [to, from] = [parsed(target), parsed(origin)];
  if (!to || !/^https?:$/.test(to.protocol)) return { allowed: false, reason: UNSUPPORTED_SCHEME_MESSAGE };
  if (from && matchesEnqueueStrategy(strategy, to, from)) return { allowed: true };
  return { allowed: false, reason: `does not match enqueue strategy '${strategy}'` };
}

function parsed(url: string | URL): URL | undefined {
  return url instanceof URL ? url : parseUrl(url);
}

/**
 * Replaces the search parameters of a URL, when some are given.
 *
 * @example
 * applySearchParams(new URL('https://example.com/list'), { page: 2 });
 */
export function applySearchParams(url: URL, searchParams: SearchParams | undefined): void {
  if (searchParams === undefined) return;
  if (typeof searchParams === 'string' || searchParams instanceof URLSearchParams) {
    url.search = searchParams.toString();
    return;
  }
  const given = Object.entries(searchParams).filter(([, value]) => value !== undefined);
  url.search = new URLSearchParams(
    Object.fromEntries(given.map(([name, value]) => [name, String(value ?? '')])),
  ).toString();
}

/**
 * The absolute URLs of a document's links.
 *
 * @example
 * const urls = extractUrlsFromCheerio($, 'a.next', 'https://example.com/');
 */
export function extractUrlsFromCheerio($: CheerioAPI, selector = 'a', baseUrl?: string): string[] {
  const base = $('base').attr('href');
  const from = base !== undefined && baseUrl !== undefined ? tryAbsoluteURL(base, baseUrl) : baseUrl;
  const found: string[] = [];
  for (const element of $(selector)) {
    const href = $(element).attr('href');
    if (href === undefined) continue;
    if (from === undefined && !parseUrl(href)) {
      throw new CrawlError(
        'OPTION_INVALID',
        `An extracted URL: ${href} is relative and baseUrl is not set. Provide a baseUrl to resolve relative URLs.`,
      );
    }
    const url = tryAbsoluteURL(href, from ?? href);
    if (url !== undefined) found.push(url);
  }
  return found;
}

/** The page that links are compared with. */
export interface ResolveBaseUrl {
  enqueueStrategy?: EnqueueStrategy;
  finalRequestUrl?: string;
  originalRequestUrl: string;
  userProvidedBaseUrl?: string;
}

/**
 * The URL that a strategy compares links with: the final one while it is within the strategy, else the original one.
 *
 * @example
 * const baseUrl = resolveBaseUrlForEnqueueLinksFiltering({ originalRequestUrl: request.url, finalRequestUrl: request.loadedUrl });
 */
export function resolveBaseUrlForEnqueueLinksFiltering(options: ResolveBaseUrl): string | undefined {
  const { enqueueStrategy, finalRequestUrl, originalRequestUrl, userProvidedBaseUrl } = options;
  if (userProvidedBaseUrl) return userProvidedBaseUrl;
  const original = new URL(originalRequestUrl);
  const final = new URL(finalRequestUrl ?? originalRequestUrl);
  if (enqueueStrategy === EnqueueStrategy.All) return final.origin;
  // Within a domain the final host counts; any other change of origin would let a redirect move the crawl.
  const isWithin =
    enqueueStrategy === EnqueueStrategy.SameDomain
      ? matchesEnqueueStrategy(EnqueueStrategy.SameDomain, final, original)
      : final.origin === original.origin;
  return isWithin ? final.origin : original.origin;
}
