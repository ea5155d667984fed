// URLs: parsing with error codes, the unique key for deduplication, and the domain for pacing.
// Unique keys follow Crawlee's rules; the fast path is proven equal to the slow one by a property test.
import { createRequire } from 'node:module';
import type * as Tldts from 'tldts';
import { CrawlError } from '../errors.js';
import { limitReached, LIMITS } from '../limits.js';
import { sortedPlainQuery } from './query.js';

/** Changes when unique keys would; stores refuse to mix versions. */
export const NORMALISATION_VERSION = 1;

/** No real site needs more; longer ones are traps. */
export const MAX_URL_LENGTH = LIMITS.urlCharacters.max;

/** DNS has no longer names; a URL with one is invalid. */
const MAX_HOST_LENGTH = LIMITS.hostCharacters.max;
/** A URL whose host, with scheme and port around it, ends here or before has no host that is too long. */
const SAFE_HOST_END = 'http://'.length + MAX_HOST_LENGTH;

/** Throws what {@link parseHttpUrl} throws; an obviously valid URL is not parsed. */
export function checkHttpUrl(text: string): void {
  if (typeof text !== 'string' || text.length > MAX_URL_LENGTH) return void parseHttpUrl(text);
  const end = plainAuthorityEnd(text);
  if (end === 0 || end > SAFE_HOST_END) parseHttpUrl(text);
}

/** Whether the host of a normalised URL is too long. */
export function isHostTooLong(url: string): boolean {
  if (url.length <= SAFE_HOST_END) return false;
  const slash = url.indexOf('/', 'https://'.length);
  return (slash < 0 || slash > SAFE_HOST_END) && parseUrl(url) === undefined;
}

/** Parses an http(s) URL or throws an error with a code. */
export function parseHttpUrl(text: string): URL {
  if (typeof text !== 'string') throw new CrawlError('URL_INVALID', `not a URL: ${String(text)}`);
  if (text.length > MAX_URL_LENGTH) {
    limitReached('urlCharacters');
    throw new CrawlError('URL_INVALID', `URL of ${text.length} characters is too long`);
  }
  const url = parseUrl(text);
  if (!url) throw new CrawlError('URL_INVALID', `not an absolute URL: "${clip(text)}"`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new CrawlError('URL_SCHEME', `only http and https can be crawled, not ${url.protocol}//: "${clip(text)}"`);
  }
  return url;
}

/**
 * The parsed URL, or undefined when the text is none or its host is too long. Use this, not `URL.canParse`: that of Node 20 misreads
 * Latin-1 strings once it is optimised (after some 5,000 calls it refuses `https://bücher.example/`, and it
 * accepts text that the constructor throws on).
 */
export function parseUrl(text: string, given?: string): URL | undefined {
  // The base, which may be long, says nothing about a whole URL.
  const base = given !== undefined && isWholeUrl(text) ? undefined : given;
  // Without a scheme there is none: an exception for each of a page's links would cost most.
  if (base === undefined && !text.includes(':')) return undefined;
  // On ASCII it is right, and spares most bad links the cost of an exception.
  // eslint-disable-next-line no-restricted-properties -- see above
  if (base === undefined && !NOT_ASCII.test(text) && !URL.canParse(text)) return undefined;
  try {
    const url = new URL(text, base);
    return url.href.length > SAFE_HOST_END && url.hostname.length > MAX_HOST_LENGTH ? undefined : url;
  } catch {
    return undefined;
  }
}

/** Whether a reference has a scheme and a host of its own. */
export function isWholeUrl(reference: string): boolean {
  return WHOLE.test(reference);
}

const WHOLE = /^[a-z][a-z\d+.-]{0,30}:\/\//i;
const NOT_ASCII = /[^\x00-\x7f]/;

/** Of a text from elsewhere, as much as an error message has room for. */
export function clip(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/**
 * The key under which a URL counts as the same: scheme and host in lower case, `utm_*` removed, query
 * sorted, one trailing slash of the path dropped, fragment dropped unless asked for. Text that is no URL
 * comes back as it is.
 */
export function normalizeUrl(text: string, keepFragment = false): string {
  return plainKey(text, keepFragment) ?? parsedKey(text, keepFragment);
}

const SLASH = 47;
const DOT = 46;
const COLON = 58;
const DIGIT_0 = 48;
const DASH = 45;
const PERCENT = 37;
const QUESTION_MARK = 63;
const HASH = 35;

// 'a'-'z', '0'-'9', '-' and '.' in a host; a path of characters the URL parser leaves alone.
const HOST_OK = charTable('abcdefghijklmnopqrstuvwxyz0123456789-.');
const PATH_OK = charTable("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~/!$&'()*+,;=:@%");

function charTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/**
 * Where the host of an http(s) URL ends, when the parser would leave scheme, host and port as they are and no userinfo
 * stands before them. Else 0. What follows never makes such a URL invalid.
 */
function plainHostEnd(text: string): number {
  const start = startOfHost(text);
  if (start === 0) return 0;
  const length = text.length;
  let at = start;
  let label = start;
  for (; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === SLASH || code === COLON) break;
    if (code > 127 || HOST_OK[code] === 0) return 0;
    if (code === DOT) label = at + 1;
    // `xn--` and other labels with dashes there are checked by the parser.
    else if (code === DASH && at === label + 3 && text.charCodeAt(at - 1) === DASH) return 0;
  }
  if (label === at || plainPortEnd(text, at) === 0) return 0;
  // Hosts whose last label starts with a digit are IPv4 in some spelling, or nothing.
  return isDigit(text.charCodeAt(label)) && !isPlainIpv4(text, start, at) ? 0 : at;
}

/** The same with the port: at a slash or the end of the text. */
function plainAuthorityEnd(text: string): number {
  const hostEnd = plainHostEnd(text);
  return hostEnd === 0 ? 0 : plainPortEnd(text, hostEnd);
}

/** Where a port ends that the parser would leave there, or `hostEnd` when there is none; 0 when it has to look. */
function plainPortEnd(text: string, hostEnd: number): number {
  if (text.charCodeAt(hostEnd) !== COLON) return hostEnd;
  let port = 0;
  let at = hostEnd + 1;
  if (text.charCodeAt(at) === DIGIT_0) return 0;
  for (; at < text.length && text.charCodeAt(at) !== SLASH; at++) {
    const code = text.charCodeAt(at);
    if (!isDigit(code) || port > 65_535) return 0;
    port = port * 10 + code - DIGIT_0;
  }
  const isDefault = port === (text.charCodeAt(4) === COLON ? 80 : 443);
  return port === 0 || port > 65_535 || isDefault ? 0 : at;
}

/** Four numbers up to 255 without leading zeros: how the parser writes every IPv4 address. */
function isPlainIpv4(text: string, start: number, end: number): boolean {
  let labels = 0;
  for (let at = start; at <= end; at++) {
    const from = at;
    let value = 0;
    for (; at < end && text.charCodeAt(at) !== DOT; at++) {
      const code = text.charCodeAt(at);
      if (!isDigit(code) || at - from > 2) return false;
      value = value * 10 + code - DIGIT_0;
    }
    const hasLeadingZero = text.charCodeAt(from) === DIGIT_0 && at - from > 1;
    if (at === from || value > 255 || hasLeadingZero) return false;
    labels++;
  }
  return labels === 4;
}

function isDigit(code: number): boolean {
  return code >= DIGIT_0 && code <= 57;
}

/** 8 after `https://`, 7 after `http://`, else 0. By characters: `startsWith` costs as much as the host. */
function startOfHost(text: string): number {
  if (text.charCodeAt(0) !== 104 || text.charCodeAt(1) !== 116 || text.charCodeAt(2) !== 116) return 0;
  if (text.charCodeAt(3) !== 112) return 0;
  const colon = text.charCodeAt(4) === 115 ? 5 : 4;
  if (text.charCodeAt(colon) !== COLON || text.charCodeAt(colon + 1) !== SLASH) return 0;
  return text.charCodeAt(colon + 2) === SLASH ? colon + 3 : 0;
}

/** The key of a URL that is already as the parser would write it, or undefined. One pass over its characters. */
function plainKey(text: string, keepFragment: boolean): string | undefined {
  let pathEnd = plainAuthorityEnd(text);
  if (pathEnd === 0) return undefined;
  const length = text.length;
  let code = 0;
  for (; pathEnd < length; pathEnd++) {
    const previous = code;
    code = text.charCodeAt(pathEnd);
    if (code === DOT || code === PERCENT) {
      // A segment that begins so may be a dot segment, which the parser would remove.
      if (previous === SLASH && (code === DOT || text.charCodeAt(pathEnd + 1) === 50)) return undefined;
    } else if (code === QUESTION_MARK || code === HASH) break;
    else if (code > 127 || PATH_OK[code] === 0) return undefined;
  }
  const keyEnd = text.charCodeAt(pathEnd - 1) === SLASH ? pathEnd - 1 : pathEnd;
  if (pathEnd === length) return keyEnd === length ? text : text.slice(0, keyEnd);
  const fragmentAt = code === HASH ? pathEnd : text.indexOf('#', pathEnd);
  if (fragmentAt >= 0 && keepFragment) return undefined;
  if (code === HASH) return text.slice(0, keyEnd);
  const query = sortedPlainQuery(text, pathEnd + 1, fragmentAt < 0 ? length : fragmentAt);
  return query === undefined ? undefined : text.slice(0, keyEnd) + query;
}

function parsedKey(text: string, keepFragment: boolean): string {
  const url = parseUrl(text.trim());
  if (!url) return text;
  const path = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname;
  return `${url.protocol}//${url.host.toLowerCase()}${path}${sortedQuery(url)}${keepFragment ? url.hash : ''}`;
}

function sortedQuery(url: URL): string {
  if (url.search === '') return '';
  // Filtered into a list: each `delete` would write the whole URL anew.
  const parameters = new URLSearchParams([...url.searchParams].filter(([name]) => !name.startsWith('utm_')));
  parameters.sort();
  const query = parameters.toString();
  return query === '' ? '' : `?${query}`;
}

/** The URL as it is requested: a fragment is never sent. */
export function withoutFragment(url: string): string {
  const end = url.indexOf('#');
  return end < 0 ? url : url.slice(0, end);
}

/** The host of an http(s) URL in canonical spelling, without port; '' when there is none. */
export function hostOf(url: string): string {
  return parseUrl(url)?.hostname ?? '';
}

/** The suffix list takes some 50 CPU-ms to load: on the first URL, not on import. */
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

/** What shares a pace: all hosts of a registrable domain, or each host alone. */
export type PaceBy = 'domain' | 'host';

/** The domain (or host) whose queue and pace a URL belongs to. */
export function domainOf(url: string, paceBy: PaceBy = 'domain'): string {
  return paceBy === 'host' ? canonicalHost(url) : domainAt(url);
}

function canonicalHost(url: string): string {
  const end = plainHostEnd(url);
  return end === 0 ? hostOf(url) : url.slice(startOfHost(url), end);
}

let lastOrigin = '';
let lastDomain = '';

function domainAt(url: string): string {
  // Links of a page come in runs of one site.
  if (lastOrigin !== '' && url.startsWith(lastOrigin)) return lastDomain;
  const end = plainHostEnd(url);
  if (end === 0) return registrableDomain(hostOf(url));
  const domain = registrableDomain(url.slice(startOfHost(url), end));
  const authorityEnd = plainPortEnd(url, end);
  if (authorityEnd < url.length) {
    lastOrigin = url.slice(0, authorityEnd + 1);
    lastDomain = domain;
  }
  return domain;
}

export interface RelativeUrls {
  /** So much of the list or document was read: it may repeat its base so much more often. */
  note(characters: number): void;
  /** Like {@link parseUrl}. Once the base was repeated too often, only absolute references have a URL. */
  resolve(reference: string, base: string | undefined): URL | undefined;
}

/** Shorter than these, a base costs nothing. */
const SHORT_BASE = 256;
const LEAST_BASE_CHARACTERS = 1_000_000;

/**
 * URLs of a list or a document, resolved against where it came from. A base of 60,000 characters, as a redirect can give,
 * would be read again for each of a million short references: the work is in proportion to what was read.
 */
export function createRelativeUrls(readCharacters = 0): RelativeUrls {
  let room = LEAST_BASE_CHARACTERS + LIMITS.baseRepeats.max * readCharacters;
  let isReached = false;
  return {
    note(characters) {
      room += LIMITS.baseRepeats.max * characters;
    },
    resolve(reference, base) {
      if (base === undefined || base.length <= SHORT_BASE || isWholeUrl(reference)) return parseUrl(reference, base);
      if (room < base.length) {
        if (!isReached) limitReached('baseRepeats');
        isReached = true;
        return parseUrl(reference);
      }
      room -= base.length;
      return parseUrl(reference, base);
    },
  };
}
