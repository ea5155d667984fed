// Which links a crawl of the API follows: its host, its path, and the patterns of the request.
// Promise: a pattern that could take more than linear time in a URL's length is refused, not tried.
import { CrawlError } from '../../errors.js';
import type { CrawlRequest } from '../api/schemas.js';
import { ApiError } from '../errors.js';
import { parseUrl } from '../../request/url.js';

export type LinkRule = (url: string) => boolean;

const MAX_TESTED = 4_096;

export function createLinkRule(request: CrawlRequest): LinkRule {
  const start = new URL(request.url);
  const includes = (request.includePaths ?? []).map(safePattern);
  const excludes = (request.excludePaths ?? []).map(safePattern);
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

/** A regular expression without what makes matching slow: repeats of repeats, of alternatives, and references back. */
export function safePattern(source: string): RegExp {
  const problem = slowPart(source);
  if (problem) throw new ApiError(400, `The pattern "${source}" ${problem}. Write it without.`, 'OPTION_INVALID');
  try {
    return new RegExp(source, 'u');
  } catch (error) {
    const message = `The pattern "${source}" is not a valid regular expression: ${(error as Error).message}`;
    throw error instanceof CrawlError ? error : new ApiError(400, message, 'OPTION_INVALID');
  }
}

function slowPart(source: string): string | undefined {
  if (/\\[1-9]|\\k</.test(source)) return 'refers back to a group';
  if (/\(\?<?[=!]/.test(source)) return 'looks ahead or behind';
  /** Per open group: whether it holds a repeat or alternatives. */
  const groups: boolean[] = [];
  let inClass = false;
  let unbounded = 0;
  for (let index = 0; index < source.length; index++) {
    const character = source[index]!;
    if (character === '\\') index++;
    else if (inClass) inClass = character !== ']';
    else if (character === '[') inClass = true;
    else if (character === '(') groups.push(false);
    else if (character === '|' && groups.length > 0) groups[groups.length - 1] = true;
    else if (character === ')') {
      const isHeavy = groups.pop() ?? false;
      if (isHeavy && isRepeat(source, index + 1)) return 'repeats a group that itself repeats or has alternatives';
      if ((isHeavy || isRepeat(source, index + 1)) && groups.length > 0) groups[groups.length - 1] = true;
    } else if (isRepeat(source, index)) {
      unbounded++;
      if (groups.length > 0) groups[groups.length - 1] = true;
    }
  }
  return unbounded > 4 ? 'has more than four repeats' : undefined;
}

function isRepeat(source: string, at: number): boolean {
  const character = source[at];
  return (
    character === '*' || character === '+' || (character === '{' && /^\{\d+,\d*\}/.test(source.slice(at, at + 12)))
  );
}
