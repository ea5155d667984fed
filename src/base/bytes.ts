// Basics of the byte scanner: byte values, character classes and case-folded comparison.
// Everything here works on UTF-8, where a delimiter byte is never part of a longer character.

export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const BANG = 0x21;
export const DOUBLE_QUOTE = 0x22;
export const HASH = 0x23;
export const AMPERSAND = 0x26;
export const SINGLE_QUOTE = 0x27;
export const DASH = 0x2d;
export const SLASH = 0x2f;
export const SEMICOLON = 0x3b;
export const LESS_THAN = 0x3c;
export const EQUALS = 0x3d;
export const GREATER_THAN = 0x3e;
export const QUESTION_MARK = 0x3f;
export const RIGHT_BRACKET = 0x5d;

/** Bits of {@link CLASS}. */
export const IS_SPACE = 1;
export const ENDS_TAG_NAME = 2;
export const ENDS_ATTRIBUTE_NAME = 4;
export const ENDS_UNQUOTED_VALUE = 8;
export const IS_LETTER = 16;
export const IS_DIGIT = 32;
/** Needs a look before it is copied into page text: space, `<`, `&`, NUL. */
export const INTERRUPTS_TEXT = 64;
/** Ends a tag's or attribute's name, or is too rare in one to be told apart from what does. */
export const MAY_END_NAME = 128;

/** Character classes by byte, as the HTML tokenizer groups them. */
export const CLASS = new Uint8Array(256);
/** ASCII lower case by byte; every other byte stands for itself. */
export const LOWER = new Uint8Array(256);

for (let byte = 0; byte < 256; byte++) {
  const char = String.fromCharCode(byte);
  let bits = 0;
  if ('\t\n\f\r '.includes(char)) bits |= IS_SPACE | ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME | ENDS_UNQUOTED_VALUE;
  if ('/>'.includes(char)) bits |= ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME;
  if (char === '=') bits |= ENDS_ATTRIBUTE_NAME;
  if (char === '>') bits |= ENDS_UNQUOTED_VALUE;
  if (/[A-Za-z]/.test(char)) bits |= IS_LETTER;
  if (/[0-9]/.test(char)) bits |= IS_DIGIT;
  if ('\t\n\f\r <&\0'.includes(char)) bits |= INTERRUPTS_TEXT;
  if (byte <= SPACE || '/<=>?'.includes(char)) bits |= MAY_END_NAME;
  CLASS[byte] = bits;
  LOWER[byte] = /[A-Z]/.test(char) ? byte + 32 : byte;
}

/** True when `bytes[from, to)` equals `lower` (already lower case), ASCII case aside. */
export function equalsIgnoringCase(bytes: Uint8Array, from: number, to: number, lower: Uint8Array): boolean {
  const length = lower.length;
  if (to - from !== length) return false;
  for (let k = 0; k < length; k++) if (LOWER[bytes[from + k]!] !== lower[k]) return false;
  return true;
}

/** True when `lower` stands at `from`, ASCII case aside, wholly before `end`. */
export function startsIgnoringCase(bytes: Uint8Array, from: number, end: number, lower: Uint8Array): boolean {
  return from + lower.length <= end && equalsIgnoringCase(bytes, from, from + lower.length, lower);
}

/** True when `bytes[from, to)` is, in any case, the lower-case `name`. A name outside ASCII never is: it is no bytes. */
export function isSpelled(bytes: Uint8Array, from: number, to: number, name: string): boolean {
  if (name.length !== to - from) return false;
  for (let k = 0; k < name.length; k++) {
    const byte = LOWER[bytes[from + k]!]!;
    if (name.charCodeAt(k) !== byte || byte >= 0x80) return false;
  }
  return true;
}

/** The bytes of an ASCII word. */
export function ascii(word: string): Uint8Array {
  return Uint8Array.from(word, (char) => char.charCodeAt(0));
}

/** Buffer's direct slices: what `toString` calls, without its argument checks, which cost as much as a short slice. */
interface DirectSlices {
  latin1Slice(from: number, to: number): string;
  utf8Slice(from: number, to: number): string;
}

/** The string of a range that is all ASCII (or Latin-1). */
export function sliceLatin1(bytes: Buffer, from: number, to: number): string {
  return (bytes as unknown as DirectSlices).latin1Slice(from, to);
}

/** The string of a range of UTF-8. */
export function sliceUtf8(bytes: Buffer, from: number, to: number): string {
  return (bytes as unknown as DirectSlices).utf8Slice(from, to);
}

/** A Buffer over the same memory: its `indexOf` for one byte is a memory scan an order of magnitude faster than a loop. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Position of `byte` in `[from, end)`, or `end`. `end` is the buffer's length in every caller of the scanner. */
export function seek(bytes: Buffer, byte: number, from: number, end: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 || at > end ? end : at;
}
