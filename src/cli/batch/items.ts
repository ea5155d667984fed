// What `orcrawl scrape` and `orcrawl batch` write per result: its fields, or the parts for page formats.
// Promise: every line has the same fields in the same order; only the fields written are computed.
import { escapeText } from '../../extract/markdown/inline.js';
import type { PageParts } from '../../store/formats.js';
import { UsageError } from '../exit-codes.js';
import { type Lack, lackOf } from '../pages/emptiness.js';
import { asColumns, columnOf } from '../flags/extract.js';
import type { ResultView } from './result-view.js';

/** The fields of a result, by name. */
const FIELDS: Readonly<Record<string, (result: ResultView) => unknown>> = {
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
  extracted: ({ extracted }) => extracted,
  duplicateOf: ({ duplicateOf }) => duplicateOf?.url ?? null,
  change: ({ change }) => change?.kind ?? null,
  diff: ({ change }) => change?.diff()?.text ?? null,
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

/** With a schema: what it found, in place of the page. */
export const EXTRACT_FIELDS: readonly string[] = [
  'url',
  'loadedUrl',
  'success',
  'statusCode',
  'errorCode',
  'errorMessage',
  'fetchedAt',
  'title',
  'extracted',
];

/** Fields that are made of a page's content: a page without any is worth a word. */
const CONTENT_FIELDS = new Set(['markdown', 'fit', 'text', 'cleanedHtml', 'tables', 'extracted']);

export function hasContent(fields: readonly string[]): boolean {
  return fields.some((name) => CONTENT_FIELDS.has(name.split('.')[0]!));
}

/** `a,b` as a list of known fields; those of a schema, `columns`, also by their own names. */
export function parseFields(text: string, columns: readonly string[] = []): string[] {
  const known = [...Object.keys(FIELDS), ...columns];
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
    .map((name) => (known.includes(name) || !columns.includes(columnOf(name)) ? name : columnOf(name)));
  const unknown = names.filter((name) => !known.includes(name));
  if (names.length > 0 && unknown.length === 0) return names;
  throw new UsageError(`--fields: unknown field "${unknown[0] ?? ''}"; use ${known.join(', ')}`);
}

export function itemOf(result: ResultView, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.map((name) => [name, FIELDS[name] ? FIELDS[name](result) : (asColumns(result.extracted)[name] ?? null)]),
  );
}

/** A result as page formats see it; each part is worked out when it is read. */
export function partsOf(result: ResultView): PageParts {
  return {
    url: result.url,
    get title() {
      return result.metadata?.title;
    },
    get text() {
      return result.text;
    },
    get markdown() {
      return result.markdown.raw;
    },
    get fit() {
      return fitMarkdown(result);
    },
    get html() {
      return result.html;
    },
    get links() {
      return [...result.links.internal, ...result.links.external].map(({ url }) => url);
    },
  };
}

/** The main content under the page's title: it often starts after the title. */
function fitMarkdown({ markdown, metadata }: ResultView): string {
  const fit = markdown.fit.trim();
  const title = (markdown.title ?? metadata?.title ?? '').replace(/\s+/g, ' ').trim();
  if (title === '' || /^# /m.test(fit)) return fit;
  return `# ${escapeText(title)}\n\n${fit}`.trim();
}

/** Why a fetched page has nothing to read. */
export function lackOfResult(result: ResultView, selector?: string): Lack | undefined {
  const contentType = result.headers['content-type'];
  return lackOf({
    url: result.url,
    contentType: contentType === undefined ? undefined : String(contentType),
    bytes: result.bytes,
    html: result.html,
    text: result.text,
    engine: result.engine,
    selector,
  });
}
