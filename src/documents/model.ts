// What every reader of a document gives, and how it fails: the words that the child process and its owner share.
import type { ErrorCode } from '../errors.js';
import type { DocumentFormat } from './format.js';

/** A heading of a document, with the page on which it stands. */
export interface DocumentHeading {
  /** From 1. */
  readonly level: number;
  /** Without markup. */
  readonly text: string;
  /** From 1. */
  readonly page: number;
}

/** What a document says about itself. */
export interface DocumentFacts {
  /** Told by its bytes; the Content-Type and the name are only hints. */
  readonly format: DocumentFormat;
  /** From its properties. */
  readonly title: string | null;
  /** From its properties. */
  readonly author: string | null;
  /** The subject or comment of its properties. */
  readonly description: string | null;
  /** As they stand in its properties, unsplit. */
  readonly keywords: string | null;
  /** A language tag such as `de-CH`, where the document names one. */
  readonly language: string | null;
  /** ISO 8601. */
  readonly createdAt: string | null;
  /** ISO 8601, by what the document says. */
  readonly modifiedAt: string | null;
  /** Pages of a PDF, slides of a presentation, sheets of a workbook; null where a file has none. */
  readonly pages: number | null;
  /** The headings of a PDF, with their pages. */
  readonly headings: readonly DocumentHeading[];
}

/** What a reader found: its facts, and the content as the inside of a `<body>`. */
export interface DocumentParts {
  readonly facts: Partial<Omit<DocumentFacts, 'format'>>;
  readonly body: string;
}

/** What a reader is given besides the bytes. */
export interface ReadingHint {
  readonly url?: string | null | undefined;
  /** The header that names the encoding of text. */
  readonly contentType?: string | null | undefined;
}

export type DocumentErrorCode = Extract<ErrorCode, `DOCUMENT_${string}`>;

/** Why a document cannot be read. Travels between processes as its code and message. */
export class DocumentFailure extends Error {
  constructor(
    readonly code: DocumentErrorCode,
    message: string,
  ) {
    super(message);
  }
}
