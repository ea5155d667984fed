// Normalises the paths of rules and URLs so that they can be compared octet by octet.
// Promise: every step is one pass over its text; a text is a string of octets (one character each) until encoded.

/** `rfc`: RFC 9309, the stricter answer where Google's cases differ from it. `google`: as Google's parser does. */
export type RobotsMode = 'rfc' | 'google';

const PERCENT = /%[0-9a-fA-F]{2}/g;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
const NOT_PRINTABLE_ASCII = /[^\x21-\x7e]/;
const NOT_ASCII = /[^\0-\x7f]/;

const everywhere = (pattern: RegExp): RegExp => new RegExp(pattern.source, 'g');
const ALL_NOT_PRINTABLE = everywhere(NOT_PRINTABLE_ASCII);
const ALL_NOT_ASCII = everywhere(NOT_ASCII);

const escaped = (octet: string): string => `%${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
const utf8Octets = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** A rule's path as octets of ASCII: what may not stand in a URL is percent-encoded, hex digits in capitals. */
export function encodeRule(octets: string, mode: RobotsMode): string {
  const plain = octets.replace(mode === 'google' ? ALL_NOT_ASCII : ALL_NOT_PRINTABLE, escaped);
  return plain.includes('%') ? plain.replace(PERCENT, (found) => found.toUpperCase()) : plain;
}

/** Percent-encoded letters, digits, `-`, `.`, `_`, `~` as themselves: RFC 3986 calls the two spellings equivalent. */
export function decodeUnreserved(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(PERCENT, (found) => {
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16));
    return UNRESERVED.test(character) ? character : found;
  });
}

/** `%2A` and `%24` stand for the characters that are special in rules (RFC 9309, section 2.2.3). */
export function withLiteralSpecials(path: string): string {
  return path.includes('%2') ? path.replaceAll('%2A', '*').replaceAll('%24', '$') : path;
}

/** The spellings of one URL that rules are compared with. */
export interface PathForms {
  /** As given, and, where that is another, with unreserved characters decoded. */
  readonly asWritten: readonly string[];
  /** Non-ASCII encoded, unreserved decoded. */
  readonly normalized: string;
  /** The URL holds characters that are not ASCII, which a URL on the wire never does. */
  readonly isForeign: boolean;
}

export function pathForms(path: string, mode: RobotsMode): PathForms {
  const isForeign = NOT_ASCII.test(path);
  if (!isForeign && !path.includes('%')) return { asWritten: [path], normalized: path, isForeign };
  const capital = path.replace(PERCENT, (found) => found.toUpperCase());
  if (mode === 'google') return { asWritten: [capital], normalized: capital, isForeign };
  const written = withLiteralSpecials(capital);
  const decoded = decodeUnreserved(written);
  const normalized = isForeign ? utf8Octets(decoded).replace(ALL_NOT_ASCII, escaped) : decoded;
  return { asWritten: decoded === written ? [written] : [written, decoded], normalized, isForeign };
}

/**
 * Path and query of a URL, valid or not. Not `new URL`, which rejects URLs that rules can still match and rewrites the
 * path.
 */
export function pathOf(url: string): string {
  const authority = authorityStart(url);
  let from = authority;
  while (from < url.length && !'/?#;'.includes(url[from] as string)) from++;
  if (authority === 0) from = 0;
  const hash = url.indexOf('#', from);
  const path = url.slice(from, hash < 0 ? url.length : hash);
  return path.startsWith('/') ? path : `/${path}`;
}

/** 0 if the text has no authority: it is already a path. */
function authorityStart(url: string): number {
  if (url.startsWith('//')) return 2;
  const scheme = url.indexOf('://');
  if (scheme <= 0) return 0;
  const first = url.search(/[/?#;]/);
  return first < scheme ? 0 : scheme + 3;
}
