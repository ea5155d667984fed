// The attributes of the tag being read, as positions in the page's bytes: values are decoded only when somebody asks.
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
} from './bytes.js';

const FIELDS = 4;
/** Kept between pages; a tag with more attributes than this gets a larger array that is dropped with its page. */
const KEPT_ATTRIBUTES = 256;

/** Attribute positions of one tag: name and value ranges in the page's bytes. */
export class AttributeList {
  count = 0;
  selfClosing = false;
  #spans = new Int32Array(KEPT_ATTRIBUTES * FIELDS);

  /** Reads from after the tag name; returns the position after `>`, or -1 when the input ends inside the tag. */
  read(bytes: Buffer, from: number, end: number): number {
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
      const nameFrom = i++;
      while (i < end && (CLASS[bytes[i]!]! & ENDS_ATTRIBUTE_NAME) === 0) i++;
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

  /** Gives back what one hostile tag made this list hold. */
  release(): void {
    this.count = 0;
    if (this.#spans.length > KEPT_ATTRIBUTES * FIELDS) this.#spans = new Int32Array(KEPT_ATTRIBUTES * FIELDS);
  }
}
