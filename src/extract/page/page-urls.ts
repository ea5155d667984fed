// Addresses of a page's links and images, absolute and safe to hand on.
// Promise: never a `javascript:` or other executable address, nor the id of a visit; else what a browser would resolve, or null.
import { limitReached, LIMITS } from '../../limits.js';
import type { PageTree } from '../../parse/tree/tree.js';
import { withoutSessionId } from '../../request/session-ids.js';
import { parseUrl } from '../../request/url.js';
import { elementSet } from './elements.js';

/** Schemes that only fetch or open a mail, call or chat. */
const SAFE_SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:', 'ftp:', 'sms:', 'geo:']);
/** Longer ones are data in disguise; every kept link would repeat it. */
const MAX_URL_LENGTH = LIMITS.contentUrlCharacters.max;
/** Nothing a URL parser would change: no dot segments, escapes or blanks; the host lower-case and plain. */
const PLAIN = /^https?:\/\/(?:[a-z][a-z0-9]*\.)+[a-z]{2,}\/[A-Za-z0-9\-_~!$&()*+,;=:@/?#.%]*$/;
const PLAIN_PATH = /^\/[A-Za-z0-9\-_~][A-Za-z0-9\-_~!$&()*+,;=:@/?#.%]*$/;

export interface PageUrls {
  /** The absolute address in an element's attribute; `null` when there is none or it is not safe. */
  read(node: number, attribute: string): string | null;
  /** Resolves an address given as text. */
  resolve(reference: string): string | null;
}

const LINK = elementSet('a area img');
/** Shorter than these, a base costs no page anything. */
const SHORT_BASE = 256;
const LEAST_CHARACTERS = 1_000_000;

/** Every relative link repeats the base: a long one and short links would make gigabytes of a page. */
function repeatsTooMuch(tree: PageTree, base: string): boolean {
  if (base.length <= SHORT_BASE) return false;
  let links = 0;
  for (let node = 0; node < tree.count; node++) links += LINK[tree.tag[node]!]!;
  const isTooMuch = links * base.length > LEAST_CHARACTERS + LIMITS.baseRepeats.max * tree.bytes.length;
  if (isTooMuch) limitReached('baseRepeats');
  return isTooMuch;
}

/** Makes a resolver for a page; without any base, relative references stay as written. */
export function createPageUrls(tree: PageTree, url: string | null, baseHref: string | null): PageUrls {
  const page = url === null ? null : parseUrl(url);
  const given = baseHref === null || baseHref.length > MAX_URL_LENGTH ? null : parseUrl(baseHref.trim(), page?.href);
  const base = (given && SAFE_SCHEMES.has(given.protocol) ? given : null) ?? page;
  const hasLongBase = base !== null && base !== undefined && repeatsTooMuch(tree, base.href);
  const isHttp = base !== null && base !== undefined && /^https?:$/.test(base.protocol);
  const origin = isHttp ? base.origin : null;

  function resolve(reference: string): string | null {
    const found = resolved(reference);
    return found === null ? null : withoutSessionId(found);
  }
  function resolved(reference: string): string | null {
    const text = reference.trim();
    if (text.length > MAX_URL_LENGTH) limitReached('contentUrlCharacters');
    // A link to `#` alone is a control of the page.
    if (text === '' || text === '#' || text.length > MAX_URL_LENGTH) return null;
    const hasDots = text.includes('/.') || text.includes('%2');
    if (!hasDots && PLAIN.test(text)) return text;
    if (!hasDots && origin !== null && PLAIN_PATH.test(text)) return origin + text;
    if (base === null || base === undefined) {
      const absolute = parseUrl(text);
      if (absolute) return SAFE_SCHEMES.has(absolute.protocol) ? absolute.href : null;
      // Control characters inside a scheme are ignored by browsers, so they are before the check.
      return /^[\u0000-\u0020]*[a-z][a-z0-9+.\-\t\n\r]*:/i.test(text) ? null : text.replace(/[\u0000-\u001f]+/g, '');
    }
    const absolute = hasLongBase ? parseUrl(text) : parseUrl(text, base.href);
    return absolute && SAFE_SCHEMES.has(absolute.protocol) ? absolute.href : null;
  }
  return {
    resolve,
    read(node, attribute) {
      const value = tree.attribute(node, attribute);
      return value === null ? null : resolve(value);
    },
  };
}
