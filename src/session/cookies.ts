// The cookies of one session, with tough-cookie, loaded when the first cookie arrives.
// Promise: a session without cookies costs one small object; cookies are bounded in number and size;
// a malformed cookie is dropped, never an error.
import { createRequire } from 'node:module';
import { limitReached, LIMITS } from '../limits.js';
import { parseUrl } from '../request/url.js';
import type * as ToughCookieModule from 'tough-cookie';
import type { Cookie as ToughCookie, CookieJar, SerializedCookieJar } from 'tough-cookie';

/** A cookie as browsers' protocols and Crawlee write it; `expires` in seconds since 1970, -1 for a session cookie. */
export interface CookieObject {
  /** Its name. */
  name: string;
  /** Its value, as it is sent. */
  value: string;
  /** A URL to take domain and path from. */
  url?: string;
  /** With a leading dot: its subdomains, too. */
  domain?: string;
  /** Default `/`. */
  path?: string;
  /** Sent over HTTPS only. */
  secure?: boolean;
  /** Scripts cannot read it. */
  httpOnly?: boolean;
  /** Seconds since 1970; -1 for the end of the session. */
  expires?: number;
  /** Whether other sites may have it sent. */
  sameSite?: 'Strict' | 'Lax' | 'None';
}

export interface Cookies {
  /** The Cookie header for a URL; '' if there is none. */
  header(url: string): string;
  list(url: string): CookieObject[];
  /** Stores a Set-Cookie line; false if it was dropped. */
  setLine(line: string, url: string): boolean;
  setObject(cookie: CookieObject, url: string): boolean;
  /** The jar, created if needed. */
  jar(): CookieJar;
  /** What to persist; undefined if no cookie was ever set. */
  serialize(): SerializedCookieJar | undefined;
}

// Name and value together, as in browsers (RFC 6265 requires at least this much).
const MAX_COOKIE_CHARS = LIMITS.cookieCharacters.max;
const MAX_LINE_CHARS = LIMITS.cookieLineCharacters.max;
// Chrome keeps 180 cookies per domain and evicts 30 at once; RFC 6265 requires 3,000 in total.
const MAX_PER_DOMAIN = LIMITS.cookiesPerDomain.max;
const KEEP_PER_DOMAIN = 150;
const MAX_IN_ALL = LIMITS.cookiesPerSession.max;
const KEEP_IN_ALL = 2700;

let toughCookie: typeof ToughCookieModule | undefined;

function load(): typeof ToughCookieModule {
  toughCookie ??= createRequire(import.meta.url)('tough-cookie') as typeof ToughCookieModule;
  return toughCookie;
}

/** Cookies of a session, empty or as persisted earlier. */
export function createCookies(persisted?: SerializedCookieJar | CookieJar): Cookies {
  let jar: CookieJar | undefined;
  /** As many as there are, or more: what expired counts until the next count. */
  const domainCounts = new Map<string, number>();
  let totalCount = 0;
  /** Names that secure cookies have: few, and asked before the jar is. */
  const secureNames = new Set<string>();

  function open(): CookieJar {
    if (jar !== undefined) return jar;
    const { CookieJar } = load();
    // An unreadable persisted jar counts as empty; a jar is used as it is, so that whoever gave it sees what is set.
    jar = isJar(persisted)
      ? persisted
      : ((persisted && quietly(() => CookieJar.deserializeSync(persisted))) ?? new CookieJar());
    for (const cookie of allCookies(jar)) count(cookie);
    return jar;
  }

  function count({ domain: given, key, secure }: ToughCookie): number {
    const domain = given ?? '';
    if (secure) secureNames.add(key);
    const inDomain = (domainCounts.get(domain) ?? 0) + 1;
    domainCounts.set(domain, inDomain);
    totalCount++;
    return inDomain;
  }

  function set(cookie: ToughCookie, url: string, setBy: 'server' | 'user'): boolean {
    const target = parseUrl(url);
    // Without a host there is nobody to keep the cookie for.
    if (target === undefined) return false;
    if (setBy === 'server' && !isProtected(target)) {
      if (cookie.secure || PREFIX.test(cookie.key)) return false;
      if (secureNames.has(cookie.key) && hidesSecure(open(), cookie, target)) return false;
    }
    if (setBy === 'server' && !keepsPromise(cookie)) return false;
    const before = known(open(), cookie, target);
    // A jar of another copy of tough-cookie knows only its own cookies, but reads any line.
    const isOwn = open() instanceof load().CookieJar;
    const given = isOwn ? cookie : cookie.toString();
    const stored = quietly(() => open().setCookieSync(given, url, { ignoreError: true }));
    if (stored === undefined) return false;
    // One that replaces another takes no more room.
    if (before !== undefined) {
      if (stored.secure) secureNames.add(stored.key);
      return true;
    }
    if (count(stored) > MAX_PER_DOMAIN || totalCount > MAX_IN_ALL) evict(open(), stored.domain ?? '');
    return true;
  }

  function evict(from: CookieJar, domain: string): void {
    const inDomain = allCookies(from).filter((cookie) => cookie.domain === domain);
    if (inDomain.length > MAX_PER_DOMAIN) {
      limitReached('cookiesPerDomain');
      removeOldest(from, inDomain, KEEP_PER_DOMAIN);
    }
    const all = allCookies(from);
    if (all.length > MAX_IN_ALL) {
      limitReached('cookiesPerSession');
      removeOldest(from, all, KEEP_IN_ALL);
    }
    domainCounts.clear();
    totalCount = 0;
    secureNames.clear();
    for (const cookie of allCookies(from)) count(cookie);
  }

  const isEmpty = () => jar === undefined && persisted === undefined;

  return {
    header: (url) => (isEmpty() ? '' : (quietly(() => open().getCookieStringSync(url)) ?? '')),
    list: (url) => (isEmpty() ? [] : (quietly(() => open().getCookiesSync(url)) ?? []).map(toObject)),
    setLine: (line, url) => {
      if (line.length > MAX_LINE_CHARS) {
        limitReached('cookieLineCharacters');
        return false;
      }
      const cookie = load().Cookie.parse(line);
      return cookie !== undefined && isShort(cookie) && set(cookie, url, 'server');
    },
    setObject: (cookie, url) => {
      const made = fromObject(cookie);
      const target = targetOf(cookie, cookie.url ?? url);
      return target !== undefined && isOneCookie(made) && isShort(made) && set(made, target, 'user');
    },
    jar: open,
    serialize: () => {
      const used = jar ?? persisted;
      return isJar(used) ? (used.serializeSync() ?? undefined) : used;
    },
  };
}

function isJar(value: SerializedCookieJar | CookieJar | undefined): value is CookieJar {
  return typeof (value as Partial<CookieJar> | undefined)?.setCookieSync === 'function';
}

/** A semicolon would begin another cookie in the header, and a line break another header. */
function isOneCookie({ key, value }: ToughCookie): boolean {
  return !/[\x00-\x08\x0a-\x1f\x7f;]/.test(key) && !/[\x00-\x08\x0a-\x1f\x7f;]/.test(value);
}

function isShort({ key, value }: ToughCookie): boolean {
  if (key.length + value.length <= MAX_COOKIE_CHARS) return true;
  limitReached('cookieCharacters');
  return false;
}

/** What a cookie would replace. */
function known(jar: CookieJar, cookie: ToughCookie, { hostname, pathname }: URL): ToughCookie | undefined {
  const domain = cookie.domain ?? hostname;
  const path = cookie.path ?? load().defaultPath(pathname);
  let found: ToughCookie | undefined;
  jar.store.findCookie(domain, path, cookie.key, (_error, one) => {
    found = one ?? undefined;
  });
  return found;
}

const PREFIX = /^__(host|secure)-/i;

/** What a cookie's name promises (RFC 6265bis), in whatever case: some servers do not mind the case. */
function keepsPromise(cookie: ToughCookie): boolean {
  const prefix = PREFIX.exec(cookie.key)?.[1]?.toLowerCase();
  if (prefix === undefined) return true;
  return cookie.secure && (prefix === 'secure' || (cookie.domain === null && cookie.path === '/'));
}

/** Whether what comes from there could not have been changed on its way: https, or this machine. */
function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Whether a secure cookie of that name is there that the new one would replace, or stand before. */
function hidesSecure(jar: CookieJar, cookie: ToughCookie, url: URL): boolean {
  const secure = new URL(url);
  secure.protocol = 'https:';
  const there = quietly(() => jar.getCookiesSync(secure.href, { allPaths: true })) ?? [];
  return there.some((one) => one.secure && one.key === cookie.key);
}

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The memory store is synchronous, so its callbacks have run when the call returns. */
function allCookies(jar: CookieJar): ToughCookie[] {
  let found: ToughCookie[] = [];
  jar.store.getAllCookies((_error, cookies) => {
    found = cookies ?? [];
  });
  return found;
}

function removeOldest(jar: CookieJar, cookies: ToughCookie[], keep: number): void {
  const ageOf = (cookie: ToughCookie) => (cookie.lastAccessed instanceof Date ? cookie.lastAccessed.getTime() : 0);
  cookies.sort((a, b) => ageOf(a) - ageOf(b) || (a.creationIndex ?? 0) - (b.creationIndex ?? 0));
  for (const cookie of cookies.slice(0, cookies.length - keep)) {
    jar.store.removeCookie(cookie.domain ?? '', cookie.path ?? '/', cookie.key, () => {});
  }
}

function toObject(cookie: ToughCookie): CookieObject {
  const { sameSite } = cookie;
  return {
    name: cookie.key,
    value: cookie.value,
    // Host-only cookies carry the bare host, domain cookies a leading dot, as browsers write them.
    domain: cookie.hostOnly ? (cookie.domain ?? '') : `.${cookie.domain ?? ''}`,
    path: cookie.path ?? '/',
    secure: cookie.secure,
    httpOnly: cookie.httpOnly,
    expires: cookie.expires instanceof Date ? cookie.expires.getTime() / 1000 : -1,
    ...(sameSite === 'strict' && { sameSite: 'Strict' as const }),
    ...(sameSite === 'lax' && { sameSite: 'Lax' as const }),
    ...(sameSite === 'none' && { sameSite: 'None' as const }),
  };
}

/** Whose cookie it is: without a leading dot its domain is one host, the URL's own or one above it. */
function targetOf({ domain }: CookieObject, url: string): string | undefined {
  const target = parseUrl(url);
  if (!target || !domain || domain.startsWith('.') || domain.toLowerCase() === target.hostname) return url;
  if (!target.hostname.endsWith(`.${domain.toLowerCase()}`)) return undefined;
  target.hostname = domain;
  return target.href;
}

function fromObject(cookie: CookieObject): ToughCookie {
  const { domain, expires } = cookie;
  return new (load().Cookie)({
    key: cookie.name,
    value: cookie.value,
    path: cookie.path ?? '/',
    secure: cookie.secure ?? false,
    httpOnly: cookie.httpOnly ?? false,
    // Without the leading dot the cookie is for that host alone; the jar fills the host in from the URL.
    ...(domain?.startsWith('.') && { domain: domain.slice(1) }),
    ...(expires !== undefined && expires > 0 && { expires: new Date(expires * 1000) }),
    ...(cookie.sameSite !== undefined && { sameSite: cookie.sameSite.toLowerCase() }),
  });
}
