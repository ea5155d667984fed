// The attributes of the tag being read, as positions in the page's bytes: values are decoded only when read.
// Promise: the HTML standard's attribute states, first of equal names wins, no allocation per tag.
import {
  CLASS,
  DOUBLE_QUOTE,
  ENDS_ATTRIBUTE_NAME,
  ENDS_UNQUOTED_VALUE,
  EQUALS,
  GREATER_THAN,
  IS_SPACE,
  SINGLE_QUOTE,
  SLASH,
  equalsIgnoringCase,
} from '../../base/bytes.js';
import { seekAngle, seekNameEnd } from '../words.js';

const FIELDS = 4;
/** Kept between pages; a tag with more attributes than this gets a larger array that is dropped with its page. */
const KEPT_ATTRIBUTES = 256;

/** Attribute positions of one tag: name and value ranges in the page's bytes. */
export class AttributeList {
  count = 0;
  selfClosing = false;
  #spans = new Int32Array(KEPT_ATTRIBUTES * FIELDS);

  /** Reads from after the tag name; returns the position after `>`, or -1 when the input ends inside the tag. */
  read(bytes: Buffer, words: DataView, from: number, end: number): number {
    let spans = this.#spans;
    let count = 0;
    let i = from;
    this.selfClosing = false;
    for (;;) {
      while (i < end && (CLASS[bytes[i]!]! & IS_SPACE) !== 0) i++;
      if (i >= end) return -1;
      const first = bytes[i]!;
      if (first === GREATER_THAN) break;
      if (first === SLASH) {
        i++;
        if (i < end && bytes[i] === GREATER_THAN) {
          this.selfClosing = true;
          break;
        }
        continue;
      }
      const nameFrom = i;
      do i = seekNameEnd(bytes, words, i + 1, end);
      while (i < end && (CLASS[bytes[i]!]! & ENDS_ATTRIBUTE_NAME) === 0);
      const nameTo = i;
      while (i < end && (CLASS[bytes[i]!]! & IS_SPACE) !== 0) i++;
      let valueFrom = nameTo;
      let valueTo = nameTo;
      if (i < end && bytes[i] === EQUALS) {
        i++;
        while (i < end && (CLASS[bytes[i]!]! & IS_SPACE) !== 0) i++;
        if (i >= end) return -1;
        const quote = bytes[i]!;
        if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
          valueFrom = i + 1;
          valueTo = bytes.indexOf(quote, valueFrom);
          if (valueTo < 0 || valueTo >= end) return -1;
          i = valueTo + 1;
        } else {
          valueFrom = i;
          while (i < end && (CLASS[bytes[i]!]! & ENDS_UNQUOTED_VALUE) === 0) i++;
          valueTo = i;
        }
      }
      const at = count * FIELDS;
      if (at === spans.length) {
        const larger = new Int32Array(spans.length * 2);
        larger.set(spans);
        spans = this.#spans = larger;
      }
      spans[at] = nameFrom;
      spans[at + 1] = nameTo;
      spans[at + 2] = valueFrom;
      spans[at + 3] = valueTo;
      count++;
    }
    this.count = count;
    return i + 1;
  }

  /**
   * Finds the end of a tag whose attributes are not needed, as {@link read} does, without recording them.
   * What decides is whether a `>` stands in a quoted value; a value follows a name and `=`, anything unusual is read.
   */
  skip(bytes: Buffer, words: DataView, from: number, end: number): number {
    this.clear();
    let i = from;
    for (;;) {
      const at = seekAngle(bytes, words, i, end);
      if (at >= end) return -1;
      const found = bytes[at]!;
      if (found === GREATER_THAN) {
        this.selfClosing = bytes[at - 1] === SLASH;
        return at + 1;
      }
      if (found !== EQUALS) {
        i = at + 1;
        continue;
      }
      // Without a name before it the `=` is the first byte of a name.
      const before = bytes[at - 1]!;
      if (at === i || before === SLASH || (CLASS[before]! & IS_SPACE) !== 0) return this.read(bytes, words, from, end);
      i = at + 1;
      if (i >= end) return -1;
      const first = bytes[i]!;
      if (first === DOUBLE_QUOTE || first === SINGLE_QUOTE) {
        const close = bytes.indexOf(first, i + 1);
        if (close < 0 || close >= end) return -1;
        i = close + 1;
      } else if ((CLASS[first]! & IS_SPACE) !== 0) {
        return this.read(bytes, words, from, end);
      } else {
        while (i < end && (CLASS[bytes[i]!]! & ENDS_UNQUOTED_VALUE) === 0) i++;
        if (i >= end) return -1;
        if (bytes[i] === GREATER_THAN) return i + 1;
      }
    }
  }

  /** Index of the first attribute with this (lower-case) name, or -1. */
  find(bytes: Uint8Array, name: Uint8Array): number {
    const spans = this.#spans;
    for (let index = 0, at = 0; index < this.count; index++, at += FIELDS) {
      if (equalsIgnoringCase(bytes, spans[at]!, spans[at + 1]!, name)) return index;
    }
    return -1;
  }

  nameFrom(index: number): number {
    return this.#spans[index * FIELDS]!;
  }

  nameTo(index: number): number {
    return this.#spans[index * FIELDS + 1]!;
  }

  valueFrom(index: number): number {
    return this.#spans[index * FIELDS + 2]!;
  }

  valueTo(index: number): number {
    return this.#spans[index * FIELDS + 3]!;
  }

  /** For a tag without any. */
  clear(): void {
    this.count = 0;
    this.selfClosing = false;
  }

  /** Gives back what one hostile tag made this list hold. */
  release(): void {
    this.count = 0;
    if (this.#spans.length > KEPT_ATTRIBUTES * FIELDS) this.#spans = new Int32Array(KEPT_ATTRIBUTES * FIELDS);
  }
}
