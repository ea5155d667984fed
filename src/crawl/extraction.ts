// Composes parse and extract into the functions people call: bytes or a string in, content out, synchronously.
// Promise: any input gives a result; options are checked before the page is read.
import { ELEMENTS } from '../extract/elements.js';
import type { ExtractedContent } from '../extract/content.js';
import { readContent } from '../extract/content.js';
import type { ContentFilter } from '../extract/filters.js';
import { checkFilter } from '../extract/filters.js';
import type { PageMarkdown } from '../extract/markdown-document.js';
import { readMarkdown } from '../extract/markdown-document.js';
import { PageView } from '../extract/page-view.js';
import { aBoolean, anObject, check, checkOptions, oneOf } from '../option-checks.js';
import { createTreeReader } from '../parse/tree-builder.js';

const readTree = createTreeReader(ELEMENTS);

/** What every extractor may be told of the page. */
export interface PageInput {
  /** Where the page was loaded from: links become absolute, and the address helps to tell its kind. */
  readonly url?: string | null | undefined;
  /** The response's Content-Type header, for the encoding of bytes. */
  readonly contentType?: string | null | undefined;
}

const orNull = (expected: string) => check(expected, (value) => value === null || typeof value === 'string');
const PAGE_SHAPE = { url: orNull('a URL'), contentType: orNull('a Content-Type') };

/** Reads a page once for any number of extractors. */
export function viewPage(html: string | Uint8Array, { url, contentType }: PageInput = {}): PageView {
  const isText = typeof html === 'string';
  const bytes = isText ? Buffer.from(html, 'utf8') : html;
  return new PageView(readTree(bytes, isText ? 'text/html; charset=utf-8' : contentType), url ?? null);
}

/**
 * Finds the main content of a page: the article, the documentation, the thread, the product, without the furniture.
 *
 * @example
 * const { title, kind, markdown } = extractContent(body, { url: 'https://example.com/post' });
 */
export function extractContent(html: string | Uint8Array, options: PageInput = {}): ExtractedContent {
  checkOptions('extractContent', options, PAGE_SHAPE);
  return readContent(viewPage(html, options));
}

/** Options of {@link toMarkdown}. */
export interface ToMarkdownOptions extends PageInput {
  /** Chooses what `fit` keeps; without one it is the main content. */
  readonly contentFilter?: ContentFilter | undefined;
  /** What `withCitations` is made of; `fit` when there is a filter, else `raw`. */
  readonly source?: 'raw' | 'fit' | undefined;
  /** `false` leaves images out. */
  readonly images?: boolean | undefined;
  /** `false` keeps the text of links and drops their addresses. */
  readonly links?: boolean | undefined;
}

const MARKDOWN_SHAPE = { ...PAGE_SHAPE, contentFilter: anObject, source: oneOf(['raw', 'fit']), images: aBoolean, links: aBoolean };

/**
 * Turns a page into markdown: `raw` is the whole page, `fit` its main content.
 *
 * @example
 * const { fit, references } = toMarkdown(html, { url, contentFilter: { kind: 'bm25', query: 'orca diet' } });
 */
export function toMarkdown(html: string | Uint8Array, options: ToMarkdownOptions = {}): PageMarkdown {
  checkOptions('toMarkdown', options, MARKDOWN_SHAPE);
  const { contentFilter, source, images, links, ...page } = options;
  if (contentFilter !== undefined) checkFilter(contentFilter);
  return readMarkdown(viewPage(html, page), { filter: contentFilter, source, images, links });
}

