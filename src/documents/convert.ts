// Turns the bytes of a document into a page of HTML and its facts, whatever its format: what the child process does.
// Promise: each reader is loaded for the first document of its format.
import { decodeBody, detectEncoding } from '../parse/encoding/encoding.js';
import type { DocumentFormat } from './format.js';
import type { DocumentFacts, DocumentParts, ReadingHint } from './model.js';
import { pageOf, wordsOf } from './parts/html.js';

export interface ConvertedDocument {
  readonly html: string;
  readonly facts: DocumentFacts;
}

export async function convertDocument(
  bytes: Uint8Array,
  format: DocumentFormat,
  hint: ReadingHint,
): Promise<ConvertedDocument> {
  const parts = await readParts(bytes, format, hint);
  const facts: DocumentFacts = {
    format,
    author: null,
    description: null,
    keywords: null,
    language: null,
    createdAt: null,
    modifiedAt: null,
    pages: null,
    headings: [],
    ...parts.facts,
    title: parts.facts.title || titleIn(parts.body),
  };
  return { html: pageOf(parts, facts), facts };
}

async function readParts(bytes: Uint8Array, format: DocumentFormat, hint: ReadingHint): Promise<DocumentParts> {
  const text = () => decodeBody(bytes, detectEncoding(bytes, hint.contentType ?? null));
  const url = hint.url ?? undefined;
  switch (format) {
    case 'pdf':
      return (await import('./pdf/pdf.js')).readPdf(bytes);
    case 'docx':
      return (await import('./formats/docx.js')).readDocx(bytes);
    case 'xlsx':
      return (await import('./formats/xlsx.js')).readXlsx(bytes);
    case 'pptx':
      return (await import('./formats/pptx.js')).readPptx(bytes);
    case 'odt':
    case 'ods':
    case 'odp':
      return (await import('./formats/odf.js')).readOdf(bytes);
    case 'epub':
      return (await import('./formats/epub.js')).readEpub(bytes);
    case 'rtf':
      return (await import('./formats/rtf.js')).readRtf(bytes);
    case 'csv':
      return (await import('./formats/csv.js')).readCsv(text());
    case 'text':
      return (await import('./formats/plain.js')).readText(text());
    case 'markdown':
      return (await import('./formats/markdown.js')).readMarkdownText(text(), url);
    case 'json':
      return (await import('./formats/plain.js')).readJson(text(), url);
    case 'feed':
      return (await import('./formats/feed.js')).readFeed(text(), url);
    default:
      return format satisfies never;
  }
}

/** The words of the first heading, for a document that does not say its title. */
function titleIn(body: string): string | null {
  const start = body.slice(0, 20_000);
  const heading = /<h[1-3][^>]{0,40}>([^\n]*?)<\/h/.exec(start)?.[1];
  if (heading === undefined) return null;
  const text = wordsOf(heading).trim();
  return text === '' ? null : text.slice(0, 300);
}
