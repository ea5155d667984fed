// What the HTTP crawlers add to a context after the response. Expensive parts are getters: body text, JSON,
// scanned content and the cheerio document are built on first use.
import { createHash } from 'node:crypto';
import { finished } from 'node:stream/promises';
import type { CheerioAPI } from 'cheerio';
import type { VisitMark } from '../../base/loop-watch/visit-marks.js';
import { CrawlError } from '../../errors.js';
import { bytesOf, type Capture } from '../../fetch/engine.js';
import type { PageChange } from '../../fresh/page-change.js';
import { isRemembered, pageInHand, type Remembering } from '../../fresh/remembering.js';
import { comparedText } from '../../extract/page/compared-text.js';
import { loadDocument } from '../../handle/document.js';
import { decodeBody, detectEncoding, toUtf8 } from '../../parse/encoding/encoding.js';
import { MAX_BASE_BYTES } from '../../parse/scan/metadata.js';
import { DocumentSource } from '../../parse/document/source.js';
import { createLentContent, createPageContent, letGoOf, scannedPageOf } from '../../parse/page.js';
import type { PageContent } from '../../parse/page.js';
import { urlCharactersOf } from '../../parse/scan/page-links.js';
import { anchorUrlsOf } from '../../parse/scan/scanned-page.js';
import { scanLinks, type ScannedPage } from '../../parse/scan/scan.js';
import { isWholeUrl, parseUrl } from '../../request/url.js';
import type { Request } from '../../request/request.js';
import type { Arrival, Visit } from '../run/attempt.js';
import { documentExtraction, pageExtraction, viewPage } from './extraction.js';
import { documentOf } from './document.js';
import { contentTypeOf, decodingHeader, encodingName, isJson, isMarkup, isXml } from '../navigate/content-type.js';
import { type FollowRule, followRule } from '../polite/nofollow.js';
import type { AddedPage } from '../navigate/navigate.js';
import { PageResponse } from '../navigate/response-head.js';
import type { ResolvedOptions } from '../options/options.js';

const EMPTY = Buffer.alloc(0);
const HTML = 'text/html; charset=utf-8';

/** Response, body, json, content and cheerio on demand: HttpCrawler and CheerioCrawler. */
export function addPage(
  visit: Visit,
  capture: Capture,
  options: ResolvedOptions,
  remembering?: Remembering,
): AddedPage {
  const { request } = visit;
  const judge = remembering && isRemembered(request) ? changeJudge(remembering, request, capture) : undefined;
  const page = new FetchedPage(capture, options, visit.mark, judge);
  const context = visit.context as object as { [PAGE]: FetchedPage };
  context[PAGE] = page;
  extend(context, {
    response: new PageResponse(capture),
    ...(capture.document && { document: capture.document.facts }),
    contentType: Object.defineProperties({ type: page.type }, { [PAGE]: { value: page }, encoding: ENCODING }),
    waitForSelector: (selector: string) => page.waitForSelector(selector),
    parseWithCheerio: (selector?: string) => page.parseWithCheerio(selector),
  });
  for (const name in GETTERS) Object.defineProperty(context, name, GETTERS[name]!);
  if (judge) Object.defineProperty(context, 'change', CHANGE);
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
const CHANGE = getter((page) => page.change);
const DOCUMENT = getter((page) => page.readDocument());
const ENCODING = getter((page) => page.encodingName);

/** A response and what is derived from it, each part on first use. */
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
  readonly #judge: ((page: FetchedPage) => PageChange | undefined) | undefined;
  /** Scanned for its links alone. */
  #links: ScannedPage | undefined;

  constructor(
    capture: Capture,
    options: ResolvedOptions,
    mark: VisitMark,
    judge?: (page: FetchedPage) => PageChange | undefined,
  ) {
    this.mark = mark;
    this.#judge = judge;
    this.type = contentTypeOf(capture).type;
    this.#capture = capture;
    this.#options = options;
    this.#header = decodingHeader(capture, options);
  }

  get encodingName(): BufferEncoding {
    return encodingName(this.#bytes, this.#header);
  }

  get body(): string | Buffer {
    const isText = isMarkup(this.type) && !this.#capture.document;
    return this.#options.kind === 'cheerio' && isText ? this.#readText() : this.#capture.body;
  }

  /** Compared with what is remembered, once. */
  get change(): PageChange | undefined {
    return this.#judge?.(this);
  }

  refusal(): Arrival | undefined {
    if (this.#options.duplicates !== 'skip') return undefined;
    return this.mark.work(() => this.change)?.duplicateOf ? { kind: 'duplicate' } : undefined;
  }

  /** The main content, without navigation and the like; the whole page where none is found. */
  mainText(): string {
    if (!isMarkup(this.type)) return this.wholeText();
    const { loadedUrl: url } = this.#capture;
    return comparedText(viewPage(this.#bytes, { url, contentType: this.#header })) || this.readContent().text;
  }

  wholeText(): string {
    if (isMarkup(this.type)) return this.readContent().text;
    const isText = this.type.startsWith('text/') || isJson(this.type);
    return isText ? this.#readText() : createHash('sha1').update(this.#bytes).digest('hex');
  }

  mainMarkdown(): string {
    return isMarkup(this.type) ? this.readContent().main().markdown : this.wholeText();
  }

  get json(): unknown {
    if (!isJson(this.type)) return undefined;
    return (this.#json ??= { value: parseJson(this.#readText(), this.#capture.loadedUrl) }).value;
  }

  readContent(): PageContent {
    return (this.#content ??= this.#makeContent());
  }

  readDocument(): CheerioAPI {
    const isXmlPage = isXml(this.type) && !this.#capture.document;
    return (this.#document ??= isXmlPage ? loadDocument(this.#readText(), true) : this.#readHtml());
  }

  async waitForSelector(selector: string): Promise<void> {
    if (this.readDocument()(selector).length > 0) return;
    throw new CrawlError('HANDLER_FAILED', `${this.#capture.loadedUrl} does not contain "${selector}"`);
  }

  async parseWithCheerio(selector?: string): Promise<CheerioAPI> {
    if (selector !== undefined) await this.waitForSelector(selector);
    return this.readDocument();
  }

  findLinks(selector: string, baseUrl: string | undefined, skip: (url: string) => void): string[] {
    if (!this.#isPage) return [];
    const { polite, robotsAgent } = this.#options;
    const isKept = polite ? followRule(this.#capture, this.#readLinks().robots, robotsAgent, skip) : undefined;
    return baseUrl === undefined && isAnyAnchor(selector)
      ? anchorUrlsOf(this.#readLinks(), isKept)
      : selectedUrls(this.readDocument(), selector, baseUrl ?? this.#capture.loadedUrl, this.#page.length, isKept);
  }

  /** Releases everything derived from the response; rebuilt on demand. */
  afterHandler(): void {
    if (this.#judge) this.mark.work(() => this.change);
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

  /** The bytes of HTML or XML: of a document, what it became. */
  get #page(): Buffer {
    return this.#capture.document?.html ?? this.#bytes;
  }

  get #isPage(): boolean {
    return this.#capture.document !== undefined || isMarkup(this.type);
  }

  #makeContent(): PageContent {
    const { loadedUrl, lent, document } = this.#capture;
    if (document) return createPageContent(document.html, loadedUrl, HTML, documentExtraction(document));
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
    if (!this.#isPage) return documentOf(EMPTY);
    const { document } = this.#capture;
    this.#source = new DocumentSource(() => document?.html ?? toUtf8(this.#bytes, this.#encoding()));
    return documentOf(this.#source);
  }

  /** A handler that works on the document will hardly read the scanned content too: of that, the links are enough. */
  #readLinks(): ScannedPage {
    if (this.#content === undefined && this.#document !== undefined) {
      const { loadedUrl, document } = this.#capture;
      const contentType = document ? HTML : this.#header;
      return (this.#links ??= scanLinks(this.#page, { url: loadedUrl, contentType }));
    }
    return scannedPageOf(this.readContent());
  }
}

/** What changed since the remembered version: compared when a handler asks, at the latest when it has ended. */
function changeJudge(remembering: Remembering, request: Request, capture: Capture) {
  return (page: FetchedPage): PageChange | undefined => {
    if (capture.statusCode === 304) return remembering.unchanged(request);
    const texts = {
      mainText: () => page.mainText(),
      wholeText: () => page.wholeText(),
      markdown: () => page.mainMarkdown(),
    };
    return remembering.changeOf(request, capture, pageInHand(capture, texts));
  };
}

/**
 * Response and file: FileDownload. A stream that the handler abandons is not a failure; one that it began to read and did not
 * wait for is read to its end before the visit ends.
 */
export function addFile(visit: Visit, capture: Capture): AddedPage {
  const { type } = contentTypeOf(capture);
  const { stream } = capture;
  extend(visit.context, {
    response: new PageResponse(capture),
    contentType: { type, encoding: 'binary' },
    body: capture.body,
    stream,
    abortDownload: () => void stream?.destroy(),
  });
  return {
    afterHandler() {
      if (!stream || stream.destroyed || stream.readableEnded) return undefined;
      const isRead = stream.listenerCount('data') > 0 || stream.listenerCount('readable') > 0;
      return isRead ? finished(stream).catch(() => undefined) : undefined;
    },
  };
}

/** Adds properties to a context, getters as getters. */
export function extend(context: object, properties: object): void {
  Object.defineProperties(context, Object.getOwnPropertyDescriptors(properties));
}

function parseJson(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CrawlError('BODY_DECODE', `${url} is declared as JSON but is not: ${(cause as Error).message}`, {
      cause,
    });
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
    // The base was read for nothing where it gives no URL.
    room -= url?.href.length ?? (href && !isWholeUrl(href) ? base.length : 0);
    if (room < 0) break;
    if (url && (!isKept || isKept(url.href, $(element).attr('rel') ?? ''))) urls.push(url.href);
  }
  return urls;
}
