// The `content` a handler sees: a page that is scanned when one of its properties is first read, and then once.
// Promise: making one costs nothing but the object; the bytes are held as long as the object is, or until let go.
import type { ExtractedContent } from '../extract/content.js';
import { ownGetters } from './own-getters.js';
import type { PageFacts, PageLink, ScannedPage } from './scan/scan.js';
import { scanPage } from './scan/scan.js';

export type { PageFacts, PageLink } from './scan/scan.js';

/** What a page says: title, text, links and metadata, from one pass over its bytes. */
export interface PageContent {
  readonly title: string;
  /** The readable text, blocks on lines of their own. */
  readonly text: string;
  readonly links: readonly PageLink[];
  readonly metadata: PageFacts;
  /** The page's language tag, or `null` when it declares none. */
  readonly language: string | null;
  /** The whole page as markdown; that of its main content is `main().markdown`. Worked out when first called. */
  markdown(): string;
  /** The main content: text, markdown, clean HTML, facts and kind. Worked out when first called. */
  main(): ExtractedContent;
}

/** How content is extracted: parse knows the bytes, the composing layer knows the extractor. */
export interface Extraction {
  markdown(body: Uint8Array, url: string, contentType: string | null | undefined): string;
  content(body: Uint8Array, url: string, contentType: string | null | undefined): ExtractedContent;
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

/** Lets a content's bytes go; who still reads it has the page scanned again. */
export function letGoOf(content: PageContent): void {
  LazyContent.letGo(content as unknown as LazyContent);
}

/** The page behind a content, which has all it says of itself and each of that by itself. */
export function scannedPageOf(content: PageContent): ScannedPage {
  return LazyContent.scannedPage(content as unknown as LazyContent);
}

class LazyContent {
  readonly #scan: () => ScannedPage;
  #page: ScannedPage | undefined;
  #metadata: PageFacts | undefined;

  readonly #extract: { markdown(): string; main(): ExtractedContent };
  #markdown: string | undefined;
  #main: ExtractedContent | undefined;

  static readonly #defineProperties = ownGetters<LazyContent, Omit<PageContent, 'markdown' | 'main'>>({
    title: (content) => content.#scanned().title,
    text: (content) => content.#scanned().text,
    links: (content) => content.#scanned().links,
    metadata: (content) => (content.#metadata ??= factsOf(content.#scanned())),
    language: (content) => content.#scanned().language,
  });

  constructor(body: LentBytes, url: string, contentType: string | null | undefined, extraction: Extraction) {
    this.#scan = () => scanPage(body.bytes, { url, contentType });
    this.#extract = {
      markdown: () => extraction.markdown(body.keep(), url, contentType),
      main: () => extraction.content(body.keep(), url, contentType),
    };
    LazyContent.#defineProperties(this);
  }

  static scannedPage(content: LazyContent): ScannedPage {
    return content.#scanned();
  }

  static letGo(content: LazyContent): void {
    content.#page = undefined;
  }

  markdown(): string {
    return (this.#markdown ??= this.#extract.markdown());
  }

  main(): ExtractedContent {
    return (this.#main ??= this.#extract.main());
  }

  #scanned(): ScannedPage {
    return (this.#page ??= this.#scan());
  }
}

function factsOf({ canonical, robots, description, language, openGraph, jsonLd, charset }: ScannedPage): PageFacts {
  return Object.freeze({ canonical, robots, description, language, openGraph, jsonLd, charset });
}
