// The one list of output formats: names, file extensions, content types, who offers them and how items are written.
// Promise: a format added to the table below works wherever `offeredBy` says, and appears in that command's --help.
import type { Dictionary } from '../request/request.js';
import { cellsOf, csvRow } from './dataset/csv.js';
import type { Column } from './parquet/column-types.js';

/** Who writes items: a dataset's export (`exportData`, `Dataset.exportTo…`), or a command. */
export type FormatUser = 'export' | 'crawl' | 'batch' | 'scrape';

/** Encodes the items of one document, in order. Binary formats return bytes. */
export interface ItemEncoder {
  add(items: readonly Dictionary[]): string | Uint8Array;
  /** The rest of the document, which is valid then, also when it has no items. */
  end(): string | Uint8Array;
}

/** What page formats write of a page. Only the parts of the format in question are read. */
export interface PageParts {
  readonly url: string;
  readonly title: string | null | undefined;
  /** Set where the markdown lacks the title: the escaped title, to stand above it in a file of many pages. */
  readonly heading?: string;
  readonly text: string;
  /** Of the whole page. */
  readonly markdown: string;
  /** Markdown of the main content. */
  readonly fit: string;
  readonly html: string;
  readonly links: readonly string[];
}

interface Format {
  readonly extension: string;
  readonly contentType: string;
  readonly offeredBy: readonly FormatUser[];
  /** For --help, where the name alone does not say it. */
  readonly about?: string;
}

/** Each item is an object: the fields of a result, or an item of a dataset. */
interface ItemFormat extends Format {
  /** Without `columns`, tables take those of the first item. `rawCells`: what a spreadsheet would run stays as it is. */
  readonly encoder: (columns?: readonly string[], rawCells?: boolean) => ItemEncoder;
  /** CSV and other tables: needs to know all columns before the first item. */
  readonly hasColumns?: true;
}

/** A table with types: all items are looked at before the first is written. Its writer loads on first use. */
interface TypedFormat extends Format {
  readonly typedEncoder: (columns: readonly Column[]) => Promise<ItemEncoder>;
}

/** Each item is a page. */
interface PageFormat extends Format {
  /** The page alone, without a final line end. */
  readonly page: (page: PageParts) => string;
  /** The page in a file of many pages. */
  readonly among: (page: PageParts) => string;
}

const ITEM_FORMATS = {
  jsonl: {
    extension: 'jsonl',
    contentType: 'application/x-ndjson; charset=utf-8',
    offeredBy: ['export', 'crawl', 'batch'],
    encoder: () => ({
      add: (items) => items.map((item) => `${JSON.stringify(item)}\n`).join(''),
      end: () => '',
    }),
  },
  json: {
    extension: 'json',
    contentType: 'application/json; charset=utf-8',
    offeredBy: ['export', 'crawl', 'batch', 'scrape'],
    encoder: jsonEncoder,
  },
  csv: {
    extension: 'csv',
    contentType: 'text/csv; charset=utf-8',
    offeredBy: ['export', 'crawl', 'batch'],
    encoder: csvEncoder,
    hasColumns: true,
  },
} as const satisfies Record<string, ItemFormat>;

const TYPED_FORMATS = {
  parquet: {
    extension: 'parquet',
    contentType: 'application/vnd.apache.parquet',
    offeredBy: ['export', 'crawl'],
    about: 'a table with typed columns, for DuckDB, Spark and others',
    typedEncoder: async (columns) => (await import('./parquet/parquet.js')).parquetEncoder(columns),
  },
} as const satisfies Record<string, TypedFormat>;

const PAGE_FORMATS = {
  markdown: {
    extension: 'md',
    contentType: 'text/markdown; charset=utf-8',
    offeredBy: ['crawl', 'batch', 'scrape'],
    about: 'the whole page',
    page: ({ markdown }) => markdown.trim(),
    among: (page) => markdownAmong(page, page.markdown),
  },
  fit: {
    extension: 'md',
    contentType: 'text/markdown; charset=utf-8',
    offeredBy: ['crawl', 'batch', 'scrape'],
    about: 'markdown of the main content',
    page: ({ fit }) => fit.trim(),
    among: (page) => markdownAmong(page, page.fit),
  },
  text: {
    extension: 'txt',
    contentType: 'text/plain; charset=utf-8',
    offeredBy: ['crawl', 'batch', 'scrape'],
    page: ({ text }) => text.trim(),
    among: ({ url, title, text }) => `# ${title || url}\n${url}\n\n${text.trim()}\n\n\n`,
  },
  html: {
    extension: 'html',
    contentType: 'text/html; charset=utf-8',
    offeredBy: ['batch', 'scrape'],
    page: ({ html }) => html,
    among: ({ html }) => `${html}\n`,
  },
  links: {
    extension: 'txt',
    contentType: 'text/plain; charset=utf-8',
    offeredBy: ['batch', 'scrape'],
    about: 'one URL per line',
    page: ({ links }) => links.join('\n'),
    among: ({ links }) => links.map((url) => `${url}\n`).join(''),
  },
} as const satisfies Record<string, PageFormat>;

const FORMATS = { ...ITEM_FORMATS, ...TYPED_FORMATS, ...PAGE_FORMATS };

type FormatTable = typeof FORMATS;
export type ItemFormatName = keyof typeof ITEM_FORMATS;
export type TypedFormatName = keyof typeof TYPED_FORMATS;
export type PageFormatName = keyof typeof PAGE_FORMATS;

/** The names of the formats that `User` offers. */
export type FormatOf<User extends FormatUser> = {
  [Name in keyof FormatTable]: User extends FormatTable[Name]['offeredBy'][number] ? Name : never;
}[keyof FormatTable];

export function formatsOf<User extends FormatUser>(user: User): readonly FormatOf<User>[] {
  const names = Object.keys(FORMATS) as (keyof FormatTable)[];
  return names.filter((name) => (FORMATS[name].offeredBy as readonly FormatUser[]).includes(user)) as FormatOf<User>[];
}

/** `markdown: the whole page; …`, of the formats a command offers. */
export function formatHelp(user: FormatUser): string {
  const about = (name: keyof FormatTable): string[] => {
    const { about } = FORMATS[name] as Format;
    return about === undefined ? [] : [`${name}: ${about}`];
  };
  return formatsOf(user).flatMap(about).join('; ');
}

export function extensionOfFormat(name: keyof FormatTable): string {
  return FORMATS[name].extension;
}

export function contentTypeOfFormat(name: keyof FormatTable): string {
  return FORMATS[name].contentType;
}

/** Whether each page is a document of its own in this format, so that it can be a file of its own. */
export function isPageFormat(name: keyof FormatTable): name is PageFormatName {
  return Object.hasOwn(PAGE_FORMATS, name);
}

/** Whether the types of all columns are needed before the first item. */
export function isTypedFormat(name: keyof FormatTable): name is TypedFormatName {
  return Object.hasOwn(TYPED_FORMATS, name);
}

export function hasColumns(name: ItemFormatName): boolean {
  return 'hasColumns' in ITEM_FORMATS[name];
}

export function encoderOf(name: ItemFormatName, columns?: readonly string[], rawCells?: boolean): ItemEncoder {
  return (ITEM_FORMATS[name] as ItemFormat).encoder(columns, rawCells);
}

export function typedEncoderOf(name: TypedFormatName, columns: readonly Column[]): Promise<ItemEncoder> {
  return TYPED_FORMATS[name].typedEncoder(columns);
}

/** A page as it is printed, without a final line end. */
export function pageText(name: PageFormatName, page: PageParts): string {
  return PAGE_FORMATS[name].page(page);
}

/** A page as a file of its own: what a server sent as it is, what we wrote with a final line end. */
export function pageFileText(name: PageFormatName, page: PageParts): string {
  const text = pageText(name, page);
  return name === 'html' || text === '' ? text : `${text}\n`;
}

/** A page in a file of many pages. */
export function pageAmongOthers(name: PageFormatName, page: PageParts): string {
  return PAGE_FORMATS[name].among(page);
}

function jsonEncoder(): ItemEncoder {
  let before = '[';
  return {
    add(items) {
      if (items.length === 0) return '';
      const text = `${before}\n${items.map((item) => JSON.stringify(item)).join(',\n')}`;
      before = ',';
      return text;
    },
    end: () => (before === '[' ? '[]\n' : '\n]\n'),
  };
}

function csvEncoder(given?: readonly string[], rawCells = false): ItemEncoder {
  let columns = given;
  let isBegun = false;
  return {
    add(items) {
      const known = (columns ??= items[0] && Object.keys(items[0]));
      if (known === undefined || items.length === 0) return '';
      const rows = items.map((item) => csvRow(cellsOf(item, known), rawCells)).join('');
      const head = isBegun ? '' : csvRow(known, rawCells);
      isBegun = true;
      return head + rows;
    },
    end: () => (isBegun || columns === undefined ? '' : csvRow(columns, rawCells)),
  };
}

function markdownAmong({ url, heading }: PageParts, markdown: string): string {
  const text = markdown.trim();
  return heading === undefined
    ? `<!-- ${commentText(url)} -->\n\n${text}\n\n`
    : `# ${heading}\n\n<${url}>\n\n${text}\n\n---\n\n`;
}

/** Text that cannot end the HTML comment it stands in. */
function commentText(text: string): string {
  return text.replaceAll('--', '-&#45;').replaceAll('>', '&gt;');
}
