// Author, dates, language, site and title of a page: the best of its head and text, and where each was found.
// Promise: each fact comes from the first source that has it, most reliable first; nothing is invented.
import { LIMITS } from '../../limits.js';
import { statedDate } from './dates.js';
import { collapse } from './metadata.js';
import type { LinkedData, PageHead } from './metadata.js';
import { typesOf } from './metadata.js';

export interface PageFacts {
  /** Of the article or product, without the name of the site. */
  readonly title: string | null;
  /** Who wrote it. */
  readonly byline: string | null;
  /** ISO 8601. */
  readonly publishedAt: string | null;
  /** When it was last changed, in ISO 8601. */
  readonly modifiedAt: string | null;
  /** Name of the site. */
  readonly siteName: string | null;
  /** One or two sentences by the page itself. */
  readonly description: string | null;
  /** As the page declares it, else as its text is written. */
  readonly language: string | null;
  /** Where each fact comes from. */
  readonly sources: FactSources;
}

/** What says a fact: JSON-LD, a `meta` element, other markup (`time`, microdata, names of elements), or the text. */
export type FactSource = 'json-ld' | 'meta' | 'markup' | 'text';

/** Where facts that pages state in several ways come from; null for a fact that was not found. */
export interface FactSources {
  /** Where the author was found; null without one. */
  readonly author: FactSource | null;
  /** Where the date was found; null without one. */
  readonly publishedAt: FactSource | null;
  /** Where the date was found; null without one. */
  readonly modifiedAt: FactSource | null;
  /** Where the language was found: declared, or guessed from the text. */
  readonly language: FactSource | null;
}

/** What a page shows of itself outside of its head. */
export interface VisibleFacts {
  readonly byline: string | null;
  /** Dates of `time` elements. */
  readonly published: string | null;
  readonly modified: string | null;
  /** Days written in the text around the title. */
  writtenPublished(): string | null;
  writtenModified(): string | null;
  language(): string | null;
}

const MAX_FACT = 500;

const first = (...candidates: readonly (string | null | undefined)[]): string | null => {
  for (const candidate of candidates) {
    const text = candidate === null || candidate === undefined ? '' : collapse(candidate);
    if (text !== '' && text.length <= MAX_FACT * 4) return text.slice(0, MAX_FACT * 4);
  }
  return null;
};

interface Sourced {
  readonly value: string | null;
  readonly source: FactSource | null;
}

type Candidates = readonly (readonly [FactSource, string | null | undefined])[];

/** The first candidate that gives a value. */
function sourced(candidates: Candidates, read: (text: string | null | undefined) => string | null): Sourced {
  for (const [source, text] of candidates) {
    const value = read(text);
    if (value !== null) return { value, source };
  }
  return { value: null, source: null };
}

/** What the page shows as titles. */
export interface Titles {
  /** The texts of its first headings. */
  readonly headings: readonly string[];
  /** Of headings that are the site's own. */
  readonly sites: readonly string[];
}

export function readFacts(
  head: PageHead,
  { headings, sites }: Titles,
  visible: VisibleFacts,
  url: string | null = null,
): PageFacts {
  const { meta } = head;
  const main = head.entities.find((entity) => typesOf(entity).some((type) => MAIN_TYPES.test(type)));
  const siteName = first(
    meta.get('og:site_name'),
    meta.get('application-name'),
    nameOf(main?.['publisher']),
    siteEntity(head),
  );
  const said = sourced(
    [
      ['json-ld', nameOf(main?.['author'])],
      ['meta', personName(meta.get('author'))],
      ['meta', personName(meta.get('article:author'))],
      ['meta', meta.get('parsely-author')],
      ['meta', meta.get('dc.creator')],
      ['meta', meta.get('sailthru.author')],
      ['markup', visible.byline],
    ],
    (text) => first(text),
  );
  // A site that calls itself the author may name one.
  const isSite = said.value !== null && said.value === siteName && visible.byline !== null;
  const author: Sourced = isSite ? { value: visible.byline, source: 'markup' } : said;
  const published = sourced(
    [
      ['json-ld', textOf(main?.['datePublished'])],
      ...metaDates(head, PUBLISHED),
      ['json-ld', textOf(main?.['dateCreated'])],
      ['json-ld', textOf(main?.['uploadDate'])],
      ['markup', head.properties.get('datepublished')],
      ['markup', visible.published],
    ],
    statedDate,
  );
  const modified = sourced(
    [
      ['json-ld', textOf(main?.['dateModified'])],
      ...metaDates(head, MODIFIED),
      ['markup', head.properties.get('datemodified')],
      ['markup', visible.modified],
    ],
    statedDate,
  );
  const publishedAt = published.value === null ? { value: visible.writtenPublished(), source: TEXT } : published;
  const modifiedAt = modified.value === null ? { value: visible.writtenModified(), source: TEXT } : modified;
  const declared = first(head.language);
  const language = declared ?? visible.language();
  return {
    title: titleOf(head, main, headings, [siteName ?? '', ...sites, ...hostNames(url)].map(squeeze)),
    byline: author.value,
    publishedAt: publishedAt.value,
    modifiedAt: modifiedAt.value,
    siteName,
    description: first(
      meta.get('description'),
      meta.get('og:description'),
      meta.get('twitter:description'),
      textOf(main?.['description']),
    ),
    language,
    sources: {
      author: author.source,
      publishedAt: publishedAt.value === null ? null : publishedAt.source,
      modifiedAt: modifiedAt.value === null ? null : modifiedAt.source,
      language: language === null ? null : declared === null ? TEXT : 'markup',
    },
  };
}

const TEXT: FactSource = 'text';
const PUBLISHED =
  'article:published_time og:published_time date dc.date dc.date.issued dcterms.created publish-date parsely-pub-date sailthru.date';
const MODIFIED = 'article:modified_time og:updated_time last-modified dcterms.modified revised';

function metaDates({ meta }: PageHead, names: string): Candidates {
  return names.split(' ').map((name) => ['meta', meta.get(name)] as const);
}

const MAIN_TYPES = /Article|BlogPosting|Report|Posting|QAPage|Product|Recipe|HowTo|Course|Event|Book|Review/;

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** The name in JSON-LD's many ways to say who: a text, an object, a list of them. */
function nameOf(value: unknown, depth = 0): string | null {
  if (typeof value === 'string') return personName(value);
  if (depth > 3 || typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) {
    const names = value.slice(0, 10).map((one) => nameOf(one, depth + 1));
    return first([...new Set(names.filter((name) => name !== null))].join(', '));
  }
  return nameOf((value as LinkedData)['name'], depth + 1);
}

/** Addresses are not names. */
function personName(value: string | undefined): string | null {
  if (value === undefined) return null;
  const text = value.trim();
  const at = text.indexOf('@');
  const isMail = at === 0 || (at > 0 && text.indexOf('.', at + 2) > 0);
  return isMail || /^(?:https?:)?\/\//.test(text) ? null : value;
}

function siteEntity({ entities }: PageHead): string | null {
  const site = entities.find((entity) => typesOf(entity).some((type) => /^(?:WebSite|Organization)$/.test(type)));
  return textOf(site?.['name']);
}

const SEPARATOR = /\s[|\-–—·»:•]+\s/;
const SPACE_OR_SEPARATOR = /[\s|\-–—·»:•]/;
const squeeze = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

/** What a site may call itself, by its host: `www.sea-news.co.uk` is sea-news, sea-news.co and sea-news.co.uk. */
function hostNames(url: string | null): string[] {
  const host = /^https?:\/\/(?:[^/@]*@)?(?:www\d?\.)?([^/:?#]+)/i.exec(url ?? '')?.[1] ?? '';
  // No name is longer, and every label makes a text of its own.
  if (host.length > LIMITS.hostCharacters.max) return [];
  const labels = host.split('.');
  return labels.length < 2 || /^\d+$/.test(labels.at(-1)!)
    ? []
    : labels
        .flatMap((label, k) => {
          const rest = labels.slice(0, k + 1).join('.');
          return k === labels.length - 1 ? [rest] : [rest, label];
        })
        .filter((name) => name.length >= 4);
}

/** The title without the site's name: a heading that the head confirms, else what the head says. */
function titleOf(
  head: PageHead,
  main: LinkedData | undefined,
  headings: readonly string[],
  sites: readonly string[],
): string | null {
  const shared = first(
    head.meta.get('og:title'),
    textOf(main?.['headline']),
    head.meta.get('twitter:title'),
    head.title,
  );
  const isSite = (text: string): boolean => text !== '' && sites.includes(squeeze(text));
  const own = head.title.slice(0, MAX_FACT * 4);
  const known = squeeze(`${shared ?? ''} ${own}`);
  // A heading beside the text may be a word of the title: it counts where it begins it, is a part of it, or much of it.
  const parts = new Set([shared ?? '', own].flatMap((text) => text.split(SEPARATOR)).map(squeeze));
  const least = squeeze(shared ?? '').length / 4;
  // Searching for a long text in another takes the product of their lengths.
  const keyOf = (heading: string): string => squeeze(heading.slice(0, MAX_FACT));
  const confirmed = headings.filter((heading) => {
    const key = keyOf(heading);
    if (key.length < 4 || isSite(heading)) return false;
    return known.startsWith(key) || parts.has(key) || known === '' || (key.length >= least && known.includes(key));
  });
  // An RFC's number and its name are two headings.
  if (confirmed.length > 1 && shared !== null && squeeze(shared) === keyOf(confirmed[0]!) + keyOf(confirmed[1]!))
    return shared;
  // Manuals have a heading for themselves above that of the page: the head's title begins with the page's.
  if (confirmed.length > 0)
    return first(
      confirmed.find((heading) => known.startsWith(keyOf(heading))),
      confirmed[0],
    );
  if (shared === null) return first(headings[0]);
  if (isSite(shared)) return shared;
  // The site's name stands first or last, after or before a separator.
  let title = shared;
  for (let parts = title.split(SEPARATOR); parts.length > 1; parts = title.split(SEPARATOR)) {
    if (isSite(parts.at(-1)!)) title = withoutSeparator(title.slice(0, title.lastIndexOf(parts.at(-1)!)));
    else if (isSite(parts[0]!)) title = title.slice(parts[0]!.length).replace(/^\s*[|\-–—·»:•]+\s*/, '');
    else break;
  }
  return first(title, shared);
}

/** Without the separator that it ends with. */
function withoutSeparator(text: string): string {
  let end = text.length;
  while (end > 0 && SPACE_OR_SEPARATOR.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}
