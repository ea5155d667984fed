// CDXJ lines: the index of a segment, one line per stored page, as archive tools read it.
// Promise: a line sorts by site, path and time, has all metadata of the visit, and is one line whatever the URL.
import { withoutFragment } from '../../request/url.js';
import { oneWord } from './warc.js';

/** Metadata of one stored page and where its content is. */
export interface IndexEntry {
  /** As asked for. */
  readonly url: string;
  /** What the page is looked up by. */
  readonly uniqueKey: string;
  /** Where the body came from, after redirects. */
  readonly loadedUrl?: string;
  readonly statusCode: number;
  readonly fetchedAtMs: number;
  readonly contentType: string;
  readonly depth: number;
  /** SHA-1 of the stored payload in base 32. */
  readonly digest: string;
  /** The segment, or the page's own file; both are relative to the folder of the index. */
  readonly filename?: string;
  /** Where the record begins in the segment, and its compressed length. */
  readonly offset?: number;
  readonly length?: number;
  /** Of a URL that ended without a page. */
  readonly fate?: FateFields;
  /** Of a visit that found what was stored before: when that was fetched. The page has the same key. */
  readonly originalAtMs?: number;
}

/** The URL that the body came from. */
export function uriOf({ loadedUrl, url }: IndexEntry): string {
  return withoutFragment(loadedUrl ?? url);
}

/** What archives call the type of a record that only refers to another. */
const REVISIT_TYPE = 'warc/revisit';

/** How a URL ended without a page: `again` is a failed one that `retry-failed` queued again. */
export interface FateFields {
  readonly kind: 'failed' | 'skipped' | 'again';
  /** The error's code, or the reason why it was skipped. */
  readonly code: string;
  /** Requests sent for it. */
  readonly attempts: number;
  /** The crawl it belongs to. */
  readonly crawl?: string | undefined;
  readonly message?: string | undefined;
  /** Of a failed request: itself, to queue it again. */
  readonly record?: string | undefined;
}

const FATE_KINDS: readonly string[] = ['failed', 'skipped', 'again'];
const MAX_MESSAGE_LENGTH = 300;

const WEB_ADDRESS = /^https?:\/\/([^/?#\s]+)([^#]*)/;
const IP_ADDRESS = /^(?:[\d.]+|\[[0-9a-f:.]+\])$/;

/**
 * A unique key in SURT form, as archives sort URLs: `com,example)/path?query`, in lower case, without scheme
 * and leading `www.`. Several keys may share one form: lookups also compare the key itself.
 *
 * @example
 * surtOf('https://www.example.com/A') // 'com,example)/a'
 */
export function surtOf(uniqueKey: string): string {
  const match = WEB_ADDRESS.exec(uniqueKey);
  if (match === null) return oneWord(uniqueKey.toLowerCase());
  const [, authority = '', rest = ''] = match;
  const portAt = authority.search(/:\d*$/);
  const host = (portAt < 0 ? authority : authority.slice(0, portAt)).toLowerCase();
  const port = portAt < 0 ? '' : authority.slice(portAt);
  const site = IP_ADDRESS.test(host)
    ? host
    : host
        .replace(/^www\d*\./, '')
        .split('.')
        .reverse()
        .join(',');
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return oneWord(`${site}${port})${path.toLowerCase()}`);
}

/** `20260131235959`, UTC. */
export function timestampOf(dateMs: number): string {
  return new Date(dateMs).toISOString().replace(/\D/g, '').slice(0, 14);
}

/** A longer type is invalid; the index keeps its beginning. */
const MAX_TYPE_LENGTH = 200;

/** The line of an entry, with its newline. Numbers that archives write as text are text. */
export function indexLine(entry: IndexEntry, surt = surtOf(entry.uniqueKey)): string {
  const fields = {
    url: entry.url,
    mime: entry.originalAtMs === undefined ? typeOf(entry) : REVISIT_TYPE,
    status: entry.statusCode === 0 ? '-' : String(entry.statusCode),
    digest: entry.digest,
    length: entry.length === undefined ? undefined : String(entry.length),
    offset: entry.offset === undefined ? undefined : String(entry.offset),
    filename: entry.filename,
    fetched_at: new Date(entry.fetchedAtMs).toISOString(),
    depth: entry.depth,
    key: entry.uniqueKey === entry.url ? undefined : entry.uniqueKey,
    loaded_url: entry.loadedUrl === entry.url ? undefined : entry.loadedUrl,
    ...(entry.originalAtMs !== undefined && {
      original_at: new Date(entry.originalAtMs).toISOString(),
      original_mime: typeOf(entry),
    }),
    ...(entry.fate && {
      fate: entry.fate.kind,
      code: entry.fate.code,
      attempts: entry.fate.attempts,
      crawl: entry.fate.crawl,
      message: entry.fate.message?.slice(0, MAX_MESSAGE_LENGTH),
      // A plain URL need not be repeated.
      request: entry.fate.record === entry.url ? undefined : entry.fate.record,
    }),
  };
  return `${surt} ${timestampOf(entry.fetchedAtMs)} ${JSON.stringify(fields)}\n`;
}

function typeOf({ contentType }: IndexEntry): string {
  return contentType.slice(0, MAX_TYPE_LENGTH);
}

/** The entry of a line, or undefined if it is not one (half a line, another file). */
export function parseIndexLine(line: string): IndexEntry | undefined {
  const brace = line.indexOf(' {');
  if (brace < 0) return undefined;
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line.slice(brace + 1)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const url = textOf(fields.url);
  const fetchedAtMs = Date.parse(textOf(fields.fetched_at) ?? '');
  if (url === undefined || Number.isNaN(fetchedAtMs)) return undefined;
  const originalAtMs = Date.parse(textOf(fields.original_at) ?? '');
  const isRevisit = !Number.isNaN(originalAtMs);
  return {
    url,
    uniqueKey: textOf(fields.key) ?? url,
    loadedUrl: textOf(fields.loaded_url),
    statusCode: wholeNumber(fields.status) ?? 0,
    fetchedAtMs,
    contentType: textOf(isRevisit ? fields.original_mime : fields.mime) ?? '',
    depth: wholeNumber(fields.depth) ?? NaN,
    digest: textOf(fields.digest) ?? '',
    filename: textOf(fields.filename),
    offset: wholeNumber(fields.offset),
    length: wholeNumber(fields.length),
    ...(isRevisit ? { originalAtMs } : {}),
    ...fateIn(fields),
  };
}

function fateIn(fields: Record<string, unknown>): { fate?: FateFields } {
  const kind = textOf(fields.fate);
  if (kind === undefined || !FATE_KINDS.includes(kind)) return {};
  return {
    fate: {
      kind: kind as FateFields['kind'],
      code: textOf(fields.code) ?? '',
      attempts: wholeNumber(fields.attempts) ?? 0,
      crawl: textOf(fields.crawl),
      message: textOf(fields.message),
      record: textOf(fields.request),
    },
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function wholeNumber(value: unknown): number | undefined {
  // Of a list, `Number` would read the text, at any depth.
  const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : NaN;
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** Whether bytes look like a line: `SURT TIMESTAMP {…}`. Cheap: the JSON is not parsed. */
export function looksLikeIndexLine(bytes: Buffer): boolean {
  const space = bytes.indexOf(0x20);
  if (space < 0 || bytes[bytes.length - 1] !== 0x7d) return false;
  return /^ \d{14} \{"$/.test(bytes.toString('latin1', space, space + 18));
}
