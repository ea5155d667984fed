// Crawlee's functions on sitemaps: `parseSitemap` and `discoverValidSitemaps`, over the readers that the crawl uses.
import { loadSitemap } from '../crawl/polite/sitemap.js';
import { RobotsTxtFile } from '../crawl/polite/robots-txt-file.js';
import { createHttpEngine } from '../fetch/http/engine.js';
import { sendRequest } from '../fetch/http/send-request.js';
import { defaultUserAgent } from '../crawl/user-agent.js';
import type { EnqueueStrategy } from '../request/scope.js';
import { parseHttpUrl } from '../request/url.js';

/** A sitemap by its URL, or as text. */
export type SitemapSource = ({ type: 'url'; url: string } | { type: 'raw'; content: string }) & { depth?: number };

/** Which parts of sitemaps are given out. */
export interface ParseSitemapOptions {
  /** How deep sitemaps may name others. */
  maxDepth?: number;
  /** Retries of a sitemap that could not be read. */
  sitemapRetries?: number;
  /** Which pages belong to a sitemap's site. Default `same-hostname`; a raw text has no site. */
  enqueueStrategy?: EnqueueStrategy;
  /** Whether a sitemap that another names is read. Default: all are. */
  nestedSitemapFilter?: (sitemapUrl: string) => boolean;
  /** From Crawlee, without effect. */
  emitNestedSitemaps?: boolean;
  /** From Crawlee, without effect. */
  networkTimeouts?: unknown;
  /** From Crawlee, without effect. */
  reportNetworkErrors?: boolean;
}

/** A page as `parseSitemap` gives it. */
export interface ParsedSitemapUrl {
  /** The address of the page. */
  loc: string;
  /** When it last changed, as the sitemap says. */
  lastmod?: Date;
  /** How often it changes, as the sitemap says. */
  changefreq?: string;
  /** From 0 to 1, as the sitemap says. */
  priority?: number;
  /** The sitemap that names it. */
  originSitemapUrl: string;
}

/**
 * The pages that sitemaps name, with what they say of them.
 *
 * @example
 * for await (const { loc, lastmod } of parseSitemap([{ type: 'url', url: 'https://example.com/sitemap.xml' }])) log.info(loc);
 */
export async function* parseSitemap(
  sources: readonly SitemapSource[],
  proxyUrl?: string,
  options: ParseSitemapOptions = {},
): AsyncGenerator<ParsedSitemapUrl> {
  const { maxDepth, sitemapRetries: maxRetries, enqueueStrategy = 'same-hostname', nestedSitemapFilter } = options;
  for (const source of sources) {
    const isUrl = source.type === 'url';
    const limits = { proxyUrl, maxDepth, maxRetries, enqueueStrategy, nestedSitemapFilter };
    const { entries } = isUrl
      ? await loadSitemap([source.url], [source.url], limits)
      : await loadSitemap([GIVEN], [], limits, source.content);
    for (const { url: loc, lastmod, changefreq, priority } of entries) {
      yield {
        loc,
        ...(lastmod === undefined ? {} : { lastmod }),
        ...(changefreq === undefined ? {} : { changefreq }),
        ...(priority === undefined ? {} : { priority }),
        originSitemapUrl: isUrl ? source.url : '',
      };
    }
  }
}

/** Stands for a text; as `Sitemap.fromXmlString` has it. */
const GIVEN = 'https://given.invalid/';
const COMMON_NAMES = ['/sitemap.xml', '/sitemap.txt', '/sitemap_index.xml'];
const TIMEOUT_MS = 30_000;

const isSitemapName = (name: string): boolean => /sitemap/i.test(name) && /\.(?:xml|txt)(?:\.gz)?$/i.test(name);

/**
 * The sitemaps that sites have: those robots.txt names, those given, and files under the usual names that exist.
 *
 * @example
 * for await (const url of discoverValidSitemaps(['https://example.com'])) log.info(url);
 */
export async function* discoverValidSitemaps(
  urls: readonly string[],
  options: { proxyUrl?: string; signal?: AbortSignal; timeoutMillis?: number; requestTimeoutMillis?: number } = {},
): AsyncGenerator<string> {
  const { proxyUrl, signal, requestTimeoutMillis: timeoutMs = TIMEOUT_MS } = options;
  const told = new Set<string>();
  const tell = (url: string): boolean => !told.has(url) && !!told.add(url);
  const byOrigin = new Map<string, string[]>();
  for (const url of urls) {
    const { origin, href, pathname } = parseHttpUrl(url);
    const given = byOrigin.get(origin) ?? [];
    if (isSitemapName(pathname.slice(pathname.lastIndexOf('/') + 1))) given.push(href);
    byOrigin.set(origin, given);
  }
  const engine = createHttpEngine();
  try {
    for (const [origin, given] of byOrigin) {
      engine.allowHost(origin);
      const robots = await RobotsTxtFile.find(origin, proxyUrl).catch(() => undefined);
      for (const url of robots?.getSitemaps() ?? []) if (tell(url)) yield url;
      for (const url of given) if (tell(url)) yield url;
      if (given.length > 0) continue;
      for (const name of COMMON_NAMES) {
        const url = `${origin}${name}`;
        if (!told.has(url) && (await exists(url)) && tell(url)) yield url;
      }
    }
  } finally {
    await engine.close();
  }

  async function exists(url: string): Promise<boolean> {
    const setting = {
      headers: { 'user-agent': defaultUserAgent() },
      proxyUrl,
      timeoutMs,
      maxBodyBytes: 1,
      maxRedirects: 5,
      ignoreTlsErrors: false,
      signal,
      decode: () => '',
    };
    const answer = await sendRequest(engine, { url, method: 'HEAD' }, setting).catch(() => undefined);
    return answer?.ok === true;
  }
}
