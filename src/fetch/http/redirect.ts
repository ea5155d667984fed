// Redirects as pure logic: what a 3xx response means for the next hop of a visit.
// Promise: a chain always ends, and secrets of one origin never reach another.
import { clip, MAX_URL_LENGTH, parseUrl, withoutFragment } from '../../request/url.js';
import { CrawlError } from '../../errors.js';
import { limitReached, LIMITS } from '../../limits.js';

/** The request of one hop: what goes over the wire, without the visit's limits. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: string | Uint8Array;
}

/**
 * The only headers sent when a redirect leaves its origin: content negotiation and the user agent. A key may
 * have any name (`x-api-key`, `private-token`), so no other header is sent.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'dnt',
  'from',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'pragma',
  'range',
  'upgrade-insecure-requests',
  'user-agent',
]);
/** Headers that describe the browser, such as `sec-ch-ua`. */
const HARMLESS_PREFIX = 'sec-';
/** Dropped together with the payload they describe. */
const PAYLOAD_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-location',
]);

/** A URL may occur twice in one chain: out and back in a cookie exchange. */
const MAX_VISITS_OF_ONE_URL = LIMITS.redirectVisits.max;

/** Whether an answer sends the visit elsewhere. */
export function isRedirect(statusCode: number, location: string | undefined): location is string {
  if (location === undefined) return false;
  switch (statusCode) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return true;
    default:
      return false;
  }
}

/**
 * Where a Location leads, resolved against the URL that sent it; its fragment is inherited when the
 * target has none. Throws REDIRECT_INVALID when it leads nowhere we can go.
 */
export function redirectTarget(from: URL, location: string): URL {
  const text = asUtf8(location);
  const target = parseUrl(text, from.href);
  if (!target || target.href.length > MAX_URL_LENGTH) {
    throw new CrawlError('REDIRECT_INVALID', `${from.host} redirects to an invalid URL: "${clip(text)}"`);
  }
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw new CrawlError('REDIRECT_INVALID', `${from.host} redirects to an unsupported scheme: "${clip(text)}"`);
  }
  if (target.hash === '' && from.hash !== '' && !text.includes('#')) target.hash = from.hash;
  return target;
}

/** Whether the method, and with it the payload, ends with a redirect. */
function becomesGetAfter(statusCode: number, method: string): boolean {
  if (statusCode === 303) return method !== 'HEAD' && method !== 'GET';
  return (statusCode === 301 || statusCode === 302) && method === 'POST';
}

/**
 * Throws when a redirect asks to send the payload to another origin: it may be a secret of this one. The same host's
 * way from http to https is safe.
 */
export function checkPayloadStays({ url, method, payload }: Hop, statusCode: number, target: URL): void {
  if (payload === undefined || target.origin === url.origin || becomesGetAfter(statusCode, method)) return;
  const isUpgrade = target.protocol === 'https:' && url.protocol === 'http:' && target.host === url.host;
  if (isUpgrade) return;
  throw new CrawlError(
    'REDIRECT_INVALID',
    `${url.host} redirects a ${method} with its payload to ${target.host}, which is not sent: request that URL yourself`,
  );
}

/** The request that follows a redirect: method and payload by status, headers by origin. */
export function nextHop(hop: Hop, statusCode: number, target: URL): Hop {
  checkPayloadStays(hop, statusCode, target);
  const becomesGet = becomesGetAfter(statusCode, hop.method);
  const sameOrigin = target.origin === hop.url.origin;
  if (!becomesGet && sameOrigin) return { ...hop, url: target };
  const headers: Record<string, string> = {};
  for (const name of Object.keys(hop.headers)) {
    const lower = name.toLowerCase();
    const describesPayload = PAYLOAD_HEADERS.has(lower);
    if (becomesGet && describesPayload) continue;
    const isHarmless = describesPayload || HARMLESS.has(lower) || lower.startsWith(HARMLESS_PREFIX);
    if (!sameOrigin && !isHarmless) continue;
    headers[name] = hop.headers[name]!;
  }
  if (becomesGet) return { url: target, method: 'GET', headers };
  return { ...hop, url: target, headers };
}

/** The hops of one visit; refuses the one too many. */
export interface RedirectTrail {
  /** The URLs that redirected, in order. */
  readonly chain: readonly string[];
  /** Records that `from` redirects to `target`; throws REDIRECT_LIMIT for one hop too many and for loops. */
  step(from: URL, target: URL): void;
}

export function createRedirectTrail(start: URL, maxRedirects: number): RedirectTrail {
  const chain: string[] = [];
  const visits = new Map([[withoutFragment(start.href), 1]]);
  return {
    chain,
    step(from, target) {
      if (chain.length >= maxRedirects) {
        throw new CrawlError('REDIRECT_LIMIT', `${start.host} redirects more than ${maxRedirects} times`);
      }
      const key = withoutFragment(target.href);
      const count = (visits.get(key) ?? 0) + 1;
      if (count > MAX_VISITS_OF_ONE_URL) {
        limitReached('redirectVisits');
        throw new CrawlError('REDIRECT_LIMIT', `${start.host} redirects in a loop: ${clip(key)}`);
      }
      visits.set(key, count);
      chain.push(from.href);
    },
  };
}

/** Header bytes arrive as Latin-1; servers that put raw UTF-8 into Location mean UTF-8. */
function asUtf8(text: string): string {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7f) {
      const decoded = Buffer.from(text, 'latin1').toString('utf8');
      return decoded.includes('\ufffd') ? text : decoded;
    }
  }
  return text;
}
