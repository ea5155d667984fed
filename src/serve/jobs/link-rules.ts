// Which links a crawl of the API follows: its host, its path, and the patterns of the request.
// Promise: patterns cost linear time in a URL's length; one that cannot be matched so is refused, not tried.
import type { CrawlRequest } from '../api/schemas.js';
import { ApiError } from '../errors.js';
import { createLinearRegExp, type LinearRegExp } from '../../request/linear-regexp.js';
import { parseUrl } from '../../request/url.js';

export type LinkRule = (url: string) => boolean;

const MAX_TESTED = 2_048;
/** States of all patterns of a list: with the length of a URL, the most that one link costs. */
const MAX_SIZE = 5_000;

export function createLinkRule(request: CrawlRequest): LinkRule {
  const start = new URL(request.url);
  const includes = linkPatterns(request.includePaths ?? []);
  const excludes = linkPatterns(request.excludePaths ?? []);
  const isOpen = request.crawlEntireDomain === true || request.allowBackwardLinks === true;
  const base = folderOf(start.pathname);
  const home = bare(start.host);
  return (text) => {
    const url = parseUrl(text);
    if (!url || !/^https?:$/.test(url.protocol)) return false;
    const host = bare(url.host);
    const isHome = host === home;
    const isSubdomain = request.allowSubdomains === true && host.endsWith(`.${home}`);
    if (!isHome && !isSubdomain && request.allowExternalLinks !== true) return false;
    if (isHome && !isOpen && !url.pathname.startsWith(base)) return false;
    const tested = (request.regexOnFullURL ? url.href : url.pathname + url.search).slice(0, MAX_TESTED);
    if (excludes.some((pattern) => pattern.test(tested))) return false;
    return includes.length === 0 || includes.some((pattern) => pattern.test(tested));
  };
}

const bare = (host: string): string => host.replace(/^www\./, '');

/** `/docs` and `/docs/` are a folder; `/docs/index.html` is in one. */
function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return path.slice(slash + 1).includes('.') ? path.slice(0, slash + 1) : path;
}

/** The patterns of a request. Throws a 400 for one that is invalid, or that cannot be matched in linear time. */
export function linkPatterns(sources: readonly string[]): LinearRegExp[] {
  const patterns = sources.map(linkPattern);
  const size = patterns.reduce((sum, pattern) => sum + pattern.size, 0);
  if (size > MAX_SIZE) throw new ApiError(400, 'The patterns are too many or too large.', 'OPTION_INVALID');
  return patterns;
}

function linkPattern(source: string): LinearRegExp {
  const refuse = (what: string): never => {
    throw new ApiError(400, `The pattern "${source}" ${what}`, 'OPTION_INVALID');
  };
  let pattern;
  try {
    pattern = createLinearRegExp(source);
  } catch (error) {
    return refuse(`is not a valid regular expression: ${(error as Error).message}`);
  }
  return 'slow' in pattern ? refuse(`${pattern.slow}. Write it without.`) : pattern;
}
