// The `content` a handler sees: a page that is scanned when one of its properties is first read, and then once.
// Promise: making one costs nothing but the object; the bytes are held as long as the object is, or until let go.
import type { ExtractedContent } from '../extract/content.js';
import type { ContentOptions } from '../extract/content-options.js';
import type { DocumentFacts } from '../documents/model.js';
import { ownGetters } from './own-getters.js';
import type { PageFacts, PageLink, ScannedPage } from './scan/scan.js';
import { scanPage } from './scan/scan.js';

export type { PageFacts, PageLink } from './scan/scan.js';

/** What a page says: title, text, links and metadata, from one pass over its bytes. */
export interface PageContent {
  /** The text of `<title>`. */
  readonly title: string;
  /** The readable text, blocks on lines of their own. */
  readonly text: string;
  /** All links of the page, absolute. */
  readonly links: readonly PageLink[];
  /** Description, canonical address, robots and others, as the page states them. */
  readonly metadata: PageFacts;
  /** The page's language tag, or `null` when it declares none. */
  readonly language: string | null;
  /** The whole page as markdown; that of its main content is `main().markdown`. Worked out once per choice of options. */
  markdown(options?: Pick<ContentOptions, 'hidden' | 'math'>): string;
  /** The main content: text, markdown, clean HTML, facts and kind. Worked out once per choice of options. */
  main(options?: ContentOptions): ExtractedContent;
}

/** How content is extracted: parse knows the bytes, the composing layer knows the extractor. */
export interface Extraction {
  /** Of a document: what it says about itself. */
  readonly document?: DocumentFacts;
  markdown(page: ExtractedPage, options: ContentOptions | undefined): string;
  content(page: ExtractedPage, options: ContentOptions | undefined): ExtractedContent;
}

/** What is extracted from. */
export interface ExtractedPage {
  readonly body: Uint8Array;
  readonly url: string;
  readonly contentType: string | null | undefined;
}

/**
 * Makes the lazy content of a fetched page.
 *
 * @example
 * const content = createPageContent(body, 'https://example.com/', 'text/html', extraction);
 * content.title; // scans now, once
 */
export function createPageContent(
  body: Uint8Array,
  url: string,
  contentType: string | null | undefined,
  extraction: Extraction,
): PageContent {
  return createLentContent({ bytes: body, keep: () => body }, url, contentType, extraction);
}

/** The bytes of a page: to be read now, or to be held on to. */
export interface LentBytes {
  readonly bytes: Uint8Array;
  keep(): Uint8Array;
}

/** As {@link createPageContent}, of bytes that may be taken back after {@link letGoOf}. */
export function createLentContent(
  body: LentBytes,
  url: string,
  contentType: string | null | undefined,
  extraction: Extraction,
): PageContent {
  return new LazyContent(body, url, contentType, extraction) as unknown as PageContent;
}

/** Releases a content's bytes; reading it later scans the page again. */
export function letGoOf(content: PageContent): void {
  LazyContent.letGo(content as unknown as LazyContent);
}

/** The page behind a content, with all its metadata, each also on its own. */
export function scannedPageOf(content: PageContent): ScannedPage {
  return LazyContent.scannedPage(content as unknown as LazyContent);
}

class LazyContent {
  readonly #scan: () => ScannedPage;
  #page: ScannedPage | undefined;
  #metadata: PageFacts | undefined;

  readonly #document: DocumentFacts | undefined;
  readonly #extraction: Extraction;
  readonly #kept: () => ExtractedPage;
  /** Few handlers ask, and those with few choices of options. */
  #markdowns: Map<string, string> | undefined;
  #mains: Map<string, ExtractedContent> | undefined;

  static readonly #defineProperties = ownGetters<LazyContent, Omit<PageContent, 'markdown' | 'main'>>({
    title: (content) => content.#scanned().title,
    text: (content) => content.#scanned().text,
    links: (content) => content.#scanned().links,
    metadata: (content) => (content.#metadata ??= factsOf(content.#scanned(), content.#document)),
    language: (content) => content.#scanned().language,
  });

  constructor(body: LentBytes, url: string, contentType: string | null | undefined, extraction: Extraction) {
    this.#document = extraction.document;
    this.#scan = () => scanPage(body.bytes, { url, contentType });
    this.#extraction = extraction;
    this.#kept = () => ({ body: body.keep(), url, contentType });
    LazyContent.#defineProperties(this);
  }

  static scannedPage(content: LazyContent): ScannedPage {
    return content.#scanned();
  }

  static letGo(content: LazyContent): void {
    content.#page = undefined;
  }

  markdown(options?: ContentOptions): string {
    return madeOnce((this.#markdowns ??= new Map()), options, () => this.#extraction.markdown(this.#kept(), options));
  }

  main(options?: ContentOptions): ExtractedContent {
    return madeOnce((this.#mains ??= new Map()), options, () => this.#extraction.content(this.#kept(), options));
  }

  #scanned(): ScannedPage {
    return (this.#page ??= this.#scan());
  }
}

/** One result per choice of options, of which there are few. */
function madeOnce<T>(made: Map<string, T>, options: ContentOptions | undefined, make: () => T): T {
  const key = options === undefined ? '' : JSON.stringify(options);
  const known = made.get(key);
  if (known !== undefined) return known;
  const value = make();
  made.set(key, value);
  return value;
}

function factsOf(page: ScannedPage, document: DocumentFacts | undefined): PageFacts {
  const { canonical, robots, description, language, openGraph, jsonLd, charset } = page;
  const facts = { canonical, robots, description, language, openGraph, jsonLd, charset };
  return Object.freeze(document === undefined ? facts : { ...facts, document });
}
