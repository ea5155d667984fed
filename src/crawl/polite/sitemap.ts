// Sitemaps by URL, read whole, for `Sitemap.load`. Failed files are listed, not thrown.
import { CrawlError } from '../../errors.js';
import { limitReached, LIMITS } from '../../limits.js';
import { checkOptions } from '../../option-checks.js';
import { type SitemapProblem, type SitemapUrl, walkSitemaps } from '../../politeness/sitemaps/walk.js';
import { foundAt } from '../../request/found.js';
import { parseHttpUrl } from '../../request/url.js';
import { belongsBy, pause, SITEMAP_SHAPE, sitemapLimits, type SitemapOptions, withSitemaps } from './site-files.js';

export type { SitemapOptions } from './site-files.js';
export type { SitemapProblem, SitemapUrl } from '../../politeness/sitemaps/walk.js';

const MAX_URLS = LIMITS.sitemapUrls.max;
const MAX_PROBLEMS = LIMITS.sitemapProblems.max;

/**
 * What sitemaps list: XML, indexes with all they name, plain lists, RSS and Atom, gzipped or not.
 *
 * @example
 * const { urls } = await Sitemap.load('https://example.com/sitemap.xml');
 * await crawler.run(urls); // may lead to private addresses only of example.com; a copy of `urls` is yours
 */
export class Sitemap {
  /** The pages, in the order of the files, as often as they are named. */
  readonly urls: string[];

  constructor(
    /** The pages with their sitemap fields: `lastmod`, `changefreq`, `priority`. */
    readonly entries: readonly SitemapUrl[],
    /** Files that could not be read, or not to their end; the first 1,000. */
    readonly problems: readonly SitemapProblem[] = [],
    /** What the user named to get it: the hosts of these URLs may be private, others may not. */
    named: readonly string[] = [],
  ) {
    this.urls = foundAt(
      entries.map(({ url }) => url),
      named,
    );
  }

  /** Reads sitemaps by URL. The second argument may be a proxy URL, as in Crawlee. */
  static async load(
    urls: string | readonly string[],
    proxyUrlOrOptions?: string | SitemapOptions,
    further?: SitemapOptions,
  ): Promise<Sitemap> {
    const named = namedUrls(urls);
    return loadSitemap(named, named, optionsFrom(proxyUrlOrOptions, further));
  }

  /** Reads the sitemaps that sites commonly have: `/sitemap.xml` and `/sitemap.txt` of the URL's host. */
  static async tryCommonNames(
    url: string,
    proxyUrlOrOptions?: string | SitemapOptions,
    further?: SitemapOptions,
  ): Promise<Sitemap> {
    const { origin } = parseHttpUrl(url);
    const options = optionsFrom(proxyUrlOrOptions, further);
    return loadSitemap([`${origin}/sitemap.xml`, `${origin}/sitemap.txt`], [origin], options);
  }

  /** Reads a sitemap given as text; files that it names are fetched. */
  static async fromXmlString(
    content: string,
    proxyUrlOrOptions?: string | SitemapOptions,
    further?: SitemapOptions,
  ): Promise<Sitemap> {
    if (typeof content !== 'string') throw new CrawlError('OPTION_INVALID', 'Sitemap.fromXmlString takes a string');
    return loadSitemap([GIVEN], [], optionsFrom(proxyUrlOrOptions, further), content);
  }
}

/** Stands for the text given to `fromXmlString`. */
const GIVEN = 'https://given.invalid/';

/** Reads sitemaps. Only hosts of `named`, which the user gave, may be private. */
export async function loadSitemap(
  urls: readonly string[],
  named: readonly string[],
  options: SitemapOptions,
  content?: string,
): Promise<Sitemap> {
  const entries: SitemapUrl[] = [];
  const problems: SitemapProblem[] = [];
  await withSitemaps(named, options, (open) =>
    walkSitemaps(urls, {
      open: async (url, use) =>
        content !== undefined && url === GIVEN ? use({ url, bytes: onePiece(content) }) : open(url, use),
      take: (found) => {
        for (const entry of found) entries.push(entry);
      },
      belongs: content === undefined ? belongsBy(options) : undefined,
      follows: options.nestedSitemapFilter,
      onProblem: (problem) => {
        if (problems.length < MAX_PROBLEMS) problems.push(problem);
        else limitReached('sitemapProblems');
      },
      limits: sitemapLimits(options, { maxUrls: MAX_URLS, maxCharacters: LIMITS.sitemapCharacters.max }),
      wait: (ms) => pause(ms, options.signal),
      signal: options.signal,
    }),
  );
  return new Sitemap(entries, problems, named);
}

async function* onePiece(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

/** One URL or several, each checked before anything is fetched. */
export function namedUrls(urls: string | readonly string[]): readonly string[] {
  const list = typeof urls === 'string' ? [urls] : urls;
  if (!Array.isArray(list)) throw new CrawlError('OPTION_INVALID', 'sitemaps are given as a URL or an array of URLs');
  return list.map((url: string) => parseHttpUrl(url).href);
}

/** A proxy URL or options, checked. */
export function optionsFrom(given: string | SitemapOptions | undefined, further: SitemapOptions = {}): SitemapOptions {
  const options = typeof given === 'string' ? { ...further, proxyUrl: given } : { ...further, ...given };
  checkOptions('Sitemap', options, SITEMAP_SHAPE);
  return options;
}
