// Gathers the readable text of a page as UTF-8: white space collapsed, references resolved, blocks kept apart.
// Promise: one byte written per byte read at most (references aside), so one buffer of the page's size is enough.
import { AMPERSAND, CLASS, CR, INTERRUPTS_TEXT, IS_SPACE, LESS_THAN, LF, SPACE, TAB } from '../../base/bytes.js';
import type { ReferenceReader } from '../tokens/entities.js';
import { CELL_BREAK, LINE_BREAK, NO_BREAK, PARAGRAPH_BREAK, WORD_BREAK } from '../tokens/tags.js';
import { marksOfMarkup, marksOfSpaces, seekAfterSpace, wordsOf } from '../words.js';

/** Room for most pages; it grows for larger ones. */
const FIRST_BYTES = 1 << 20;
/** A buffer up to this size is kept for the next page. */
const KEPT_BYTES = 1 << 22;
/** Room for the longest value of a reference and a paragraph break. */
const SLACK_BYTES = 16;
const NO_PAGE = new DataView(new ArrayBuffer(0));

/** The text of the page being scanned. One instance serves one synchronous scan at a time. */
export class TextOutput {
  length = 0;
  #bytes = new Uint8Array(FIRST_BYTES);
  #outWords = new DataView(this.#bytes.buffer);
  /** The break owed before the next character. */
  #pending = NO_BREAK;
  /** The page being read, for looks at four bytes at once. */
  #words: DataView = NO_PAGE;
  readonly #references: ReferenceReader;

  constructor(references: ReferenceReader) {
    this.#references = references;
  }

  /** Makes room for the text of this page and forgets the last one. */
  start(page: Uint8Array): void {
    this.#words = wordsOf(page);
    this.length = 0;
    this.#pending = NO_BREAK;
    const needed = page.length + SLACK_BYTES;
    if (needed > this.#bytes.length || (this.#bytes.length > KEPT_BYTES && needed <= KEPT_BYTES)) {
      this.#use(new Uint8Array(Math.max(needed, FIRST_BYTES)));
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
   * Copies text with references from `from` to the next `<` or `end`; the first byte always counts as text.
   * Returns where it stopped. NULs are dropped, as the tree builder drops them in HTML.
   */
  append(source: Uint8Array, from: number, end: number): number {
    let i = from;
    let byte = source[i]!;
    if (byte === LESS_THAN) i = this.#copyRun(source, i, end);
    while (i < end) {
      byte = source[i]!;
      const bits = CLASS[byte]!;
      if ((bits & IS_SPACE) !== 0) {
        i = seekAfterSpace(source, this.#words, i + 1, end);
        if (this.#pending === NO_BREAK) this.#pending = WORD_BREAK;
      } else if ((bits & INTERRUPTS_TEXT) === 0) {
        i = this.#copyRun(source, i, end);
      } else if (byte === LESS_THAN) {
        break;
      } else if (byte === AMPERSAND) {
        const after = this.#references.read(source, i, end, false);
        if (after !== i) {
          this.#appendReference(end - after);
          i = after;
        } else {
          i = this.#copyRun(source, i, end);
        }
      } else {
        i++;
      }
    }
    return i;
  }

  /**
   * Copies from `from`, whose byte is text whatever it is, to the next `<`, `&`, NUL or white space that is no single
   * space. Four bytes are looked at and copied at a time: a loop over bytes takes twice as long.
   */
  #copyRun(source: Uint8Array, from: number, end: number): number {
    const words = this.#words;
    const out = this.#bytes;
    const outWords = this.#outWords;
    let n = this.length;
    if (this.#pending !== NO_BREAK) n = this.#writeBreak(n);
    out[n++] = source[from]!;
    let i = from + 1;
    let spaces = 0;
    for (const lastWord = end - 4; i <= lastWord; i += 4, n += 4) {
      const word = words.getInt32(i, true);
      const spacesHere = marksOfSpaces(word);
      // Two spaces in a row stop the copy too, also when the first one was the last byte of the word before.
      if ((marksOfMarkup(word) | (spacesHere & ((spacesHere << 8) | (spaces >>> 24)))) !== 0) break;
      outWords.setInt32(n, word, true);
      spaces = spacesHere;
    }
    for (; i < end; i++) {
      const byte = source[i]!;
      if ((CLASS[byte]! & INTERRUPTS_TEXT) !== 0 && (byte !== SPACE || out[n - 1] === SPACE)) break;
      out[n++] = byte;
    }
    // A space at the end is a break like any white space: whether it is written depends on what follows.
    if (out[n - 1] === SPACE) {
      n--;
      this.#pending = WORD_BREAK;
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
    this.#use(larger);
  }

  #use(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#outWords = new DataView(bytes.buffer);
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
