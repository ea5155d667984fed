// What `orcrawl scrape` and `orcrawl batch` write of a result: its fields, or the parts that page formats take.
// Promise: every line has the same fields in the same order; only what is written is worked out.
import { escapeText } from '../../extract/markdown/inline.js';
import type { CrawlResult } from '../../index.js';
import type { PageParts } from '../../store/formats.js';
import { UsageError } from '../exit-codes.js';

/** What can be written of a result, by name. */
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
  throw new UsageError(`--fields: no field "${unknown[0] ?? ''}"; there are ${Object.keys(FIELDS).join(', ')}`);
}

export function itemOf(result: CrawlResult, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((name) => [name, FIELDS[name]!(result)]));
}

/** A result as page formats see it; each part is worked out when it is read. */
export function partsOf(result: CrawlResult): PageParts {
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

/** The main content under the page's title: what is chosen as content often begins after it. */
function fitMarkdown({ markdown, metadata }: CrawlResult): string {
  const fit = markdown.fit.trim();
  const title = (markdown.title ?? metadata?.title ?? '').replace(/\s+/g, ' ').trim();
  if (title === '' || /^# /m.test(fit)) return fit;
  return `# ${escapeText(title)}\n\n${fit}`.trim();
}
