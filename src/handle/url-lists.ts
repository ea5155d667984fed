// URLs out of plain text, CSV or JSON, given as a string or downloaded from somewhere.
// Promise: linear in the length of the text; what fetches the text is passed in by the crawl layer.
import { aFilledString, aRegExp, aString, check, checkOptions } from '../option-checks.js';
import type { ShapeOf } from '../option-checks.js';
import { foundAt } from '../request/found.js';
import { parseUrl } from '../request/url.js';

// Bounds: a label has 63 characters, a host name 253; userinfo is cut at 200.
const LABEL = '[\\p{L}\\p{N}_](?:[\\p{L}\\p{N}_-]{0,61}[\\p{L}\\p{N}_])?';
const AUTHORITY = `(?:[\\p{L}\\p{N}_.~%+=:-]{1,200}@)?(?:localhost|(?:${LABEL}\\.){1,30}${LABEL})(?::\\d{1,5})?`;
const urlPattern = (commas: string): RegExp =>
  new RegExp(`https?:\\/\\/${AUTHORITY}(?:[/?#][\\p{L}\\p{N}@:%_+.~#?&/=()'*${commas}-]*)?`, 'giu');

/**
 * Finds http(s) URLs in text; a comma ends a URL.
 *
 * @example
 * const urls = 'see https://example.com'.match(URL_NO_COMMAS_REGEX);
 */
export const URL_NO_COMMAS_REGEX = urlPattern('');
/**
 * The same, with commas as part of URLs.
 *
 * @example
 * extractUrls({ string: 'https://example.com/a,b', urlRegExp: URL_WITH_COMMAS_REGEX });
 */
export const URL_WITH_COMMAS_REGEX = urlPattern(',');

/** The text that URLs are taken from. */
export interface ExtractUrlsOptions {
  /** The text to search, line by line. */
  string: string;
  /** What a URL looks like. Default `URL_NO_COMMAS_REGEX`. */
  urlRegExp?: RegExp;
}

const EXTRACT: ShapeOf<ExtractUrlsOptions> = { string: aString, urlRegExp: aRegExp };

/**
 * All URLs of a text, in order, duplicates kept.
 *
 * @example
 * extractUrls({ string: 'https://a.example/1, https://a.example/2' }); // two URLs
 */
export function extractUrls(options: ExtractUrlsOptions): string[] {
  checkOptions('extractUrls', options, EXTRACT);
  const { string, urlRegExp = URL_NO_COMMAS_REGEX } = options;
  const everywhere = urlRegExp.global ? urlRegExp : new RegExp(urlRegExp.source, `${urlRegExp.flags}g`);
  const urls: string[] = [];
  for (const line of string.split('\n')) {
    for (const url of line.match(everywhere) ?? []) urls.push(url);
  }
  return urls;
}

/** A list of URLs to download. */
export interface DownloadListOfUrlsOptions {
  /** Where the list is. A link to a shared Google sheet is turned into that of its CSV form. */
  url: string;
  /** Default 'utf8'. */
  encoding?: BufferEncoding;
  /** What a URL looks like. Default `URL_NO_COMMAS_REGEX`. */
  urlRegExp?: RegExp;
  /** The proxy to download through. */
  proxyUrl?: string;
}

/** Fetches a text; throws when there is none to be had. */
export type FetchText = (url: string, options: { encoding: BufferEncoding; proxyUrl?: string }) => Promise<string>;

const DOWNLOAD: ShapeOf<DownloadListOfUrlsOptions> = {
  url: check(
    'an http or https URL',
    (value) => typeof value === 'string' && /^https?:$/.test(parseUrl(value)?.protocol ?? ''),
  ),
  encoding: check(
    'an encoding of Node such as "utf8"',
    (value) => typeof value === 'string' && Buffer.isEncoding(value),
  ),
  urlRegExp: aRegExp,
  proxyUrl: aFilledString,
};

/** `downloadListOfUrls` on top of what fetches. */
export function createListDownloader(fetchText: FetchText): (options: DownloadListOfUrlsOptions) => Promise<string[]> {
  return async function downloadListOfUrls(options) {
    checkOptions('downloadListOfUrls', options, DOWNLOAD);
    const { url, encoding = 'utf8', urlRegExp, proxyUrl } = options;
    const string = await fetchText(csvOfSheet(url) ?? url, { encoding, proxyUrl });
    return foundAt(extractUrls({ string, urlRegExp }), [url]);
  };
}

function csvOfSheet(url: string): string | undefined {
  const sheet = /^https:\/\/docs\.google\.com\/spreadsheets\/d\/[\w-]{1,200}(?=[/?#]|$)/.exec(url)?.[0];
  return sheet === undefined ? undefined : `${sheet}/gviz/tq?tqx=out:csv`;
}
