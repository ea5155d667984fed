// A result as it is written: the same of a page that was read here and of one that another process read.
// Promise: only what is written is worked out; a part that cannot be read fails where it is read.
import type { CrawlResult } from '../../index.js';
import type { Simhash } from '../../fresh/duplicates/simhash.js';
import { isPageFormat } from '../../store/formats.js';
import type { Lack } from '../pages/emptiness.js';
import type { BatchFormat } from './output.js';

const FACTS = [
  'url',
  'loadedUrl',
  'redirected',
  'success',
  'statusCode',
  'headers',
  'errorMessage',
  'errorCode',
  'engine',
  'screenshot',
  'pdf',
  'cacheStatus',
  'fetchedAt',
  'bytes',
  'timings',
  'duplicateOf',
  'change',
  'dispatch',
] as const;
/** Worked out of the page. */
const PARTS = ['html', 'cleanedHtml', 'text', 'links', 'media', 'metadata', 'tables', 'extracted'] as const;

export type Part = (typeof PARTS)[number] | 'raw' | 'fit';

export type ResultView = Pick<CrawlResult, (typeof FACTS)[number] | (typeof PARTS)[number]> & {
  readonly markdown: Pick<CrawlResult['markdown'], 'raw' | 'fit' | 'title'>;
};

/** A result on its way between processes. */
export interface SentResult {
  readonly facts: Pick<CrawlResult, (typeof FACTS)[number]>;
  /** Undefined when the page cannot be read. */
  readonly parts: Readonly<Record<string, unknown>> | undefined;
  readonly lack: Lack | undefined;
  /** Where pages are compared, of a page that was fetched. */
  readonly simhash?: Simhash | undefined;
}

const PARTS_OF_FIELDS: Readonly<Record<string, readonly Part[]>> = {
  title: ['metadata'],
  metadata: ['metadata'],
  markdown: ['raw'],
  fit: ['fit', 'metadata'],
  links: ['links'],
  html: ['html'],
  cleanedHtml: ['cleanedHtml'],
  text: ['text'],
  media: ['media'],
  tables: ['tables'],
  extracted: ['extracted'],
};

/** What of a page goes into the output. */
export function partsWanted(format: BatchFormat, fields: readonly string[]): Part[] {
  const names = isPageFormat(format) ? [format, 'title'] : fields;
  return [...new Set(names.flatMap((name) => PARTS_OF_FIELDS[name.split('.')[0]!] ?? []))];
}

export function sentResult(result: CrawlResult, wanted: readonly Part[], lack: Lack | undefined): SentResult {
  const facts = Object.fromEntries(FACTS.map((name) => [name, result[name]])) as SentResult['facts'];
  try {
    const parts = wanted.map((name) => [name, name === 'raw' || name === 'fit' ? result.markdown[name] : result[name]]);
    const title = wanted.includes('fit') ? result.markdown.title : undefined;
    return { facts, parts: { ...Object.fromEntries(parts), title }, lack };
  } catch {
    return { facts, parts: undefined, lack };
  }
}

export function viewOf({ facts, parts }: SentResult): ResultView {
  const part = (name: string): never => {
    if (parts === undefined) throw new Error('the page cannot be read');
    return parts[name] as never;
  };
  const markdown = {
    get raw() {
      return part('raw');
    },
    get fit() {
      return part('fit');
    },
    get title() {
      return part('title');
    },
  };
  const view = { ...facts, markdown };
  for (const name of PARTS) Object.defineProperty(view, name, { get: () => part(name), enumerable: true });
  return view as unknown as ResultView;
}
