// Gathers the readable text of a page as UTF-8: white space collapsed, references resolved, blocks kept apart.
// Promise: one byte written per byte read at most (references aside), so one buffer of the page's size is enough.
import { AMPERSAND, CLASS, CR, INTERRUPTS_TEXT, IS_SPACE, LESS_THAN, LF, SPACE, TAB } from './bytes.js';
import type { ReferenceReader } from './entities.js';
import { CELL_BREAK, LINE_BREAK, NO_BREAK, PARAGRAPH_BREAK, WORD_BREAK } from './tags.js';

/** A buffer up to this size is kept for the next page; most pages' text fits. */
const KEPT_BYTES = 1 << 20;
/** Room for the longest value of a reference and a paragraph break. */
const SLACK_BYTES = 16;

/** The text of the page being scanned. One instance serves one synchronous scan at a time. */
export class TextOutput {
  length = 0;
  #bytes = new Uint8Array(KEPT_BYTES);
  /** The break owed before the next character. */
  #pending = NO_BREAK;
  readonly #references: ReferenceReader;

  constructor(references: ReferenceReader) {
    this.#references = references;
  }

  /** Makes room for a page of this size and forgets the last one. */
  start(pageBytes: number): void {
    this.length = 0;
    this.#pending = NO_BREAK;
    const needed = pageBytes + SLACK_BYTES;
    if (needed > this.#bytes.length || (this.#bytes.length > KEPT_BYTES && needed <= KEPT_BYTES)) {
      this.#bytes = new Uint8Array(Math.max(needed, KEPT_BYTES));
    }
  }

  /** A copy of the text so far. */
  take(): Buffer {
    const text = Buffer.allocUnsafeSlow(this.length);
    text.set(this.#bytes.subarray(0, this.length));
    return text;
  }

  /** Owes a break before the next text: the strongest of those owed is written. */
  owe(level: number): void {
    if (level > this.#pending) this.#pending = level;
  }

  /**
   * Copies text with references from `from` to the next `<` or `end`; the first byte is text whatever it is.
   * Returns where it stopped. NULs are dropped, as the tree builder drops them in HTML.
   */
  append(source: Uint8Array, from: number, end: number): number {
    let out = this.#bytes;
    let n = this.length;
    let i = from;
    while (i < end) {
      let byte = source[i]!;
      if (byte <= LESS_THAN) {
        const bits = CLASS[byte]!;
        if ((bits & IS_SPACE) !== 0) {
          i++;
          for (; i < end; i++) {
            const next = source[i]!;
            if (next !== SPACE && (CLASS[next]! & IS_SPACE) === 0) break;
          }
          if (this.#pending === NO_BREAK) this.#pending = WORD_BREAK;
          continue;
        }
        if ((bits & INTERRUPTS_TEXT) !== 0) {
          if (byte === LESS_THAN) {
            if (i !== from) break;
          } else if (byte === AMPERSAND) {
            const after = this.#references.read(source, i, end, false);
            if (after !== i) {
              this.length = n;
              this.#appendReference(end - after);
              out = this.#bytes;
              n = this.length;
              i = after;
              continue;
            }
          } else {
            i++;
            continue;
          }
        }
      }
      if (this.#pending !== NO_BREAK) n = this.#writeBreak(n);
      do {
        out[n++] = byte;
        i++;
        if (i >= end) break;
        byte = source[i]!;
        // A single space before a letter is copied like one: it is how most words follow each other.
        if (byte === SPACE && i + 1 < end && source[i + 1]! > LESS_THAN) {
          out[n++] = SPACE;
          i++;
          byte = source[i]!;
        }
      } while (byte > LESS_THAN || (CLASS[byte]! & INTERRUPTS_TEXT) === 0);
    }
    this.length = n;
    return i;
  }

  /** Copies `[from, to)` keeping white space, as in `pre`; `decode` says whether references are resolved. */
  appendPreformatted(source: Uint8Array, from: number, to: number, decode: boolean): void {
    let i = from;
    while (i < to) {
      const byte = source[i]!;
      if (byte === AMPERSAND && decode) {
        const after = this.#references.read(source, i, to, false);
        if (after !== i) {
          this.#appendReference(to - after, true);
          i = after;
          continue;
        }
      }
      i++;
      if (byte === LF || byte === CR) {
        if (byte === CR && i < to && source[i] === LF) i++;
        // The last line end becomes a break, so that it adds nothing to the break of the block's end.
        if (i < to) this.#put(LF);
        else this.owe(LINE_BREAK);
      } else if (byte !== 0) {
        this.#put(byte);
      }
    }
  }

  /** Owes what a `br` asks for: a line, or a paragraph after another line break. */
  oweLine(): void {
    this.owe(this.#pending === LINE_BREAK ? PARAGRAPH_BREAK : LINE_BREAK);
  }

  #put(byte: number): void {
    let n = this.length;
    if (this.#pending !== NO_BREAK) n = this.#writeBreak(n);
    this.#bytes[n] = byte;
    this.length = n + 1;
  }

  /** A reference may be longer than its source: grow if what is left of the page would no longer fit. */
  #appendReference(left: number, keepSpace = false): void {
    const { value, length } = this.#references;
    if (!keepSpace && length === 1 && (CLASS[value[0]!]! & IS_SPACE) !== 0) {
      this.owe(WORD_BREAK);
      return;
    }
    this.reserve(left + length);
    let n = this.length;
    if (this.#pending !== NO_BREAK) n = this.#writeBreak(n);
    for (let k = 0; k < length; k++) this.#bytes[n++] = value[k]!;
    this.length = n;
  }

  /** Keeps room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count + SLACK_BYTES;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length + (this.#bytes.length >> 1)));
    larger.set(this.#bytes.subarray(0, this.length));
    this.#bytes = larger;
  }

  #writeBreak(at: number): number {
    const out = this.#bytes;
    const level = this.#pending;
    this.#pending = NO_BREAK;
    if (at === 0) return 0;
    switch (level) {
      case PARAGRAPH_BREAK:
        out[at] = LF;
        out[at + 1] = LF;
        return at + 2;
      case LINE_BREAK:
        out[at] = LF;
        return at + 1;
      case CELL_BREAK:
        out[at] = TAB;
        return at + 1;
      default:
        out[at] = SPACE;
        return at + 1;
    }
  }
}
