// What the HTTP crawlers add to a context once the response is there. Everything that costs work is a
// getter: body text, JSON, scanned content and the cheerio document are made when first touched.
import type { CheerioAPI } from 'cheerio';
import type { VisitMark } from '../../base/loop-watch/visit-marks.js';
import { CrawlError } from '../../errors.js';
import { bytesOf, type Capture } from '../../fetch/engine.js';
import { loadDocument } from '../../handle/document.js';
import { decodeBody, detectEncoding, toUtf8 } from '../../parse/encoding/encoding.js';
import { MAX_BASE_BYTES } from '../../parse/scan/metadata.js';
import { DocumentSource } from '../../parse/document/source.js';
import { createLentContent, createPageContent, letGoOf, scannedPageOf } from '../../parse/page.js';
import type { PageContent } from '../../parse/page.js';
import { urlCharactersOf } from '../../parse/scan/page-links.js';
import { anchorUrlsOf } from '../../parse/scan/scanned-page.js';
import { scanLinks, type ScannedPage } from '../../parse/scan/scan.js';
import { parseUrl } from '../../request/url.js';
import type { Visit } from '../run/attempt.js';
import { pageExtraction } from './extraction.js';
import { documentOf } from './document.js';
import { contentTypeOf, decodingHeader, encodingName, isJson, isMarkup, isXml } from '../navigate/content-type.js';
import { type FollowRule, followRule } from '../polite/nofollow.js';
import type { AddedPage } from '../navigate/navigate.js';
import type { ResolvedOptions } from '../options/options.js';

const EMPTY = Buffer.alloc(0);

/** Response, body, json, content and cheerio on demand: HttpCrawler and CheerioCrawler. */
export function addPage(visit: Visit, capture: Capture, options: ResolvedOptions): AddedPage {
  const page = new FetchedPage(capture, options, visit.mark);
  const context = visit.context as object as { [PAGE]: FetchedPage };
  context[PAGE] = page;
  extend(context, {
    response: headOf(capture),
    contentType: Object.defineProperty({ type: page.type, [PAGE]: page }, 'encoding', ENCODING),
    waitForSelector: (selector: string) => page.waitForSelector(selector),
    parseWithCheerio: (selector?: string) => page.parseWithCheerio(selector),
  });
  for (const name in GETTERS) Object.defineProperty(context, name, GETTERS[name]!);
  if (options.kind === 'cheerio') Object.defineProperty(context, '$', DOCUMENT);
  visit.setLinkFinder?.((selector, baseUrl, skip) => page.mark.work(() => page.findLinks(selector, baseUrl, skip)));
  return page;
}

const PAGE = Symbol('page');

/**
 * Shared by all pages: a getter function of a page's own would be part of a hidden class of the context's own, and keep
 * body and document until the next full collection.
 */
function getter(read: (page: FetchedPage) => unknown): PropertyDescriptor {
  return {
    configurable: true,
    enumerable: true,
    get(this: { [PAGE]: FetchedPage }) {
      const page = this[PAGE];
      return page.mark.work(() => read(page));
    },
  };
}

const GETTERS: Record<string, PropertyDescriptor> = {
  body: getter((page) => page.body),
  json: getter((page) => page.json),
  content: getter((page) => page.readContent()),
};
const DOCUMENT = getter((page) => page.readDocument());
const ENCODING = getter((page) => page.encodingName);

/** A response and what was made of it so far, each when first asked for. */
class FetchedPage implements AddedPage {
  readonly type: string;
  readonly mark: VisitMark;
  readonly #capture: Capture;
  readonly #options: ResolvedOptions;
  /** The content type that decides the decoding. */
  readonly #header: string;
  #text: string | undefined;
  #json: { readonly value: unknown } | undefined;
  #content: PageContent | undefined;
  #document: CheerioAPI | undefined;
  #source: DocumentSource | undefined;
  /** Scanned for its links alone. */
  #links: ScannedPage | undefined;

  constructor(capture: Capture, options: ResolvedOptions, mark: VisitMark) {
    this.mark = mark;
    this.type = contentTypeOf(capture).type;
    this.#capture = capture;
    this.#options = options;
    this.#header = decodingHeader(capture, options);
  }

  get encodingName(): BufferEncoding {
    return encodingName(this.#bytes, this.#header);
  }

  get body(): string | Buffer {
    return this.#options.kind === 'cheerio' && isMarkup(this.type) ? this.#readText() : this.#capture.body;
  }

  get json(): unknown {
    if (!isJson(this.type)) return undefined;
    return (this.#json ??= { value: parseJson(this.#readText(), this.#capture.loadedUrl) }).value;
  }

  readContent(): PageContent {
    return (this.#content ??= this.#makeContent());
  }

  readDocument(): CheerioAPI {
    return (this.#document ??= isXml(this.type) ? loadDocument(this.#readText(), true) : this.#readHtml());
  }

  async waitForSelector(selector: string): Promise<void> {
    if (this.readDocument()(selector).length > 0) return;
    throw new CrawlError('HANDLER_FAILED', `${this.#capture.loadedUrl} contains no "${selector}"`);
  }

  async parseWithCheerio(selector?: string): Promise<CheerioAPI> {
    if (selector !== undefined) await this.waitForSelector(selector);
    return this.readDocument();
  }

  findLinks(selector: string, baseUrl: string | undefined, skip: (url: string) => void): string[] {
    if (!isMarkup(this.type)) return [];
    const { polite, robotsAgent } = this.#options;
    const isKept = polite ? followRule(this.#capture, this.#readLinks().robots, robotsAgent, skip) : undefined;
    return baseUrl === undefined && isAnyAnchor(selector)
      ? anchorUrlsOf(this.#readLinks(), isKept)
      : selectedUrls(this.readDocument(), selector, baseUrl ?? this.#capture.loadedUrl, this.#bytes.length, isKept);
  }

  /** Lets go of all that was made of the response; who still asks for it gets it made again. */
  afterHandler(): void {
    const { lent } = this.#capture;
    if (lent) {
      if (this.#content) letGoOf(this.#content);
      this.#source?.letGo();
      lent.giveBack();
    }
    this.#text = undefined;
    this.#json = undefined;
    this.#content = undefined;
    this.#document = undefined;
    this.#source = undefined;
    this.#links = undefined;
  }

  /** To be read now, not to be held on to. */
  get #bytes(): Buffer {
    return bytesOf(this.#capture);
  }

  #makeContent(): PageContent {
    const { loadedUrl, lent } = this.#capture;
    return lent
      ? createLentContent(lent, loadedUrl, this.#header, pageExtraction)
      : createPageContent(this.#capture.body, loadedUrl, this.#header, pageExtraction);
  }

  #encoding(): ReturnType<typeof detectEncoding> | string {
    return this.#options.forceResponseEncoding ?? detectEncoding(this.#bytes, this.#header);
  }

  #readText(): string {
    return (this.#text ??= decodeBody(this.#bytes, this.#encoding()));
  }

  #readHtml(): CheerioAPI {
    if (!isMarkup(this.type)) return documentOf(EMPTY);
    this.#source = new DocumentSource(() => toUtf8(this.#bytes, this.#encoding()));
    return documentOf(this.#source);
  }

  /** A handler that works on the document will hardly read the scanned content too: of that, the links are enough. */
  #readLinks(): ScannedPage {
    if (this.#content === undefined && this.#document !== undefined) {
      const { loadedUrl } = this.#capture;
      return (this.#links ??= scanLinks(this.#bytes, { url: loadedUrl, contentType: this.#header }));
    }
    return scannedPageOf(this.readContent());
  }
}

/** Response and file: FileDownload. A stream that the handler gives up is no failure. */
export function addFile(visit: Visit, capture: Capture): void {
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

/** As the scanner: a `<base>` of any length, or as many URLs as fit, would let a small page fill the memory. */
function selectedUrls(
  $: CheerioAPI,
  selector: string,
  pageUrl: string,
  pageBytes: number,
  isKept?: FollowRule,
): string[] {
  const baseHref = $('base').first().attr('href');
  const isBase = baseHref !== undefined && Buffer.byteLength(baseHref) <= MAX_BASE_BYTES;
  const base = (isBase ? parseUrl(baseHref, pageUrl)?.href : undefined) ?? pageUrl;
  let room = urlCharactersOf(pageBytes);
  const urls: string[] = [];
  for (const element of $(selector).toArray()) {
    const href = $(element).attr('href')?.trim();
    const url = href ? parseUrl(href, base) : undefined;
    room -= url?.href.length ?? 0;
    if (room < 0) break;
    if (url && (!isKept || isKept(url.href, $(element).attr('rel') ?? ''))) urls.push(url.href);
  }
  return urls;
}
