// The 32 characters where windows-1252 differs from Latin-1: for bodies in that encoding, and for the numeric
// character references 128–159, which mean the same characters.

const UPPER =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/** The code point of a windows-1252 byte. */
export function windows1252(byte: number): number {
  return byte >= 0x80 && byte < 0xa0 ? UPPER.charCodeAt(byte - 0x80) : byte;
}
