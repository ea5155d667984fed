// What the event loop and the thread that watches it share: a heartbeat, which visits are under way, and which one is at
// work synchronously. Promise: marking costs a few stores into memory, whoever watches.

/** Visits beyond so many are not told apart. */
export const MARK_SLOTS = 1_024;
/** Of a URL, as it is named in the log. */
const URL_BYTES = 512;

/** Places in the head. */
export const HEAD = {
  /** Grows while the loop runs. */
  beat: 0,
  /** The slot at work, plus one; 0 between visits. */
  current: 1,
  /** Grows with each stretch of work, so that two in a row can be told apart. */
  stretch: 2,
  /** Milliseconds after which a block is told of; 0 while nobody wants to know. */
  limitMs: 3,
  /** 1 while a block that was told of has not been told to be over. */
  told: 4,
} as const;
const HEAD_WORDS = 8;

/** A slot's visit is under way; its user code has begun and not ended. */
export const [FREE, VISITING, HANDLING] = [0, 1, 2] as const;

export interface SharedMarks {
  readonly buffer: SharedArrayBuffer;
  readonly head: Int32Array;
  readonly states: Int32Array;
  readonly urlLengths: Int32Array;
  readonly leases: Float64Array;
  readonly urls: Uint8Array;
  readonly urlBytes: number;
}

export function shareMarks(buffer?: SharedArrayBuffer): SharedMarks {
  const leasesAt = HEAD_WORDS * 4;
  const statesAt = leasesAt + MARK_SLOTS * 8;
  const lengthsAt = statesAt + MARK_SLOTS * 4;
  const urlsAt = lengthsAt + MARK_SLOTS * 4;
  const shared = buffer ?? new SharedArrayBuffer(urlsAt + MARK_SLOTS * URL_BYTES);
  return {
    buffer: shared,
    head: new Int32Array(shared, 0, HEAD_WORDS),
    leases: new Float64Array(shared, leasesAt, MARK_SLOTS),
    states: new Int32Array(shared, statesAt, MARK_SLOTS),
    urlLengths: new Int32Array(shared, lengthsAt, MARK_SLOTS),
    urls: new Uint8Array(shared, urlsAt, MARK_SLOTS * URL_BYTES),
    urlBytes: URL_BYTES,
  };
}
