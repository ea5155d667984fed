// The item that `orcrawl crawl` stores per page, fetched over HTTP or in a browser.
// Promise: every item is flat and has the same fields in the same order, so it fits a table.
import { createResultContent, type ResultContent } from '../../crawl/page/result-content.js';
import type { ContentOptions } from '../../extract/content-options.js';
import { needsScripts } from '../../crawl/navigate/rendering.js';
import { isMarkup } from '../../crawl/navigate/content-type.js';
import type { Capture } from '../../fetch/engine.js';
import type { DocumentFacts } from '../../documents/documents.js';
import { hideLogins } from '../../request/login.js';
import { extractWithModel, type PageContent, type RunConfig } from '../../index.js';
import { asColumns, columnsOf } from '../flags/extract.js';

export interface PageItem {
  readonly url: string;
  readonly loadedUrl: string;
  readonly status: number;
  readonly title: string | null;
  readonly description: string | null;
  readonly language: string | null;
  readonly contentType: string;
  /** Of the decoded body. */
  readonly bytes: number;
  readonly depth: number;
  readonly fetchedAt: string;
  readonly text: string;
  readonly links?: readonly string[];
  /** The main content; only with --format markdown or fit. */
  readonly markdown?: string;
  /** What --schema or --prompt found. */
  readonly extracted?: unknown;
}

/** A page as any of the crawlers gives it. */
export interface CrawledPage {
  readonly url: string;
  readonly loadedUrl: string;
  readonly depth: number;
  readonly statusCode: number;
  readonly contentType: string;
  readonly encoding: string;
  readonly body: Buffer;
  readonly content: PageContent;
  /** Of a PDF or another file that was read as a document. */
  readonly document?: DocumentFacts | undefined;
  readonly engine: 'http' | 'browser';
}

export interface ItemWishes {
  readonly links?: boolean | undefined;
  readonly markdown?: boolean;
  readonly selector?: string | undefined;
  readonly content?: ContentOptions | undefined;
  readonly extract?: RunConfig['extract'];
  /** For CSV and Parquet: each field of a schema is a column. */
  readonly isTable?: boolean;
}

export async function pageItem(page: CrawledPage, wishes: ItemWishes): Promise<PageItem> {
  const hasMarkup = isMarkup(page.contentType) || page.document !== undefined;
  const content = hasMarkup ? page.content : undefined;
  const { selector, extract } = wishes;
  const chosen = selector === undefined && extract === undefined ? undefined : chosenContent(page, wishes);
  const item: PageItem = {
    url: hideLogins(page.url),
    loadedUrl: hideLogins(page.loadedUrl),
    status: page.statusCode,
    title: content?.title || null,
    description: content?.metadata.description || null,
    language: content?.language ?? null,
    contentType: page.contentType,
    bytes: page.body.length,
    depth: page.depth,
    fetchedAt: new Date().toISOString(),
    text: selector === undefined ? (content?.text ?? plainText(page)) : chosen!.text,
  };
  const anchors = wishes.links ? (content?.links.filter(({ element }) => element === 'a') ?? []) : [];
  const markdown = () =>
    selector === undefined ? (content?.main(wishes.content).markdown ?? item.text) : chosen!.markdown.raw || item.text;
  return {
    ...item,
    ...(wishes.links ? { links: [...new Set(anchors.map(({ url }) => url))] } : {}),
    ...(wishes.markdown ? { markdown: markdown() } : {}),
    ...(extract === undefined ? {} : extractedParts(await extractedFrom(chosen!, extract), wishes)),
  };
}

/** As one value, or in a table as a column per field. */
function extractedParts(extracted: unknown, { extract, isTable }: ItemWishes): object {
  const columns = isTable ? columnsOf(extract) : [];
  if (columns.length === 0) return { extracted };
  const values = asColumns(extracted);
  return Object.fromEntries(columns.map((name) => [name, values[name] ?? null]));
}

/** Whether the page is a shell that scripts would fill. */
export function isShell({ engine, statusCode, body, loadedUrl, contentType }: CrawledPage): boolean {
  return engine === 'http' && statusCode < 400 && needsScripts(body, loadedUrl, contentType);
}

/** The part that --selector names, and the fields of --schema. */
function chosenContent(page: CrawledPage, { selector, content, extract }: ItemWishes): ResultContent {
  const capture: Capture = {
    url: page.url,
    loadedUrl: page.loadedUrl,
    redirectChain: [],
    statusCode: page.statusCode,
    headers: { 'content-type': `${page.contentType}; charset=${page.encoding}` },
    body: page.body,
    wireBytes: page.body.length,
    timings: { startedAtMs: 0, headersMs: 0, totalMs: 0 },
  };
  return createResultContent(capture, { cssSelector: selector, content, extract });
}

async function extractedFrom(content: ResultContent, extract: NonNullable<RunConfig['extract']>): Promise<unknown> {
  if (extract.engine !== 'model') return content.extracted ?? null;
  const { engine: _, ...asked } = extract;
  const { fit, raw } = content.markdown;
  return (await extractWithModel(fit || raw, asked)).data;
}

/** Text files and JSON unchanged; none for images, archives etc. */
function plainText({ contentType, body, encoding }: CrawledPage): string {
  const isText = contentType.startsWith('text/') || /[/+]json$/.test(contentType);
  if (!isText) return '';
  try {
    return new TextDecoder(encoding).decode(body);
  } catch {
    return body.toString('utf8');
  }
}
