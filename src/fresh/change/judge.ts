// What a visit finds of a page, compared with what is remembered of it.
// Promise: a page whose bytes are the same is not parsed; else the normalised main content decides, not its furniture.
import { hash } from 'node:crypto';
import { fingerprintOf } from '../../request/fingerprint.js';
import { simhashOf, type Simhash } from '../duplicates/simhash.js';
import type { KnownPage } from '../memory/memory.js';
import { newPage, NO_HASH } from '../memory/new-page.js';
import { type Hash64, isSameHash, type RememberedPage } from '../memory/page-row.js';
import { normaliseContent } from './normalise.js';

/** A page that was fetched; its texts are worked out when asked for. */
export interface FetchedPage {
  readonly statusCode: number;
  /** To be read now, not to be held on to. */
  readonly bytes: Uint8Array;
  /** The text of the main content. */
  mainText(): string;
  /** The text of the whole page. */
  wholeText(): string;
}

/** What was found, and what is remembered of it. The rate and the next visit are others' to decide. */
export interface Judgement {
  readonly page: RememberedPage;
  /** Of pages that were read, not of those whose bytes were known. */
  readonly simhash?: Simhash;
}

/** These say that the page is not there any more; other errors say nothing about the page. */
const GONE: ReadonlySet<number> = new Set([404, 410]);

export const isThere = (page: Pick<RememberedPage, 'statusCode'>): boolean => page.statusCode < 400;

export function judge(known: KnownPage | undefined, fetched: FetchedPage, nowSecs: number): Judgement {
  const { statusCode } = fetched;
  const before = known && known.page.visits > 0 ? known.page : undefined;
  if (statusCode >= 400) return { page: missingPage(before, statusCode, nowSecs) };
  const bodyHash = hashOf(fetched.bytes);
  const seenAgain = before && isThere(before) ? seen(before, nowSecs) : undefined;
  if (seenAgain && isSameHash(bodyHash, seenAgain.bodyHash) && !seenAgain.hashIsOfText) {
    return { page: { ...seenAgain, statusCode, found: 'same' } };
  }
  const text = normaliseContent(fetched.mainText());
  const simhash = simhashOf(text);
  const hashes = { bodyHash, contentHash: fingerprintOf(text), simhash: { hi: simhash.hi, lo: simhash.lo } };
  if (!seenAgain) {
    const page = { ...newPage(nowSecs, statusCode), ...hashes, visits: (before?.visits ?? 0) + 1 };
    return { page: { ...page, changes: before?.changes ?? 0 }, simhash };
  }
  const isSame = seenAgain.hashIsOfText
    ? isSameHash(textHashOf(fetched.wholeText()), seenAgain.contentHash)
    : isSameHash(hashes.contentHash, seenAgain.contentHash);
  const page = { ...seenAgain, ...hashes, statusCode, hashIsOfText: false };
  if (isSame) return { page: { ...page, found: 'same' }, simhash };
  return { page: { ...page, found: 'changed', changes: page.changes + 1, changedAt: nowSecs }, simhash };
}

/** The server says that it has not changed. */
export function confirmed(before: RememberedPage, nowSecs: number): RememberedPage {
  return { ...seen(before, nowSecs), found: 'same', confirmedBy304: before.confirmedBy304 + 1 };
}

/** By which a release without a page memory can be compared: what its items have is the text of the page. */
export function textHashOf(wholeText: string): Hash64 {
  return fingerprintOf(normaliseContent(wholeText));
}

function seen(before: RememberedPage, nowSecs: number): RememberedPage {
  return { ...before, visitedAt: nowSecs, visits: before.visits + 1, confirmedBy304: 0 };
}

function missingPage(before: RememberedPage | undefined, statusCode: number, nowSecs: number): RememberedPage {
  if (!before) return { ...newPage(nowSecs, statusCode), found: 'same' };
  const page = seen(before, nowSecs);
  if (!isThere(before)) return { ...page, statusCode, found: 'same' };
  if (!GONE.has(statusCode)) return { ...page, found: 'same' };
  const none = { bodyHash: NO_HASH, contentHash: NO_HASH, simhash: NO_HASH };
  return { ...page, ...none, statusCode, found: 'removed', changes: page.changes + 1, changedAt: nowSecs };
}

function hashOf(bytes: Uint8Array): Hash64 {
  const digest = Buffer.from(hash('sha1', bytes, 'base64'), 'base64');
  return { hi: digest.readUInt32BE(0), lo: digest.readUInt32BE(4) };
}
