// Which URLs a crawl may follow: a strategy relative to the page, and the user's patterns.
// Promise: a decision costs a few string comparisons; every pattern is compiled once per process.
import { CrawlError } from '../errors.js';
import { type CompiledPattern, compileGlobs, compileMixed, compileRegExps } from './pattern.js';
import type { GlobInput, PatternInput, PatternRequestOptions, RegExpInput } from './pattern.js';
import { parseUrl, registrableDomain } from './url.js';

/**
 * How far from the page a link may lead.
 *
 * @example
 * const crawler = new HttpCrawler({
 *   requestHandler: async ({ enqueueLinks }) => void (await enqueueLinks({ strategy: EnqueueStrategy.SameDomain })),
 * });
 */
export const EnqueueStrategy = Object.freeze({
  /** Anywhere. */
  All: 'all',
  /** The same host and port; http and https count as one. The default without patterns. */
  SameHostname: 'same-hostname',
  /** The same registrable domain and port, any subdomain; an IP address is its own domain. */
  SameDomain: 'same-domain',
  /** The same scheme, host and port. */
  SameOrigin: 'same-origin',
} as const);
export type EnqueueStrategy = (typeof EnqueueStrategy)[keyof typeof EnqueueStrategy];

/** The rules a user can give. */
export interface ScopeRules {
  strategy?: EnqueueStrategy;
  globs?: readonly GlobInput[];
  regexps?: readonly RegExpInput[];
  include?: readonly PatternInput[];
  exclude?: readonly PatternInput[];
}

/** The page that links are compared with. Without any URL, only the patterns decide. */
export interface ScopePage {
  /** Given by the user: overrides the page's own URLs. */
  baseUrl?: string;
  /** `request.url` */
  url?: string;
  /** `request.loadedUrl` */
  loadedUrl?: string;
}

/** `scheme`: not http or https. `strategy`: leads too far. `filters`: excluded, or matches no pattern. */
export type OutOfScope = 'scheme' | 'strategy' | 'filters';

export type ScopeDecision =
  | { readonly allowed: true; readonly options?: PatternRequestOptions }
  | { readonly allowed: false; readonly reason: OutOfScope };

export interface Scope {
  /** The strategy in force: the given one, or the default that follows from the patterns. */
  readonly strategy: EnqueueStrategy;
  /** Whether an absolute URL in the URL parser's spelling may be followed, and what its pattern says of the request. */
  decide(url: string): ScopeDecision;
}

const ALLOWED: ScopeDecision = Object.freeze({ allowed: true });
const OTHER_SCHEME: ScopeDecision = Object.freeze({ allowed: false, reason: 'scheme' });
const OUT_OF_STRATEGY: ScopeDecision = Object.freeze({ allowed: false, reason: 'strategy' });
const FILTERED: ScopeDecision = Object.freeze({ allowed: false, reason: 'filters' });

/**
 * The rules of one `enqueueLinks` call. Cheap enough to make for every page.
 *
 * @example
 * const scope = createScope({ globs: ['https://example.com/docs/**'] }, { url: request.url });
 * scope.decide('https://example.com/docs/a').allowed; // true
 */
export function createScope(rules: ScopeRules = {}, page: ScopePage = {}): Scope {
  const exclude = compileMixed('exclude', rules.exclude);
  const include = [
    ...compileGlobs('globs', rules.globs),
    ...compileRegExps('regexps', rules.regexps),
    ...compileMixed('include', rules.include),
  ];
  const strategy = checkedStrategy(rules.strategy) ?? (include.length > 0 ? 'all' : 'same-hostname');
  const base = comparedUrl(strategy, page);
  const within = base === undefined ? undefined : createReach(strategy, base);

  return {
    strategy,
    decide(url) {
      if (!isHttp(url)) return OTHER_SCHEME;
      if (within && !within(url)) return OUT_OF_STRATEGY;
      for (const pattern of exclude) if (pattern.matches(url)) return FILTERED;
      if (include.length === 0) return ALLOWED;
      return firstMatch(include, url) ?? FILTERED;
    },
  };
}

function firstMatch(patterns: readonly CompiledPattern[], url: string): ScopeDecision | undefined {
  for (const { matches, options } of patterns) {
    if (matches(url)) return options ? { allowed: true, options } : ALLOWED;
  }
  return undefined;
}

/** True when a redirect from one URL to another stays within the strategy under which the first was queued. */
export function staysWithin(strategy: EnqueueStrategy | undefined, originalUrl: string, targetUrl: string): boolean {
  if (strategy === undefined) return true;
  return isHttp(targetUrl) && createReach(strategy, originalUrl)(targetUrl);
}

/** The URL whose origin links are compared with: `loadedUrl` only where a redirect did not change what is compared. */
function comparedUrl(strategy: EnqueueStrategy, { baseUrl, url, loadedUrl }: ScopePage): string | undefined {
  if (baseUrl !== undefined) return baseUrl;
  if (url === undefined || loadedUrl === undefined) return url ?? loadedUrl;
  if (strategy === 'all') return loadedUrl;
  if (strategy === 'same-domain' && domainOfUrl(url) === domainOfUrl(loadedUrl)) return loadedUrl;
  return url;
}

function domainOfUrl(url: string): string {
  return registrableDomain(parseUrl(url)?.hostname ?? '');
}

/** A test of http(s) URLs against the origin of `base`. */
function createReach(strategy: EnqueueStrategy, base: string): (url: string) => boolean {
  if (strategy === 'all') return () => true;
  const parsedBase = parseUrl(base);
  if (!parsedBase) {
    throw new CrawlError(
      'URL_INVALID',
      `links cannot be compared with "${base.slice(0, 200)}": it is not an absolute URL`,
    );
  }
  const { protocol, host, hostname, port } = parsedBase;
  const plain = `http://${host}/`;
  const secure = `https://${host}/`;
  switch (strategy) {
    case 'same-origin': {
      const origin = `${protocol}//${host}/`;
      return withParsing((url) => url.startsWith(origin));
    }
    case 'same-hostname':
      return withParsing((url) => url.startsWith(plain) || url.startsWith(secure));
    case 'same-domain': {
      const domain = registrableDomain(hostname);
      // An IP address, a lone label or a public suffix is its own domain: what ends in it belongs to others.
      if (registrableDomain(`www.${domain}`) !== domain) {
        return withParsing((url) => url.startsWith(plain) || url.startsWith(secure));
      }
      const suffix = `.${domain}${port === '' ? '' : `:${port}`}/`;
      const whole = suffix.slice(1);
      return withParsing((url) => authorityEndsWith(url, suffix) || url.startsWith(whole, startOfAuthority(url)));
    }
    default:
      return strategy satisfies never;
  }
}

/** Runs a comparison of spellings; an authority with userinfo or an unusual spelling is parsed before it is refused. */
function withParsing(compare: (url: string) => boolean): (url: string) => boolean {
  return (url) => {
    if (compare(url)) return true;
    if (hasPlainAuthority(url)) return false;
    const parsed = parseUrl(url);
    return parsed !== undefined && compare(`${parsed.protocol}//${parsed.host}/`);
  };
}

const startOfAuthority = (url: string): number => (url.charCodeAt(4) === 115 ? 8 : 7);

/** Lower-case letters, digits, '.', '-', '_' and a port, up to a slash: the parser would leave it as it is. */
function hasPlainAuthority(url: string): boolean {
  for (let at = startOfAuthority(url); at < url.length; at++) {
    const code = url.charCodeAt(at);
    if (code === 47) return true;
    const plain = (code >= 97 && code <= 122) || (code >= 45 && code <= 58) || code === 95;
    if (!plain) return false;
  }
  return false;
}

function authorityEndsWith(url: string, suffix: string): boolean {
  const start = startOfAuthority(url);
  const end = url.indexOf('/', start);
  const at = end + 1 - suffix.length;
  return at > start && url.startsWith(suffix, at);
}

function isHttp(url: string): boolean {
  return url.startsWith('https://') || url.startsWith('http://');
}

function checkedStrategy(strategy: EnqueueStrategy | undefined): EnqueueStrategy | undefined {
  const known: readonly string[] = Object.values(EnqueueStrategy);
  if (strategy === undefined || known.includes(strategy)) return strategy;
  throw new CrawlError(
    'OPTION_INVALID',
    `option "strategy" must be one of ${known.join(', ')}, got ${String(strategy)}`,
  );
}
