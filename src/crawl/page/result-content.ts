// The content fields of a CrawlResult, each computed when first read: the only link from results to parse/ and extract/.
// Promise: nothing is decoded or scanned until read, and a page that is not markup has only its text.
import { createHash } from 'node:crypto';
import { comparedText } from '../../extract/page/compared-text.js';
import type { Extracted } from '../../extract/fields/fields.js';
import { type MediaInventory, readMediaInventory } from '../../extract/fields/inventory.js';
import { type PageMarkdown, readMarkdown } from '../../extract/markdown/markdown-document.js';
import { type PageTable, readTables } from '../../extract/fields/tables.js';
import type { Capture } from '../../fetch/engine.js';
import { decodeBody, detectEncoding } from '../../parse/encoding/encoding.js';
import { createPageContent, type PageContent, type PageFacts } from '../../parse/page.js';
import { domainOf, hostOf } from '../../request/url.js';
import { contentTypeOf, decodingHeader, isJson, isMarkup, isXml } from '../navigate/content-type.js';
import { cleanHtml, isChosen, isScoped, scopedParts } from './clean-page.js';
import { documentExtraction, fieldsOf, pageExtraction, viewPage } from './extraction.js';
import type { ContentConfig } from '../batch/run-config.js';

/** A link of a page. */
export interface ResultLink {
  /** Absolute. */
  readonly url: string;
  /** What the link says. */
  readonly text: string;
  /** Its `rel` attribute; empty without one. */
  readonly rel: string;
}

/** The links of a result, by whether they stay on its site. */
export interface ResultLinks {
  /** To the page's own registrable domain. */
  readonly internal: readonly ResultLink[];
  /** To any other domain. */
  readonly external: readonly ResultLink[];
}

/** The images, videos and sounds of a result. */
export type ResultMedia = MediaInventory;

/** A page's own metadata. */
export interface ResultMetadata extends PageFacts {
  /** Of the `<title>`. */
  readonly title: string;
}

/** The lazy content of one page. */
export interface ResultContent {
  readonly html: string;
  readonly text: string;
  readonly cleanedHtml: string;
  readonly links: ResultLinks;
  readonly media: ResultMedia;
  readonly metadata: ResultMetadata | undefined;
  readonly markdown: PageMarkdown;
  readonly tables: readonly PageTable[];
  /** What the config's schema found; undefined without one. */
  readonly extracted: Extracted | readonly Extracted[] | undefined;
  /** By which it is compared with other pages. */
  readonly compared: string;
}

const HTML = 'text/html; charset=utf-8';
const NO_LINKS: ResultLinks = Object.freeze({ internal: Object.freeze([]), external: Object.freeze([]) });
const NO_MEDIA: ResultMedia = Object.freeze({
  images: Object.freeze([]),
  videos: Object.freeze([]),
  audios: Object.freeze([]),
});
const NO_MARKDOWN: PageMarkdown = Object.freeze({
  title: null,
  raw: '',
  fit: '',
  withCitations: '',
  references: '',
  toString: () => '',
});
const NO_TABLES: readonly PageTable[] = Object.freeze([]);

/** The content of a failure without a page. */
export const NO_CONTENT: ResultContent = Object.freeze({
  html: '',
  text: '',
  cleanedHtml: '',
  links: NO_LINKS,
  media: NO_MEDIA,
  metadata: undefined,
  markdown: NO_MARKDOWN,
  tables: NO_TABLES,
  extracted: undefined,
  compared: '',
});

export function createResultContent(capture: Capture, config: ContentConfig): ResultContent {
  const { document } = capture;
  const type = document ? 'text/html' : contentTypeOf(capture).type;
  const header = document ? HTML : decodingHeader(capture, {});
  const body = document?.html ?? capture.body;
  const extraction = document ? documentExtraction(document) : pageExtraction;
  const hasMarkup = isMarkup(type);
  const isText = hasMarkup || isJson(type) || type.startsWith('text/');
  const url = capture.loadedUrl;
  const html = once(() => (isText ? decodeBody(body, detectEncoding(body, header)) : ''));
  const whole = once(() => createPageContent(body, url, header, extraction));
  /** What `cssSelector` and the like leave of the page, as HTML. */
  const parts = once(() => scopedParts(html(), isXml(type), config));
  const scoped = (): string => parts().scoped;
  const page = once(() => (isScoped(config) ? contentOfText(scoped(), url) : whole()));
  /** Links and media come from all that `cssSelector` leaves; `targetElements` narrows only what is read as text. */
  const linked = once(() => {
    if (!isScoped(config)) return whole();
    return config.targetElements === undefined ? page() : contentOfText(parts().untargeted, url);
  });
  const links = once(() => sortedLinks(linked(), url, config));
  /** The page as a tree, read once for markdown, tables and fields. */
  const view = once(() =>
    isScoped(config)
      ? viewPage(scoped(), { url, ...config.content }, document !== undefined)
      : viewPage(body, { url, contentType: header, ...config.content }, document !== undefined),
  );
  const media = once(() => readMediaInventory(view()));
  const markdown = once(() => {
    const { contentFilter: filter, ...settings } = config.markdown ?? {};
    return readMarkdown(view(), { filter, ...settings });
  });
  const tables = once(() => readTables(view()));
  const extracted = once(() => {
    const { extract } = config;
    // A model was asked already, when the page came.
    return extract === undefined || extract.engine === 'model' ? undefined : fieldsOf(view(), extract);
  });
  const metadata = once(() => ({ title: whole().title, ...whole().metadata }));
  const text = once(() => longEnough(page().text, config.wordCountThreshold ?? 1));
  const cleaned = once(() => (config.onlyText ? text() : cleanHtml(scoped())));
  return {
    get html() {
      return html();
    },
    get text() {
      return hasMarkup ? text() : html();
    },
    get cleanedHtml() {
      return hasMarkup ? cleaned() : '';
    },
    get links() {
      return hasMarkup ? links() : NO_LINKS;
    },
    get media() {
      return hasMarkup ? media() : NO_MEDIA;
    },
    get metadata() {
      return hasMarkup ? metadata() : undefined;
    },
    get markdown() {
      return hasMarkup ? markdown() : plainMarkdown(html());
    },
    get tables() {
      return hasMarkup ? tables() : NO_TABLES;
    },
    get extracted() {
      return hasMarkup ? extracted() : undefined;
    },
    get compared() {
      if (!hasMarkup) return isText ? html() : createHash('sha1').update(body).digest('hex');
      // Elements that were named are what counts, also when their place or name is that of furniture.
      return (isChosen(config) ? '' : comparedText(view())) || page().text;
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function contentOfText(html: string, url: string): PageContent {
  return createPageContent(Buffer.from(html), url, 'text/html; charset=utf-8', pageExtraction);
}

/** Leaves out lines of fewer words. */
function longEnough(text: string, leastWords: number): string {
  if (leastWords <= 1) return text;
  const lines = text.split('\n').filter((line) => line.split(/\s+/).filter(Boolean).length >= leastWords);
  return lines.join('\n');
}

const SOCIAL_DOMAINS = new Set(
  (
    'facebook.com twitter.com x.com linkedin.com instagram.com pinterest.com tiktok.com snapchat.com reddit.com ' +
    'youtube.com threads.net mastodon.social bsky.app t.me telegram.me whatsapp.com vk.com weibo.com'
  ).split(' '),
);

function sortedLinks(page: PageContent, url: string, config: ContentConfig): ResultLinks {
  const home = domainOf(url);
  const seen = new Set<string>();
  const internal: ResultLink[] = [];
  const external: ResultLink[] = [];
  for (const { element, url: href, text, rel } of page.links) {
    if ((element !== 'a' && element !== 'area') || !/^https?:/.test(href) || seen.has(href)) continue;
    seen.add(href);
    const domain = domainOf(href);
    if (config.excludeSocialMediaLinks && SOCIAL_DOMAINS.has(domain)) continue;
    if (config.excludeDomains?.some((excluded) => isWithin(hostOf(href), excluded))) continue;
    if (domain === home) internal.push({ url: href, text, rel });
    else if (!config.excludeExternalLinks) external.push({ url: href, text, rel });
  }
  return { internal, external };
}

function isWithin(host: string, domain: string): boolean {
  const name = domain.toLowerCase();
  return host === name || host.endsWith(`.${name}`);
}

/** Text files and JSON are their own markdown. */
function plainMarkdown(text: string): PageMarkdown {
  return { title: null, raw: text, fit: text, withCitations: text, references: '', toString: () => text };
}
