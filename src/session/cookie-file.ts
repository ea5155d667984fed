// Reads cookie files: cookies.txt (Netscape, as curl, wget and browser extensions write it) and JSON (a list of cookies,
// or Playwright's storage state). Promise: every cookie has a name and a domain; a bad one is reported by its place.
import { CrawlError } from '../errors.js';
import { parseUrl } from '../request/url.js';
import { type CookieObject, createCookies, type Cookies } from './cookies.js';

const MAX_SHOWN = 60;

/**
 * The cookies of a file.
 *
 * @example
 * const cookies = parseCookieFile('[{ "name": "a", "value": "1", "domain": "example.com" }]');
 * await using crawler = await WebCrawler.open({ cookies });
 */
export function parseCookieFile(text: string): CookieObject[] {
  const plain = text.replace(/^\uFEFF/, '');
  return /^\s*[[{]/.test(plain) ? fromJson(plain) : fromLines(plain);
}

function fromJson(text: string): CookieObject[] {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    // What the parser quotes of the file may be a secret.
    const [place = ''] = /at position \d+/.exec((error as Error).message) ?? [];
    throw invalid(`not valid JSON ${place}`.trimEnd());
  }
  const list = Array.isArray(read) ? read : (read as { cookies?: unknown }).cookies;
  if (!Array.isArray(list)) throw invalid('the JSON is neither a list of cookies nor { "cookies": […] }');
  return list.map((one, index) => fromObject(one as Record<string, unknown> | null, `cookie ${index + 1}`));
}

/** Playwright's and Puppeteer's cookies, and those of browser extensions (`hostOnly`, `expirationDate`). */
function fromObject(one: Record<string, unknown> | null, place: string): CookieObject {
  const { name, value, domain, path, secure, httpOnly, hostOnly, url } = one ?? {};
  const host = typeof domain === 'string' && domain !== '' ? domain : hostOf(url);
  if (typeof name !== 'string' || typeof value !== 'string' || host === undefined) {
    throw invalid(`${place} needs "name", "value" and "domain"`);
  }
  const bare = host.replace(/^\./, '');
  // Of anything but text and numbers, the text of all that it holds would be read, at any depth.
  const isPlain = (given: unknown) => typeof given === 'number' || typeof given === 'string';
  const ends = one!.expires ?? one!.expirationDate;
  const expires = isPlain(ends) ? Number(ends) : -1;
  const said = isPlain(one!.sameSite) ? String(one!.sameSite).toLowerCase() : '';
  const sameSite = Object.hasOwn(SAME_SITE, said) ? SAME_SITE[said] : undefined;
  return {
    name,
    value,
    domain: hostOnly === true ? bare : hostOnly === false ? `.${bare}` : host,
    path: typeof path === 'string' && path.startsWith('/') ? path : '/',
    secure: secure === true,
    httpOnly: httpOnly === true,
    expires: Number.isFinite(expires) ? expires : -1,
    ...(sameSite !== undefined && { sameSite }),
  };
}

const SAME_SITE: Readonly<Record<string, 'Strict' | 'Lax' | 'None'>> = {
  strict: 'Strict',
  lax: 'Lax',
  none: 'None',
  no_restriction: 'None',
};

function hostOf(url: unknown): string | undefined {
  return typeof url === 'string' ? parseUrl(url)?.hostname : undefined;
}

/** Seven fields with tabs in between; `#HttpOnly_` before the domain is no comment. */
function fromLines(text: string): CookieObject[] {
  return text.split('\n').flatMap((raw, index) => {
    const line = raw.replace(/\r$/, '');
    const isHttpOnly = line.startsWith('#HttpOnly_');
    if (line.trim() === '' || (line.startsWith('#') && !isHttpOnly)) return [];
    const [domain, subdomains, path, secure, expires, name, value = ''] = line
      .slice(isHttpOnly ? '#HttpOnly_'.length : 0)
      .split('\t');
    if (!domain || !name || !path?.startsWith('/') || !/^\d+(?:\.\d+)?$/.test(expires ?? '')) {
      const shown = line.slice(0, MAX_SHOWN).replace(/[^\x20-\x7e]/g, ' ');
      throw invalid(`line ${index + 1} is not a cookie (7 fields with tabs in between): "${hidden(shown)}"`);
    }
    const bare = domain.replace(/^\./, '');
    return {
      name,
      value,
      domain: subdomains?.toUpperCase() === 'TRUE' ? `.${bare}` : bare,
      path,
      secure: secure?.toUpperCase() === 'TRUE',
      httpOnly: isHttpOnly,
      // 0 is a cookie of the session.
      expires: Number(expires) || -1,
    };
  });
}

/** The beginning of a line that may have a secret in it: a domain or a name, and nothing of a value or a bare token. */
function hidden(line: string): string {
  const [first = ''] = line.split(/[ =]/, 1);
  return first === line ? '…' : `${first} …`;
}

/** The cookies as a jar: each belongs to its own domain, whoever is asked. */
export function cookiesFrom(objects: readonly CookieObject[]): Cookies {
  const jar = createCookies();
  for (const cookie of objects) {
    const host = cookie.domain?.replace(/^\./, '');
    const url = cookie.url ?? (host === undefined ? '' : `https://${host}${cookie.path ?? '/'}`);
    if (url !== '') jar.setObject({ ...cookie, url }, url);
  }
  return jar;
}

/** One Cookie header of two; of a name that both have, the second one's value. */
export function joinedCookies(first: string, second: string): string {
  if (first === '' || second === '') return first || second;
  const nameOf = (pair: string) => pair.split('=', 1)[0]!.trim();
  const names = new Set(second.split(';').map(nameOf));
  return [...first.split(';').filter((pair) => !names.has(nameOf(pair))), second].map((pair) => pair.trim()).join('; ');
}

function invalid(message: string): CrawlError {
  return new CrawlError('OPTION_INVALID', `cookies: ${message}`);
}
