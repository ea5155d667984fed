// The cookies of one session, over tough-cookie, which is loaded when the first cookie arrives.
// Promise: a session without cookies costs one small object; what servers set is bounded in number and size;
// a malformed cookie is dropped, never an error.
import { createRequire } from 'node:module';
import type * as ToughCookieModule from 'tough-cookie';
import type { Cookie as ToughCookie, CookieJar, SerializedCookieJar } from 'tough-cookie';

/** A cookie as browsers' protocols and Crawlee write it; `expires` in seconds since 1970, -1 for a session cookie. */
export interface CookieObject {
  name: string;
  value: string;
  url?: string;
  domain?: string;
  path?: string;
  secure?: boolean;
  httpOnly?: boolean;
  expires?: number;
  sameSite?: 'Strict' | 'Lax' | 'None';
}

export interface Cookies {
  /** The Cookie header for a URL; '' when there is none. */
  header(url: string): string;
  list(url: string): CookieObject[];
  /** Takes a Set-Cookie line; false when it was dropped. */
  setLine(line: string, url: string): boolean;
  setObject(cookie: CookieObject, url: string): boolean;
  /** The jar itself, made now if need be. */
  jar(): CookieJar;
  /** What to persist; undefined when no cookie was ever set. */
  serialize(): SerializedCookieJar | undefined;
}

// Name and value together, as browsers limit them (RFC 6265 asks for at least this much).
const MAX_COOKIE_CHARS = 4096;
const MAX_LINE_CHARS = 8192;
// Chrome keeps 180 cookies a domain and evicts 30 at once; RFC 6265 asks for 3,000 in all.
const MAX_PER_DOMAIN = 180;
const KEEP_PER_DOMAIN = 150;
const MAX_IN_ALL = 3000;
const KEEP_IN_ALL = 2700;

let toughCookie: typeof ToughCookieModule | undefined;

function load(): typeof ToughCookieModule {
  toughCookie ??= createRequire(import.meta.url)('tough-cookie') as typeof ToughCookieModule;
  return toughCookie;
}

/** Cookies of a session, empty or as persisted earlier. */
export function createCookies(persisted?: SerializedCookieJar): Cookies {
  let jar: CookieJar | undefined;
  /** At least as many as there are: a replaced cookie counts again until the next count. */
  const domainCounts = new Map<string, number>();
  let totalCount = 0;

  function open(): CookieJar {
    if (jar !== undefined) return jar;
    const { CookieJar } = load();
    // A persisted jar that cannot be read is worth no more than an empty one.
    jar = (persisted && quietly(() => CookieJar.deserializeSync(persisted))) ?? new CookieJar();
    for (const cookie of allCookies(jar)) count(cookie.domain ?? '');
    return jar;
  }

  function count(domain: string): number {
    const inDomain = (domainCounts.get(domain) ?? 0) + 1;
    domainCounts.set(domain, inDomain);
    totalCount++;
    return inDomain;
  }

  function set(cookie: string | ToughCookie, url: string): boolean {
    let stored: ToughCookie | undefined;
    try {
      stored = open().setCookieSync(cookie, url, { ignoreError: true });
    } catch {
      // Not a URL: there is no host to keep the cookie for.
      return false;
    }
    if (stored === undefined) return false;
    const domain = stored.domain ?? '';
    if (count(domain) > MAX_PER_DOMAIN || totalCount > MAX_IN_ALL) evict(open(), domain);
    return true;
  }

  function evict(from: CookieJar, domain: string): void {
    const inDomain = allCookies(from).filter((cookie) => cookie.domain === domain);
    if (inDomain.length > MAX_PER_DOMAIN) removeOldest(from, inDomain, KEEP_PER_DOMAIN);
    const all = allCookies(from);
    if (all.length > MAX_IN_ALL) removeOldest(from, all, KEEP_IN_ALL);
    domainCounts.clear();
    totalCount = 0;
    for (const cookie of allCookies(from)) count(cookie.domain ?? '');
  }

  const isEmpty = () => jar === undefined && persisted === undefined;

  return {
    header: (url) => (isEmpty() ? '' : (quietly(() => open().getCookieStringSync(url)) ?? '')),
    list: (url) => (isEmpty() ? [] : (quietly(() => open().getCookiesSync(url)) ?? []).map(toObject)),
    setLine: (line, url) => {
      if (line.length > MAX_LINE_CHARS) return false;
      const cookie = load().Cookie.parse(line);
      return cookie !== undefined && cookie.key.length + cookie.value.length <= MAX_COOKIE_CHARS && set(cookie, url);
    },
    setObject: (cookie, url) => {
      const made = fromObject(cookie);
      return made.key.length + made.value.length <= MAX_COOKIE_CHARS && set(made, cookie.url ?? url);
    },
    jar: open,
    serialize: () => (jar === undefined ? persisted : (jar.serializeSync() ?? undefined)),
  };
}

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The memory store answers at once, so its callbacks have run when the call returns. */
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
