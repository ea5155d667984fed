// One result as `orcrawl scrape` and `orcrawl batch` write it: a line of JSON, a row, or the page itself.
// Promise: every line has the same fields in the same order; only the fields written are computed.
import { escapeText } from '../../extract/markdown/inline.js';
import type { CrawlResult } from '../../index.js';
import { cellsOf, csvRow } from '../../store/dataset/csv.js';
import { UsageError } from '../exit-codes.js';

export const BATCH_FORMATS = ['jsonl', 'json', 'csv', 'markdown', 'fit', 'text', 'html', 'links'] as const;
export type BatchFormat = (typeof BATCH_FORMATS)[number];

/** The fields of a result, by name. */
const FIELDS: Readonly<Record<string, (result: CrawlResult) => unknown>> = {
  url: ({ url }) => url,
  loadedUrl: ({ loadedUrl }) => loadedUrl,
  success: ({ success }) => success,
  statusCode: ({ statusCode }) => statusCode,
  errorCode: ({ errorCode }) => errorCode,
  errorMessage: ({ errorMessage }) => errorMessage,
  cacheStatus: ({ cacheStatus }) => cacheStatus,
  fetchedAt: ({ fetchedAt }) => fetchedAt,
  bytes: ({ bytes }) => bytes,
  title: ({ metadata }) => metadata?.title || null,
  metadata: ({ metadata }) => metadata,
  markdown: ({ markdown }) => markdown.raw,
  fit: fitMarkdown,
  links: ({ links }) => links,
  redirected: ({ redirected }) => redirected,
  headers: ({ headers }) => headers,
  engine: ({ engine }) => engine,
  html: ({ html }) => html,
  cleanedHtml: ({ cleanedHtml }) => cleanedHtml,
  text: ({ text }) => text,
  media: ({ media }) => media,
  tables: ({ tables }) => tables,
  timings: ({ timings }) => timings,
  dispatch: ({ dispatch }) => dispatch,
};

export const DEFAULT_FIELDS: readonly string[] = [
  'url',
  'loadedUrl',
  'success',
  'statusCode',
  'errorCode',
  'errorMessage',
  'cacheStatus',
  'fetchedAt',
  'bytes',
  'title',
  'metadata',
  'markdown',
  'links',
];

/** `a,b` as a list of known fields. */
export function parseFields(text: string): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  const unknown = names.filter((name) => !Object.hasOwn(FIELDS, name));
  if (names.length > 0 && unknown.length === 0) return names;
  throw new UsageError(`--fields: unknown field "${unknown[0] ?? ''}"; use ${Object.keys(FIELDS).join(', ')}`);
}

export function itemOf(result: CrawlResult, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((name) => [name, FIELDS[name]!(result)]));
}

/** What is written before, between and after the results. */
export const FRAMES: Readonly<Record<BatchFormat, (fields: readonly string[]) => [head: string, tail: string]>> = {
  jsonl: () => ['', ''],
  json: () => ['[', '\n]\n'],
  csv: (fields) => [csvRow(fields), ''],
  markdown: () => ['', ''],
  fit: () => ['', ''],
  text: () => ['', ''],
  html: () => ['', ''],
  links: () => ['', ''],
};

/** One result; failures appear only in formats that have a place for them. */
export function rendered(
  result: CrawlResult,
  format: BatchFormat,
  fields: readonly string[],
  isFirst: boolean,
): string {
  switch (format) {
    case 'jsonl':
      return `${JSON.stringify(itemOf(result, fields))}\n`;
    case 'json':
      return `${isFirst ? '' : ','}\n${JSON.stringify(itemOf(result, fields))}`;
    case 'csv':
      return csvRow(cellsOf(itemOf(result, fields), fields));
    case 'markdown':
    case 'fit':
      return result.success ? `<!-- ${commentText(result.url)} -->\n\n${pageFile(result, format).text}\n` : '';
    case 'text':
      if (!result.success) return '';
      return `# ${result.metadata?.title || result.url}\n${result.url}\n\n${result.text.trim()}\n\n\n`;
    case 'html':
      return result.success ? `${result.html}\n` : '';
    case 'links': {
      const { internal, external } = result.links;
      return [...internal, ...external].map(({ url }) => `${url}\n`).join('');
    }
    default:
      return format satisfies never;
  }
}

/** The main content under the page's title: it often starts after the title. */
export function fitMarkdown({ markdown, metadata }: CrawlResult): string {
  const fit = markdown.fit.trim();
  const title = (markdown.title ?? metadata?.title ?? '').replace(/\s+/g, ' ').trim();
  if (title === '' || /^# /m.test(fit)) return fit;
  return `# ${escapeText(title)}\n\n${fit}`.trim();
}

/** Text that cannot end its comment. */
function commentText(text: string): string {
  return text.replaceAll('--', '-&#45;').replaceAll('>', '&gt;');
}

/** Formats that can be one file per page. */
export type PageFormat = 'markdown' | 'fit' | 'text' | 'html' | 'links';

export function isPageFormat(format: BatchFormat): format is PageFormat {
  return format === 'markdown' || format === 'fit' || format === 'text' || format === 'html' || format === 'links';
}

/** The content of a page's own file. */
export function pageFile(result: CrawlResult, format: PageFormat): { extension: string; text: string } {
  if (format === 'html') return { extension: 'html', text: result.html };
  if (format === 'markdown') return { extension: 'md', text: `${result.markdown.raw.trim()}\n` };
  if (format === 'fit') return { extension: 'md', text: `${fitMarkdown(result)}\n` };
  if (format === 'links') return { extension: 'txt', text: rendered(result, 'links', [], true) };
  return { extension: 'txt', text: `${result.text.trim()}\n` };
}
