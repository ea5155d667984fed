// The URLs of a site without a crawl: its sitemaps, those that robots.txt names, its llms.txt, and the links of its first pages.
// Promise: bounded in URLs, pages and time; what fails on the way only makes the list shorter.
import { asCrawlError, CrawlError } from '../../errors.js';
import { limitReached, LIMITS } from '../../limits.js';
import {
  aBoolean,
  aFilledString,
  anyOf,
  arrayOf,
  aString,
  aWholeNumber,
  check,
  checkOptions,
  oneOf,
} from '../../option-checks.js';
import {
  isLlmsTxt,
  isTooLongToList,
  type ListedPage,
  LLMS_FILES,
  readLlmsTxt,
} from '../../politeness/sitemaps/llms.js';
import { decodeBody, detectEncoding } from '../../parse/encoding/encoding.js';
import { RobotsTxt } from '../../politeness/robots/robots.js';
import { foundAt } from '../../request/found.js';
import { EnqueueStrategy, staysWithin } from '../../request/scope.js';
import { domainOf, parseHttpUrl, parseUrl } from '../../request/url.js';
import type { CrawlResult } from '../batch/crawl-result.js';
import { loadSitemap } from '../polite/sitemap.js';
import { type SiteFileOptions, withSiteFiles } from '../polite/site-files.js';
import { systemTime } from '../time.js';
import { WebCrawler } from '../web-crawler.js';
import { ranked } from './rank.js';

/** Options of {@link map}. */
export interface MapOptions {
  /** Ranks the links by these words and drops those without any of them. */
  search?: string | undefined;
  /** Whether sitemaps and llms.txt are read with links, instead of them, or not at all. Default `include`. */
  sitemap?: 'include' | 'skip' | 'only' | undefined;
  /** Default true. */
  includeSubdomains?: boolean | undefined;
  /** Leaves out what follows the `?` of URLs. Default true. */
  ignoreQueryParameters?: boolean | undefined;
  /** Most links. Default 5,000. */
  limit?: number | undefined;
  /** Longest it may take; what was found until then is the answer. Default 60,000. */
  timeoutMs?: number | undefined;
  /** Sent with every request; robots.txt is read for it. */
  userAgent?: string | undefined;
  /** Lets redirects and sitemaps lead to private addresses: all, or the given CIDR ranges. */
  allowPrivateAddresses?: boolean | readonly string[] | undefined;
  /** Ends the search when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** A page of a site, with what is known of it. */
export interface MappedLink {
  /** Absolute. */
  readonly url: string;
  /** Of the page, where it is known. */
  readonly title?: string | undefined;
  /** Of the page, where it is known. */
  readonly description?: string | undefined;
}

const SHAPE = {
  search: aString,
  sitemap: oneOf(['include', 'skip', 'only']),
  includeSubdomains: aBoolean,
  ignoreQueryParameters: aBoolean,
  limit: aWholeNumber({ from: 1, to: 1_000_000 }),
  timeoutMs: aWholeNumber({ from: 1 }),
  userAgent: aFilledString,
  allowPrivateAddresses: anyOf(aBoolean, arrayOf(aString)),
  signal: check('an AbortSignal', (value) => value instanceof AbortSignal),
};

/** Pages that are fetched for their links, the first one included. */
const MAX_PAGES = 10;
const PAGE_TIMEOUT_MS = 20_000;
const MAX_ROBOTS_BYTES = 512_000;
/** More are read than requested: a search chooses among them. */
const SEARCHED = 50_000;

/**
 * Lists the pages of a site.
 *
 * @example
 * const links = await map('https://example.com', { search: 'pricing' });
 */
export async function map(url: string, options: MapOptions = {}): Promise<MappedLink[]> {
  checkOptions('map', options, SHAPE);
  return mapSite(url, options, true);
}

/** Like {@link map}. `isSeed`: the person who runs this program named the URL; only then may it be private. */
export async function mapSite(url: string, options: MapOptions, isSeed: boolean): Promise<MappedLink[]> {
  const start = parseHttpUrl(url);
  const { search, sitemap = 'include', limit = 5_000, timeoutMs = 60_000 } = options;
  const over = new AbortController();
  const cancel = systemTime.after(timeoutMs, () => over.abort());
  const signal = AbortSignal.any([over.signal, ...(options.signal ? [options.signal] : [])]);
  const most = search ? Math.max(limit, SEARCHED) : limit;
  const site = createSite(start, options, most);
  let refusal: CrawlError | undefined;
  const trouble = (error: unknown): void => {
    const known = asCrawlError(error, 'CONNECT_FAILED');
    if (known.code === 'ADDRESS_REFUSED') refusal ??= known;
  };
  const readSitemaps = async (): Promise<void> => {
    for (const page of await listedPages(start, { ...options, signal }, isSeed, most)) site.list(page);
  };
  await Promise.all([
    sitemap === 'skip' ? undefined : readSitemaps().catch(trouble),
    sitemap === 'only' ? undefined : readPages(start, site, options, isSeed, signal).catch(trouble),
  ]);
  cancel();
  if (refusal && site.links.size === 0) throw refusal;
  const found = [...site.links.values()];
  return (search ? ranked(found, search, site.anchors) : found).slice(0, limit);
}

interface Site {
  readonly links: Map<string, { url: string; title?: string; description?: string }>;
  /** What links to a URL say. */
  readonly anchors: Map<string, string>;
  /** Gives the link, whether it is new or known; undefined for one that is left out. */
  add(url: string, anchor?: string): { url: string; title?: string; description?: string } | undefined;
  /** A page that a list names, with what it says of it. */
  list(page: ListedPage): void;
}

function createSite(
  start: URL,
  { includeSubdomains = true, ignoreQueryParameters = true }: MapOptions,
  most: number,
): Site {
  const links: Site['links'] = new Map();
  const anchors = new Map<string, string>();
  const bare = (host: string): string => host.replace(/^www\./, '');
  const isInside = (host: string): boolean =>
    bare(host) === bare(start.host) ||
    (includeSubdomains && host.endsWith(`.${bare(start.host)}`)) ||
    (includeSubdomains &&
      domainOf(`http://${host}/`) === domainOf(start.href) &&
      host.endsWith(`.${domainOf(start.href)}`));
  const site: Site = {
    links,
    anchors,
    add(text, anchor) {
      const url = parseUrl(text);
      if (!url || !/^https?:$/.test(url.protocol) || !isInside(url.host)) return undefined;
      url.hash = '';
      if (ignoreQueryParameters) url.search = '';
      const { href } = url;
      if (isTooLongToList(href)) return undefined;
      if (!links.has(href) && links.size < most) links.set(href, { url: href });
      if (anchor && !anchors.has(href) && anchors.size < most) anchors.set(href, anchor.slice(0, 200));
      return links.get(href);
    },
    list({ url, title, description }) {
      const link = site.add(url, title);
      if (link && title) link.title ??= title;
      if (link && description) link.description ??= description;
    },
  };
  return site;
}

/** The URLs that a site lists: see {@link listedPages}. */
export async function sitemapUrls(...given: Parameters<typeof listedPages>): Promise<string[]> {
  return (await listedPages(...given)).map(({ url }) => url);
}

/** What a site lists: its sitemaps (those that its robots.txt names, else the one of the common name) and its llms.txt. */
async function listedPages(
  start: URL,
  options: Pick<MapOptions, 'userAgent' | 'allowPrivateAddresses' | 'signal'> &
    Pick<SiteFileOptions, 'proxyUrl' | 'ignoreSslErrors'>,
  isSeed: boolean,
  most: number,
): Promise<ListedPage[]> {
  const named = isSeed ? [start.origin] : [];
  const { userAgent, allowPrivateAddresses, signal, proxyUrl, ignoreSslErrors } = options;
  const files = {
    ...(proxyUrl !== undefined && { proxyUrl }),
    ...(ignoreSslErrors !== undefined && { ignoreSslErrors }),
    ...(userAgent && { userAgent }),
    ...(allowPrivateAddresses !== undefined && { allowPrivateAddresses }),
    ...(signal && { signal }),
  };
  const order = { url: `${start.origin}/robots.txt`, maxBodyBytes: MAX_ROBOTS_BYTES, timeoutMs: PAGE_TIMEOUT_MS };
  const robots = await withSiteFiles(named, files, (visit) =>
    visit(order, async ({ statusCode, body }) => RobotsTxt.parse(statusCode === 200 ? body : '')),
  ).catch((error: unknown) => {
    if (asCrawlError(error, 'CONNECT_FAILED').code === 'ADDRESS_REFUSED') throw error;
    return RobotsTxt.parse('');
  });
  const own = robots.sitemaps.flatMap((one) => parseUrl(one, start.origin)?.href ?? []);
  const urls = own.length > 0 ? own : [`${start.origin}/sitemap.xml`];
  const limits = { maxUrls: most, maxRetries: 0, timeoutMs: PAGE_TIMEOUT_MS };
  const [sitemaps, llms] = await Promise.all([
    loadSitemap(urls, named, { ...files, ...limits }),
    readLlmsFiles(start, named, files),
  ]);
  const pages = new Map<string, ListedPage>();
  for (const page of llms) pages.set(page.url, page);
  for (const { url } of sitemaps.entries) {
    if (!isTooLongToList(url) && !pages.has(url)) pages.set(url, { url });
  }
  return [...pages.values()].slice(0, most);
}

/** The pages of llms.txt and llms-full.txt; none where there is no such file, or it is too large. */
async function readLlmsFiles(
  start: URL,
  named: readonly string[],
  files: SiteFileOptions,
): Promise<readonly ListedPage[]> {
  const pages: ListedPage[] = [];
  for (const name of LLMS_FILES) {
    const url = `${start.origin}/${name}`;
    const order = { url, maxBodyBytes: LIMITS.llmsBytes.max, timeoutMs: PAGE_TIMEOUT_MS };
    const found = await withSiteFiles(named, files, (visit) =>
      visit(order, async ({ statusCode, body, headers, loadedUrl }) => {
        const type = String(headers['content-type'] ?? '');
        const text = statusCode === 200 ? decodeBody(body, detectEncoding(body, type || 'text/plain')) : '';
        const listed = isLlmsTxt(text, type) ? readLlmsTxt(text, loadedUrl) : [];
        // As of sitemaps: what a file says of other hosts is not the site's.
        return listed.filter((page) => staysWithin(EnqueueStrategy.SameHostname, start.href, page.url));
      }),
    ).catch((error: unknown) => {
      if (asCrawlError(error, 'CONNECT_FAILED').code === 'BODY_TOO_LARGE') limitReached('llmsBytes');
      return [];
    });
    for (const page of found) pages.push(page);
  }
  return pages;
}

async function readPages(
  start: URL,
  site: Site,
  options: MapOptions,
  isSeed: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { allowPrivateAddresses, userAgent } = options;
  const crawler = await WebCrawler.open({ ...(allowPrivateAddresses !== undefined && { allowPrivateAddresses }) });
  const close = (): void => void crawler.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    const fetchAll = async (urls: string[]): Promise<CrawlResult[]> =>
      // The site names the further ones: only the host that the user named may be private.
      crawler.runMany(foundAt(urls, isSeed ? [start.origin] : []), {
        pageTimeoutMs: PAGE_TIMEOUT_MS,
        maxRetries: 0,
        ...(userAgent && { userAgent }),
      });
    const [first] = await fetchAll([start.href]);
    if (first!.errorCode !== null && first!.statusCode === null) {
      throw new CrawlError(first!.errorCode, first!.errorMessage ?? undefined);
    }
    take(site, first!);
    const further = [...site.links.keys()].filter((url) => url !== start.href).slice(0, MAX_PAGES - 1);
    for (const page of await fetchAll(further)) take(site, page);
  } finally {
    signal.removeEventListener('abort', close);
    await crawler.close();
  }
}

function take(site: Site, page: CrawlResult): void {
  if (!page.success) return;
  const url = page.loadedUrl ?? page.url;
  site.add(url);
  const known = site.links.get(url) ?? site.links.get(page.url);
  const { title, description } = page.metadata ?? {};
  if (known && title) known.title = title;
  if (known && description) known.description = description;
  for (const link of [...page.links.internal, ...page.links.external]) site.add(link.url, link.text);
}
