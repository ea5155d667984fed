// The `content` a handler sees: a page that is scanned when one of its properties is first read, and then once.
// Promise: making one costs nothing but the object; the bytes are held as long as the object is.
import { ownGetters } from './own-getters.js';
import type { PageFacts, PageLink, ScannedPage } from './scan.js';
import { scanPage } from './scan.js';

export type { PageFacts, PageLink } from './scan.js';

/** What a page says: title, text, links and metadata, from one pass over its bytes. */
export interface PageContent {
  readonly title: string;
  /** The readable text, blocks on lines of their own. */
  readonly text: string;
  readonly links: readonly PageLink[];
  readonly metadata: PageFacts;
  /** The page's language tag, or `null` when it declares none. */
  readonly language: string | null;
}

/**
 * Makes the lazy content of a fetched page.
 *
 * @example
 * const content = createPageContent(body, 'https://example.com/', 'text/html');
 * content.title; // scans now, once
 */
export function createPageContent(body: Uint8Array, url: string, contentType?: string | null): PageContent {
  return new LazyContent(body, url, contentType) as unknown as PageContent;
}

class LazyContent {
  readonly #scan: () => ScannedPage;
  #page: ScannedPage | undefined;
  #metadata: PageFacts | undefined;

  static readonly #defineProperties = ownGetters<LazyContent, PageContent>({
    title: (content) => content.#scanned().title,
    text: (content) => content.#scanned().text,
    links: (content) => content.#scanned().links,
    metadata: (content) => (content.#metadata ??= factsOf(content.#scanned())),
    language: (content) => content.#scanned().language,
  });

  constructor(body: Uint8Array, url: string, contentType: string | null | undefined) {
    this.#scan = () => scanPage(body, { url, contentType });
    LazyContent.#defineProperties(this);
  }

  #scanned(): ScannedPage {
    return (this.#page ??= this.#scan());
  }
}

function factsOf({ canonical, robots, description, language, openGraph, jsonLd, charset }: ScannedPage): PageFacts {
  return Object.freeze({ canonical, robots, description, language, openGraph, jsonLd, charset });
}
