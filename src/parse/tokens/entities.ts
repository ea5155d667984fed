// Character references: from the `&` in the bytes to the UTF-8 of what it stands for.
// Promise: exactly the HTML standard's rules, constant work per reference, nothing built until the first one is met.
import { AMPERSAND, CLASS, EQUALS, HASH, IS_DIGIT, IS_LETTER, LF, LOWER, SEMICOLON, SPACE } from '../../base/bytes.js';
import { readEntityFile } from './entity-file.js';
import { windows1252 } from '../encoding/windows-1252.js';

/** CounterClockwiseContourIntegral. */
const LONGEST_NAME = 31;
/** `thorn`, `Aacute`…: no name that works without its semicolon is longer. */
const LONGEST_BARE_NAME = 6;
const SLOTS = 8192;

/**
 * An open-addressing table from the bytes of a name to its line of the file: no string is made, and what a name stands
 * for is read from its line when it is met. To build it costs a pass over the file (28 KB).
 */
interface NameTable {
  readonly file: Uint8Array;
  /** Where the line of a name begins in the file; -1 for an empty slot. */
  readonly slots: Int32Array;
}

let nameTable: NameTable | undefined;

function mix(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0;
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 13)) & (SLOTS - 1);
}

function buildNameTable(): NameTable {
  const file = readEntityFile();
  const slots = new Int32Array(SLOTS).fill(-1);
  for (let line = 0; line < file.length; line = file.indexOf(LF, line) + 1) {
    let hash = 0;
    for (let at = line; file[at] !== SEMICOLON && file[at] !== SPACE; at++) hash = mix(hash, file[at]!);
    let slot = slotOf(hash);
    while (slots[slot] !== -1) slot = (slot + 1) & (SLOTS - 1);
    slots[slot] = line;
  }
  return { file, slots };
}

/** Where the file's line goes on after this name: at the semicolon, or at a space if the name works without; or -1. */
function lookUp({ file, slots }: NameTable, bytes: Uint8Array, from: number, to: number): number {
  let hash = 0;
  for (let k = from; k < to; k++) hash = mix(hash, bytes[k]!);
  for (let slot = slotOf(hash); ; slot = (slot + 1) & (SLOTS - 1)) {
    let at = slots[slot]!;
    if (at === -1) return -1;
    let k = from;
    while (k < to && file[at] === bytes[k]) {
      at++;
      k++;
    }
    if (k === to && (file[at] === SEMICOLON || file[at] === SPACE)) return at;
  }
}

/** Writes one code point as UTF-8 at `at`; returns the position after it. `out` has room for four bytes. */
export function writeUtf8(out: Uint8Array, at: number, codePoint: number): number {
  if (codePoint < 0x80) {
    out[at++] = codePoint;
  } else if (codePoint < 0x800) {
    out[at++] = 0xc0 | (codePoint >> 6);
    out[at++] = 0x80 | (codePoint & 63);
  } else if (codePoint < 0x10000) {
    out[at++] = 0xe0 | (codePoint >> 12);
    out[at++] = 0x80 | ((codePoint >> 6) & 63);
    out[at++] = 0x80 | (codePoint & 63);
  } else {
    out[at++] = 0xf0 | (codePoint >> 18);
    out[at++] = 0x80 | ((codePoint >> 12) & 63);
    out[at++] = 0x80 | ((codePoint >> 6) & 63);
    out[at++] = 0x80 | (codePoint & 63);
  }
  return at;
}

/** Reads references; the value of the last one read is `value[0, length)`. One reader serves one synchronous scan. */
export class ReferenceReader {
  /** The longest value of the standard is two code points in six bytes. */
  readonly value = new Uint8Array(8);
  length = 0;

  /**
   * Reads the reference whose `&` is at `at`. Returns the position after it, or `at` when the `&` stands for itself.
   * In an attribute, a name without semicolon that is followed by `=`, a letter or a digit is not a reference.
   */
  read(bytes: Uint8Array, at: number, end: number, inAttribute: boolean): number {
    const next = at + 1 < end ? bytes[at + 1]! : 0;
    if (next === HASH) return this.#readNumeric(bytes, at, end);
    if ((CLASS[next]! & (IS_LETTER | IS_DIGIT)) === 0) return at;
    if (
      next === 0x61 &&
      bytes[at + 2] === 0x6d &&
      bytes[at + 3] === 0x70 &&
      bytes[at + 4] === SEMICOLON &&
      at + 4 < end
    ) {
      // `&amp;`: more than half of all references.
      this.value[0] = AMPERSAND;
      this.length = 1;
      return at + 5;
    }
    nameTable ??= buildNameTable();
    const from = at + 1;
    const limit = Math.min(end, from + LONGEST_NAME + 1);
    let to = from + 1;
    while (to < limit && (CLASS[bytes[to]!]! & (IS_LETTER | IS_DIGIT)) !== 0) to++;
    if (to < end && bytes[to] === SEMICOLON) {
      const found = lookUp(nameTable, bytes, from, to);
      if (found !== -1) return this.#take(nameTable.file, found, to + 1);
    }
    for (let cut = Math.min(to, from + LONGEST_BARE_NAME); cut >= from + 2; cut--) {
      const found = lookUp(nameTable, bytes, from, cut);
      if (found === -1 || nameTable.file[found] !== SPACE) continue;
      if (inAttribute && cut < end) {
        const after = bytes[cut]!;
        if (after === EQUALS || (CLASS[after]! & (IS_LETTER | IS_DIGIT)) !== 0) return at;
      }
      return this.#take(nameTable.file, found, cut);
    }
    return at;
  }

  /** The code points of a line, from the end of its name. */
  #take(file: Uint8Array, nameEnd: number, after: number): number {
    let length = 0;
    let at = file[nameEnd] === SEMICOLON ? nameEnd + 1 : nameEnd;
    while (file[at] === SPACE) {
      let point = 0;
      for (at++; file[at]! > SPACE; at++) {
        const digit = file[at]!;
        point = point * 16 + (digit < 0x61 ? digit - 0x30 : digit - 0x57);
      }
      length = writeUtf8(this.value, length, point);
    }
    this.length = length;
    return after;
  }

  #readNumeric(bytes: Uint8Array, at: number, end: number): number {
    let i = at + 2;
    let code = 0;
    let digits = 0;
    if (i < end && LOWER[bytes[i]!] === 0x78) {
      for (i++; i < end; i++, digits++) {
        const lower = LOWER[bytes[i]!]!;
        const digit =
          lower >= 0x30 && lower <= 0x39 ? lower - 0x30 : lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
        if (digit < 0) break;
        if (code <= 0x10ffff) code = code * 16 + digit;
      }
    } else {
      for (; i < end && (CLASS[bytes[i]!]! & IS_DIGIT) !== 0; i++, digits++) {
        if (code <= 0x10ffff) code = code * 10 + bytes[i]! - 0x30;
      }
    }
    if (digits === 0) return at;
    if (i < end && bytes[i] === SEMICOLON) i++;
    if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) code = 0xfffd;
    else if (code >= 0x80 && code <= 0x9f) code = windows1252(code);
    this.length = writeUtf8(this.value, 0, code);
    return i;
  }
}
