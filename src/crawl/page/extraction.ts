// Composes parse and extract into the functions people call: bytes or a string in, content out, synchronously.
// Promise: any input gives a result; options are checked before the page is read.
import { mediaTypeOf } from '../../base/media-type.js';
import { ELEMENTS } from '../../extract/page/elements.js';
import type { ExtractedContent } from '../../extract/content.js';
import { readContent } from '../../extract/content.js';
import type { ContentOptions } from '../../extract/content-options.js';
import { contentSettings } from '../../extract/content-options.js';
import { CONTENT_CHECKS } from './content-checks.js';
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
import type { DocumentFacts, ReadDocument } from '../../documents/documents.js';
import { type DocumentFormat, documentFormatOf } from '../../documents/format.js';
import type { ExtractedPage, Extraction, PageLink } from '../../parse/page.js';
import { scanPage } from '../../parse/scan/scan.js';
import { createTreeReader } from '../../parse/tree/reader.js';
import { createCssSource, createTextSource, pageText } from './field-sources.js';

const readTree = createTreeReader(ELEMENTS);
const HTML = 'text/html; charset=utf-8';

/** Options about the page that every extractor takes. */
export interface PageInput {
  /** Where the page was loaded from: links become absolute, and the address helps to tell its kind. */
  readonly url?: string | null | undefined;
  /** The response's Content-Type header, for the encoding of bytes. */
  readonly contentType?: string | null | undefined;
}

const orNull = (expected: string) => check(expected, (value) => value === null || typeof value === 'string');
const PAGE_SHAPE = { url: orNull('a URL'), contentType: orNull('a Content-Type') };
const CONTENT_SHAPE = { ...PAGE_SHAPE, ...CONTENT_CHECKS };

/** Options of {@link extractContent}. */
export interface ExtractContentOptions extends PageInput, ContentOptions {}

/** Reads a page once for any number of extractors. */
export function viewPage(
  html: string | Uint8Array,
  options: PageInput & ContentOptions = {},
  isWhole = false,
): PageView {
  const { url, contentType, ...content } = options;
  const isText = typeof html === 'string';
  const bytes = isText ? Buffer.from(html, 'utf8') : html;
  return new PageView(readTree(bytes, isText ? HTML : contentType), url ?? null, contentSettings(content), isWhole);
}

/**
 * Finds the main content of a page: the article, the documentation, the thread, the product, without the furniture.
 *
 * @example
 * const { title, kind, markdown } = extractContent(body, { url: 'https://example.com/post' });
 */
export function extractContent(html: string | Uint8Array, options?: ExtractContentOptions): ExtractedContent;
/** As above, of a page or a document: PDF, Office, OpenDocument, EPUB, RTF, CSV, text, JSON or a feed. */
export function extractContent(
  file: string | Uint8Array,
  options: ExtractContentOptions & { readonly documents: true },
): Promise<ExtractedDocument>;
export function extractContent(
  html: string | Uint8Array,
  { documents, ...options }: ExtractContentOptions & { readonly documents?: boolean } = {},
): ExtractedContent | Promise<ExtractedDocument> {
  checkOptions('extractContent', { documents, ...options }, { ...CONTENT_SHAPE, documents: aBoolean });
  return documents ? extractDocument(html, options) : readContent(viewPage(html, options));
}

/** The content of a page or a document; `document` says what kind of file it is, and is null for a page. */
export interface ExtractedDocument extends ExtractedContent {
  /** Facts of a PDF, Office file or other document; null for HTML. */
  readonly document: DocumentFacts | null;
  /** Absolute URLs, in their order. */
  readonly links: readonly PageLink[];
}

async function extractDocument(file: string | Uint8Array, options: ExtractContentOptions): Promise<ExtractedDocument> {
  const bytes = typeof file === 'string' ? Buffer.from(file) : file;
  const { url, contentType } = options;
  const type = mediaTypeOf(contentType);
  const format = documentFormatOf({ type, url }, bytes);
  const read = format === undefined ? undefined : await readInThread(bytes, format, { url, contentType });
  const page = read?.html ?? bytes;
  const header = read || typeof file === 'string' ? HTML : contentType;
  const content = readContent(viewPage(page, { ...options, contentType: header }, read !== undefined));
  const { links } = scanPage(page, { url: url ?? 'about:blank', contentType: header });
  return Object.defineProperties(content, {
    document: { value: read?.facts ?? null, enumerable: true },
    links: { value: links, enumerable: true },
  }) as ExtractedDocument;
}

async function readInThread(bytes: Uint8Array, format: DocumentFormat, hint: PageInput): Promise<ReadDocument> {
  return (await import('../../documents/documents.js')).readDocument(bytes, format, hint);
}

/** What `content` of a crawled page calls. Both read the page again: few handlers want both. */
export const pageExtraction: Extraction = extractionBy(({ body, url, contentType }, options) =>
  viewPage(body, { url, contentType, ...options }),
);

function extractionBy(view: (page: ExtractedPage, options: ContentOptions | undefined) => PageView): Extraction {
  const checked = (name: string, page: ExtractedPage, options: ContentOptions | undefined) => {
    if (options !== undefined) checkOptions(name, options, CONTENT_CHECKS);
    return view(page, options);
  };
  return {
    markdown: (page, options) => readMarkdown(checked('content.markdown', page, options)).raw,
    content: (page, options) => readContent(checked('content.main', page, options)),
  };
}

/** As {@link pageExtraction}, of a document that was made a page: all of it is content. */
export function documentExtraction({ facts }: ReadDocument): Extraction {
  return {
    document: facts,
    ...extractionBy(({ body, url }, options) => viewPage(body, { url, contentType: HTML, ...options }, true)),
  };
}

/** Options of {@link toMarkdown}. */
export interface ToMarkdownOptions extends PageInput, ContentOptions {
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
  ...CONTENT_SHAPE,
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
 * A page's own metadata: title, author, date, canonical address, every `meta`.
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
