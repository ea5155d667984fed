// The result of a scan: positions in the page's bytes that become strings when a property is first read.
// Promise: reading any property never scans again; results of different pages do not disturb each other.
import type { DocumentFacts } from '../../documents/model.js';
import { sliceUtf8 } from '../../base/bytes.js';
import type { LinkRecords } from './link-records.js';
import type { LinkResolver } from './link-urls.js';
import { createLinkResolver } from './link-urls.js';
import type { PageMetadata, Range } from './metadata.js';
import { readJsonLd, readOpenGraph } from './metadata.js';
import { ownGetters } from '../own-getters.js';
import type { PageLink } from './page-links.js';
import { readAnchorUrls, readLinks } from './page-links.js';
import type { ValueDecoder } from '../tokens/values.js';
import { collapseSpace } from '../tokens/values.js';

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
  /** Of a file that was read as a document: its format, author, dates, pages and headings. */
  readonly document?: DocumentFacts;
}

/** The result of {@link scanPage}. Every property is worked out when first read and then kept. */
export interface ScannedPage extends PageFacts {
  /** The document's title with white space collapsed, or empty. */
  readonly title: string;
  /** The readable text, blocks on lines of their own. */
  readonly text: string;
  /** Links in the order of the page, absolute. */
  readonly links: readonly PageLink[];
}

/** What the scan of a page leaves behind. */
interface Findings {
  /** The page as UTF-8. */
  readonly bytes: Buffer;
  /** Its readable text as UTF-8. */
  readonly text: Buffer;
  readonly links: LinkRecords;
  readonly metadata: PageMetadata;
  readonly url: string;
  readonly charset: string;
  readonly values: ValueDecoder;
}

/** Makes the page a caller sees. */
export function createScannedPage(findings: Findings): ScannedPage {
  return new LazyPage(findings) as unknown as ScannedPage;
}

/** The URLs of the page's `a` elements, without making links of them all; those that `isKept` refuses are left out. */
export function anchorUrlsOf(page: ScannedPage, isKept?: (url: string, rel: string) => boolean): string[] {
  return LazyPage.anchorUrls(page as unknown as LazyPage, isKept);
}

class LazyPage {
  readonly #findings: Findings;
  #text: string | undefined;
  #links: readonly PageLink[] | undefined;
  #resolver: LinkResolver | undefined;
  #openGraph: Record<string, string> | undefined;
  #jsonLd: readonly unknown[] | undefined;

  static readonly #defineProperties = ownGetters<LazyPage, ScannedPage>({
    title: (page) => {
      const { bytes, metadata, values } = page.#findings;
      const { title } = metadata;
      return title === null ? '' : collapseSpace(values.decode(bytes, title.from, title.to, false));
    },
    text: (page) => (page.#text ??= sliceUtf8(page.#findings.text, 0, page.#findings.text.length)),
    links: (page) => (page.#links ??= page.#readLinks()),
    canonical: (page) => {
      const { bytes, metadata } = page.#findings;
      const { canonical } = metadata;
      return canonical === null ? null : page.#resolveWith().resolve(bytes, canonical.from, canonical.to);
    },
    robots: (page) => {
      const { robots } = page.#findings.metadata;
      return robots.length === 0 ? null : robots.map((range) => page.#attribute(range)).join(', ');
    },
    description: (page) => {
      const { description } = page.#findings.metadata;
      return description === null ? null : page.#attribute(description);
    },
    language: (page) => {
      const range = page.#findings.metadata.language ?? page.#findings.metadata.languageHeader;
      return range === null ? null : page.#attribute(range) || null;
    },
    openGraph: (page) =>
      (page.#openGraph ??= readOpenGraph(page.#findings.bytes, page.#findings.metadata, page.#findings.values)),
    jsonLd: (page) => (page.#jsonLd ??= readJsonLd(page.#findings.bytes, page.#findings.metadata)),
    charset: (page) => page.#findings.charset,
  });

  constructor(findings: Findings) {
    this.#findings = findings;
    LazyPage.#defineProperties(this);
  }

  static anchorUrls(page: LazyPage, isKept?: (url: string, rel: string) => boolean): string[] {
    if (page.#links) {
      const anchors = page.#links.filter(({ element, url, rel }) => element === 'a' && (!isKept || isKept(url, rel)));
      return anchors.map(({ url }) => url);
    }
    const { bytes, links, values } = page.#findings;
    return readAnchorUrls(bytes, links, page.#resolveWith(), values, isKept);
  }

  #attribute({ from, to }: Range): string {
    return collapseSpace(this.#findings.values.decode(this.#findings.bytes, from, to, true));
  }

  #readLinks(): readonly PageLink[] {
    const { bytes, text, links, values } = this.#findings;
    return readLinks(bytes, text, links, this.#resolveWith(), values);
  }

  #resolveWith(): LinkResolver {
    const { url, metadata, values } = this.#findings;
    return (this.#resolver ??= createLinkResolver(
      baseUrl(url, metadata.base === null ? null : this.#attribute(metadata.base)),
      values,
    ));
  }
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
