// Four bytes at a time: the page as 32-bit words at any offset, and tests of all four bytes of a word in a few operations.
// Each test sets the high bit of a byte that matches. A borrow may also set that of bytes above one that matches, never
// below: "none matches" and the lowest match are exact.
import { CLASS, IS_SPACE, LESS_THAN, MAY_END_NAME, SPACE } from '../base/bytes.js';

const FOUR_SPACES = 0x20202020;
const FOUR_TABS = 0x09090909;
const ONES = 0x01010101;
const HIGH_BITS = 0x80808080 | 0;
const FOUR_AMPERSANDS = 0x26262626;
const FOUR_SLASHES = 0x2f2f2f2f;
const FOUR_LESS_THAN = 0x3c3c3c3c;
/** Clears the two bits in which `<`, `=`, `>` and `?` differ. */
const ANGLES = 0xfcfcfcfc | 0;

/** A view that reads words of a page; all readers of it say little-endian. */
export function wordsOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Marks bytes that interrupt text: controls, `<` and `&`. */
export function marksOfMarkup(word: number): number {
  const lessThan = word ^ FOUR_LESS_THAN;
  const ampersand = word ^ FOUR_AMPERSANDS;
  return (
    (((word - FOUR_SPACES) & ~word) | ((lessThan - ONES) & ~lessThan) | ((ampersand - ONES) & ~ampersand)) & HIGH_BITS
  );
}

/** Marks spaces. */
export function marksOfSpaces(word: number): number {
  const space = word ^ FOUR_SPACES;
  return (space - ONES) & ~space & HIGH_BITS;
}

/** Position of the first byte in `[from, end)` that is not white space. Skips indentation four bytes at a time. */
export function seekAfterSpace(bytes: Uint8Array, words: DataView, from: number, end: number): number {
  let i = from;
  while (i + 4 <= end) {
    const word = words.getInt32(i, true);
    if (word !== FOUR_SPACES && word !== FOUR_TABS) break;
    i += 4;
  }
  for (; i < end; i++) {
    const byte = bytes[i]!;
    if (byte !== SPACE && (CLASS[byte]! & IS_SPACE) === 0) break;
  }
  return i;
}

/** Position of the first `<`, `=`, `>` or `?` in `[from, end)`, or `end`. */
export function seekAngle(bytes: Uint8Array, words: DataView, from: number, end: number): number {
  let i = from;
  for (; i + 4 <= end; i += 4) {
    const angle = (words.getInt32(i, true) & ANGLES) ^ FOUR_LESS_THAN;
    const marks = (angle - ONES) & ~angle & HIGH_BITS;
    if (marks !== 0) return i + ((31 - Math.clz32(marks & -marks)) >> 3);
  }
  while (i < end && (bytes[i]! & 0xfc) !== LESS_THAN) i++;
  return i;
}

/** Position of the first byte in `[from, end)` that may end a tag's or attribute's name (`MAY_END_NAME`), or `end`. */
export function seekNameEnd(bytes: Uint8Array, words: DataView, from: number, end: number): number {
  let i = from;
  for (; i + 4 <= end; i += 4) {
    const word = words.getInt32(i, true);
    const slash = word ^ FOUR_SLASHES;
    const angle = (word & ANGLES) ^ FOUR_LESS_THAN;
    const marks =
      (((word - FOUR_SPACES - ONES) & ~word) | ((slash - ONES) & ~slash) | ((angle - ONES) & ~angle)) & HIGH_BITS;
    if (marks !== 0) return i + ((31 - Math.clz32(marks & -marks)) >> 3);
  }
  while (i < end && (CLASS[bytes[i]!]! & MAY_END_NAME) === 0) i++;
  return i;
}
