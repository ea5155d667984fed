// Character references: from the `&` in the bytes to the UTF-8 of what it stands for.
// Promise: exactly the HTML standard's rules, constant work per reference, nothing built until the first one is met.
import { AMPERSAND, CLASS, EQUALS, HASH, IS_DIGIT, IS_LETTER, LOWER, SEMICOLON } from '../../base/bytes.js';
import { readEntityFile } from './entity-file.js';
import { windows1252 } from '../encoding/windows-1252.js';

/** CounterClockwiseContourIntegral. */
const LONGEST_NAME = 31;
/** `thorn`, `Aacute`…: no name that works without its semicolon is longer. */
const LONGEST_BARE_NAME = 6;
const SLOTS = 8192;

/** An open-addressing table from name bytes to value bytes: no string is made to look a name up. */
interface NameTable {
  readonly slots: Int16Array;
  readonly names: readonly Uint8Array[];
  readonly values: readonly Uint8Array[];
  readonly bare: readonly boolean[];
}

let nameTable: NameTable | undefined;

function mix(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0;
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 13)) & (SLOTS - 1);
}

function buildNameTable(): NameTable {
  const slots = new Int16Array(SLOTS).fill(-1);
  const names: Uint8Array[] = [];
  const values: Uint8Array[] = [];
  const bare: boolean[] = [];
  for (const line of readEntityFile().trimEnd().split('\n')) {
    const [full, ...points] = line.split(' ') as [string, ...string[]];
    const isBare = !full.endsWith(';');
    const name = Buffer.from(isBare ? full : full.slice(0, -1), 'latin1');
    let hash = 0;
    for (const byte of name) hash = mix(hash, byte);
    let slot = slotOf(hash);
    while (slots[slot] !== -1) slot = (slot + 1) & (SLOTS - 1);
    slots[slot] = names.length;
    names.push(name);
    values.push(Buffer.from(String.fromCodePoint(...points.map((point) => Number.parseInt(point, 16))), 'utf8'));
    bare.push(isBare);
  }
  return { slots, names, values, bare };
}

function lookUp(table: NameTable, bytes: Uint8Array, from: number, to: number): number {
  let hash = 0;
  for (let k = from; k < to; k++) hash = mix(hash, bytes[k]!);
  for (let slot = slotOf(hash); ; slot = (slot + 1) & (SLOTS - 1)) {
    const index = table.slots[slot]!;
    if (index === -1) return -1;
    const name = table.names[index]!;
    if (name.length !== to - from) continue;
    let k = 0;
    while (k < name.length && name[k] === bytes[from + k]) k++;
    if (k === name.length) return index;
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
      const index = lookUp(nameTable, bytes, from, to);
      if (index !== -1) return this.#take(nameTable.values[index]!, to + 1);
    }
    for (let cut = Math.min(to, from + LONGEST_BARE_NAME); cut >= from + 2; cut--) {
      const index = lookUp(nameTable, bytes, from, cut);
      if (index === -1 || !nameTable.bare[index]) continue;
      if (inAttribute && cut < end) {
        const after = bytes[cut]!;
        if (after === EQUALS || (CLASS[after]! & (IS_LETTER | IS_DIGIT)) !== 0) return at;
      }
      return this.#take(nameTable.values[index]!, cut);
    }
    return at;
  }

  #take(value: Uint8Array, after: number): number {
    for (let k = 0; k < value.length; k++) this.value[k] = value[k]!;
    this.length = value.length;
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
