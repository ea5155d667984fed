// Packs a visited page for the content store: compressed once, before settling.
// Promise: packed bytes are written unchanged, to whichever directory; a compressed body is not compressed again.
import { gzipSync } from 'node:zlib';
import { withoutFragment } from '../../request/url.js';
import { surtOf, type FateFields, type IndexEntry } from './cdxj.js';
import { contentHash } from './names.js';
import type { PackedRecord } from './segment.js';
import { conversionRecord, gzipRecord, newRecordId, responseRecord, sha1Base32, type RawResponse } from './warc.js';
import { revisitRecord, type RevisitReason, type StoredOriginal } from './warc.js';

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
  /** The last response that is stored under this key: one with the same body is stored as a reference to it. */
  readonly original?: StoredOriginal | undefined;
}

/** A visit that was answered with 304: what is stored of it refers to the response that it confirmed. */
export type ConfirmedPage = Omit<ContentPage, 'text' | 'response' | 'original'> & {
  readonly response: Pick<RawResponse, 'headers' | 'ipAddress'>;
  readonly original: StoredOriginal;
};

/** A page ready to be appended. */
export interface PackedPage {
  readonly sha256: string;
  readonly text?: PackedRecord;
  readonly raw?: PackedRecord;
  /** Only the line, if nothing else is stored. */
  readonly bare?: PackedRecord;
  /** How a URL without a page ended. */
  readonly fate?: PackedRecord;
  /** The stored response that has this page's body: its own, or the one that it refers to. */
  readonly original?: StoredOriginal;
}

/** A URL that ended without a page, or was queued again afterwards. */
export interface UrlFate extends Pick<ContentPage, 'uniqueKey' | 'url' | 'loadedUrl' | 'depth'>, FateFields {
  /** Of the last response, if there was one. */
  readonly statusCode?: number | undefined;
  readonly contentType?: string | undefined;
  readonly endedAtMs: number;
}

/** Packs a fate: only an index line. */
export function packFate(fate: UrlFate): PackedPage {
  const { uniqueKey, url, loadedUrl, depth, statusCode = 0, contentType = '', endedAtMs } = fate;
  const { kind, code, attempts, crawl, message, record } = fate;
  const entry = { uniqueKey, url, loadedUrl, depth, statusCode, contentType, fetchedAtMs: endedAtMs, digest: '' };
  return {
    sha256: contentHash(uniqueKey),
    fate: { surt: surtOf(uniqueKey), entry: { ...entry, fate: { kind, code, attempts, crawl, message, record } } },
  };
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

  const packed: { -readonly [Part in keyof PackedPage]: PackedPage[Part] } = { sha256 };
  // With one file per page there is no older capture to refer to: the file is replaced.
  const original = options.layout === 'files' ? undefined : page.original;
  if (response && original && sha1Base32(response.body) === original.digest) {
    return packRevisit(entry, sha256, 'identical-payload-digest', original, response, options.gzipLevel);
  }
  if (response) {
    const { bytes, digest } = responseRecord({ ...head, recordId: responseId, response });
    const member = await gzipRecord(bytes, isCompressed(response) ? 0 : options.gzipLevel);
    packed.raw = { bytes: member, surt, entry: { ...entry, digest } };
    if (options.layout === 'segments') packed.original = { digest, fetchedAtMs };
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

/** Packs a page that the server confirmed: no body and no text, only that it was the same at this time. */
export function packConfirmed(page: ConfirmedPage, gzipLevel: number): PackedPage {
  const { original, response, ...entry } = page;
  const answer = { statusCode: NOT_MODIFIED, ...response };
  return packRevisit(entry, contentHash(page.uniqueKey), 'server-not-modified', original, answer, gzipLevel);
}

const NOT_MODIFIED = 304;

function packRevisit(
  entry: Omit<IndexEntry, 'digest'>,
  sha256: string,
  reason: RevisitReason,
  original: StoredOriginal,
  response: Omit<RawResponse, 'body' | 'bodyIs'>,
  gzipLevel: number,
): PackedPage {
  const { uniqueKey, url, loadedUrl, fetchedAtMs: dateMs } = entry;
  const targetUri = withoutFragment(loadedUrl ?? url);
  const { bytes, digest } = revisitRecord({ targetUri, dateMs, reason, original, response });
  const raw = {
    // Only headers, of which a client accepts a few kilobytes.
    bytes: gzipSync(bytes, { level: gzipLevel }),
    surt: surtOf(uniqueKey),
    entry: { ...entry, digest, originalAtMs: original.fetchedAtMs },
  };
  return { sha256, raw, original };
}

/** Compressing twice gains nothing: level 0 makes the member a wrapper. */
function isCompressed({ bodyIs, headers }: RawResponse): boolean {
  const encoding = headers['content-encoding'];
  return bodyIs === 'as-received' && encoding !== undefined && String(encoding) !== 'identity';
}
