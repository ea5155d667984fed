// Who wrote a page, when, for which site, under which title: the best of what its head and its text say.
// Promise: each fact comes from the first source that has it, most reliable first; nothing is invented.
import { LIMITS } from '../../limits.js';
import { collapse } from './metadata.js';
import type { LinkedData, PageHead } from './metadata.js';
import { typesOf } from './metadata.js';

export interface PageFacts {
  readonly title: string | null;
  readonly byline: string | null;
  /** ISO 8601. */
  readonly publishedAt: string | null;
  readonly siteName: string | null;
  readonly description: string | null;
  readonly language: string | null;
}

const MAX_FACT = 500;

const first = (...candidates: readonly (string | null | undefined)[]): string | null => {
  for (const candidate of candidates) {
    const text = candidate === null || candidate === undefined ? '' : collapse(candidate);
    if (text !== '' && text.length <= MAX_FACT * 4) return text.slice(0, MAX_FACT * 4);
  }
  return null;
};

/** `headings` are the texts of the page's first-level headings, `visible` what its text says of author and date. */
export function readFacts(
  head: PageHead,
  headings: readonly string[],
  visible: { readonly byline: string | null; readonly date: string | null },
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
  const byline = first(
    nameOf(main?.['author']),
    personName(meta.get('author')),
    personName(meta.get('article:author')),
    meta.get('parsely-author'),
    meta.get('dc.creator'),
    meta.get('sailthru.author'),
    visible.byline,
  );
  return {
    title: titleOf(head, main, headings, [siteName ?? '', ...hostNames(url)].map(squeeze)),
    byline: byline !== null && byline === siteName && visible.byline !== null ? visible.byline : byline,
    publishedAt: firstDate(
      textOf(main?.['datePublished']),
      meta.get('article:published_time'),
      meta.get('og:published_time'),
      meta.get('date'),
      meta.get('dc.date'),
      meta.get('dc.date.issued'),
      meta.get('dcterms.created'),
      meta.get('publish-date'),
      meta.get('parsely-pub-date'),
      meta.get('sailthru.date'),
      textOf(main?.['dateCreated']),
      textOf(main?.['uploadDate']),
      visible.date,
    ),
    siteName,
    description: first(
      meta.get('description'),
      meta.get('og:description'),
      meta.get('twitter:description'),
      textOf(main?.['description']),
    ),
    language: first(head.language),
  };
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
  const known = squeeze(`${shared ?? ''} ${head.title}`);
  for (const heading of headings) {
    const key = squeeze(heading);
    if (key.length >= 4 && !isSite(heading) && (known.includes(key) || known === '')) return first(heading);
  }
  if (shared === null) return first(headings[0]);
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

/** The first text that is a date, as ISO 8601; a day alone stays a day. */
function firstDate(...candidates: readonly (string | null | undefined)[]): string | null {
  for (const candidate of candidates) {
    const text = candidate?.trim() ?? '';
    if (text === '' || text.length > 60) continue;
    if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
    const time = Date.parse(
      /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(text) ? `${text.replace(' ', 'T')}Z` : text,
    );
    const year = Number.isNaN(time) ? 0 : new Date(time).getUTCFullYear();
    if (year >= 1990 && year <= 2100) {
      return /\d:\d/.test(text) ? new Date(time).toISOString() : isoDay(text, time);
    }
  }
  return null;
}

/** A date without a time is read in the local zone by `Date.parse`; its day is what was meant. */
function isoDay(text: string, time: number): string {
  const date = new Date(time);
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) return text.slice(0, 10);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}
