// Composes parse and extract into the functions people call: bytes or a string in, content out, synchronously.
// Promise: any input gives a result; options are checked before the page is read.
import { ELEMENTS } from '../../extract/page/elements.js';
import type { ExtractedContent } from '../../extract/content.js';
import { readContent } from '../../extract/content.js';
import type { ContentFilter } from '../../extract/choose/filters.js';
import { checkFilter } from '../../extract/choose/filters.js';
import type { PageMarkdown } from '../../extract/markdown/markdown-document.js';
import { readMarkdown } from '../../extract/markdown/markdown-document.js';
import type { ExtractSchema, Extracted } from '../../extract/fields/fields.js';
import { checkSchema, readFields } from '../../extract/fields/fields.js';
import type { LinkInventory, MediaInventory } from '../../extract/fields/inventory.js';
import { readLinkInventory, readMediaInventory } from '../../extract/fields/inventory.js';
import { PageView } from '../../extract/page/page-view.js';
import type { PageMetadata, StructuredData } from '../../extract/facts/structured.js';
import { readPageMetadata, readStructured } from '../../extract/facts/structured.js';
import type { PageTable } from '../../extract/fields/tables.js';
import { readTables } from '../../extract/fields/tables.js';
import { createXPathSource } from '../../extract/fields/xpath-source.js';
import { aBoolean, anObject, check, checkOptions, oneOf } from '../../option-checks.js';
import type { Extraction } from '../../parse/page.js';
import { createTreeReader } from '../../parse/tree/builder.js';
import { createCssSource, createTextSource, pageText } from './field-sources.js';

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

/** What `content` of a crawled page calls. Both read the page again: few handlers want both. */
export const pageExtraction: Extraction = {
  markdown: (body, url, contentType) => readMarkdown(viewPage(body, { url, contentType })).raw,
  content: (body, url, contentType) => readContent(viewPage(body, { url, contentType })),
};

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

const MARKDOWN_SHAPE = {
  ...PAGE_SHAPE,
  contentFilter: anObject,
  source: oneOf(['raw', 'fit']),
  images: aBoolean,
  links: aBoolean,
};

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

/**
 * The tables of data on a page, as rows of text.
 *
 * @example
 * const [prices] = extractTables(html);
 * console.log(prices.headers, prices.rows[0]);
 */
export function extractTables(html: string | Uint8Array, options: PageInput = {}): PageTable[] {
  checkOptions('extractTables', options, PAGE_SHAPE);
  return readTables(viewPage(html, options));
}

/**
 * Extracts fields by a schema of CSS selectors, XPaths or regular expressions: a list of objects when the schema has
 * `items`, else one object.
 *
 * @example
 * extractFields(html, { engine: 'css', items: '.card', fields: { name: { selector: 'h2' }, price: { selector: '.price', type: 'number' } } });
 */
export function extractFields(
  html: string | Uint8Array,
  schema: ExtractSchema,
  options: PageInput = {},
): Extracted | Extracted[] {
  checkOptions('extractFields', options, PAGE_SHAPE);
  checkSchema(schema);
  return fieldsOf(viewPage(html, options), schema);
}

/** As {@link extractFields}, of a page that is already read, by a schema that is already checked. */
export function fieldsOf(view: PageView, schema: ExtractSchema): Extracted | Extracted[] {
  switch (schema.engine) {
    case 'xpath':
      return readFields(schema, createXPathSource(view), { node: 0 });
    case 'css': {
      const { source, root } = createCssSource(view);
      return readFields(schema, source, root);
    }
    case 'regex':
      return readFields(schema, createTextSource(view), pageText(view));
    default:
      return schema.engine satisfies never;
  }
}

/**
 * The data that a page carries for machines: JSON-LD, microdata and Open Graph.
 *
 * @example
 * const { jsonLd, openGraph } = extractStructured(html);
 */
export function extractStructured(html: string | Uint8Array, options: PageInput = {}): StructuredData {
  checkOptions('extractStructured', options, PAGE_SHAPE);
  return readStructured(viewPage(html, options));
}

/**
 * What a page says about itself: title, author, date, canonical address, every `meta`.
 *
 * @example
 * const { canonical, keywords } = extractMetadata(html, { url });
 */
export function extractMetadata(html: string | Uint8Array, options: PageInput = {}): PageMetadata {
  checkOptions('extractMetadata', options, PAGE_SHAPE);
  return readPageMetadata(viewPage(html, options));
}

/**
 * The links of a page, to its own host and to others, with the headings they stand under.
 *
 * @example
 * const { external } = extractLinks(html, { url: 'https://example.com/' });
 */
export function extractLinks(html: string | Uint8Array, options: PageInput = {}): LinkInventory {
  checkOptions('extractLinks', options, PAGE_SHAPE);
  return readLinkInventory(viewPage(html, options));
}

/**
 * The images, videos and sounds of a page, with the headings they stand under.
 *
 * @example
 * const { images } = extractMedia(html, { url: 'https://example.com/' });
 */
export function extractMedia(html: string | Uint8Array, options: PageInput = {}): MediaInventory {
  checkOptions('extractMedia', options, PAGE_SHAPE);
  return readMediaInventory(viewPage(html, options));
}
