// A page as the document that the API answers with: the formats that were asked for, and its metadata.
// Promise: only what was asked for is worked out; the same code serves scrapes, batches and crawls.
import { extractContent } from '../../crawl/page/extraction.js';
import { createResultContent } from '../../crawl/page/result-content.js';
import type { CrawlResult } from '../../index.js';
import { loadDocument } from '../../handle/document.js';
import { withoutLogin } from '../../request/login.js';
import type { Taken } from './actions.js';
import type { PageWish } from './formats.js';
import { withoutInlineImages } from './inline-images.js';
import { readingFor } from './reading.js';
import { contentConfig } from './run-config.js';

export interface Document {
  markdown?: string;
  html?: string;
  rawHtml?: string;
  links?: string[];
  images?: string[];
  screenshot?: string;
  attributes?: { selector: string; attribute: string; values: string[] }[];
  actions?: Record<string, unknown>;
  changeTracking?: Record<string, unknown>;
  warning?: string;
  metadata: Record<string, unknown>;
  [field: string]: unknown;
}

/** A page that was fetched, by whatever fetched it. */
export type PageSource = Pick<
  CrawlResult,
  'url' | 'loadedUrl' | 'statusCode' | 'headers' | 'html' | 'cleanedHtml' | 'links' | 'media' | 'markdown'
> & {
  readonly metadata: CrawlResult['metadata'];
  readonly cacheStatus?: CrawlResult['cacheStatus'];
  readonly fetchedAt?: string;
  readonly error?: string | undefined;
  /** By which it is compared with other pages, and with itself at another time. */
  readonly compared: string;
};

const MAX_VALUES = 10_000;

export function documentOf(page: PageSource, wish: PageWish, taken: Taken): Document {
  return readingFor(wish, () => readDocument(page, wish, taken));
}

/** The main text of a page, for a model. */
export function textOf({ markdown }: Pick<PageSource, 'markdown'>, wish: PageWish): string {
  return readingFor(wish, () => markdown.fit || markdown.raw);
}

function readDocument(page: PageSource, wish: PageWish, taken: Taken): Document {
  const { plain, options } = wish;
  const main = options.onlyMainContent ?? true;
  const url = page.loadedUrl ?? page.url;
  return {
    ...(plain.has('markdown') && { markdown: markdownOf(page, wish) }),
    ...(plain.has('html') && { html: main ? mainHtml(page, wish, url) : page.cleanedHtml }),
    ...(plain.has('rawHtml') && { rawHtml: page.html }),
    ...(plain.has('links') && { links: [...page.links.internal, ...page.links.external].map((link) => link.url) }),
    ...(plain.has('images') && { images: page.media.images.map((image) => image.url) }),
    ...(taken.screenshot !== undefined && { screenshot: taken.screenshot }),
    ...(wish.attributes.length > 0 && { attributes: attributesOf(page.html, wish.attributes) }),
    ...(wish.actions.length > 0 && { actions: actionsOf(taken) }),
    metadata: metadataOf(page),
  };
}

function markdownOf(page: PageSource, { options }: PageWish): string {
  // Elements that were named are what is wanted, whatever the reader of main content thinks of them.
  const wholePage = options.onlyMainContent === false || (options.includeTags?.length ?? 0) > 0;
  const text = wholePage ? page.markdown.raw : page.markdown.fit || page.markdown.raw;
  return options.removeBase64Images === false ? text : withoutInlineImages(text);
}

function mainHtml(page: PageSource, { options }: PageWish, url: string): string {
  const isNarrowed = [options.includeTags, options.excludeTags].some((tags) => (tags?.length ?? 0) > 0);
  return isNarrowed
    ? page.cleanedHtml
    : extractContent(page.html, { url, ...options.content }).html || page.cleanedHtml;
}

function attributesOf(html: string, wanted: PageWish['attributes']): NonNullable<Document['attributes']> {
  const $ = loadDocument(html);
  return wanted.map(({ selector, attribute }) => {
    const values = $(selector)
      .toArray()
      .slice(0, MAX_VALUES)
      .flatMap((element) => $(element).attr(attribute) ?? []);
    return { selector, attribute, values };
  });
}

function actionsOf({ screenshots, scrapes, javascriptReturns, pdfs }: Taken): Record<string, unknown> {
  return { screenshots, scrapes, javascriptReturns, pdfs };
}

function metadataOf(page: PageSource): Record<string, unknown> {
  const { metadata: facts, headers, cacheStatus } = page;
  const openGraph = Object.entries(facts?.openGraph ?? {}).map(([name, value]) => [ogName(name), value]);
  const all: Record<string, unknown> = {
    title: facts?.title || undefined,
    description: facts?.description ?? undefined,
    language: facts?.language ?? undefined,
    robots: facts?.robots ?? undefined,
    canonical: facts?.canonical ?? undefined,
    ...Object.fromEntries(openGraph),
    sourceURL: withoutLogin(page.url).url,
    url: withoutLogin(page.loadedUrl ?? page.url).url,
    statusCode: page.statusCode ?? undefined,
    contentType: typeof headers['content-type'] === 'string' ? headers['content-type'] : undefined,
    error: page.error,
    proxyUsed: 'basic',
    cacheState: cacheStatus === undefined || cacheStatus === 'miss' ? 'miss' : 'hit',
    ...(cacheStatus !== undefined && cacheStatus !== 'miss' && { cachedAt: page.fetchedAt }),
    creditsUsed: 1,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** `og:site_name` is `ogSiteName`. */
function ogName(name: string): string {
  const words = name.replace(/^og:/, '').split(/[:_]/);
  return `og${words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')}`.slice(0, 60);
}

/** A page that a crawl fetched, read like one of a batch. */
export function pageSource(
  fetched: { url: string; loadedUrl: string; statusCode: number; contentType: string; body: string | Buffer },
  wish: PageWish,
): PageSource {
  const { url, loadedUrl, statusCode, contentType, body } = fetched;
  const isText = typeof body === 'string';
  const type = isText ? `${contentType.split(';')[0]!}; charset=utf-8` : contentType;
  const headers = { 'content-type': type };
  const capture = {
    url,
    loadedUrl,
    statusCode,
    headers,
    redirectChain: [],
    body: isText ? Buffer.from(body) : body,
    wireBytes: body.length,
    timings: { startedAtMs: 0, headersMs: 0, totalMs: 0 },
  };
  const content = createResultContent(capture, contentConfig(wish));
  return Object.assign(Object.create(content) as typeof content & { metadata: CrawlResult['metadata'] }, {
    url,
    loadedUrl,
    statusCode,
    headers,
  }) as unknown as PageSource;
}
