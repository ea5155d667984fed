// What the HTTP crawlers add to a context once the response is there. Everything that costs work is a
// getter: body text, JSON, scanned content and the cheerio document are made when first touched.
import type { CheerioAPI } from 'cheerio';
import { CrawlError } from '../errors.js';
import type { Capture } from '../fetch/engine.js';
import { loadDocument } from '../handle/document.js';
import { decodeBody, detectEncoding, toUtf8 } from '../parse/encoding.js';
import { createPageContent } from '../parse/page.js';
import type { PageContent, PageLink } from '../parse/page.js';
import { scanLinks } from '../parse/scan.js';
import { parseUrl } from '../request/url.js';
import type { Visit } from './attempt.js';
import { pageExtraction } from './extraction.js';
import { documentOf } from './document.js';
import { contentTypeOf, decodingHeader, encodingName, isJson, isMarkup, isXml } from './content-type.js';
import { type FollowRule, followRule } from './link-manners.js';
import type { ResolvedOptions } from './options.js';

const EMPTY = Buffer.alloc(0);

interface PageLinks {
  readonly links: readonly PageLink[];
  readonly robots: string | null;
}

/** Response, body, json, content and cheerio on demand: HttpCrawler and CheerioCrawler. */
export function dressPage(visit: Visit, capture: Capture, options: ResolvedOptions): void {
  const { type } = contentTypeOf(capture);
  const header = decodingHeader(capture, options);
  const wantsText = options.kind === 'cheerio' && isMarkup(type);
  let text: string | undefined;
  let json: { value: unknown } | undefined;
  let content: PageContent | undefined;
  let document: CheerioAPI | undefined;
  let links: PageLinks | undefined;

  const encoding = () => options.forceResponseEncoding ?? detectEncoding(capture.body, header);
  const readText = () => (text ??= decodeBody(capture.body, encoding()));
  const readContent = () => (content ??= createPageContent(capture.body, capture.loadedUrl, header, pageExtraction));
  const readDocument = () => (document ??= isXml(type) ? loadDocument(readText(), true) : readHtml());
  const readHtml = () => documentOf(isMarkup(type) ? toUtf8(capture.body, encoding()) : EMPTY);
  // A handler that works on the document will hardly read the scanned content too: of that, the links are enough.
  const readLinks = (): PageLinks => {
    if (content === undefined && document !== undefined) {
      return (links ??= scanLinks(capture.body, { url: capture.loadedUrl, contentType: header }));
    }
    return { links: readContent().links, robots: readContent().metadata.robots };
  };

  extend(visit.context, {
    response: headOf(capture),
    contentType: {
      type,
      get encoding() {
        return encodingName(capture.body, header);
      },
    },
    get body() {
      return wantsText ? readText() : capture.body;
    },
    get json() {
      if (!isJson(type)) return undefined;
      return (json ??= { value: parseJson(readText(), capture.loadedUrl) }).value;
    },
    get content() {
      return readContent();
    },
    async waitForSelector(selector: string) {
      if (readDocument()(selector).length > 0) return;
      throw new CrawlError('HANDLER_FAILED', `${capture.loadedUrl} contains no "${selector}"`);
    },
    async parseWithCheerio(selector?: string) {
      const $ = readDocument();
      if (selector !== undefined && $(selector).length === 0) {
        throw new CrawlError('HANDLER_FAILED', `${capture.loadedUrl} contains no "${selector}"`);
      }
      return $;
    },
  });
  if (options.kind === 'cheerio') {
    extend(visit.context, {
      get $() {
        return readDocument();
      },
    });
  }
  visit.setLinkFinder((selector, baseUrl, skip) => {
    if (!isMarkup(type)) return [];
    const isPolite = options.polite;
    const isKept = !isPolite ? undefined : followRule(capture, readLinks().robots, options.robotsAgent, skip);
    if (baseUrl !== undefined) return selectedUrls(readDocument(), selector, baseUrl, isKept);
    return isAnyAnchor(selector)
      ? anchorUrls(readLinks().links, isKept)
      : selectedUrls(readDocument(), selector, capture.loadedUrl, isKept);
  });
}

/** Response and file: FileDownload. A stream that the handler gives up is no failure. */
export function dressFile(visit: Visit, capture: Capture): void {
  const { type } = contentTypeOf(capture);
  extend(visit.context, {
    response: headOf(capture),
    contentType: { type, encoding: 'binary' },
    body: capture.body,
    stream: capture.stream,
    abortDownload: () => void capture.stream?.destroy(),
  });
}

/** Adds properties to a context, getters as getters. */
function extend(context: object, properties: object): void {
  Object.defineProperties(context, Object.getOwnPropertyDescriptors(properties));
}

function headOf({ statusCode, headers, loadedUrl }: Capture) {
  return { statusCode, headers, url: loadedUrl };
}

function parseJson(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CrawlError('BODY_DECODE', `${url} says it is JSON and is not: ${(cause as Error).message}`, { cause });
  }
}

/** These selectors mean every link of the page: the scanner has them without a document. */
function isAnyAnchor(selector: string): boolean {
  return selector === 'a' || selector === 'a[href]';
}

function anchorUrls(links: readonly PageLink[], isKept?: FollowRule): string[] {
  const urls: string[] = [];
  for (const { element, url, rel } of links) {
    if (element === 'a' && (!isKept || isKept(url, rel))) urls.push(url);
  }
  return urls;
}

function selectedUrls($: CheerioAPI, selector: string, pageUrl: string, isKept?: FollowRule): string[] {
  const baseHref = $('base').first().attr('href');
  const base = (baseHref === undefined ? undefined : parseUrl(baseHref, pageUrl)?.href) ?? pageUrl;
  const urls: string[] = [];
  for (const element of $(selector).toArray()) {
    const href = $(element).attr('href')?.trim();
    const url = href ? parseUrl(href, base) : undefined;
    if (url && (!isKept || isKept(url.href, $(element).attr('rel') ?? ''))) urls.push(url.href);
  }
  return urls;
}
