// Response headers as a cache must read them (RFC 9111): invalid values count as stale, connection headers are not
// stored. Promise: in doubt the server is asked again.
import type { Capture } from '../../fetch/engine.js';

type Headers = Readonly<Record<string, string | string[]>>;

/** Of one connection, or of a body that a 304 does not have. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const OF_THE_BODY: ReadonlySet<string> = new Set(['content-length', 'content-encoding', 'content-range']);

/** An answer as the policy of http-cache-semantics reads it: small letters, valid numbers and dates only. */
export function policyResponse({ statusCode, headers }: Pick<Capture, 'statusCode' | 'headers'>, nowMs: number) {
  const { 'cache-control': directives, expires, age: _age, ...rest } = headers;
  const ageSecs = initialAgeSecs(headers, nowMs);
  return {
    status: statusCode,
    headers: {
      ...rest,
      ...(directives === undefined ? {} : { 'cache-control': readableDirectives(String(directives)) }),
      // An invalid HTTP date counts as a date in the past.
      ...(expires === undefined ? {} : { expires: httpDateMs(expires) === undefined ? '0' : expires }),
      ...(ageSecs > 0 ? { age: String(ageSecs) } : {}),
    },
  };
}

/** The response's age on arrival: by its Age header, or by its Date if that gives more. */
export function initialAgeSecs({ age, date }: Headers, nowMs: number): number {
  const [first = ''] = String(age ?? '').split(',');
  const said = /^\s*\d+\s*$/.test(first) ? Number(first) : 0;
  const dateMs = httpDateMs(date);
  const apparent = dateMs === undefined ? 0 : Math.floor((nowMs - dateMs) / 1000);
  return Math.min(Math.max(said, apparent, 0), 2 ** 31);
}

interface Directive {
  readonly name: string;
  readonly value: string;
  /** What stands between the value and the comma, and should not. */
  readonly rest: string;
}

/** The directives of a header, separated by commas outside quotes. Always one pass. */
function directivesOf(text: string): Directive[] {
  const found: Directive[] = [];
  for (let from = 0; from < text.length;) {
    const end = commaAfter(text, from);
    const part = text.slice(from, end).replace(/^[\s="]+/, '');
    from = end + 1;
    const name = /^[^\s="]+/.exec(part)?.[0];
    if (name === undefined) continue;
    const after = part.slice(name.length);
    const value = after.startsWith('="')
      ? after.slice(1, 1 + quotedLength(after, 1))
      : (/^=([^"]*)/.exec(after)?.[1] ?? '');
    found.push({ name, value, rest: after.startsWith('=') ? after.slice(1 + value.length) : after });
  }
  return found;
}

function commaAfter(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === ',') return at;
    if (text[at] === '"') at += quotedLength(text, at) - 1;
  }
  return text.length;
}

/** Of the quoted string that begins at `from`, quotes included; without a second quote all the rest. */
function quotedLength(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1 - from;
  }
  return text.length - from;
}

/**
 * Cache-Control in lower case, each directive once. A lifetime that is not a whole number of seconds is dropped, and of
 * two the shorter counts; what is said of single fields counts for all. `must-revalidate` is left out: the policy takes
 * it for `no-cache`, and no page is used here after its time whatever it says.
 */
function readableDirectives(text: string): string {
  const read = new Map<string, number | undefined>();
  for (const { name, value, rest } of directivesOf(text.toLowerCase())) {
    if (name === 'must-revalidate') continue;
    if (name !== 'max-age') read.set(name, undefined);
    else {
      const digits = rest.trim() === '' ? /^"?(\d+)"?\s*$/.exec(value)?.[1] : undefined;
      read.set(name, Math.min(Number(digits ?? 0), read.get(name) ?? Infinity));
    }
  }
  return [...read].map(([name, secs]) => (secs === undefined ? name : `${name}=${secs}`)).join(', ');
}

const DAY = '(?:mon|tue|wed|thu|fri|sat|sun)';
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)';
const TIME = '\\d{2}:\\d{2}:\\d{2}';
/** The three forms of RFC 9110: the one in use and the two that are obsolete. */
const HTTP_DATES = [
  new RegExp(`^${DAY}, \\d{2} ${MONTH} \\d{4} ${TIME} gmt$`, 'i'),
  new RegExp(`^(?:mon|tues|wednes|thurs|fri|satur|sun)day, \\d{2}-${MONTH}-\\d{2} ${TIME} gmt$`, 'i'),
  new RegExp(`^${DAY} ${MONTH} [\\d ]\\d ${TIME} \\d{4}$`, 'i'),
];

/** Milliseconds since 1970; undefined for an invalid HTTP date. */
export function httpDateMs(value: string | string[] | undefined): number | undefined {
  const text = String(value ?? '').trim();
  const form = HTTP_DATES.findIndex((date) => date.test(text));
  if (form < 0) return undefined;
  const ms = Date.parse(form === 2 ? `${text} GMT` : text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** What may be kept of an answer's headers. */
export function storableHeaders(headers: Headers): Headers {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const left = new Set([...OF_THE_CONNECTION, ...named]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !left.has(name)));
}

/** Whether a 304 names another version than the stored one. Many name none: they answer what was asked. */
export function isOtherVersion(stored: Headers, said: Headers): boolean {
  const strong = (tag: string | string[]) => String(tag).replace(/^\s*W\//, '');
  if (said.etag !== undefined && stored.etag !== undefined) return strong(said.etag) !== strong(stored.etag);
  const { 'last-modified': before } = stored;
  const { 'last-modified': now } = said;
  return stored.etag === undefined && before !== undefined && now !== undefined && before !== now;
}

/** The stored headers, updated by a 304. It has no body, so its headers about one are ignored. */
export function updatedHeaders(stored: Headers, notModified: Headers): Headers {
  const fresh = Object.entries(storableHeaders(notModified)).filter(([name]) => !OF_THE_BODY.has(name));
  // An Age that the 304 does not repeat was that of the old answer.
  const { age: _age, ...kept } = stored;
  return { ...kept, ...Object.fromEntries(fresh) };
}
