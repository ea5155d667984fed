// Crawlee's functions on patterns: globs, regular expressions and pseudo-URLs as objects, and requests made by them.
import { CrawlError } from '../../errors.js';
import { compileMixed } from '../../request/pattern.js';
import type { GlobInput, GlobObject, RegExpInput, RegExpObject } from '../../request/pattern.js';
import { Request, type RequestOptions } from '../../request/request.js';
import type { EnqueueLinksOptions } from '../../handle/enqueue-links.js';
import { wrongType } from '../storage/client-dataset.js';
import { tryAbsoluteURL } from './urls.js';

type PatternOptions = Pick<RequestOptions, 'method' | 'payload' | 'label' | 'userData' | 'headers'>;
/** A glob or a regular expression, with options for the requests that match. */
export type UrlPatternObject = { glob?: string; regexp?: RegExp } & PatternOptions;
/** A pseudo-URL, with options for the requests that match. */
export type PseudoUrlObject = { purl: string } & PatternOptions;
/** A pseudo-URL: regular expressions in brackets. */
export type PseudoUrlInput = string | PseudoUrlObject;

/**
 * Globs as objects; blank ones are left out.
 *
 * @example
 * constructGlobObjectsFromGlobs(['https://example.com/**']); // [{ glob: 'https://example.com/**' }]
 */
export function constructGlobObjectsFromGlobs(globs: readonly GlobInput[]): GlobObject[] {
  const objects = globs.map((given) => (typeof given === 'string' ? { glob: given } : given));
  return objects
    .filter(({ glob }) => glob.trim() !== '')
    .map((object) => ({ ...object, glob: validateGlobPattern(object.glob) }));
}

/**
 * A glob without white space around it; an error when nothing is left.
 *
 * @example
 * validateGlobPattern(' https://example.com/** '); // 'https://example.com/**'
 */
export function validateGlobPattern(glob: string): string {
  const text = glob.trim();
  if (text === '') throw new CrawlError('OPTION_INVALID', `Cannot parse Glob pattern '${glob}': it must not be empty`);
  return text;
}

/**
 * Regular expressions as objects.
 *
 * @example
 * constructRegExpObjectsFromRegExps([/detail/]); // [{ regexp: /detail/ }]
 */
export function constructRegExpObjectsFromRegExps(regexps: readonly RegExpInput[]): RegExpObject[] {
  return regexps.map((given) => (given instanceof RegExp ? { regexp: given } : given));
}

/**
 * Pseudo-URLs as regular expressions.
 *
 * @example
 * const [{ regexp }] = constructRegExpObjectsFromPseudoUrls(['https://example.com/[\\d+]']);
 */
export function constructRegExpObjectsFromPseudoUrls(pseudoUrls: readonly PseudoUrlInput[]): RegExpObject[] {
  return pseudoUrls.map((given) => {
    const object = typeof given === 'string' ? { purl: given } : given;
    if (typeof object?.purl !== 'string') throw wrongType('pseudoUrls', 'string', given);
    const { purl, ...options } = object;
    return { regexp: purlToRegExp(purl), ...options };
  });
}

/**
 * Patterns are compiled once by themselves: there is no cache to fill.
 *
 * @example
 * updateEnqueueLinksPatternCache(glob, { glob });
 */
export function updateEnqueueLinksPatternCache(
  _item: GlobInput | RegExpInput | PseudoUrlInput,
  _pattern: RegExpObject | GlobObject,
): void {}

/** What stands in brackets is a regular expression; everything else stands for itself. */
function purlToRegExp(purl: string): RegExp {
  let source = '';
  let depth = 0;
  for (const character of purl.trim()) {
    if (character === '[' && depth++ === 0) source += '(';
    else if (character === ']' && depth > 0 && --depth === 0) source += ')';
    else source += depth > 0 ? character : literal(character);
  }
  if (depth > 0) throw new CrawlError('OPTION_INVALID', `the pseudo-URL "${purl}" has a bracket that does not end`);
  return new RegExp(`^${source}$`, 'i');
}

function literal(character: string): string {
  return /[\p{L}\p{N}]/u.test(character) ? character : character.replaceAll(/[-/\\^$*+?.()|[\]{}]/g, '\\$&');
}

/**
 * A URL with regular expressions in brackets: `https://example.com/[\d+]`. Scripts of Crawlee use globs instead.
 *
 * @example
 * new PseudoUrl('https://example.com/[(a|b)]/').matches('https://example.com/a/'); // true
 */
export class PseudoUrl {
  readonly regex: RegExp;

  constructor(
    purl: string | RegExp,
    readonly requestTemplate: Partial<RequestOptions> = {},
  ) {
    this.regex = purl instanceof RegExp ? purl : purlToRegExp(purl);
  }

  matches(url: string): boolean {
    this.regex.lastIndex = 0;
    return typeof url === 'string' && this.regex.test(url);
  }
}

const matcherOf = (pattern: UrlPatternObject): ((url: string) => boolean) => {
  const given = pattern.glob === undefined ? pattern.regexp! : pattern.glob;
  const [compiled] = compileMixed('patterns', [given]);
  return compiled?.matches ?? (() => false);
};

/**
 * Requests of the URLs that match a pattern and no excluded one, each with the options of its pattern.
 *
 * @example
 * const requests = createRequests(urls, constructGlobObjectsFromGlobs(['https://example.com/**']));
 */
export function createRequests(
  requestOptions: (string | RequestOptions)[],
  urlPatternObjects: UrlPatternObject[] = [],
  excludePatternObjects: UrlPatternObject[] = [],
  strategy?: EnqueueLinksOptions['strategy'],
  onSkippedUrl?: (url: string) => void,
): Request[] {
  const included = urlPatternObjects.map((pattern) => ({ pattern, matches: matcherOf(pattern) }));
  const excluded = excludePatternObjects.map(matcherOf);
  const made: Request[] = [];
  for (const given of requestOptions) {
    const options: RequestOptions = typeof given === 'string' ? { url: given } : { ...given };
    if (strategy !== undefined) options.enqueueStrategy ??= strategy;
    const { url } = options;
    const match = included.find(({ matches }) => matches(url));
    if (excluded.some((matches) => matches(url)) || (included.length > 0 && !match)) {
      onSkippedUrl?.(url);
      continue;
    }
    const { glob: _glob, regexp: _regexp, ...own } = match?.pattern ?? {};
    made.push(new Request({ ...options, ...own }));
  }
  return made;
}

/**
 * The requests that match one of the patterns; all of them without patterns.
 *
 * @example
 * const some = filterRequestsByPatterns(requests, [{ glob: 'https://example.com/**' }]);
 */
export function filterRequestsByPatterns(
  requests: Request[],
  patterns?: UrlPatternObject[],
  onSkippedUrl?: (url: string) => void,
): Request[] {
  if (!patterns || patterns.length === 0) return requests;
  const tests = patterns.map(matcherOf);
  return requests.filter(({ url }) => {
    const isMatch = tests.some((matches) => matches(url));
    if (!isMatch) onSkippedUrl?.(url);
    return isMatch;
  });
}

/**
 * URLs and objects as options of requests, absolute and with a label and data; what has no absolute URL is left out.
 *
 * @example
 * const options = createRequestOptions(['/a'], { baseUrl: 'https://example.com', label: 'DETAIL' });
 */
export function createRequestOptions(
  sources: (string | Record<string, unknown>)[],
  options: Pick<EnqueueLinksOptions, 'label' | 'userData' | 'baseUrl' | 'skipNavigation' | 'strategy'> = {},
): RequestOptions[] {
  const { label, userData = {}, baseUrl, skipNavigation, strategy } = options;
  const made: RequestOptions[] = [];
  for (const source of sources) {
    const given = (typeof source === 'string' ? { url: source } : source) as unknown as RequestOptions;
    const url = baseUrl === undefined ? tryAbsoluteURL(given.url, given.url) : tryAbsoluteURL(given.url, baseUrl);
    if (url === undefined) continue;
    const data = { ...(given.userData ?? userData) };
    if (label !== undefined) data['label'] = label;
    made.push({
      ...given,
      url,
      userData: data,
      ...(strategy === undefined ? {} : { enqueueStrategy: strategy }),
      ...(skipNavigation ? { skipNavigation } : {}),
    });
  }
  return made;
}
