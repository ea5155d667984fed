// How one URL of a batch is fetched and read: validated, with defaults, frozen.
// Promise: an invalid option is reported before anything starts; the rest of the batch trusts the result.
import {
  aBoolean,
  aFilledString,
  aHeaderLine,
  anObject,
  arrayOf,
  aNumber,
  aProxyUrl,
  aString,
  aWholeNumber,
} from '../../option-checks.js';
import { check, findProblems, oneOf, optionError, type ShapeOf } from '../../option-checks.js';
import { NO_PAGE_SHAPE, PAGE_SHAPE, type PageConfig, pageConflicts } from '../browser/page-config.js';
import type { AllowedHttpMethods } from '../../request/request.js';
import { BATCH_ALIASES, withoutAliases } from '../../setting-names.js';
import { checkSchema, type ExtractSchema } from '../../extract/fields/fields.js';
import { checkFilter, type ContentFilter } from '../../extract/choose/filters.js';
import type { ContentOptions } from '../../extract/content-options.js';
import { CONTENT_CHECKS } from '../page/content-checks.js';
import { checkModelExtraction, type ModelExtraction } from '../model/options.js';
import type { DuplicatesRule } from '../options/options-types.js';
import { CACHE_MODES, CacheMode } from '../../store/cache/cache.js';

/** How a page's content is read. */
export interface ContentConfig {
  /** Blocks of fewer words are left out of text, markdown and cleaned HTML. Default 1. */
  wordCountThreshold?: number | undefined;
  /** Only what matches this CSS selector counts as the page. */
  cssSelector?: string | undefined;
  /** Only these elements go into markdown, text and cleaned HTML; links and media are the whole page's. */
  targetElements?: readonly string[] | undefined;
  /** Elements to leave out, by name. */
  excludedTags?: readonly string[] | undefined;
  /** Elements to leave out, by CSS selector. */
  excludedSelector?: string | undefined;
  /** `cleanedHtml` is the text. Default false. */
  onlyText?: boolean | undefined;
  /** Leaves `links.external` empty. Default false. */
  excludeExternalLinks?: boolean | undefined;
  /** Leaves out links to social networks. Default false. */
  excludeSocialMediaLinks?: boolean | undefined;
  /** Leaves out links to these domains and those under them. */
  excludeDomains?: readonly string[] | undefined;
  /**
   * Which files are read as documents. By default those that are not text (PDF, Office, EPUB, RTF); `true`: CSV, plain text,
   * JSON and feeds too; `false`: none.
   */
  documents?: boolean | undefined;
  /** What of the page is content: `favor`, `hidden`, `math`, and which parts are kept or left out of `markdown`. */
  content?: ContentOptions | undefined;
  /**
   * Ask for markdown where a site offers it (`Accept: text/markdown`). What comes is read like any page, and may be HTML.
   * Default false.
   */
  acceptMarkdown?: boolean | undefined;
  /** How markdown is made: what `fit` keeps, what citations are made of, images, links. */
  markdown?: MarkdownConfig | undefined;
  /** What `extracted` is: fields by CSS selectors, XPaths or regular expressions, or what a model finds. */
  extract?: ExtractSchema | ModelSchema | undefined;
}

/** Extraction by a model, as `extractWithModel` does it, of the page's main content. */
export type ModelSchema = { readonly engine: 'model' } & Omit<ModelExtraction, 'signal'>;

/** How the markdown of a result is made. */
export interface MarkdownConfig {
  /** What `withCitations` is made of; `fit` when there is a filter, else `raw`. */
  source?: 'raw' | 'fit' | undefined;
  /** Chooses what `fit` keeps; without one it is the main content. */
  contentFilter?: ContentFilter | undefined;
  /** `false`: `withCitations` numbers no links, and there are no references. Default true. */
  citations?: boolean | undefined;
  /** `false` leaves images out. */
  images?: boolean | undefined;
  /** `false` keeps the text of links and drops their addresses. */
  links?: boolean | undefined;
}

/** How pages are cached. */
export interface CacheConfig {
  /** Default `CacheMode.BYPASS`. */
  cacheMode?: CacheMode | undefined;
  /** How long a stored page is used, without HTTP's own rules. Default: forever. */
  cacheTtlSecs?: number | undefined;
  /** Follow HTTP's caching rules, and ask the server whether a stale copy is still good. Default false. */
  validate?: boolean | undefined;
}

/** How a page is fetched. */
export interface FetchConfig {
  /** Default GET, or POST with a body. */
  method?: AllowedHttpMethods | Lowercase<AllowedHttpMethods> | undefined;
  /** Sent with the request, to its own origin only. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** What is sent. */
  body?: string | undefined;
  /** Sent in place of the default one. */
  userAgent?: string | undefined;
  /** A proxy (http, https, socks5 or socks5h), credentials in the URL. */
  proxy?: string | undefined;
  /** Ask for nothing that the host's robots.txt forbids, and keep its crawl-delay. Default false. */
  respectRobots?: boolean | undefined;
  /** The same as `respectRobots`: the name crawlers know it by. */
  respectRobotsTxtFile?: boolean | undefined;
  /** Accepts any TLS certificate. Default false. */
  ignoreSslErrors?: boolean | undefined;
  /** Further tries after a transient failure. Default 1. */
  maxRetries?: number | undefined;
  /** The same as `maxRetries`: the name crawlers know it by. */
  maxRequestRetries?: number | undefined;
  /** Longest one attempt may take, all phases. Default 60,000. */
  pageTimeoutMs?: number | undefined;
}

/**
 * The options of `run` and `runMany`, for all URLs or for one.
 *
 * @example
 * await crawler.runMany([{ url: 'https://example.com/', config: { cssSelector: 'main' } }], { maxRetries: 2 });
 */
export interface RunConfig extends ContentConfig, CacheConfig, FetchConfig, PageConfig {
  /** What to fetch, where the config is given alone: `run({ url, … })`. */
  url?: string | undefined;
  /** Awaiting `runMany` gives a stream of results instead of all of them. Default false. */
  stream?: boolean | undefined;
  /**
   * Pages that nearly repeat one whose result came before: `mark` names that one in `duplicateOf`, `skip` leaves their
   * results out. Default `keep`: nothing is compared.
   */
  duplicates?: DuplicatesRule | undefined;
  /**
   * Remembers the pages in the storage folder, and says in `change` what became of each since it was last seen. Default
   * false.
   */
  remember?: boolean | RunMemory | undefined;
}

/** How a batch remembers pages. */
export interface RunMemory {
  /** Batches and crawlers that use the same name share a memory. Default `default`. */
  readonly name?: string | undefined;
  /** Keeps the markdown of the last version of each page, for `change.diff()`. Default false. */
  readonly versions?: boolean | undefined;
}

type Defaulted =
  | 'wordCountThreshold'
  | 'onlyText'
  | 'excludeExternalLinks'
  | 'excludeSocialMediaLinks'
  | 'cacheMode'
  | 'validate'
  | 'respectRobots'
  | 'maxRetries'
  | 'pageTimeoutMs'
  | 'stream'
  | 'duplicates';

/** A RunConfig with its defaults. */
export type ResolvedRunConfig = Readonly<Omit<RunConfig, Defaulted | 'method'>> &
  Readonly<Required<Pick<RunConfig, Defaulted>>> & {
    readonly method: AllowedHttpMethods;
    /** Whether the crawler has a browser: then options of pages are allowed. */
    readonly hasBrowser: boolean;
  };

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'OPTIONS', 'PATCH'];
const aMethod = check(`one of ${METHODS.join(', ')}`, (value) => {
  return typeof value === 'string' && METHODS.includes(value.toUpperCase());
});
const headerValues = check('an object of header names and one-line strings', (value) => {
  if (!anObject.accepts(value)) return false;
  return Object.entries(value as object).every(
    ([name, text]) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && typeof text === 'string' && /^[\t\x20-\xff]*$/.test(text),
  );
});
const names = arrayOf(aFilledString);
/** Longer timers fire at once in Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const RUN_SHAPE: ShapeOf<Omit<RunConfig, keyof PageConfig>> = {
  wordCountThreshold: aWholeNumber({ from: 0 }),
  cssSelector: aFilledString,
  targetElements: names,
  excludedTags: names,
  excludedSelector: aFilledString,
  onlyText: aBoolean,
  excludeExternalLinks: aBoolean,
  excludeSocialMediaLinks: aBoolean,
  excludeDomains: names,
  documents: aBoolean,
  acceptMarkdown: aBoolean,
  content: anObject,
  markdown: anObject,
  extract: anObject,
  cacheMode: oneOf(CACHE_MODES),
  cacheTtlSecs: aNumber({ from: 0, orInfinity: true }),
  validate: aBoolean,
  method: aMethod,
  headers: headerValues,
  body: aString,
  userAgent: aHeaderLine,
  proxy: aProxyUrl,
  respectRobots: aBoolean,
  respectRobotsTxtFile: aBoolean,
  ignoreSslErrors: aBoolean,
  maxRetries: aWholeNumber({ from: 0 }),
  maxRequestRetries: aWholeNumber({ from: 0 }),
  pageTimeoutMs: aNumber({ above: 0, orInfinity: true }),
  url: aString,
  stream: aBoolean,
  duplicates: oneOf(['keep', 'mark', 'skip']),
  remember: check('true, false or { name, versions }', isRunMemory),
};

function isRunMemory(value: unknown): boolean {
  if (typeof value === 'boolean') return true;
  if (!anObject.accepts(value)) return false;
  const { name = 'default', versions = false, ...others } = value as Record<string, unknown>;
  const isName = typeof name === 'string' && /^[\w-][\w.-]*$/.test(name);
  return isName && typeof versions === 'boolean' && Object.keys(others).length === 0;
}

const MARKDOWN_SHAPE: ShapeOf<MarkdownConfig> = {
  source: oneOf(['raw', 'fit']),
  contentFilter: anObject,
  citations: aBoolean,
  images: aBoolean,
  links: aBoolean,
};

/**
 * Checks a config and applies the defaults.
 *
 * @example
 * resolveRunConfig({ maxRetries: 2 }).pageTimeoutMs; // 60000
 */
export function resolveRunConfig(asGiven: RunConfig = {}, hasBrowser = false): ResolvedRunConfig {
  const owner = 'RunConfig';
  const problems = findProblems(owner, asGiven, { ...(hasBrowser ? PAGE_SHAPE : NO_PAGE_SHAPE), ...RUN_SHAPE });
  if (problems.length > 0) throw optionError(problems);
  const { options: given, problems: doubles } = withoutAliases(owner, asGiven, BATCH_ALIASES);
  problems.push(...doubles);
  const method = given.method?.toString().toUpperCase() ?? (given.body === undefined ? 'GET' : 'POST');
  if (problems.length === 0) problems.push(...conflictsOf(owner, given, method));
  if (problems.length === 0) problems.push(...findProblems(`${owner} markdown`, given.markdown, MARKDOWN_SHAPE));
  if (problems.length === 0) problems.push(...findProblems(`${owner} content`, given.content, CONTENT_CHECKS));
  if (problems.length > 0) throw optionError(problems);
  if (given.markdown?.contentFilter) checkFilter(given.markdown.contentFilter);
  if (given.extract?.engine === 'model') checkModelExtraction(given.extract);
  else if (given.extract) checkSchema(given.extract);
  const { headers } = given;
  return Object.freeze({
    ...withoutUndefined(given),
    ...(headers === undefined ? {} : { headers: Object.freeze(lowerCased(headers)) }),
    method: method as AllowedHttpMethods,
    wordCountThreshold: given.wordCountThreshold ?? 1,
    onlyText: given.onlyText ?? false,
    excludeExternalLinks: given.excludeExternalLinks ?? false,
    excludeSocialMediaLinks: given.excludeSocialMediaLinks ?? false,
    cacheMode: given.cacheMode ?? CacheMode.BYPASS,
    validate: given.validate ?? false,
    respectRobots: given.respectRobots ?? false,
    maxRetries: given.maxRetries ?? 1,
    pageTimeoutMs: Math.min(given.pageTimeoutMs ?? 60_000, MAX_TIMER_MS),
    stream: given.stream ?? false,
    duplicates: given.duplicates ?? 'keep',
    hasBrowser,
  });
}

/** A URL's own options over those of the batch. `stream`, `duplicates` and `remember` are the batch's alone. */
export function mergedRunConfig(batch: ResolvedRunConfig, own: RunConfig | undefined): ResolvedRunConfig {
  if (own === undefined) return batch;
  const { options, problems } = withoutAliases('RunConfig', own, BATCH_ALIASES);
  if (problems.length > 0) throw optionError(problems);
  const { stream, duplicates, remember, url, ...rest } = options;
  if (url !== undefined) throw optionError(['RunConfig option "url" of an item belongs beside its "config"']);
  const ofBatch = Object.entries({ stream, duplicates, remember }).find(([, value]) => value !== undefined)?.[0];
  if (ofBatch) throw optionError([`RunConfig option "${ofBatch}" belongs to the whole batch, not to one URL`]);
  const { method, hasBrowser, ...shared } = batch;
  // A method that followed from the batch's body must not outlive the URL's own choice.
  const inherited = rest.body === undefined ? { ...shared, method } : shared;
  return resolveRunConfig({ ...inherited, ...withoutUndefined(rest) }, hasBrowser);
}

function conflictsOf(owner: string, given: RunConfig, method: string): string[] {
  const conflicts: string[] = pageConflicts(owner, given);
  if (given.body !== undefined && (method === 'GET' || method === 'HEAD')) {
    conflicts.push(`${owner} option "body" needs another method than ${method}`);
  }
  return conflicts;
}

function withoutUndefined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Which responses of a URL are read as documents. */
export function documentWish({ documents }: ContentConfig): 'files' | 'all' | undefined {
  return documents === false ? undefined : documents ? 'all' : 'files';
}
