// What is remembered of one page, and its packed form.
// Promise: key and row together take at most 64 bytes per URL; what does not fit is capped, never wrapped around.
import type { Fingerprint } from '../../request/fingerprint.js';

/** 64 bits of a hash. */
export type Hash64 = Fingerprint;

/** What is remembered of a page besides its names. Times are whole seconds since 1970; 0 means never. */
export interface RememberedPage {
  /** The last visit, whatever it found. */
  readonly visitedAt: number;
  /** The visit that last found the page changed, or new. */
  readonly changedAt: number;
  /** When it is due again; 0 if it is not planned. */
  readonly nextVisitAt: number;
  readonly statusCode: number;
  readonly depth: number;
  readonly bodyHash: Hash64;
  /** Of the normalised main content. */
  readonly contentHash: Hash64;
  readonly simhash: Hash64;
  readonly visits: number;
  readonly changes: number;
  /** The rate of change as a Gamma distribution: shape, and scale in seconds. */
  readonly shape: number;
  readonly scaleSecs: number;
  /** From 1 / 4096 to 4096, in steps of about 7 %. */
  readonly importance: number;
  /** The number of the update that last visited it, modulo 65,536. */
  readonly run: number;
  /** The hash is of the whole text of the page: written by a release without a memory of pages. */
  readonly hashIsOfText: boolean;
  /** How many visits in a row were answered with 304, up to 31. */
  readonly confirmedBy304: number;
  /** What the last visit found. */
  readonly found: ChangeKind;
}

/** What a visit finds of a page: compared with the visit before. */
export type ChangeKind = 'new' | 'same' | 'changed' | 'removed';

export const ROW_BYTES = 55;
/** The key is the fingerprint of the URL. */
export const KEY_BYTES = 8;

const RUN_OF_304 = 0x1f;
const OF_TEXT = 0x20;
const FOUND_AT = 6;
const VISITS_AT = 40;
const FOUND: readonly ChangeKind[] = ['same', 'new', 'changed', 'removed'];

export function packPage(page: RememberedPage): Buffer {
  const row = Buffer.allocUnsafe(ROW_BYTES);
  row[0] =
    (FOUND.indexOf(page.found) << FOUND_AT) |
    (page.hashIsOfText ? OF_TEXT : 0) |
    Math.min(page.confirmedBy304, RUN_OF_304);
  row[1] = Math.min(page.depth, 255);
  row.writeUInt16BE(Math.min(page.statusCode, 65_535), 2);
  row.writeUInt32BE(page.visitedAt >>> 0, 4);
  row.writeUInt32BE(page.changedAt >>> 0, 8);
  row.writeUInt32BE(page.nextVisitAt >>> 0, 12);
  writeHash(row, page.bodyHash, 16);
  writeHash(row, page.contentHash, 24);
  writeHash(row, page.simhash, 32);
  row.writeUInt16BE(Math.min(page.visits, 65_535), VISITS_AT);
  row.writeUInt16BE(Math.min(page.changes, 65_535), 42);
  row.writeFloatBE(page.shape, 44);
  row.writeFloatBE(page.scaleSecs, 48);
  row[52] = packImportance(page.importance);
  row.writeUInt16BE(page.run % 65_536, 53);
  return row;
}

/** Undefined when the bytes are not a row. */
export function unpackPage(row: Buffer): RememberedPage | undefined {
  if (row.length !== ROW_BYTES) return undefined;
  const flags = row[0]!;
  return {
    visitedAt: row.readUInt32BE(4),
    changedAt: row.readUInt32BE(8),
    nextVisitAt: row.readUInt32BE(12),
    statusCode: row.readUInt16BE(2),
    depth: row[1]!,
    bodyHash: readHash(row, 16),
    contentHash: readHash(row, 24),
    simhash: readHash(row, 32),
    visits: row.readUInt16BE(VISITS_AT),
    changes: row.readUInt16BE(42),
    shape: row.readFloatBE(44),
    scaleSecs: row.readFloatBE(48),
    importance: unpackImportance(row[52]!),
    run: row.readUInt16BE(53),
    hashIsOfText: (flags & OF_TEXT) !== 0,
    confirmedBy304: flags & RUN_OF_304,
    found: FOUND[flags >>> FOUND_AT]!,
  };
}

/** Whether a row is of a page that is known by name only: a link led to it, and nobody visited it. */
export const isFoundOnly = (row: Buffer): boolean => row.readUInt16BE(VISITS_AT) === 0;

/**
 * Whether a page takes the place of what is known. One that was only found does not take that of a page that was visited,
 * nor that of one that waits for longer.
 */
export function replaces(page: RememberedPage, known: RememberedPage | undefined): boolean {
  if (!known || page.visits > 0) return true;
  return known.visits === 0 && known.nextVisitAt < page.nextVisitAt;
}

export function packKey({ hi, lo }: Fingerprint): Buffer {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  key.writeUInt32BE(hi, 0);
  key.writeUInt32BE(lo, 4);
  return key;
}

export function unpackKey(key: Buffer, at = 0): Fingerprint {
  return readHash(key, at);
}

export const isSameHash = (a: Hash64, b: Hash64): boolean => a.hi === b.hi && a.lo === b.lo;

function writeHash(row: Buffer, { hi, lo }: Hash64, at: number): void {
  row.writeUInt32BE(hi >>> 0, at);
  row.writeUInt32BE(lo >>> 0, at + 4);
}

function readHash(row: Buffer, at: number): Hash64 {
  return { hi: row.readUInt32BE(at), lo: row.readUInt32BE(at + 4) };
}

/** Twelve doublings up and down, over 254 steps; 128 is exactly 1. */
const STEPS_PER_DOUBLING = 127 / 12;

function packImportance(importance: number): number {
  const steps = Math.round(Math.log2(importance) * STEPS_PER_DOUBLING);
  return Math.min(255, Math.max(1, 128 + steps));
}

function unpackImportance(byte: number): number {
  return 2 ** ((byte - 128) / STEPS_PER_DOUBLING);
}
