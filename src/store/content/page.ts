// Packs a visited page for the content store: compressed once, before settling.
// Promise: packed bytes are written unchanged, to whichever directory; a compressed body is not compressed again.
import { surtOf, type IndexEntry } from './cdxj.js';
import { contentHash } from './names.js';
import type { PackedRecord } from './segment.js';
import { conversionRecord, gzipRecord, newRecordId, responseRecord, sha1Base32, type RawResponse } from './warc.js';

/** A visited page. */
export interface ContentPage {
  /** The normalised URL: the lookup key, and the source of its directory. */
  readonly uniqueKey: string;
  readonly url: string;
  /** Where the body came from, after redirects. */
  readonly loadedUrl?: string;
  readonly statusCode: number;
  readonly fetchedAtMs: number;
  readonly contentType: string;
  readonly depth: number;
  /** The page's text; stored with `extractText`. */
  readonly text?: string;
  /** The response; stored with `storeRawHtml`. */
  readonly response?: RawResponse;
}

/** A page ready to be appended. */
export interface PackedPage {
  readonly sha256: string;
  readonly text?: PackedRecord;
  readonly raw?: PackedRecord;
  /** Only the line, if nothing else is stored. */
  readonly bare?: PackedRecord;
}

export interface PackOptions {
  readonly storeRawHtml: boolean;
  readonly extractText: boolean;
  readonly layout: 'segments' | 'files';
  readonly gzipLevel: number;
}

export async function packPage(page: ContentPage, options: PackOptions): Promise<PackedPage> {
  const { uniqueKey, url, loadedUrl, statusCode, fetchedAtMs, contentType, depth } = page;
  const surt = surtOf(uniqueKey);
  const sha256 = contentHash(uniqueKey);
  const entry = {
    uniqueKey,
    url,
    loadedUrl,
    statusCode,
    fetchedAtMs,
    contentType,
    depth,
  } satisfies Partial<IndexEntry>;
  const head = { targetUri: withoutFragment(loadedUrl ?? url), dateMs: fetchedAtMs };
  const response = options.storeRawHtml ? page.response : undefined;
  const text = options.extractText ? page.text : undefined;
  const responseId = response && newRecordId();

  const packed: { sha256: string; text?: PackedRecord; raw?: PackedRecord; bare?: PackedRecord } = { sha256 };
  if (response) {
    const { bytes, digest } = responseRecord({ ...head, recordId: responseId, response });
    const member = await gzipRecord(bytes, isCompressed(response) ? 0 : options.gzipLevel);
    packed.raw = { bytes: member, surt, entry: { ...entry, digest } };
  }
  if (text !== undefined) {
    const utf8 = Buffer.from(text);
    if (options.layout === 'files') packed.text = { bytes: utf8, surt, entry: { ...entry, digest: sha1Base32(utf8) } };
    else {
      const { bytes, digest } = conversionRecord({ ...head, text: utf8, refersTo: responseId });
      packed.text = { bytes: await gzipRecord(bytes, options.gzipLevel), surt, entry: { ...entry, digest } };
    }
  }
  if (!packed.raw && !packed.text) packed.bare = { surt, entry: { ...entry, digest: '' } };
  return packed;
}

/** The requested URL: a fragment is never sent. */
function withoutFragment(url: string): string {
  const end = url.indexOf('#');
  return end < 0 ? url : url.slice(0, end);
}

/** Compressing twice gains nothing: level 0 makes the member a wrapper. */
function isCompressed({ bodyIs, headers }: RawResponse): boolean {
  const encoding = headers['content-encoding'];
  return bodyIs === 'as-received' && encoding !== undefined && String(encoding) !== 'identity';
}
