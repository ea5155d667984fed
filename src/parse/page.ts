// The `content` a handler sees: a page that is scanned when one of its properties is first read, and then once.
// Promise: making one costs nothing but the object; the bytes are held as long as the object is.
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
  let scanned: ScannedPage | undefined;
  let metadata: PageFacts | undefined;
  const page = (): ScannedPage => (scanned ??= scanPage(body, { url, contentType }));
  return {
    get title() {
      return page().title;
    },
    get text() {
      return page().text;
    },
    get links() {
      return page().links;
    },
    get metadata() {
      return (metadata ??= factsOf(page()));
    },
    get language() {
      return page().language;
    },
  };
}

function factsOf({ canonical, robots, description, language, openGraph, jsonLd, charset }: ScannedPage): PageFacts {
  return Object.freeze({ canonical, robots, description, language, openGraph, jsonLd, charset });
}
