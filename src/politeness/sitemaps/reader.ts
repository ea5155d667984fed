// The text of one sitemap file → its entries, as they come: urlset, sitemap index, RSS, Atom, or one URL per line.
// Promise: linear time, bounded memory, never throws. Entities of a DOCTYPE are not expanded, so an entity bomb is only
// text. The parser is lenient: a bare `&`, the most common mistake, is kept.
import { createRequire } from 'node:module';
import type * as HtmlParser from 'htmlparser2';
import { type LimitName, limitReached, LIMITS } from '../../limits.js';
import { createRelativeUrls, MAX_URL_LENGTH, parseUrl, type RelativeUrls } from '../../request/url.js';

export type ChangeFrequency = 'always' | 'hourly' | 'daily' | 'weekly' | 'monthly' | 'yearly' | 'never';

export interface SitemapEntry {
  /** `sitemap`: another file to read. */
  readonly kind: 'url' | 'sitemap';
  /** The page, as an absolute URL. */
  readonly url: string;
  /** When the page changed last, by what the site says; left out when it is missing or not a date. */
  readonly lastmod?: Date;
  /** How often the site expects the page to change. A hint; nothing here relies on it. */
  readonly changefreq?: ChangeFrequency;
  /** From 0 to 1, beside the site's other pages. */
  readonly priority?: number;
}

export type SitemapFormat = 'urlset' | 'index' | 'rss' | 'atom' | 'text';

export interface SitemapReader {
  /** The entries completed by this piece of text; null marks the end. */
  read(text: string | null): SitemapEntry[];
  /** Undefined until known; stays so if the text is not a sitemap. */
  readonly format: SitemapFormat | undefined;
  /** The text nests or repeats as no sitemap does: stop reading. */
  readonly isHopeless: boolean;
}

/** `baseUrl`: where the file came from; feeds name pages relative to it. */
export function createSitemapReader(baseUrl: string): SitemapReader {
  let chosen: SitemapReader | undefined;
  return {
    read(text) {
      if (!chosen) {
        const start = text?.trimStart() ?? '';
        if (start === '') return [];
        chosen = start.startsWith('<') ? createXmlReader(baseUrl) : createLineReader();
      }
      return chosen.read(text);
    },
    get format() {
      return chosen?.format;
    },
    get isHopeless() {
      return chosen?.isHopeless ?? false;
    },
  };
}

function createLineReader(): SitemapReader {
  let rest = '';
  let format: SitemapFormat | undefined;
  return {
    read(text) {
      const lines = (rest + (text ?? '\n')).split(/[\r\n]/);
      rest = lines.pop() as string;
      // Longer than any URL: the rest does not matter.
      if (rest.length > MAX_URL_LENGTH) rest = rest.slice(0, MAX_URL_LENGTH + 1);
      const entries: SitemapEntry[] = [];
      for (const line of lines) {
        const url = absoluteUrl(line);
        if (url !== undefined) entries.push({ kind: 'url', url });
      }
      if (entries.length > 0) format = 'text';
      return entries;
    },
    get format() {
      return format;
    },
    isHopeless: false,
  };
}

interface Dialect {
  readonly format: SitemapFormat;
  readonly entry: string;
  readonly kind: SitemapEntry['kind'];
  /** Elements by local name in lower case → what they say. */
  readonly fields: Readonly<Record<string, Field>>;
}
type Field = 'url' | 'lastmod' | 'changefreq' | 'priority';

const PROTOCOL_FIELDS = { loc: 'url', lastmod: 'lastmod', changefreq: 'changefreq', priority: 'priority' } as const;
const RSS: Dialect = { format: 'rss', entry: 'item', kind: 'url', fields: { link: 'url', pubdate: 'lastmod' } };
const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['urlset', { format: 'urlset', entry: 'url', kind: 'url', fields: PROTOCOL_FIELDS }],
  ['sitemapindex', { format: 'index', entry: 'sitemap', kind: 'sitemap', fields: PROTOCOL_FIELDS }],
  ['rss', RSS],
  ['rdf', RSS],
  ['feed', { format: 'atom', entry: 'entry', kind: 'url', fields: { link: 'url', updated: 'lastmod' } }],
]);
const FREQUENCIES: ReadonlySet<string> = new Set('always hourly daily weekly monthly yearly never'.split(' '));

// Real files nest 6 deep and have a handful of attributes; the parser's work per tag grows with both.
const MAX_NESTING = LIMITS.sitemapNesting.max;
const MAX_ATTRIBUTES = LIMITS.sitemapAttributes.max;

let htmlparser: typeof HtmlParser | undefined;

/** Thrown through the parser to leave it. */
class Hopeless extends Error {}

function hopeless(limit: LimitName): Hopeless {
  limitReached(limit);
  return new Hopeless();
}

function createXmlReader(baseUrl: string): SitemapReader {
  htmlparser ??= createRequire(import.meta.url)('htmlparser2') as typeof HtmlParser;
  let found: SitemapEntry[] = [];
  let dialect: Dialect | undefined;
  let depth = 0;
  let attributes = 0;
  let entryDepth = 0;
  let values: Partial<Record<Field, string>> = {};
  let field: Field | undefined;
  let said = '';
  let isHopeless = false;
  const urls = createRelativeUrls();

  const isOwnPage = ({ rel, href }: Record<string, string>): boolean =>
    href !== undefined && (rel === undefined || rel === 'alternate');

  const parser = new htmlparser.Parser(
    {
      onopentagname() {
        attributes = 0;
        if (++depth > MAX_NESTING) throw hopeless('sitemapNesting');
      },
      onattribute() {
        if (++attributes > MAX_ATTRIBUTES) throw hopeless('sitemapAttributes');
      },
      onopentag(tag, given) {
        const name = localName(tag);
        if (!dialect) dialect = DIALECTS.get(name);
        else if (entryDepth === 0) {
          if (name !== dialect.entry) return;
          entryDepth = depth;
          values = {};
        } else if (depth === entryDepth + 1) {
          field = Object.hasOwn(dialect.fields, name) ? dialect.fields[name] : undefined;
          said = '';
          if (field === 'url' && dialect.format === 'atom') said = isOwnPage(given) ? (given['href'] ?? '') : '';
        }
      },
      ontext(text) {
        if (field !== undefined && depth === entryDepth + 1 && said.length <= MAX_URL_LENGTH) said += text;
      },
      onclosetag() {
        if (entryDepth > 0 && depth === entryDepth + 1) {
          if (field !== undefined && said.trim() !== '') values[field] ??= said.trim();
          field = undefined;
        } else if (entryDepth > 0 && depth === entryDepth) {
          entryDepth = 0;
          const entry = toEntry((dialect as Dialect).kind, values, baseUrl, urls);
          if (entry) found.push(entry);
        }
        depth--;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );

  return {
    read(text) {
      found = [];
      if (isHopeless) return found;
      try {
        urls.note(text?.length ?? 0);
        if (text === null) parser.end();
        else parser.write(text);
      } catch (error) {
        if (!(error instanceof Hopeless)) throw error;
        isHopeless = true;
      }
      return found;
    },
    get format() {
      return dialect?.format;
    },
    get isHopeless() {
      return isHopeless;
    },
  };
}

/** `image:loc` is `loc` here, but its parent is not an entry. */
function localName(tag: string): string {
  return tag.slice(tag.indexOf(':') + 1).toLowerCase();
}

function toEntry(
  kind: SitemapEntry['kind'],
  { url: text = '', lastmod, changefreq, priority }: Partial<Record<Field, string>>,
  baseUrl: string,
  urls: RelativeUrls,
): SitemapEntry | undefined {
  const url = absoluteUrl(text) ?? absoluteUrl(text === '' ? '' : (urls.resolve(text, baseUrl)?.href ?? ''));
  if (url === undefined) return undefined;
  const date = lastmod === undefined || lastmod.length > 64 ? Number.NaN : Date.parse(lastmod);
  const frequency = changefreq?.toLowerCase();
  const weight = priority === undefined ? Number.NaN : Number(priority);
  return {
    kind,
    url,
    ...(Number.isNaN(date) ? {} : { lastmod: new Date(date) }),
    ...(frequency !== undefined && FREQUENCIES.has(frequency) ? { changefreq: frequency as ChangeFrequency } : {}),
    ...(weight >= 0 && weight <= 1 ? { priority: weight } : {}),
  };
}

/** The URL as written if it is an absolute http(s) one without blanks inside, else as the URL parser spells it. */
function absoluteUrl(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > MAX_URL_LENGTH || !/^https?:\/\//i.test(trimmed)) return undefined;
  const parsed = parseUrl(trimmed);
  if (!parsed) return undefined;
  // A copy: a part of the text that was read would keep all of that text in memory.
  return /\s/.test(trimmed) ? parsed.href : Buffer.from(trimmed).toString();
}
