// Bytes of a page in, what a crawl needs out: one synchronous pass, no tree, strings made only when read.
// Promise: links, title and text as a tree built with scripting on would give them, for any bytes, in linear time.
import { AttributeList } from './attributes.js';
import { sliceUtf8 } from './bytes.js';
import { PageCollector } from './collector.js';
import { detectEncoding, toUtf8 } from './encoding.js';
import { ReferenceReader } from './entities.js';
import type { LinkResolver } from './link-urls.js';
import { createLinkResolver } from './link-urls.js';
import type { LinkRecords } from './link-records.js';
import type { PageMetadata, Range } from './metadata.js';
import { readJsonLd, readOpenGraph } from './metadata.js';
import type { PageLink } from './page-links.js';
import { readLinks } from './page-links.js';
import { TextOutput } from './text-output.js';
import { tokenize } from './tokenizer.js';
import { ValueDecoder, collapseSpace } from './values.js';

export type { LinkElement, PageLink } from './page-links.js';

/** What the page says about itself. */
export interface PageFacts {
  /** Absolute URL of `<link rel=canonical>`. */
  readonly canonical: string | null;
  /** The directives of every `<meta name=robots>`, joined with a comma. */
  readonly robots: string | null;
  readonly description: string | null;
  /** `<html lang>`, else the content-language declared in a `meta`. */
  readonly language: string | null;
  /** Open Graph properties under their full names, e.g. `og:title`; the first of equal ones. */
  readonly openGraph: Readonly<Record<string, string>>;
  /** The parsed JSON-LD blocks, in order; those that are not JSON are left out. */
  readonly jsonLd: readonly unknown[];
  /** The encoding the page was read in, in lower case. */
  readonly charset: string;
}

/** The result of {@link scanPage}. Every property is worked out when first read and then kept. */
export interface ScannedPage extends PageFacts {
  /** The document's title with white space collapsed, or empty. */
  readonly title: string;
  /** The readable text, blocks on lines of their own. */
  readonly text: string;
  readonly links: readonly PageLink[];
}

/** Options of {@link scanPage}. */
export interface ScanOptions {
  /** Where the page was loaded from; links are resolved against it. */
  readonly url: string;
  /** The response's Content-Type header. */
  readonly contentType?: string | null | undefined;
  /** Also report `img` elements as links. */
  readonly images?: boolean | undefined;
}

// Scanning is synchronous and never re-enters itself, so all pages share these.
const references = new ReferenceReader();
const attributes = new AttributeList();
const textOutput = new TextOutput(references);
const values = new ValueDecoder(references);

/**
 * Reads a page's links, text, title and metadata from its bytes.
 *
 * @example
 * const page = scanPage(body, { url: 'https://example.com/', contentType: 'text/html; charset=utf-8' });
 * console.log(page.title, page.links.map((link) => link.url));
 */
export function scanPage(body: Uint8Array, options: ScanOptions): ScannedPage {
  const encoding = detectEncoding(body, options.contentType);
  const bytes = toUtf8(body, encoding);
  const collector = new PageCollector(attributes, textOutput, options.images ?? false);
  textOutput.start(bytes.length);
  tokenize(bytes, attributes, collector);
  collector.finish();
  attributes.release();
  return lazyPage(bytes, textOutput.take(), collector.links, collector.metadata, options.url, encoding.name);
}

function lazyPage(
  bytes: Buffer,
  textBytes: Buffer,
  records: LinkRecords,
  metadata: PageMetadata,
  url: string,
  charset: string,
): ScannedPage {
  let text: string | undefined;
  let links: readonly PageLink[] | undefined;
  let resolver: LinkResolver | undefined;
  let openGraph: Record<string, string> | undefined;
  let jsonLd: readonly unknown[] | undefined;

  const attribute = ({ from, to }: Range): string => values.decode(bytes, from, to, true);
  const resolverOfPage = (): LinkResolver =>
    (resolver ??= createLinkResolver(baseUrl(url, metadata.base === null ? null : attribute(metadata.base)), values));

  return {
    get title() {
      const { title } = metadata;
      return title === null ? '' : collapseSpace(values.decode(bytes, title.from, title.to, false));
    },
    get text() {
      return (text ??= sliceUtf8(textBytes, 0, textBytes.length));
    },
    get links() {
      return (links ??= readLinks(bytes, textBytes, records, resolverOfPage(), values));
    },
    get canonical() {
      const { canonical } = metadata;
      return canonical === null ? null : resolverOfPage().resolve(bytes, canonical.from, canonical.to);
    },
    get robots() {
      return metadata.robots.length === 0 ? null : metadata.robots.map((r) => collapseSpace(attribute(r))).join(', ');
    },
    get description() {
      return metadata.description === null ? null : collapseSpace(attribute(metadata.description));
    },
    get language() {
      const range = metadata.language ?? metadata.languageHeader;
      return range === null ? null : collapseSpace(attribute(range)) || null;
    },
    get openGraph() {
      return (openGraph ??= readOpenGraph(bytes, metadata, values));
    },
    get jsonLd() {
      return (jsonLd ??= readJsonLd(bytes, metadata));
    },
    charset,
  };
}

/** The document's base: that of the first `<base href>` if it is a usable URL, else the page's own. */
function baseUrl(url: string, base: string | null): string {
  if (base === null) return url;
  try {
    const resolved = new URL(base, url);
    return resolved.protocol === 'data:' || resolved.protocol === 'javascript:' ? url : resolved.href;
  } catch {
    return url;
  }
}
