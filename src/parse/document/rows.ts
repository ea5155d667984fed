// Listens to the tokenizer and notes a page as the rows its document is made of: the third sink, for handlers that use `$`.
// Promise: htmlparser2's tree, for any bytes, in linear time; nesting and nodes are capped, end tags still match.
import { LIMITS } from '../../limits.js';
import type { AttributeList } from '../tokens/attributes.js';
import { LESS_THAN, SLASH, seek } from '../../base/bytes.js';
import { CONTENT_MODEL, ENDS_BEFORE, HOLDS_NOTHING, HOSTS_HTML } from './rules.js';
import { ElementNames } from '../tokens/element-names.js';
import { tagNumber } from '../tokens/tags.js';
import type { ContentModel, TokenSink } from '../tokens/tokenizer.js';
import { DATA, ESCAPABLE } from '../tokens/tokenizer.js';

/** What is nested deeper becomes a sibling, as in browsers: recursion and searches stay bounded, nothing is lost. */
export const MAX_NESTING = LIMITS.treeDepth.max;
/** A node is some 150 bytes: what comes after this many (a page of 20 MB and more) is left out. */
const MAX_NODES = LIMITS.treeNodes.max;
const KEPT_NODES = 1 << 14;
const KEPT_DEPTH = 1 << 12;

/** What a row is if not an element: elements have the number of their name. */
export const TEXT = -1;
/** Text in which nothing stands for anything else. */
export const RAW_TEXT = -2;
/** More of the text before it, after something that is not a node. */
export const MORE_TEXT = -3;
export const MORE_RAW_TEXT = -4;
export const COMMENT = -5;
export const DECLARATION = -6;

const BR = tagNumber('br');
const FORM = tagNumber('form');
const IMAGE = tagNumber('image');
const IMG = tagNumber('img');
const MATH = tagNumber('math');
const P = tagNumber('p');
const SVG = tagNumber('svg');

/** What tags are read as inside an element. */
const HTML = 0;
const IN_SVG = 1;
const IN_MATH = 2;

/** Attributes are read again from the bytes on demand. */
const NO_TAG = new Uint8Array(256);

export class DocumentRows implements TokenSink {
  readonly readsAttributes = NO_TAG;
  readonly names = new ElementNames();
  readonly #attributes: AttributeList;
  /** Row 0 is the document. */
  count = 0;
  kind = new Int32Array(KEPT_NODES);
  parent = new Int32Array(KEPT_NODES);
  /** How many rows have this one as their parent. */
  children = new Int32Array(KEPT_NODES);
  /** Element: after the name in its start tag, or -1 without attributes. Else where it begins and ends. */
  from = new Int32Array(KEPT_NODES);
  to = new Int32Array(KEPT_NODES);
  /** 1 for an element of SVG. */
  svg = new Uint8Array(KEPT_NODES);
  // The open elements, deeper than MAX_NESTING too, so that their end tags close nothing else.
  #stackRow = new Int32Array(KEPT_DEPTH);
  #stackName = new Int32Array(KEPT_DEPTH);
  #stackContext = new Uint8Array(KEPT_DEPTH);
  #depth = 0;
  #context = HTML;
  /** How many elements of each name are open. */
  #open = new Int32Array(1024);
  /** The row that takes more text, or -1. */
  #lastText = -1;

  constructor(attributes: AttributeList) {
    this.#attributes = attributes;
  }

  get inForeignContent(): boolean {
    return this.#context !== HTML;
  }

  start(): void {
    if (this.kind.length > KEPT_NODES * 4) this.#resizeRows(KEPT_NODES, 0);
    if (this.#stackRow.length > KEPT_DEPTH) this.#resizeStack(KEPT_DEPTH, 0);
    this.names.tidy();
    if (this.#open.length > 4 * this.names.count) this.#open = new Int32Array(1024);
    else this.#open.fill(0);
    this.count = 0;
    this.#depth = 0;
    this.#context = HTML;
    this.#lastText = -1;
    this.#add(0, 0, 0);
    this.children[0] = 0;
    this.#push(0, 0, HTML);
  }

  text(bytes: Buffer, from: number, end: number): number {
    const to = seek(bytes, LESS_THAN, from + 1, end);
    this.#addText(from, to, TEXT);
    return to;
  }

  space(from: number, to: number): boolean {
    this.#addText(from, to, TEXT);
    return true;
  }

  characterData(_bytes: Buffer, from: number, to: number): void {
    if (from < to) this.#addText(from, to, RAW_TEXT);
  }

  content(_bytes: Buffer, from: number, to: number, model: ContentModel): void {
    if (from < to) this.#addText(from, to, model === ESCAPABLE ? TEXT : RAW_TEXT);
  }

  comment(_bytes: Buffer, from: number, to: number): void {
    this.#add(COMMENT, from, to);
  }

  declaration(bytes: Buffer, from: number, to: number): void {
    // `</>` is nothing.
    if (bytes[from] !== SLASH || to - from > 1) this.#add(DECLARATION, from, to);
  }

  startTag(bytes: Buffer, tag: number, nameFrom: number, nameTo: number): ContentModel {
    const context = this.#context;
    const name = this.#nameOf(bytes, tag, nameFrom, nameTo);
    // A form inside a form is no element.
    if (name === FORM && this.#open[FORM]! > 0) return DATA;
    const ended = ENDS_BEFORE[name];
    if (ended !== undefined) while (ended[this.#stackName[this.#depth - 1]!] === 1) this.#pop();
    const row = this.#add(name, bytes[nameTo] === 0x3e ? -1 : nameTo, 0);
    if (row < 0) return DATA;
    if (context === IN_SVG) this.svg[row] = 1;
    if (HOLDS_NOTHING[name] === 1) return DATA;
    const inside = name === SVG ? IN_SVG : name === MATH ? IN_MATH : HOSTS_HTML[name] === 1 ? HTML : context;
    if (this.#attributes.selfClosing && (context !== HTML || inside !== HTML)) return DATA;
    this.#push(row, name, inside);
    return context === HTML ? (CONTENT_MODEL[name] ?? DATA) : DATA;
  }

  endTag(bytes: Buffer, tag: number, nameFrom: number, nameTo: number): void {
    const name = this.#nameOf(bytes, tag, nameFrom, nameTo);
    if (HOLDS_NOTHING[name] === 1) {
      if (name === BR) this.#add(BR, -1, 0);
    } else if (this.#open[name]! > 0) {
      while (this.#stackName[this.#depth - 1] !== name) this.#pop();
      this.#pop();
    } else if (name === P) {
      this.#add(P, -1, 0);
    }
  }

  #nameOf(bytes: Buffer, tag: number, from: number, to: number): number {
    if (tag === 0) return this.names.numberOf(bytes, from, to);
    return tag === IMAGE && this.#context === HTML ? IMG : tag;
  }

  #addText(from: number, to: number, kind: number): void {
    const last = this.#lastText;
    if (last < 0) {
      this.#lastText = this.#add(kind, from, to);
    } else if (this.to[last] === from && this.kind[last] === kind) {
      // What looked like a tag and was none.
      this.to[last] = to;
    } else {
      const row = this.#add(kind === TEXT ? MORE_TEXT : MORE_RAW_TEXT, from, to);
      if (row < 0) return;
      this.children[this.parent[row]!]!--;
      this.#lastText = last;
    }
  }

  #add(kind: number, from: number, to: number): number {
    const row = this.count;
    this.#lastText = -1;
    if (row >= MAX_NODES) return -1;
    if (row === this.kind.length) this.#resizeRows(row * 2, row);
    const depth = this.#depth;
    const parent = depth === 0 ? 0 : this.#stackRow[(depth < MAX_NESTING ? depth : MAX_NESTING) - 1]!;
    this.kind[row] = kind;
    this.parent[row] = parent;
    this.children[row] = 0;
    this.from[row] = from;
    this.to[row] = to;
    this.svg[row] = 0;
    this.children[parent]!++;
    this.count = row + 1;
    return row;
  }

  #push(row: number, name: number, context: number): void {
    const at = this.#depth++;
    if (at === this.#stackRow.length) this.#resizeStack(at * 2, at);
    this.#stackRow[at] = row;
    this.#stackName[at] = name;
    this.#stackContext[at] = context;
    this.#context = context;
    if (name >= this.#open.length) {
      const larger = new Int32Array(name * 2);
      larger.set(this.#open);
      this.#open = larger;
    }
    this.#open[name]!++;
  }

  #pop(): void {
    const at = --this.#depth;
    this.#open[this.#stackName[at]!]!--;
    this.#context = this.#stackContext[at - 1]!;
    this.#lastText = -1;
  }

  #resizeRows(capacity: number, count: number): void {
    this.kind = resized(this.kind, new Int32Array(capacity), count);
    this.parent = resized(this.parent, new Int32Array(capacity), count);
    this.children = resized(this.children, new Int32Array(capacity), count);
    this.from = resized(this.from, new Int32Array(capacity), count);
    this.to = resized(this.to, new Int32Array(capacity), count);
    this.svg = resized(this.svg, new Uint8Array(capacity), count);
  }

  #resizeStack(capacity: number, count: number): void {
    this.#stackRow = resized(this.#stackRow, new Int32Array(capacity), count);
    this.#stackName = resized(this.#stackName, new Int32Array(capacity), count);
    this.#stackContext = resized(this.#stackContext, new Uint8Array(capacity), count);
  }
}

function resized<T extends Uint8Array | Int32Array>(from: T, to: T, count: number): T {
  to.set(from.subarray(0, count));
  return to;
}
