// What to keep of a page: fields by selector, and its main content as markdown.
import type { CrawlResult, RunConfig } from 'orcrawl';

export const CONFIG = {
  extract: {
    engine: 'css',
    fields: {
      heading: { selector: 'h1' },
      published: { selector: 'time', attribute: 'datetime', type: 'date' },
    },
  },
} as const satisfies RunConfig;

export interface PageRecord {
  url: string;
  /** Why there is no page; see the error codes of orcrawl. */
  error?: string | null;
  title?: string | undefined;
  fields?: unknown;
  markdown?: string;
}

export function recordOf(result: CrawlResult): PageRecord {
  const { url, success, errorCode, metadata, extracted, markdown } = result;
  if (!success) return { url, error: errorCode };
  return { url, title: metadata?.title, fields: extracted, markdown: markdown.fit };
}
