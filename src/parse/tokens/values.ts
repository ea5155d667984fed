// Decodes ranges of the page into strings: attribute values, titles, link texts.
// Promise: a range without references costs one native slice; output is always valid Unicode because the page is UTF-8.
import { AMPERSAND, CR, LF, sliceLatin1, sliceUtf8 } from '../../base/bytes.js';
import type { ReferenceReader } from './entities.js';

/** Resolves references, line ends and NULs of a range. One decoder serves one synchronous use at a time. */
export class ValueDecoder {
  /** The bytes of the last {@link expand}. */
  expanded = Buffer.allocUnsafeSlow(1024);
  readonly #references: ReferenceReader;

  constructor(references: ReferenceReader) {
    this.#references = references;
  }

  /** The string that `bytes[from, to)` stands for. */
  decode(bytes: Buffer, from: number, to: number, inAttribute: boolean): string {
    let seen = 0;
    for (let k = from; k < to; k++) {
      const byte = bytes[k]!;
      if (byte === AMPERSAND || byte === CR || byte === 0) {
        const length = this.expand(bytes, from, to, inAttribute);
        return sliceUtf8(this.expanded, 0, length);
      }
      seen |= byte;
    }
    return seen < 0x80 ? sliceLatin1(bytes, from, to) : sliceUtf8(bytes, from, to);
  }

  /** Writes the resolved bytes of a range to {@link expanded}; returns how many. */
  expand(bytes: Buffer, from: number, to: number, inAttribute: boolean): number {
    // One byte in gives at most three out (NUL → U+FFFD); a reference gives fewer than that per byte.
    const needed = (to - from) * 3 + 8;
    if (needed > this.expanded.length || this.expanded.length > 1 << 20) {
      this.expanded = Buffer.allocUnsafeSlow(Math.max(1024, needed));
    }
    const out = this.expanded;
    let n = 0;
    let i = from;
    while (i < to) {
      const byte = bytes[i]!;
      if (byte > AMPERSAND) {
        out[n++] = byte;
        i++;
        continue;
      }
      if (byte === AMPERSAND) {
        const after = this.#references.read(bytes, i, to, inAttribute);
        if (after !== i) {
          for (let k = 0; k < this.#references.length; k++) out[n++] = this.#references.value[k]!;
          i = after;
          continue;
        }
      }
      i++;
      if (byte === CR) {
        if (i < to && bytes[i] === LF) continue;
        out[n++] = LF;
      } else if (byte === 0) {
        out[n++] = 0xef;
        out[n++] = 0xbf;
        out[n++] = 0xbd;
      } else {
        out[n++] = byte;
      }
    }
    return n;
  }
}

const NEEDS_COLLAPSE = /[\t\n\f\r]| {2}|^ | $/;

/** White space runs to one space, none at the ends: how titles, descriptions and link texts are shown. */
export function collapseSpace(value: string): string {
  return NEEDS_COLLAPSE.test(value) ? value.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '') : value;
}
