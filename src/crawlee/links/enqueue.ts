// Crawlee's `enqueueLinks` of its crawlers as functions: the links of a document or of a page, into a queue.
import type { CheerioAPI } from 'cheerio';
import { enqueueLinks } from '../../crawl/page/enqueue-links.js';
import { CrawlError } from '../../errors.js';
import type { BatchAddRequestsResult, EnqueueLinksOptions, RequestSink } from '../../handle/enqueue-links.js';
import { wrongType } from '../storage/client-dataset.js';
import { constructRegExpObjectsFromPseudoUrls, type PseudoUrlInput } from './patterns.js';
import { extractUrlsFromCheerio, resolveBaseUrlForEnqueueLinksFiltering, tryAbsoluteURL } from './urls.js';

/** Options of links, with Crawlee's old patterns. */
export type CrawlerEnqueueLinksOptions = EnqueueLinksOptions & { pseudoUrls?: readonly PseudoUrlInput[] };

/** Where links come from, and where they go. */
export interface CrawlerEnqueueLinks {
  options?: CrawlerEnqueueLinksOptions;
  requestQueue?: RequestSink;
  /** Called with the URLs in place of a queue: the `enqueueLinks` of a context. */
  enqueueLinks?: (options: EnqueueLinksOptions & { urls: string[] }) => Promise<BatchAddRequestsResult>;
  onSkippedRequest?: EnqueueLinksOptions['onSkippedRequest'];
  robotsTxtFile?: EnqueueLinksOptions['robotsTxtFile'];
  originalRequestUrl: string;
  finalRequestUrl?: string;
}

/** What is needed of a page: Playwright's and Puppeteer's have it. */
export interface LinksPage {
  $$eval(selector: string, inPage: (elements: { getAttribute(name: string): string | null }[]) => unknown): unknown;
}

/**
 * Adds the links of a cheerio document to a queue.
 *
 * @example
 * await cheerioCrawlerEnqueueLinks({ $, requestQueue, originalRequestUrl: 'https://example.com/' });
 */
export async function cheerioCrawlerEnqueueLinks(
  given: CrawlerEnqueueLinks & { $: CheerioAPI | null },
): Promise<BatchAddRequestsResult> {
  const { $ } = given;
  if (!$) throw new CrawlError('OPTION_INVALID', 'Cannot enqueue links because the DOM is not available.');
  return enqueueFrom(given, async (selector, baseUrl) => extractUrlsFromCheerio($, selector, baseUrl));
}

/**
 * Adds the links of a browser's page to a queue.
 *
 * @example
 * await browserCrawlerEnqueueLinks({ page, requestQueue, originalRequestUrl: page.url() });
 */
export async function browserCrawlerEnqueueLinks(
  given: CrawlerEnqueueLinks & { page: LinksPage },
): Promise<BatchAddRequestsResult> {
  return enqueueFrom(given, (selector, baseUrl) => extractUrlsFromPage(given.page, selector, baseUrl));
}

/**
 * The absolute URLs of a page's links.
 *
 * @example
 * const urls = await extractUrlsFromPage(page, 'a.next', page.url());
 */
export async function extractUrlsFromPage(page: LinksPage, selector: string, baseUrl: string): Promise<string[]> {
  const read = async (of: string): Promise<string[]> => {
    const found = (await page.$$eval(of, (elements) => elements.map((element) => element.getAttribute('href')))) as (
      string | null
    )[];
    return found.filter((href): href is string => Boolean(href));
  };
  const [links, [declared]] = [await read(selector), await read('base')];
  const base = (declared && tryAbsoluteURL(declared, baseUrl)) || baseUrl;
  return links.flatMap((href) => tryAbsoluteURL(href, base) ?? []);
}

async function enqueueFrom(
  given: CrawlerEnqueueLinks,
  extract: (selector: string, baseUrl: string) => Promise<string[]>,
): Promise<BatchAddRequestsResult> {
  const { originalRequestUrl, finalRequestUrl, onSkippedRequest, robotsTxtFile, requestQueue } = given;
  const { pseudoUrls = [], ...options } = given.options ?? {};
  if (!Array.isArray(pseudoUrls)) throw wrongType('pseudoUrls', 'array', pseudoUrls);
  const { selector = 'a', strategy } = options;
  const baseUrl = resolveBaseUrlForEnqueueLinksFiltering({
    enqueueStrategy: strategy,
    finalRequestUrl,
    originalRequestUrl,
    userProvidedBaseUrl: options.baseUrl,
  });
  // URLs among the options take the place of those of the page.
  const found = await extract(selector, options.baseUrl ?? finalRequestUrl ?? originalRequestUrl);
  const regexps = [...(options.regexps ?? []), ...constructRegExpObjectsFromPseudoUrls(pseudoUrls)];
  const { selector: _selector, ...rest } = options;
  const all = {
    ...(onSkippedRequest ? { onSkippedRequest } : {}),
    ...(robotsTxtFile ? { robotsTxtFile } : {}),
    ...rest,
    urls: [...(options.urls ?? found)],
    ...(regexps.length > 0 ? { regexps } : {}),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
  if (given.enqueueLinks) return given.enqueueLinks(all);
  return enqueueLinks({ requestQueue: requestQueue!, ...all });
}
