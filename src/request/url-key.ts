// A link's unique key and fingerprint, cached for recent URLs.
// Pages of a site repeat most of their links, so most are neither normalised nor hashed again. Bounded in memory.
import { type Fingerprint, fingerprintOf } from './fingerprint.js';
import { normalizeUrl } from './url.js';

export interface UrlKey {
  readonly uniqueKey: string;
  readonly fingerprint: Fingerprint;
}

/** Two generations of this many URLs of usual length: a few MB at most. */
const GENERATION = 8_192;
const LONGEST_KEPT = 300;

let young = new Map<string, UrlKey>();
let old = new Map<string, UrlKey>();

export function urlKeyOf(url: string): UrlKey {
  const known = young.get(url);
  if (known) return known;
  const key = old.get(url) ?? makeKey(url);
  if (url.length > LONGEST_KEPT) return key;
  if (young.size >= GENERATION) {
    old = young;
    young = new Map();
  }
  young.set(url, key);
  return key;
}

function makeKey(url: string): UrlKey {
  const uniqueKey = normalizeUrl(url);
  return { uniqueKey, fingerprint: fingerprintOf(uniqueKey) };
}
