// Turns the bytes of an `href` into an absolute URL.
// Promise: always what `new URL(href, base).href` says; plain http(s) references get there without building a URL, and
// a long base is not read again for a million references that are no URL.
import { HASH, IS_LETTER, CLASS, LOWER, QUESTION_MARK, SLASH, sliceLatin1, sliceUtf8 } from '../../base/bytes.js';
import { isWholeUrl } from '../../request/url.js';
import { limitReached } from '../../limits.js';
import type { ValueDecoder } from '../tokens/values.js';

/** Bytes that stand for themselves in path, query and fragment alike, and that no URL parser changes. */
const PLAIN = 1;
/** Plain as written in HTML: `&` may start a character reference, so it is plain only once those are resolved. */
const PLAIN_IN_MARKUP = 4;
/** Bytes of a host that is neither mapped nor checked further: lower-case letters, digits, dash. */
const HOST = 2;
/** Bytes of a scheme in lower case. */
const SCHEME = 8;
const URL_CLASS = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  const char = String.fromCharCode(byte);
  if (/[A-Za-z0-9\-._~!$&()*+,;=:@/%?#]/.test(char)) URL_CLASS[byte] = char === '&' ? PLAIN : PLAIN | PLAIN_IN_MARKUP;
  if (/[a-z0-9-]/.test(char)) URL_CLASS[byte]! |= HOST;
  if (/[a-z0-9+.-]/.test(char)) URL_CLASS[byte]! |= SCHEME;
}
const LETTER_H = 0x68;
const LETTER_E = 0x65;
const DIGIT_0 = 0x30;
const DIGIT_2 = 0x32;
/** The schemes whose URLs have a host and a path even when written without slashes. */
const SPECIAL_SCHEMES = new Set(['http', 'https', 'ws', 'wss', 'ftp', 'file']);
const LONGEST_SPECIAL = 5;
const DOT = 0x2e;
const PERCENT = 0x25;
const COLON = 0x3a;
const DASH = 0x2d;

/** Characters of the base that are read for references without a URL; whoever reads links counts those with one. */
const MISS_CHARACTERS = 8 * 1024 * 1024;

/** Resolves references against one base. */
export interface LinkResolver {
  /** The absolute URL for an attribute value as written in the page, or `null` when there is none. */
  resolve(bytes: Buffer, from: number, to: number): string | null;
}

/** Makes a resolver for a document's base URL; with no valid base, only absolute references resolve. */
export function createLinkResolver(base: string | null, values: ValueDecoder): LinkResolver {
  const parsed = base === null ? null : parseUrl(base, undefined);
  const isHttp = parsed !== null && (parsed.protocol === 'http:' || parsed.protocol === 'https:');
  const href = parsed?.href ?? '';
  const fragmentAt = href.indexOf('#');
  const withoutFragment = fragmentAt < 0 ? href : href.slice(0, fragmentAt);
  const queryAt = withoutFragment.indexOf('?');
  const withoutQuery = queryAt < 0 ? withoutFragment : withoutFragment.slice(0, queryAt);
  const pathAt = isHttp ? withoutQuery.indexOf('/', parsed.protocol.length + 2) : 0;
  const origin = withoutQuery.slice(0, pathAt);
  const folder = withoutQuery.slice(0, withoutQuery.lastIndexOf('/') + 1);
  const protocol = parsed?.protocol ?? '';
  let missRoom = MISS_CHARACTERS;

  /** The URL of a reference that needs no parser, or `undefined`. `plain` is the class its bytes must have. */
  function resolvePlain(bytes: Buffer, from: number, to: number, plain: number): string | undefined {
    if (from === to) return isHttp ? withoutFragment : undefined;
    const first = bytes[from]!;
    const scheme = first === LETTER_H ? schemeLength(bytes, from, to) : 0;
    if (scheme > 0) {
      const kind = authorityThenPlain(bytes, from + scheme, to, plain);
      if (kind === CHANGES) return undefined;
      return kind === SAME ? sliceLatin1(bytes, from, to) : `${sliceLatin1(bytes, from, to)}/`;
    }
    if ((CLASS[first]! & IS_LETTER) !== 0) {
      const opaque = afterOpaqueScheme(bytes, from, to);
      if (opaque > 0) return isPlainOpaque(bytes, opaque, to, plain) ? sliceLatin1(bytes, from, to) : undefined;
    }
    if (!isHttp) return undefined;
    if (first === SLASH) {
      if (from + 1 < to && bytes[from + 1] === SLASH) {
        const kind = authorityThenPlain(bytes, from + 2, to, plain);
        if (kind === CHANGES) return undefined;
        return kind === SAME ? protocol + sliceLatin1(bytes, from, to) : `${protocol}${sliceLatin1(bytes, from, to)}/`;
      }
      return isPlain(bytes, from, to, plain) ? origin + sliceLatin1(bytes, from, to) : undefined;
    }
    if (first !== HASH && first !== QUESTION_MARK && !isRelativePath(bytes, from, to)) return undefined;
    if (!isPlain(bytes, from, to, plain)) return undefined;
    const prefix = first === HASH ? withoutFragment : first === QUESTION_MARK ? withoutQuery : folder;
    return prefix + sliceLatin1(bytes, from, to);
  }

  function resolve(bytes: Buffer, from: number, to: number): string | null {
    const direct = resolvePlain(bytes, from, to, PLAIN_IN_MARKUP);
    if (direct !== undefined) return direct;
    const length = values.expand(bytes, from, to, true);
    const resolved = resolvePlain(values.expanded, 0, length, PLAIN);
    return resolved ?? resolveText(sliceUtf8(values.expanded, 0, length));
  }

  function resolveText(reference: string): string | null {
    // The base says nothing about a whole URL.
    if (parsed === null || isWholeUrl(reference)) return parseUrl(reference, undefined)?.href ?? null;
    if (missRoom < 0) return null;
    const url = parseUrl(reference, parsed);
    if (url !== null) return url.href;
    missRoom -= href.length;
    if (missRoom < 0) limitReached('baseRepeats');
    return null;
  }
  return { resolve };
}

const CHANGES = 0;
const SAME = 1;
const NEEDS_SLASH = 2;

/** Length of `http://` or `https://` at `from`, else 0. */
function schemeLength(bytes: Buffer, from: number, to: number): number {
  if (to - from < 9 || bytes[from + 1] !== 0x74 || bytes[from + 2] !== 0x74 || bytes[from + 3] !== 0x70) return 0;
  const colon = bytes[from + 4] === 0x73 ? from + 5 : from + 4;
  return bytes[colon] === COLON && bytes[colon + 1] === SLASH && bytes[colon + 2] === SLASH ? colon + 3 - from : 0;
}

/**
 * Position after the colon of a scheme whose URLs are no places (`mailto:`, `javascript:`), or 0. What follows such a
 * scheme is kept as written unless it begins like a path; the parser looks at schemes that are not all lower case.
 */
function afterOpaqueScheme(bytes: Buffer, from: number, to: number): number {
  let i = from;
  while (i < to && (URL_CLASS[bytes[i]!]! & SCHEME) !== 0) i++;
  if (i === to || bytes[i] !== COLON || (CLASS[bytes[from]!]! & IS_LETTER) === 0) return 0;
  if (i - from <= LONGEST_SPECIAL && SPECIAL_SCHEMES.has(sliceLatin1(bytes, from, i))) return 0;
  return i + 1 < to && bytes[i + 1] === SLASH ? 0 : i + 1;
}

/** Whether a host and what follows stay as they are, need a path, or need the parser. */
function authorityThenPlain(
  bytes: Buffer,
  from: number,
  to: number,
  plain: number,
): typeof CHANGES | typeof SAME | typeof NEEDS_SLASH {
  let labelFrom = from;
  let i = from;
  for (; i < to; i++) {
    const byte = bytes[i]!;
    if (byte === DOT) {
      if (!isPlainLabel(bytes, labelFrom, i)) return CHANGES;
      labelFrom = i + 1;
    } else if ((URL_CLASS[byte]! & HOST) === 0) {
      break;
    }
  }
  // The last label decides whether the host is an IPv4 address: one that begins with a letter is none.
  if (!isPlainLabel(bytes, labelFrom, i)) return CHANGES;
  if ((CLASS[bytes[labelFrom]!]! & IS_LETTER) === 0 && !isPlainIpv4(bytes, from, i)) return CHANGES;
  if (bytes[i] === COLON && i < to) {
    i = plainPortEnd(bytes, i + 1, to);
    if (i === 0) return CHANGES;
  }
  if (i === to) return NEEDS_SLASH;
  return bytes[i] === SLASH && isPlain(bytes, i, to, plain) ? SAME : CHANGES;
}

/** Four numbers up to 255 without leading zeros: how the parser writes every IPv4 address. */
function isPlainIpv4(bytes: Buffer, from: number, to: number): boolean {
  let labels = 0;
  for (let i = from; i <= to; i++) {
    const start = i;
    let value = 0;
    for (; i < to && bytes[i] !== DOT; i++) {
      if (!isDigit(bytes[i]!) || i - start > 2) return false;
      value = value * 10 + bytes[i]! - DIGIT_0;
    }
    if (i === start || value > 255 || (bytes[start] === DIGIT_0 && i - start > 1)) return false;
    labels++;
  }
  return labels === 4;
}

/** Where a port ends that no scheme has by default, written as the parser would; 0 when it has to look. */
function plainPortEnd(bytes: Buffer, from: number, to: number): number {
  let port = 0;
  let i = from;
  for (; i < to && bytes[i] !== SLASH; i++) {
    if (!isDigit(bytes[i]!) || port > 65_535) return 0;
    port = port * 10 + bytes[i]! - DIGIT_0;
  }
  const isDefault = port === 80 || port === 443;
  return i === from || bytes[from] === DIGIT_0 || port > 65_535 || isDefault ? 0 : i;
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= 0x39;
}

/** Labels with `--` at the third place may be punycode, which the parser checks. */
function isPlainLabel(bytes: Buffer, from: number, to: number): boolean {
  return to > from && !(to - from > 3 && bytes[from + 2] === DASH && bytes[from + 3] === DASH);
}

/** True when nothing in the range is escaped, removed or read as a dot segment (`/.`, `/%2e`). */
function isPlain(bytes: Buffer, from: number, to: number, plain: number): boolean {
  let previous = 0;
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!;
    if ((URL_CLASS[byte]! & plain) === 0) return false;
    if (previous === SLASH && (byte === DOT || (byte === PERCENT && isEscapedDot(bytes, i, to)))) return false;
    previous = byte;
  }
  return true;
}

/** True for `%2e`, which a path segment may be made of as of dots. */
function isEscapedDot(bytes: Buffer, at: number, to: number): boolean {
  return at + 2 < to && bytes[at + 1] === DIGIT_2 && LOWER[bytes[at + 2]!] === LETTER_E;
}

/** True when nothing after an opaque scheme is escaped or removed. */
function isPlainOpaque(bytes: Buffer, from: number, to: number, plain: number): boolean {
  for (let i = from; i < to; i++) if ((URL_CLASS[bytes[i]!]! & plain) === 0) return false;
  return true;
}

/** True for `page.html` and `a/b`: no dot segment first, no colon that could end a scheme. */
function isRelativePath(bytes: Buffer, from: number, to: number): boolean {
  const first = bytes[from]!;
  if (first === DOT || first === PERCENT) return false;
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!;
    if (byte === COLON) return false;
    if (byte === SLASH || byte === QUESTION_MARK || byte === HASH) return true;
  }
  return true;
}

function parseUrl(reference: string, base: URL | undefined): URL | null {
  try {
    return new URL(reference, base);
  } catch {
    return null;
  }
}
