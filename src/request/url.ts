// URLs: parsing with named errors, the unique key that deduplicates them, and the domain that paces them.
// Unique keys follow Crawlee's rules; the fast path is proven equal to the slow one by a property test.
import { createRequire } from 'node:module';
import type * as Tldts from 'tldts';
import { CrawlError } from '../errors.js';

/** Changes when unique keys would; stores refuse to mix versions. */
export const NORMALISATION_VERSION = 1;

/** No server we want to talk to needs more; longer ones are traps. */
export const MAX_URL_LENGTH = 65_536;

/** Parses an http(s) URL or says, by code, why it is none. */
export function parseHttpUrl(text: string): URL {
  if (typeof text !== 'string') throw new CrawlError('URL_INVALID', `not a URL: ${String(text)}`);
  if (text.length > MAX_URL_LENGTH) throw new CrawlError('URL_INVALID', `URL of ${text.length} characters is too long`);
  const url = parseUrl(text);
  if (!url) throw new CrawlError('URL_INVALID', `not an absolute URL: "${clip(text)}"`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new CrawlError('URL_SCHEME', `only http and https can be crawled, not ${url.protocol}//: "${clip(text)}"`);
  }
  return url;
}

/**
 * The parsed URL, or undefined when the text is none. Use this, not `URL.canParse`: that of Node 20 misreads
 * Latin-1 strings once it is optimised (after some 5,000 calls it refuses `https://bücher.example/`, and it
 * accepts text that the constructor throws on).
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  // On ASCII it is right, and spares most bad links the cost of an exception.
  // eslint-disable-next-line no-restricted-properties -- see above
  if (base === undefined && !NOT_ASCII.test(text) && !URL.canParse(text)) return undefined;
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

const NOT_ASCII = /[^\x00-\x7f]/;

function clip(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/**
 * The key under which a URL counts as the same: scheme and host in lower case, `utm_*` removed, query
 * sorted, one trailing slash of the path dropped, fragment dropped unless asked for. Text that is no URL
 * comes back as it is.
 */
export function normalizeUrl(text: string, keepFragment = false): string {
  return canonicalKey(text) ?? parsedKey(text, keepFragment);
}

// 'a'-'z', '0'-'9', '-', '.' and ':' in a host; a path of characters the URL parser leaves alone.
const HOST_OK = charTable('abcdefghijklmnopqrstuvwxyz0123456789-.');
const PATH_OK = charTable("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~/!$&'()*+,;=:@");

function charTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/** The key of a URL that is already in canonical form and has no query, or undefined. No allocation but the result. */
function canonicalKey(text: string): string | undefined {
  const start = text.startsWith('https://') ? 8 : text.startsWith('http://') ? 7 : 0;
  if (start === 0) return undefined;
  const length = text.length;
  let at = start;
  let lastDot = start - 1;
  for (; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === 47) break;
    if (code > 127 || HOST_OK[code] === 0) return undefined;
    if (code === 46) lastDot = at;
  }
  // Hosts whose last label starts with a digit may be IPv4 in some spelling, 'xn--' needs validation.
  const lastLabel = text.charCodeAt(lastDot + 1);
  if (at === start || at - lastDot < 2 || (lastLabel >= 48 && lastLabel <= 57)) return undefined;
  if (text.startsWith('xn--', start) || text.includes('.xn--')) return undefined;
  for (let index = at; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code === 46) {
      // Dots that begin a segment may be dot segments, which the parser would remove.
      if (text.charCodeAt(index - 1) === 47) return undefined;
    } else if (code > 127 || PATH_OK[code] === 0) return undefined;
  }
  return text.charCodeAt(length - 1) === 47 ? text.slice(0, -1) : text;
}

function parsedKey(text: string, keepFragment: boolean): string {
  const url = parseUrl(text.trim());
  if (!url) return text;
  const path = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname;
  return `${url.protocol}//${url.host.toLowerCase()}${path}${sortedQuery(url)}${keepFragment ? url.hash : ''}`;
}

function sortedQuery(url: URL): string {
  if (url.search === '') return '';
  const parameters = url.searchParams;
  for (const name of [...parameters.keys()]) if (name.startsWith('utm_')) parameters.delete(name);
  parameters.sort();
  const query = parameters.toString();
  return query === '' ? '' : `?${query}`;
}

/** The host of an http(s) URL in canonical spelling, without port; '' when there is none. */
export function hostOf(url: string): string {
  return parseUrl(url)?.hostname ?? '';
}

/** The suffix list costs some 50 CPU-ms to load: paid by the first URL, not by every import of the package. */
let tldts: typeof Tldts | undefined;

const domainOfHost = new Map<string, string>();
const DOMAIN_CACHE_LIMIT = 20_000;

/**
 * The registrable domain of a host by the ICANN section of the public suffix list; a host that has none
 * (an IP address, `localhost`) is its own.
 */
export function registrableDomain(host: string): string {
  const known = domainOfHost.get(host);
  if (known !== undefined) return known;
  tldts ??= createRequire(import.meta.url)('tldts') as typeof Tldts;
  const domain = tldts.getDomain(host, { allowPrivateDomains: false, extractHostname: false }) ?? host;
  if (domainOfHost.size >= DOMAIN_CACHE_LIMIT) domainOfHost.clear();
  domainOfHost.set(host, domain);
  return domain;
}

/** What is paced together: all hosts of a registrable domain, or each host alone. */
export type PaceBy = 'domain' | 'host';

/** The domain (or host) whose queue and pace a URL belongs to. */
export function domainOf(url: string, paceBy: PaceBy = 'domain'): string {
  const host = quickHost(url) ?? hostOf(url);
  return paceBy === 'host' ? host : registrableDomain(host);
}

/** The host of a URL whose authority is plain lower case, without parsing it. */
function quickHost(url: string): string | undefined {
  const start = url.startsWith('https://') ? 8 : url.startsWith('http://') ? 7 : 0;
  if (start === 0) return undefined;
  for (let at = start; at < url.length; at++) {
    const code = url.charCodeAt(at);
    if (code === 47) {
      const host = url.slice(start, at);
      // Numbers, punycode and extra slashes have other spellings: let the parser decide.
      return /^$|^[0-9.]|\.[0-9][^.]*$|xn--/.test(host) ? undefined : host;
    }
    if (code > 127 || HOST_OK[code] === 0) return undefined;
  }
  return undefined;
}
