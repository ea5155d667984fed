// A site's robots.txt by URL, for scripts that query it themselves (Crawlee's RobotsTxtFile).
// RFC 9309: a missing file allows everything, an unreachable one forbids everything.
import { asCrawlError, CrawlError } from '../../errors.js';
import { checkOptions, type ShapeOf } from '../../option-checks.js';
import { MAX_ROBOTS_BYTES, RobotsTxt } from '../../politeness/robots/robots.js';
import { parseHttpUrl } from '../../request/url.js';
import { SITE_FILE_SHAPE, type SiteFileOptions, withSiteFiles } from './site-files.js';
import { loadSitemap, optionsFrom, type Sitemap, type SitemapOptions } from './sitemap.js';

const ROBOTS_TIMEOUT_MS = 30_000;
const FORBID_ALL = 'User-agent: *\nDisallow: /\n';

/** When `find` gives up. */
export interface RobotsTxtFileLimits {
  /** Longest the file may take. Default 30,000. */
  timeoutMillis?: number | undefined;
  /** Ends the work when it is aborted. */
  signal?: AbortSignal | undefined;
}
const LIMITS_SHAPE: ShapeOf<RobotsTxtFileLimits> = {
  timeoutMillis: SITE_FILE_SHAPE.timeoutMs,
  signal: SITE_FILE_SHAPE.signal,
};

/**
 * The robots.txt of one site.
 *
 * @example
 * const robots = await RobotsTxtFile.find('https://example.com/any/page');
 * if (robots.isAllowed('https://example.com/private', 'MyBot')) log.info('may be visited');
 * const urls = await robots.parseUrlsFromSitemaps();
 */
export class RobotsTxtFile {
  readonly #rules: RobotsTxt;
  readonly #url: string;
  readonly #options: SiteFileOptions;

  private constructor(
    url: string,
    rules: RobotsTxt,
    options: SiteFileOptions,
    /** Why the file could not be had: then nothing is allowed. */
    readonly unreachable?: CrawlError,
  ) {
    this.#url = url;
    this.#rules = rules;
    this.#options = options;
  }

  /**
   * Fetches the robots.txt of the URL's site. The second argument may be a proxy URL and the third a limit of time and a
   * signal, as in Crawlee.
   */
  static async find(
    url: string,
    proxyUrlOrOptions: string | SiteFileOptions = {},
    limits: RobotsTxtFileLimits = {},
  ): Promise<RobotsTxtFile> {
    checkOptions('RobotsTxtFile.find', limits, LIMITS_SHAPE);
    const given = typeof proxyUrlOrOptions === 'string' ? { proxyUrl: proxyUrlOrOptions } : proxyUrlOrOptions;
    const { timeoutMillis: timeoutMs = given.timeoutMs, signal = given.signal } = limits;
    const options: SiteFileOptions = {
      ...given,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(signal === undefined ? {} : { signal }),
    };
    checkOptions('RobotsTxtFile', options, SITE_FILE_SHAPE);
    const robotsUrl = new URL('/robots.txt', parseHttpUrl(url)).href;
    try {
      const content = await fetchRobots(robotsUrl, options);
      return new RobotsTxtFile(robotsUrl, RobotsTxt.parse(content), options);
    } catch (error) {
      const known = asCrawlError(error, 'CONNECT_FAILED');
      // Whoever ended the work does not ask what the site said.
      if (known.class === 'fatal' || signal?.aborted) throw known;
      // More than five redirects count as a file that is not there (section 2.3.1.2).
      if (known.code === 'REDIRECT_LIMIT') return new RobotsTxtFile(robotsUrl, RobotsTxt.parse(''), options);
      return new RobotsTxtFile(robotsUrl, RobotsTxt.parse(FORBID_ALL), options, known);
    }
  }

  /** Reads a robots.txt that is at hand; `url` is where it belongs to. */
  static from(
    url: string,
    content: string | Uint8Array,
    proxyUrlOrOptions: string | SiteFileOptions = {},
  ): RobotsTxtFile {
    const options = typeof proxyUrlOrOptions === 'string' ? { proxyUrl: proxyUrlOrOptions } : proxyUrlOrOptions;
    checkOptions('RobotsTxtFile', options, SITE_FILE_SHAPE);
    return new RobotsTxtFile(parseHttpUrl(url).href, RobotsTxt.parse(content), options);
  }

  /** Whether the agent (default: any) may fetch the URL. Rules concern their own site: other URLs are allowed. */
  isAllowed(url: string, userAgent = '*'): boolean {
    const target = parseHttpUrl(url);
    return target.origin !== new URL(this.#url).origin || this.#rules.isAllowed(target.href, userAgent);
  }

  /** Seconds between requests that the agent's group asks for. */
  getCrawlDelay(userAgent = '*'): number | undefined {
    return this.#rules.crawlDelay(userAgent);
  }

  /** The sitemaps that the file names, as absolute URLs. */
  getSitemaps(): string[] {
    return this.#rules.sitemaps.flatMap((sitemap) => {
      try {
        return [parseHttpUrl(new URL(sitemap, this.#url).href).href];
      } catch {
        return [];
      }
    });
  }

  /** Reads those sitemaps. Only this site's own host may be private. */
  async parseSitemaps(options: SitemapOptions = {}): Promise<Sitemap> {
    return loadSitemap(this.getSitemaps(), [this.#url], optionsFrom({ ...this.#options, ...options }));
  }

  /** The URLs of all pages that the sitemaps named in robots.txt list, nested ones included. */
  async parseUrlsFromSitemaps(options: SitemapOptions = {}): Promise<string[]> {
    return (await this.parseSitemaps(options)).urls;
  }
}

/** The bytes of the file, the first 500 KiB of them; '' when there is none. */
function fetchRobots(url: string, options: SiteFileOptions): Promise<Uint8Array> {
  const timeoutMs = options.timeoutMs ?? ROBOTS_TIMEOUT_MS;
  return withSiteFiles([url], options, (visit) =>
    visit({ url, stream: true, timeoutMs }, async ({ statusCode, stream, body }) => {
      if (statusCode >= 500) throw new CrawlError('HTTP_STATUS', `status ${statusCode}`);
      if (statusCode < 200 || statusCode >= 300) return Buffer.alloc(0);
      if (!stream) return body;
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of stream) {
        chunks.push(chunk as Buffer);
        bytes += (chunk as Buffer).length;
        if (bytes > MAX_ROBOTS_BYTES) break;
      }
      return Buffer.concat(chunks);
    }),
  );
}
