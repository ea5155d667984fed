// The user's URL patterns, globs and regular expressions, compiled once and cached.
// Promise: an invalid pattern is an OPTION_INVALID error that names it, before any URL is tested; a glob takes
// bounded time on any URL. A regular expression runs as the user wrote it.
import { createRequire } from 'node:module';
import type * as MinimatchPackage from 'minimatch';
import { CrawlError } from '../errors.js';
import { limitReached, LIMITS } from '../limits.js';
import { createGlobMatcher } from './glob.js';
import type { RequestOptions } from './request.js';

/** What a pattern may say about the requests it lets in. */
export type PatternRequestOptions = Partial<Omit<RequestOptions, 'url'>>;

/** A glob, with options for the requests that match it. */
export type GlobObject = { glob: string } & PatternRequestOptions;
/** A regular expression, with options for the requests that match it. */
export type RegExpObject = { regexp: RegExp } & PatternRequestOptions;

/** A glob, tested case-insensitively against the whole URL. */
export type GlobInput = string | GlobObject;
/** A regular expression, alone or with options for the requests that match it. */
export type RegExpInput = RegExp | RegExpObject;
/** A glob or a regular expression. */
export type PatternInput = GlobInput | RegExpInput;

export interface CompiledPattern {
  readonly matches: (url: string) => boolean;
  readonly options?: PatternRequestOptions;
}

type Matcher = (url: string) => boolean;

// Pages make a new scope each, with the same few globs.
const compiledGlobs = new Map<string, Matcher>();
const MAX_COMPILED_GLOBS = 1_000;

export function compileGlobs(option: string, globs: readonly GlobInput[] | undefined): CompiledPattern[] {
  return eachPattern(option, globs, (pattern, name) => {
    if (isGlob(pattern)) return compileGlob(pattern, name);
    throw invalid(
      `${name} must be a glob or { glob }${isRegExp(pattern) ? ': put regular expressions in "regexps"' : ''}`,
    );
  });
}

export function compileRegExps(option: string, regexps: readonly RegExpInput[] | undefined): CompiledPattern[] {
  return eachPattern(option, regexps, (pattern, name) => {
    if (isRegExp(pattern)) return compileRegExp(pattern);
    throw invalid(`${name} must be a RegExp or { regexp }${isGlob(pattern) ? ': put globs in "globs"' : ''}`);
  });
}

export function compileMixed(option: string, patterns: readonly PatternInput[] | undefined): CompiledPattern[] {
  return eachPattern(option, patterns, (pattern, name) => {
    if (isGlob(pattern)) return compileGlob(pattern, name);
    if (isRegExp(pattern)) return compileRegExp(pattern);
    throw invalid(`${name} must be a glob, a RegExp, { glob } or { regexp }`);
  });
}

/**
 * A pattern as typed on a command line: `/…/flags` is a regular expression, anything else a glob.
 *
 * @example
 * parsePattern('/\\.pdf$/i'); // a RegExp
 * parsePattern('https://example.com/docs/**'); // a glob
 */
export function parsePattern(text: string): string | RegExp {
  const pattern = text.trim();
  if (pattern === '') throw invalid('a pattern must not be empty');
  if (!pattern.startsWith('/')) {
    globMatcher(pattern, `pattern "${pattern}"`);
    return pattern;
  }
  const end = pattern.lastIndexOf('/');
  const flags = pattern.slice(end + 1);
  if (end < 2 || !/^[dgimsuvy]*$/.test(flags)) {
    throw invalid(
      `pattern "${pattern}" is neither a regular expression (/…/flags) nor a glob that can match a whole URL: ` +
        `write "**${pattern}" for any site`,
    );
  }
  try {
    return new RegExp(pattern.slice(1, end), flags);
  } catch (cause) {
    throw invalid(`pattern "${pattern}" is not a valid regular expression: ${(cause as Error).message}`, cause);
  }
}

/** Blank globs and missing entries are skipped: lists from forms have them. */
function eachPattern<Pattern>(
  option: string,
  patterns: readonly Pattern[] | undefined,
  compile: (pattern: Pattern, name: string) => CompiledPattern,
): CompiledPattern[] {
  if (patterns === undefined || patterns === null) return [];
  if (!Array.isArray(patterns)) throw invalid(`option "${option}" must be an array`);
  const compiled: CompiledPattern[] = [];
  patterns.forEach((pattern: Pattern, index) => {
    if (!isBlank(pattern)) compiled.push(compile(pattern, `option "${option}[${index}]"`));
  });
  return compiled;
}

function isBlank(pattern: unknown): boolean {
  if (pattern === undefined || pattern === null) return true;
  const text = typeof pattern === 'object' && 'glob' in pattern ? pattern.glob : pattern;
  return typeof text === 'string' && text.trim() === '';
}

function isGlob(pattern: unknown): pattern is GlobInput {
  if (typeof pattern === 'string') return true;
  return typeof pattern === 'object' && pattern !== null && 'glob' in pattern && typeof pattern.glob === 'string';
}

function isRegExp(pattern: unknown): pattern is RegExpInput {
  if (pattern instanceof RegExp) return true;
  return typeof pattern === 'object' && pattern !== null && 'regexp' in pattern && pattern.regexp instanceof RegExp;
}

function compileGlob(pattern: GlobInput, name: string): CompiledPattern {
  if (typeof pattern === 'string') return { matches: globMatcher(pattern.trim(), name) };
  const { glob, ...options } = pattern;
  return withOptions(globMatcher(glob.trim(), name), options);
}

function compileRegExp(pattern: RegExpInput): CompiledPattern {
  if (pattern instanceof RegExp) return { matches: regExpMatcher(pattern) };
  const { regexp, ...options } = pattern;
  return withOptions(regExpMatcher(regexp), options);
}

function withOptions(matches: Matcher, options: PatternRequestOptions): CompiledPattern {
  return Object.keys(options).length > 0 ? { matches, options } : { matches };
}

function regExpMatcher(regexp: RegExp): Matcher {
  if (!regexp.global && !regexp.sticky) return (url) => regexp.test(url);
  // These flags make a RegExp stateful; every URL is tested from its start.
  return (url) => {
    regexp.lastIndex = 0;
    const found = regexp.test(url);
    regexp.lastIndex = 0;
    return found;
  };
}

function globMatcher(glob: string, name: string): Matcher {
  const known = compiledGlobs.get(glob);
  if (known) return known;
  const matchesUrl = parseGlob(glob, name);
  const site = /^https?:\/\/[a-z0-9.:-]+\//i.exec(glob)?.[0].toLowerCase();
  // A glob with a site skips URLs of other sites cheaply.
  const matcher: Matcher =
    site === undefined
      ? matchesUrl
      : (url) => (url.startsWith(site) || url.slice(0, site.length).toLowerCase() === site) && matchesUrl(url);
  if (compiledGlobs.size >= MAX_COMPILED_GLOBS) compiledGlobs.clear();
  compiledGlobs.set(glob, matcher);
  return matcher;
}

let minimatch: typeof MinimatchPackage | undefined;

/** Loaded on first use: the package takes longer to load than this whole folder. */
function parseGlob(glob: string, name: string): Matcher {
  minimatch ??= createRequire(import.meta.url)('minimatch') as typeof MinimatchPackage;
  refuseBeyond('globCharacters', LIMITS.globCharacters.max, glob.length, name);
  refuseBeyond('globClasses', LIMITS.globClasses.max, glob.split('[').length - 1, name);
  let parsed: MinimatchPackage.Minimatch;
  try {
    // URLs use slashes on every platform.
    const braceExpandMax = LIMITS.globReadings.max + 1;
    parsed = new minimatch.Minimatch(glob, { nocase: true, platform: 'linux', braceExpandMax });
  } catch (cause) {
    throw invalid(`${name} is not a valid glob: ${(cause as Error).message}`, cause);
  }
  refuseBeyond('globReadings', LIMITS.globReadings.max, parsed.set.length, name);
  return createGlobMatcher(parsed);
}

type GlobLimit = 'globCharacters' | 'globClasses' | 'globReadings';

function refuseBeyond(limit: GlobLimit, max: number, count: number, name: string): void {
  if (count <= max) return;
  limitReached(limit);
  throw invalid(`${name}: more than ${max} ${LIMITS[limit].unit}: write several globs, or a regular expression`);
}

function invalid(message: string, cause?: unknown): CrawlError {
  return new CrawlError('OPTION_INVALID', message, cause === undefined ? undefined : { cause });
}
