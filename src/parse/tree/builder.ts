// Listens to the tokenizer and builds a PageTree: the second sink of the byte scanner, for callers that need structure.
// Promise: any bytes give a tree, in time linear in them; depth and nodes are capped; what a browser nests is nested.
import { limitReached, LIMITS } from '../../limits.js';
import type { AttributeList } from '../tokens/attributes.js';
import { CLASS, IS_SPACE, LESS_THAN, LOWER, seek } from '../../base/bytes.js';
import { ForeignContent } from '../tokens/foreign.js';
import { tagNumber, tagSet } from '../tokens/tags.js';
import { type ContentModel, DATA, type TokenSink } from '../tokens/tokenizer.js';
import { PageTree, SPACE_BEFORE } from './tree.js';
import { ENDS_PARAGRAPH, FORMATTING, HEADING, LET_ITEMS_PASS, MODEL_OF, SCOPE_WALL } from './rules.js';
import { SPECIAL, STAYS_IN_HEAD, TABLE_PART, VOID, homeOf } from './rules.js';

/** As deep as browsers go; every search up the open elements is bounded by it. */
const MAX_DEPTH = LIMITS.treeDepth.max;
/** 18 bytes per node: what comes after this many (a page of 20 MB and more) is left out. */
const MAX_NODES = LIMITS.treeNodes.max;
const KEPT_NODES = 1 << 16;

const A = tagNumber('a');
const BODY = tagNumber('body');
const BR = tagNumber('br');
const BUTTON = tagNumber('button');
const DD = tagNumber('dd');
const DT = tagNumber('dt');
const FORM = tagNumber('form');
const FRAMESET = tagNumber('frameset');
const HEAD = tagNumber('head');
const HTML = tagNumber('html');
const LI = tagNumber('li');
const MATH = tagNumber('math');
const NOSCRIPT = tagNumber('noscript');
const OPTGROUP = tagNumber('optgroup');
const OPTION = tagNumber('option');
const P = tagNumber('p');
const PRE = tagNumber('pre');
const SVG = tagNumber('svg');
const TABLE = tagNumber('table');
const TEMPLATE = tagNumber('template');
const DEFINITION = tagSet('dd dt');
const P_WALL = tagSet('applet button caption html marquee object table td template th');

/** Foreign content and self-closing tags depend on attributes: all are read. */
const EVERY_TAG = new Uint8Array(256).fill(1);

export class TreeBuilder implements TokenSink {
  readonly readsAttributes = EVERY_TAG;
  readonly #attributes: AttributeList;
  readonly #own: Uint8Array;
  readonly #textTag: number;
  readonly #rawTag: number;
  // The rows, reused from page to page.
  #capacity = KEPT_NODES;
  #tag = new Uint8Array(KEPT_NODES);
  #parent = new Int32Array(KEPT_NODES);
  #end = new Int32Array(KEPT_NODES);
  #from = new Int32Array(KEPT_NODES);
  #to = new Int32Array(KEPT_NODES);
  #flags = new Uint8Array(KEPT_NODES);
  #count = 0;
  #truncated = false;
  // The open elements.
  readonly #stackNode = new Int32Array(MAX_DEPTH + 1);
  readonly #stackTag = new Uint8Array(MAX_DEPTH + 1);
  /** Tells elements without a number apart. */
  readonly #stackHash = new Int32Array(MAX_DEPTH + 1);
  /** Depth of foreign content at which the element was opened; 0 for those outside. */
  readonly #stackForeign = new Int32Array(MAX_DEPTH + 1);
  /** 1: the end tag came while blocks inside were open; the element ends with them. */
  readonly #stackEnded = new Uint8Array(MAX_DEPTH + 1);
  #depth = 0;
  readonly #open = new Int32Array(256);
  #foreign = new ForeignContent();
  #svgDepth = 0;
  #spacePending = false;
  #rawNode = -1;

  constructor(attributes: AttributeList, own: Uint8Array, textTag: number, rawTag: number) {
    this.#attributes = attributes;
    this.#own = own;
    this.#textTag = textTag;
    this.#rawTag = rawTag;
  }

  get inForeignContent(): boolean {
    return this.#foreign.inside;
  }

  start(): void {
    if (this.#capacity > KEPT_NODES * 4) this.#resize(KEPT_NODES, 0);
    this.#count = 0;
    this.#truncated = false;
    this.#depth = 0;
    this.#open.fill(0);
    this.#foreign = new ForeignContent();
    this.#svgDepth = 0;
    this.#spacePending = false;
    this.#add(0, 0, 0);
    this.#stackNode[0] = 0;
    this.#stackTag[0] = 0;
    this.#stackForeign[0] = 0;
    this.#stackEnded[0] = 0;
    this.#depth = 1;
  }

  take(bytes: Buffer): PageTree {
    this.#popTo(0);
    const count = this.#count;
    const rows = {
      count,
      tag: this.#tag.slice(0, count),
      parent: this.#parent.slice(0, count),
      end: this.#end.slice(0, count),
      from: this.#from.slice(0, count),
      to: this.#to.slice(0, count),
      flags: this.#flags.slice(0, count),
    };
    return new PageTree(bytes, rows, this.#truncated);
  }

  /** White space is judged with its place: `text` does. */
  space(): boolean {
    return false;
  }

  text(bytes: Buffer, from: number, end: number): number {
    const to = seek(bytes, LESS_THAN, from + 1, end);
    if (this.#svgDepth > 0) return to;
    const last = this.#count - 1;
    // What looked like a tag and was none continues the text before it.
    if (this.#to[last] === from && this.#tag[last] === this.#textTag && this.#parent[last] === this.#top()) {
      this.#to[last] = to;
      return to;
    }
    if (this.#open[PRE] === 0) {
      let k = from;
      while (k < to && (CLASS[bytes[k]!]! & IS_SPACE) !== 0) k++;
      if (k === to) {
        this.#spacePending = true;
        return to;
      }
    }
    if (this.#open[HEAD]! > 0 && this.#open[NOSCRIPT] === 0) this.#close(HEAD);
    this.#add(this.#textTag, from, to);
    return to;
  }

  characterData(_bytes: Buffer, from: number, to: number): void {
    if (this.#svgDepth === 0 && from < to) this.#add(this.#rawTag, from, to);
  }

  content(_bytes: Buffer, from: number, to: number, model: ContentModel): void {
    const node = this.#rawNode;
    if (node < 0 || from >= to) return;
    // Escapable text keeps its references; the rest is read as it stands.
    if (this.#add(model === 1 ? this.#textTag : this.#rawTag, from, to) >= 0) {
      this.#parent[this.#count - 1] = node;
      this.#end[node] = this.#count;
    }
  }

  /** No output depends on comments and declarations. */
  comment(): void {}
  declaration(): void {}

  startTag(bytes: Buffer, tag: number, nameFrom: number, nameTo: number): ContentModel {
    this.#rawNode = -1;
    if (tag === SVG || tag === MATH || this.#foreign.depth > 0) {
      const foreign = this.#foreign.startTag(bytes, tag, nameFrom, nameTo, this.#attributes);
      this.#leaveForeign();
      if (foreign) {
        this.#startForeign(bytes, tag, nameFrom, nameTo);
        return DATA;
      }
      if (this.#svgDepth > 0) return MODEL_OF[tag]!;
    }
    if (this.#placeless(tag)) return MODEL_OF[tag]!;
    this.#endImplied(tag);
    const node = this.#add(this.#own[tag]!, nameTo, this.#tagEnd(bytes, nameTo));
    const model = MODEL_OF[tag]!;
    if (model !== DATA) this.#rawNode = node;
    else if (VOID[tag] === 0) this.#push(node, tag, tag === 0 ? hashName(bytes, nameFrom, nameTo) : 0);
    return model;
  }

  endTag(bytes: Buffer, tag: number, nameFrom: number, nameTo: number): void {
    if (this.#foreign.depth > 0) {
      const closed = this.#foreign.endTag(bytes, nameFrom, nameTo);
      if (!closed && this.#foreign.inside && (tag === P || tag === BR || this.#open[tag]! > 0)) this.#foreign.leave();
      this.#leaveForeign();
      if (closed || this.#foreign.inside || this.#svgDepth > 0) return;
    }
    if (tag === BR) {
      this.#add(this.#own[BR]!, nameTo, nameTo);
      return;
    }
    if (this.#open[tag] === 0 || tag === BODY || tag === HTML) return;
    if (tag === 0) this.#closeInline(0, hashName(bytes, nameFrom, nameTo));
    else if (FORMATTING[tag] === 1) this.#closeFormatting(tag);
    else if (TABLE_PART[tag] === 1) this.#closeWithin(tag, TABLE_WALL);
    else if (tag === TABLE || tag === TEMPLATE || tag === HEAD) this.#close(tag);
    else if (SPECIAL[tag] === 1) this.#closeWithin(tag, tag === P ? P_WALL : SCOPE_WALL);
    else this.#closeInline(tag, 0);
  }

  /** True for start tags that make no element where they stand. */
  #placeless(tag: number): boolean {
    if (tag === HTML || tag === HEAD || tag === BODY || tag === FRAMESET) {
      if (this.#open[tag]! > 0 || (tag === HEAD && this.#open[BODY]! > 0)) return true;
      return tag === HTML && this.#count > 1;
    }
    if (tag === FORM) return this.#open[FORM]! > 0 && this.#open[TEMPLATE] === 0;
    return TABLE_PART[tag] === 1 && this.#open[TABLE] === 0;
  }

  /** Ends what this start tag ends. */
  #endImplied(tag: number): void {
    if (this.#open[HEAD]! > 0 && STAYS_IN_HEAD[tag] === 0 && this.#open[NOSCRIPT] === 0) this.#close(HEAD);
    if (tag === 0) return;
    if (ENDS_PARAGRAPH[tag] === 1 && this.#open[P]! > 0) this.#closeWithin(P, P_WALL);
    const top = this.#stackTag[this.#depth - 1]!;
    if (HEADING[tag] === 1) {
      if (HEADING[top] === 1) this.#popTo(this.#depth - 1);
    } else if (tag === LI) {
      if (this.#open[LI]! > 0) this.#closeItem(LI, LI);
    } else if (DEFINITION[tag] === 1) {
      if (this.#open[DD]! + this.#open[DT]! > 0) this.#closeItem(DD, DT);
    } else if (TABLE_PART[tag] === 1) {
      this.#closeToHome(homeOf(tag));
    } else if (tag === A) {
      if (this.#open[A]! > 0) this.#closeFormatting(A);
    } else if (tag === BUTTON) {
      if (this.#open[BUTTON]! > 0) this.#closeWithin(BUTTON, SCOPE_WALL);
    } else if (tag === OPTION) {
      if (top === OPTION) this.#popTo(this.#depth - 1);
    } else if (tag === OPTGROUP) {
      if (top === OPTION) this.#popTo(this.#depth - 1);
      if (this.#stackTag[this.#depth - 1] === OPTGROUP) this.#popTo(this.#depth - 1);
    } else if (tag === TABLE) {
      if (top === TABLE) this.#popTo(this.#depth - 1);
    }
  }

  #startForeign(bytes: Buffer, tag: number, nameFrom: number, nameTo: number): void {
    if (this.#svgDepth > 0) return;
    const node = this.#add(this.#own[tag]!, nameTo, this.#tagEnd(bytes, nameTo));
    if (this.#attributes.selfClosing) return;
    this.#push(node, tag, hashName(bytes, nameFrom, nameTo));
    // A drawing's own elements are not kept; formulas are.
    if (tag === SVG) this.#svgDepth = this.#foreign.depth;
  }

  /** Closes the elements of foreign content that is no longer open. */
  #leaveForeign(): void {
    const { depth } = this.#foreign;
    if (depth < this.#svgDepth) this.#svgDepth = 0;
    let k = this.#depth;
    while (k > 1 && this.#stackForeign[k - 1]! > depth) k--;
    this.#popTo(k);
  }

  #tagEnd(bytes: Buffer, nameTo: number): number {
    const { count } = this.#attributes;
    if (count === 0) return nameTo;
    const to = this.#attributes.valueTo(count - 1);
    // Past the closing quote and the `>`: reading the attributes again needs both.
    return Math.min(bytes.length, seek(bytes, 0x3e, to, bytes.length) + 1);
  }

  #top(): number {
    return this.#stackNode[this.#depth - 1]!;
  }

  #add(tag: number, from: number, to: number): number {
    const node = this.#count;
    if (node >= MAX_NODES) {
      if (!this.#truncated) limitReached('treeNodes');
      this.#truncated = true;
      return -1;
    }
    if (node === this.#capacity) this.#resize(this.#capacity * 2, node);
    this.#tag[node] = tag;
    this.#parent[node] = this.#depth === 0 ? 0 : this.#stackNode[this.#depth - 1]!;
    this.#end[node] = node + 1;
    this.#from[node] = from;
    this.#to[node] = to;
    this.#flags[node] = this.#spacePending ? SPACE_BEFORE : 0;
    this.#spacePending = false;
    this.#count = node + 1;
    return node;
  }

  #push(node: number, tag: number, hash: number): void {
    if (node < 0) return;
    if (this.#depth >= MAX_DEPTH) {
      if (!this.#truncated) limitReached('treeDepth');
      this.#truncated = true;
      return;
    }
    const at = this.#depth++;
    this.#stackNode[at] = node;
    this.#stackTag[at] = tag;
    this.#stackHash[at] = hash;
    this.#stackForeign[at] = this.#foreign.depth;
    this.#stackEnded[at] = 0;
    this.#open[tag]!++;
  }

  /** Closes all open elements from `depth` on, and those below that were only waiting for them. */
  #popTo(depth: number): void {
    while (this.#depth > depth || (this.#depth > 1 && this.#stackEnded[this.#depth - 1] === 1)) {
      const at = --this.#depth;
      this.#end[this.#stackNode[at]!] = this.#count;
      if (at > 0) this.#open[this.#stackTag[at]!]!--;
    }
  }

  #close(tag: number): void {
    let k = this.#depth - 1;
    while (k > 0 && this.#stackTag[k] !== tag) k--;
    if (k > 0) this.#popTo(k);
  }

  /** Closes the innermost `tag` unless one of `wall` stands in between. */
  #closeWithin(tag: number, wall: Uint8Array): void {
    for (let k = this.#depth - 1; k > 0; k--) {
      const open = this.#stackTag[k]!;
      if (open === tag) return this.#popTo(k);
      if (wall[open] === 1) return;
    }
  }

  #closeItem(tag: number, other: number): void {
    for (let k = this.#depth - 1; k > 0; k--) {
      const open = this.#stackTag[k]!;
      if (open === tag || open === other) return this.#popTo(k);
      if (SPECIAL[open] === 1 && LET_ITEMS_PASS[open] === 0) return;
    }
  }

  #closeToHome(home: Uint8Array): void {
    for (let k = this.#depth - 1; k > 0; k--) {
      if (home[this.#stackTag[k]!] === 1) return this.#popTo(k + 1);
    }
  }

  /** Closes an inline element; with blocks open inside it, it ends when they do. */
  #closeFormatting(tag: number): void {
    let blocked = false;
    for (let k = this.#depth - 1; k > 0; k--) {
      const open = this.#stackTag[k]!;
      if (open === tag && this.#stackEnded[k] === 0) {
        if (blocked) this.#stackEnded[k] = 1;
        else this.#popTo(k);
        return;
      }
      if (SCOPE_WALL[open] === 1) return;
      if (SPECIAL[open] === 1) blocked = true;
    }
  }

  #closeInline(tag: number, hash: number): void {
    for (let k = this.#depth - 1; k > 0; k--) {
      const open = this.#stackTag[k]!;
      if (open === tag && (tag !== 0 || this.#stackHash[k] === hash)) return this.#popTo(k);
      if (SPECIAL[open] === 1 && tag !== 0) return;
      // Custom elements hold blocks, so their end tag reaches past those; not past walls.
      if (SCOPE_WALL[open] === 1) return;
    }
  }

  #resize(capacity: number, count: number): void {
    const copy = <T extends Uint8Array | Int32Array>(from: T, to: T): T => {
      to.set(from.subarray(0, count));
      return to;
    };
    this.#capacity = capacity;
    this.#tag = copy(this.#tag, new Uint8Array(capacity));
    this.#parent = copy(this.#parent, new Int32Array(capacity));
    this.#end = copy(this.#end, new Int32Array(capacity));
    this.#from = copy(this.#from, new Int32Array(capacity));
    this.#to = copy(this.#to, new Int32Array(capacity));
    this.#flags = copy(this.#flags, new Uint8Array(capacity));
  }
}

const TABLE_WALL = tagSet('html table template');

function hashName(bytes: Buffer, from: number, to: number): number {
  let hash = 1;
  for (let k = from; k < to; k++) hash = (Math.imul(hash, 33) + LOWER[bytes[k]!]!) | 0;
  return hash;
}
