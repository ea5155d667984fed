// The start URLs of a command-line crawl: its arguments, the lines of files and standard input, and the URLs of sitemaps.
// Promise: a list of any length is read only as fast as it is queued; an invalid line is reported and skipped; an
// endless list does not block the end of a crawl.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { sitemapUrls } from '../../crawl/map/map.js';
import { LIMITS } from '../../limits.js';
import { foundAt } from '../../request/found.js';
import { parsePattern } from '../../request/pattern.js';
import { createScope, type ScopeRules } from '../../request/scope.js';
import { normalizeUrl } from '../../request/url.js';
import { seedUrl } from '../arguments.js';
import { proxiesOf } from '../flags/proxies.js';
import { shown } from '../terminal.js';
import type { CrawlSettings } from './settings.js';

export interface SeedSources {
  /** Absolute URLs, and `-` for the lines of `input`. */
  readonly urls: readonly string[];
  /** Files of URLs. */
  readonly lists?: readonly string[] | undefined;
  readonly input: NodeJS.ReadableStream;
}

/** Line by line; blank lines and those that begin with `#` are skipped. */
export async function* seedUrls(
  { urls, lists = [], input }: SeedSources,
  over: AbortSignal,
  onBadLine: (message: string) => void,
): AsyncGenerator<string> {
  for (const url of urls) {
    if (url === '-') yield* urlLines(input, '', over, onBadLine);
    else yield url;
  }
  for (const list of lists) yield* urlLines(createReadStream(list), ` of ${shown(list)}`, over, onBadLine);
}

async function* urlLines(
  input: NodeJS.ReadableStream,
  where: string,
  over: AbortSignal,
  onBadLine: (message: string) => void,
): AsyncGenerator<string> {
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Infinity, signal: over })) {
    number++;
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    let url: string;
    try {
      url = seedUrl(text);
    } catch (error) {
      onBadLine(`line ${number}${where} is left out: ${shown((error as Error).message)}`);
      continue;
    }
    yield url;
  }
}

/** Which links of a page are followed. */
export function linkRules({ strategy, include = [], exclude = [] }: CrawlSettings): ScopeRules {
  const included = include.map(parsePattern);
  return {
    ...(strategy === undefined ? {} : { strategy }),
    globs: included.filter((pattern) => typeof pattern === 'string'),
    regexps: included.filter((pattern) => typeof pattern !== 'string'),
    exclude: exclude.map(parsePattern),
  };
}

/**
 * What the sitemaps of a seed's site list, within the crawl's scope. The list is a stranger's: only the seed's own host
 * may be at a private address.
 */
export async function urlsOfSitemaps(seed: string, settings: CrawlSettings, signal: AbortSignal): Promise<string[]> {
  const start = new URL(seed);
  const scope = createScope(linkRules(settings), { url: seed });
  const { userAgent, insecure, maxPages, proxy, allowPrivate } = settings;
  const proxyUrl = proxiesOf(proxy === undefined ? {} : { proxy })?.(seed);
  const options = {
    signal,
    userAgent,
    allowPrivateAddresses: allowPrivate,
    ...(proxyUrl !== undefined && { proxyUrl }),
    ...(insecure && { ignoreSslErrors: true }),
  };
  const isSeed = !settings.refusePrivate;
  const listed = await sitemapUrls(start, options, isSeed, LIMITS.sitemapUrls.max);
  const inScope = listed.filter((url) => scope.decide(normalizeUrl(url)).allowed);
  return foundAt(inScope.slice(0, maxPages ?? Infinity), isSeed ? [start.origin] : []);
}
