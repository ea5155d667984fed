// Crawlee's functions on cookies, over tough-cookie.
import { createRequire } from 'node:module';
import type * as ToughCookieModule from 'tough-cookie';
import type { Cookie } from 'tough-cookie';
import { log } from '../observe/log.js';
import type { CookieObject } from '../session/cookies.js';
import { CookieParseError } from './checks.js';

function tough(): typeof ToughCookieModule {
  return createRequire(import.meta.url)('tough-cookie') as typeof ToughCookieModule;
}

/**
 * Cookie headers as one; a later cookie of a name replaces an earlier one.
 *
 * @example
 * mergeCookies('https://example.com', ['a=1; b=2', 'b=3']); // 'a=1; b=3'
 */
export function mergeCookies(_url: string, sourceCookies: readonly (string | undefined)[]): string {
  const merged = new Map<string, string>();
  for (const header of sourceCookies) {
    for (const pair of header?.split(';') ?? []) {
      const text = pair.trim();
      if (text === '') continue;
      const equals = text.indexOf('=');
      if (equals < 1) throw new CookieParseError(text);
      const name = text.slice(0, equals);
      const similar = [...merged.keys()].find((known) => known !== name && known.toLowerCase() === name.toLowerCase());
      if (similar !== undefined) {
        log.deprecated(`Found cookies with similar name during cookie merging: '${name}' and '${similar}'`);
      }
      merged.set(name, text);
    }
  }
  return [...merged.values()].join('; ');
}

/**
 * When a cookie without a date expires.
 *
 * @example
 * const expires = getDefaultCookieExpirationDate(3_000);
 */
export function getDefaultCookieExpirationDate(maxAgeSecs: number): Date {
  return new Date(Date.now() + maxAgeSecs * 1_000);
}

/**
 * A cookie as browsers have it, as one of tough-cookie.
 *
 * @example
 * const cookie = browserPoolCookieToToughCookie({ name: 'a', value: '1', domain: '.example.com' }, 3_000);
 */
export function browserPoolCookieToToughCookie(cookie: CookieObject, maxAgeSecs: number): Cookie {
  const { name, value, domain, path, secure, httpOnly, expires } = cookie;
  const hasDate = expires !== undefined && expires > 0;
  return new (tough().Cookie)({
    key: name,
    value,
    expires: hasDate ? new Date(expires * 1_000) : getDefaultCookieExpirationDate(maxAgeSecs),
    ...(domain === undefined ? {} : { domain: domain.replace(/^\./, '') }),
    ...(path === undefined ? {} : { path }),
    secure: secure ?? false,
    httpOnly: httpOnly ?? false,
    hostOnly: !domain?.startsWith('.'),
  });
}

/**
 * A Set-Cookie line in the form that browsers take; null when it is none.
 *
 * @example
 * cookieStringToToughCookie('a=1; Path=/')?.name; // 'a'
 */
export function cookieStringToToughCookie(line: string): CookieObject | null {
  const cookie = tough().Cookie.parse(line);
  return cookie ? toughCookieToBrowserPoolCookie(cookie) : null;
}

/** A response, as far as its cookies go. */
export interface ResponseLike {
  /** Its address, or a function that returns it. */
  url?: string | (() => string);
  /** Its headers, or a function that returns them. */
  headers?:
    | Readonly<Record<string, string | string[] | undefined>>
    | (() => Readonly<Record<string, string | string[] | undefined>>);
}

/**
 * The cookies that a response sets.
 *
 * @example
 * const names = getCookiesFromResponse({ headers: { 'set-cookie': ['a=1'] } }).map(({ key }) => key);
 */
export function getCookiesFromResponse(response: ResponseLike): Cookie[] {
  const headers = typeof response.headers === 'function' ? response.headers() : response.headers;
  const lines = headers?.['set-cookie'] ?? [];
  return [lines].flat().map((line) => {
    const cookie = tough().Cookie.parse(line);
    if (!cookie) throw new CookieParseError(line);
    return cookie;
  });
}

/**
 * A cookie of tough-cookie in the form that browsers take.
 *
 * @example
 * const [cookie] = getCookiesFromResponse({ headers: { 'set-cookie': ['a=1'] } }).map(toughCookieToBrowserPoolCookie);
 */
export function toughCookieToBrowserPoolCookie(cookie: Cookie): CookieObject {
  const { key: name, value, domain, path, secure, httpOnly, expires, hostOnly } = cookie;
  return {
    name,
    value,
    ...(domain === null ? {} : { domain: hostOnly ? domain : `.${domain}` }),
    ...(path === null ? {} : { path }),
    secure,
    httpOnly,
    ...(expires instanceof Date ? { expires: Math.floor(expires.getTime() / 1_000) } : {}),
  };
}
