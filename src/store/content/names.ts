// Where content is: the data directory of a page, and the names of its files.
// Promise: a page's directory depends only on its key; a segment's name is never reused and identifies its writer.
import { hash } from 'node:crypto';
import { newSegmentStem } from '../segments/segment-names.js';

/** The folder in each data directory. */
export const CONTENT_FOLDER = 'content';
/** Prefix of the note keys of all content segments. */
export const CONTENT_KEY_PREFIX = 'content/';

/**
 * `text`: WET. `raw`: WARC. `pages`: an index without a segment, for pages in their own files or without content.
 * `fates`: an index without a segment, of URLs that failed or were skipped.
 */
export type SegmentKind = 'text' | 'raw' | 'pages' | 'fates';

const ENDINGS = { text: '.warc.wet.gz', raw: '.warc.gz', pages: '.pages.cdxj', fates: '.fates.cdxj' } as const;
const NAME = /^\d{6,}-content-(.+)-[0-9a-f]{12}(\.warc\.wet\.gz|\.warc\.gz|\.pages\.cdxj|\.fates\.cdxj)$/;
/** Suffix of an index that is still being written. Sorted ones do not have it, as archive tools expect. */
export const TAIL_ENDING = '.tail';

/** SHA-256 of a unique key, in hex: its file name, and the source of its directory. */
export function contentHash(uniqueKey: string): string {
  return hash('sha256', uniqueKey, 'hex');
}

/** Which of `count` data directories a page belongs to. */
export function homeDirectory(sha256: string, count: number): number {
  return Number.parseInt(sha256.slice(0, 8), 16) % count;
}

export function newContentName(existing: readonly string[], writerId: string, kind: SegmentKind): string {
  return newSegmentStem(existing, 'content', writerId) + ENDINGS[kind];
}

export interface ContentName {
  readonly kind: SegmentKind;
  readonly writerId: string;
}

export function parseContentName(file: string): ContentName | undefined {
  const [, writerId, ending] = NAME.exec(file) ?? [];
  if (writerId === undefined) return undefined;
  const kinds = Object.keys(ENDINGS) as SegmentKind[];
  return { kind: kinds.find((kind) => ENDINGS[kind] === ending)!, writerId };
}

/** The sorted index of a segment. */
export function indexNameOf(segment: string): string {
  return segment.endsWith('.gz') ? `${segment.slice(0, -'.gz'.length)}.cdxj` : segment;
}

/** The segment of an index, sorted or not; undefined if the file is not an index. */
export function segmentOfIndex(file: string): string | undefined {
  const index = file.endsWith(TAIL_ENDING) ? file.slice(0, -TAIL_ENDING.length) : file;
  if (!index.endsWith('.cdxj')) return undefined;
  const isAlone = index.endsWith(ENDINGS.pages) || index.endsWith(ENDINGS.fates);
  const segment = isAlone ? index : `${index.slice(0, -'.cdxj'.length)}.gz`;
  return parseContentName(segment) === undefined ? undefined : segment;
}

/** Whether a segment is only an index. */
export function isIndexOnly(kind: SegmentKind): boolean {
  return kind === 'pages' || kind === 'fates';
}

/** What a stored file contains. */
export function contentKindOf(filename: string): 'text' | 'raw' | undefined {
  if (filename.endsWith('.txt') || filename.endsWith(ENDINGS.text)) return 'text';
  return filename.endsWith(ENDINGS.raw) ? 'raw' : undefined;
}
