// Reads RSS, Atom and JSON feeds: each entry is an article with its title as a link, its date, author and content.
// Promise: HTML inside of entries is written again from a list of what is allowed.
import { limitReached, LIMITS } from '../../limits.js';
import type { DocumentParts } from '../model.js';
import { DocumentFailure } from '../model.js';
import { writeClean } from '../parts/clean.js';
import { escapeAttribute, escapeText, type HtmlWriter, linkStart, writtenHtml } from '../parts/html.js';
import { attributeOf, childOf, elementsOf, readHtmlTree, readXml, textBelow, type XmlElement } from '../parts/xml.js';
import { createRelativeUrls, type RelativeUrls } from '../../request/url.js';

interface Entry {
  readonly title: string;
  readonly link: string | undefined;
  readonly date: string | undefined;
  readonly author: string | undefined;
  /** HTML, or XHTML as it stands in the feed. */
  readonly content: string | XmlElement;
}

interface Feed {
  readonly title: string;
  readonly description: string;
  readonly language: string | undefined;
  readonly author: string | undefined;
  readonly updated: string | undefined;
  readonly entries: readonly Entry[];
}

export function readFeed(text: string, url: string | undefined): DocumentParts {
  if (text.trimStart().startsWith('{')) {
    const value = parsed(text);
    if (isJsonFeed(value)) return readJsonFeed(value, url);
  }
  const root = elementsOf(readXml(text)).find(({ local }) => ['rss', 'feed', 'RDF'].includes(local));
  if (!root) throw new DocumentFailure('DOCUMENT_INVALID', 'the file is neither RSS nor Atom');
  return written(root.local === 'feed' ? atomFeed(root) : rssFeed(root), url, createRelativeUrls(text.length));
}

function rssFeed(root: XmlElement): Feed {
  const channel = childOf(root, 'channel') ?? root;
  const value = (element: XmlElement, ...locals: readonly string[]) => {
    for (const local of locals) {
      const text = textBelow(childOf(element, local)).trim();
      if (text !== '') return text;
    }
    return undefined;
  };
  // RSS 1.0 has its items beside the channel.
  const items = [...elementsOf(channel), ...(channel === root ? [] : elementsOf(root))];
  return {
    title: value(channel, 'title') ?? '',
    description: value(channel, 'description') ?? '',
    language: value(channel, 'language'),
    author: value(channel, 'managingEditor', 'creator'),
    updated: value(channel, 'lastBuildDate', 'pubDate', 'date'),
    entries: items
      .filter(({ local }) => local === 'item')
      .map((item) => {
        const guid = childOf(item, 'guid');
        const isLink = guid !== undefined && attributeOf(guid, 'isPermaLink') !== 'false';
        return {
          title: value(item, 'title') ?? '',
          link: value(item, 'link') ?? (isLink ? textBelow(guid).trim() : undefined),
          date: value(item, 'pubDate', 'date'),
          author: value(item, 'creator', 'author'),
          content: value(item, 'encoded', 'description') ?? '',
        };
      }),
  };
}

function atomFeed(root: XmlElement): Feed {
  const text = (element: XmlElement | undefined) => textBelow(element).trim();
  const nameOf = (element: XmlElement) => text(childOf(childOf(element, 'author'), 'name')) || undefined;
  return {
    title: text(childOf(root, 'title')),
    description: text(childOf(root, 'subtitle')),
    language: attributeOf(root, 'lang'),
    author: nameOf(root),
    updated: text(childOf(root, 'updated')) || undefined,
    entries: elementsOf(root)
      .filter(({ local }) => local === 'entry')
      .map((entry) => {
        const content = childOf(entry, 'content') ?? childOf(entry, 'summary');
        const links = elementsOf(entry).filter(({ local }) => local === 'link');
        const link = links.find((one) => (attributeOf(one, 'rel') ?? 'alternate') === 'alternate') ?? links[0];
        const type = attributeOf(content, 'type') ?? 'text';
        return {
          title: text(childOf(entry, 'title')),
          link: attributeOf(link, 'href'),
          date: text(childOf(entry, 'published')) || text(childOf(entry, 'updated')) || undefined,
          author: nameOf(entry),
          content: type === 'xhtml' && content ? content : type === 'html' ? text(content) : escapeText(text(content)),
        };
      }),
  };
}

/** A feed as JSON (jsonfeed.org). */
export function isJsonFeed(value: unknown): value is Record<string, unknown> {
  const version = (value as { version?: unknown } | null)?.version;
  return typeof version === 'string' && /^https?:\/\/jsonfeed\.org\/version\//.test(version);
}

export function readJsonFeed(feed: Record<string, unknown>, url: string | undefined): DocumentParts {
  const string = (value: unknown) => (typeof value === 'string' ? value : '');
  const name = (holder: Record<string, unknown>) => {
    const authors = (Array.isArray(holder.authors) ? holder.authors : [holder.author]) as { name?: unknown }[];
    return string(authors[0]?.name) || undefined;
  };
  const items = (Array.isArray(feed.items) ? feed.items : []).filter(
    (item) => typeof item === 'object' && item !== null,
  );
  return written(
    {
      title: string(feed.title),
      description: string(feed.description),
      language: string(feed.language) || undefined,
      author: name(feed),
      updated: undefined,
      entries: (items as Record<string, unknown>[]).map((item) => ({
        title: string(item.title),
        link: string(item.url) || string(item.external_url) || undefined,
        date: string(item.date_published) || string(item.date_modified) || undefined,
        author: name(item),
        content: string(item.content_html) || escapeText(string(item.content_text) || string(item.summary)),
      })),
    },
    url,
    createRelativeUrls(),
  );
}

function written(feed: Feed, url: string | undefined, urls: RelativeUrls): DocumentParts {
  const entries = feed.entries.slice(0, LIMITS.documentEntries.max);
  if (entries.length < feed.entries.length) limitReached('documentEntries');
  const body = writtenHtml((out) => {
    if (feed.title !== '') out.element('h1', feed.title);
    if (feed.description !== '' && feed.description !== feed.title) writeContent(feed.description, url, out, urls);
    for (const entry of entries) writeEntry(entry, url, out, urls);
  });
  return {
    facts: {
      title: feed.title || null,
      description: textBelow(readHtmlTree(feed.description)).trim() || null,
      language: feed.language ?? null,
      author: feed.author ?? null,
      modifiedAt: isoDate(feed.updated),
    },
    body,
  };
}

function writeEntry(entry: Entry, url: string | undefined, out: HtmlWriter, urls: RelativeUrls): void {
  const { title, link, date, author, content } = entry;
  // An entry of a few characters may have a link, and so a base, of 4,000.
  urls.note(title.length + (link?.length ?? 0) + (typeof content === 'string' ? content.length : 0));
  const address = link === undefined || link.length > 4096 ? undefined : urls.resolve(link.trim(), url)?.href;
  const start = linkStart(address);
  out.tag('<article>');
  const words = textBelow(readHtmlTree(title)).trim() || address || '';
  if (words !== '')
    out
      .tag(`<h2>${start ?? ''}`)
      .text(words)
      .tag(`${start ? '</a>' : ''}</h2>`);
  const iso = isoDate(date);
  if (iso !== null || author !== undefined) {
    out.tag('<p>');
    if (iso !== null)
      out
        .tag(`<time datetime="${escapeAttribute(iso)}">`)
        .text(iso.slice(0, 10))
        .tag('</time>');
    if (author !== undefined) out.text(`${iso === null ? '' : ', '}${author}`);
    out.tag('</p>');
  }
  writeContent(content, address ?? url, out, urls);
  out.tag('</article>');
}

function writeContent(
  content: string | XmlElement,
  base: string | undefined,
  out: HtmlWriter,
  urls: RelativeUrls,
): void {
  const tree = typeof content === 'string' ? readHtmlTree(content) : content;
  out.tag('<div>');
  writeClean(tree, (reference) => urls.resolve(reference, base), out);
  out.tag('</div>');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isoDate(text: string | undefined): string | null {
  const time = text === undefined || text.length > 100 ? NaN : Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
