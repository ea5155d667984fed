// Bodies in reused memory: lent while a page is read, returned when it is no longer in use.
// Promise: kept bytes (`keep`) are never overwritten; reading after the return decodes the same bytes again.
import { gunzipIntoOf } from './gunzip-into.js';

/** Pieces of memory are powers of two from this size on. */
const LEAST_BYTES = 64 * 1024;
/** Bodies beyond this are rare, and would be most of what is kept. */
const MOST_BYTES = 4 * 1024 * 1024;
/** What waits for the next body comes to this at most. */
const KEPT_BYTES = 8 * 1024 * 1024;

const waiting: Buffer[] = [];
let waitingBytes = 0;

/** The smallest piece that waits and is large enough, or a new one. */
function takePiece(bytes: number): Buffer {
  let best = -1;
  for (let k = 0; k < waiting.length; k++) {
    const { length } = waiting[k]!;
    if (length >= bytes && (best < 0 || length < waiting[best]!.length)) best = k;
  }
  if (best < 0) return Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(Math.max(bytes, LEAST_BYTES))));
  const piece = waiting[best]!;
  const last = waiting.pop()!;
  if (last !== piece) waiting[best] = last;
  waitingBytes -= piece.length;
  return piece;
}

function givePiece(piece: Buffer): void {
  if (waitingBytes + piece.length > KEPT_BYTES) return;
  waiting.push(piece);
  waitingBytes += piece.length;
}

/** A decoded body in memory of which somebody else is the owner. */
export class LentBody {
  #piece: Buffer | undefined;
  #bytes: Buffer | undefined;
  readonly #decodeAgain: () => Buffer;

  constructor(piece: Buffer, length: number, decodeAgain: () => Buffer) {
    this.#piece = piece;
    this.#bytes = piece.subarray(0, length);
    this.#decodeAgain = decodeAgain;
  }

  /** For reading now; do not hold on to them. */
  get bytes(): Buffer {
    return (this.#bytes ??= this.#decodeAgain());
  }

  /** To be held on to. */
  keep(): Buffer {
    this.#piece = undefined;
    return this.bytes;
  }

  /** `bytes` are no longer in use. Does nothing once they are kept. */
  giveBack(): void {
    if (!this.#piece) return;
    givePiece(this.#piece);
    this.#piece = undefined;
    this.#bytes = undefined;
  }
}

/**
 * A gzip body of `length` bytes, by its own account, in lent memory. Undefined when it is not that, too large, or when
 * this version of Node cannot: then it is decoded the usual way.
 */
export function lendGunzipped(wire: Buffer, length: number, decodeAgain: () => Buffer): LentBody | undefined {
  const gunzipInto = gunzipIntoOf();
  if (!gunzipInto || length > MOST_BYTES) return undefined;
  const piece = takePiece(length + 1);
  const written = gunzipInto(wire, piece);
  if (written === length) return new LentBody(piece, length, decodeAgain);
  givePiece(piece);
  return undefined;
}
