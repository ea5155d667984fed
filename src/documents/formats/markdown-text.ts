// The text of a paragraph of markdown while it is read: what is written as it stands is taken from the source in one piece.
// Promise: a sign that never closes costs no span of its own; spans come only where the look changes.
import type { Span } from '../parts/blocks.js';

/** Signs that may still close: `**`, `[`. */
export interface OpenSign {
  readonly sign: string;
  /** Its place in the source. */
  readonly from: number;
}

export interface MutableSpan {
  text: string;
  bold?: boolean;
  italic?: boolean;
  struck?: boolean;
  href?: string;
}

interface PlacedSign extends OpenSign {
  /** Its piece of the text that is no span yet, and its place in that. */
  readonly piece: number;
  readonly offset: number;
  /** Once it is a span: that span, and the place among the spans after it. */
  span?: MutableSpan;
  next: number;
}

const MANY_PIECES = 4_096;

export class InlineText {
  readonly #source: string;
  readonly #spans: MutableSpan[] = [];
  /** Text since the last span: `#joined`, then the pieces, then the source from `#from` on. */
  #joined: string[] = [];
  #pieces: string[] = [];
  #from = 0;
  /** The open signs in that text, in their order. */
  #signs: PlacedSign[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  /** How many spans there are, not counting the text since the last one. */
  get spans(): number {
    return this.#spans.length;
  }

  /** Notes that a sign stands at a place, which is text until it closes. */
  open(from: number, sign: string): OpenSign {
    const placed = { sign, from, piece: this.#pieces.length, offset: from - this.#from, next: 0 };
    this.#signs.push(placed);
    return placed;
  }

  /** A sign that closes nothing is text for good. */
  forget(sign: OpenSign): void {
    const at = this.#signs.lastIndexOf(sign as PlacedSign);
    if (at >= 0) this.#signs.splice(at, 1);
  }

  /** Ends what a sign opened: neither it nor the source from `from` to `to` is shown. Gives the spans in between. */
  close(sign: OpenSign, from: number, to: number): MutableSpan[] {
    this.#makeSpans(from, to);
    const { span, next } = sign as PlacedSign;
    span!.text = '';
    return this.#spans.slice(next);
  }

  /** Shows other text in place of the source from `from` to `to`. */
  replace(from: number, to: number, text: string): void {
    if (from > this.#from) this.#pieces.push(this.#source.slice(this.#from, from));
    if (text !== '') this.#pieces.push(text);
    this.#from = to;
    // Millions of short pieces would all be looked through by each collection of memory.
    if (this.#pieces.length < MANY_PIECES || this.#signs.length > 0) return;
    this.#joined.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  /** Shows a span of its own look in place of the source from `from` to `to`. */
  add(from: number, to: number, span: MutableSpan): void {
    this.#makeSpans(from, to);
    this.#spans.push(span);
  }

  end(): Span[] {
    this.#makeSpans(this.#source.length, this.#source.length);
    return this.#spans.filter(({ text }) => text !== '');
  }

  /** Makes spans of the text until `from`: one of each sign that is open, and one of the text before it. */
  #makeSpans(from: number, to: number): void {
    this.replace(from, to, '');
    const pieces = this.#pieces;
    if (this.#joined.length > 0) this.#push(this.#joined.join(''));
    let first = 0;
    let offset = 0;
    for (const sign of this.#signs) {
      const between = pieces.slice(first, sign.piece + 1);
      between[between.length - 1] = between.at(-1)!.slice(0, sign.offset);
      between[0] = between[0]!.slice(offset);
      this.#push(between.join(''));
      sign.span = { text: sign.sign };
      sign.next = this.#spans.push(sign.span);
      first = sign.piece;
      offset = sign.offset + sign.sign.length;
    }
    const rest = first === 0 ? pieces : pieces.slice(first);
    if (rest.length > 0) rest[0] = rest[0]!.slice(offset);
    this.#push(rest.join(''));
    this.#joined = [];
    this.#pieces = [];
    this.#signs = [];
  }

  #push(text: string): void {
    if (text !== '') this.#spans.push({ text });
  }
}
