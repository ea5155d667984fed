// Where a navigation meets documents: which responses are read as such, and the one call that reads them.
// Promise: the readers load with the first document; a response that is not wanted as a document is untouched.
import type { DocumentFormat } from '../../documents/format.js';
import { documentFormatOf, isTextual } from '../../documents/format.js';
import { type Capture, bytesOf } from '../../fetch/engine.js';
import { contentTypeOf, headerOf } from './content-type.js';

/** `markdown`: only that; `files`: what cannot be read as text, and markdown; `all`: text, JSON and feeds too. */
export type DocumentWish = 'markdown' | 'files' | 'all' | undefined;

/** The format of a response that is to be read as a document. */
export function wantedFormat(capture: Capture, wish: DocumentWish): DocumentFormat | undefined {
  if (wish === undefined || capture.stream || capture.statusCode >= 400) return undefined;
  const disposition = capture.headers['content-disposition'];
  const format = documentFormatOf(
    {
      type: headerOf(capture) === undefined ? '' : contentTypeOf(capture).type,
      url: capture.loadedUrl,
      disposition: Array.isArray(disposition) ? disposition[0] : disposition,
    },
    bytesOf(capture),
  );
  return format !== undefined && WANTED[wish](format) ? format : undefined;
}

const WANTED: Readonly<Record<NonNullable<DocumentWish>, (format: DocumentFormat) => boolean>> = {
  markdown: (format) => format === 'markdown',
  files: (format) => !isTextual(format),
  all: () => true,
};

/** Whether a crawl that follows links follows those of this page: markdown that was asked for is the page itself. */
export function leadsOn(
  document: { readonly format: string } | undefined,
  settings: { readonly documents?: boolean | 'follow' | undefined; readonly acceptMarkdown?: boolean | undefined },
): boolean {
  if (!document || settings.documents === 'follow') return true;
  return document.format === 'markdown' && settings.acceptMarkdown === true;
}

/** Reads a response as a document, which it then carries. */
export async function readAsDocument(capture: Capture, format: DocumentFormat): Promise<void> {
  const { readDocument } = await import('../../documents/documents.js');
  const hint = { url: capture.loadedUrl, contentType: headerOf(capture) };
  capture.document = await readDocument(bytesOf(capture), format, hint);
}
