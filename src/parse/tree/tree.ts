// A page as a tree of numbers: one row per node in document order, strings made on demand.
// Promise: rows never change once built; a node's subtree is the rows from it up to `end`, so walks need no stack.
import { AttributeList } from '../tokens/attributes.js';
import { CLASS, ENDS_TAG_NAME, LESS_THAN, LOWER, ascii, sliceLatin1 } from '../../base/bytes.js';
import type { Range } from '../scan/metadata.js';
import { ReferenceReader } from '../tokens/entities.js';
import { ValueDecoder } from '../tokens/values.js';
import { wordsOf } from '../words.js';

/** Bits of {@link PageTree.flags}. */
export const SPACE_BEFORE = 1;

/** The columns of a tree; row 0 is the document. */
export interface TreeRows {
  readonly count: number;
  /** What the node is: an index into the names given to the builder. */
  readonly tag: Uint8Array;
  readonly parent: Int32Array;
  /** The row after the node's last descendant. */
  readonly end: Int32Array;
  /** Text: its bytes. Element: from after the name in its start tag. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** 1: white space alone stood before this node. */
  readonly flags: Uint8Array;
}

const attributes = new AttributeList();
/** Whose attributes are in the list: several are asked for of one element in a row. Numbers, so that no page is held. */
let listedTree = 0;
let listedNode = 0;
let trees = 0;
const values = new ValueDecoder(new ReferenceReader());
const attributeNames = new Map<string, Uint8Array>();

function nameBytes(name: string): Uint8Array {
  let bytes = attributeNames.get(name);
  if (bytes === undefined) {
    bytes = ascii(name);
    // Names come from our code and from users' schemas: a few dozen in practice.
    if (attributeNames.size < 1_000) attributeNames.set(name, bytes);
  }
  return bytes;
}

/** A built tree. */
export class PageTree implements TreeRows {
  readonly count: number;
  readonly tag: Uint8Array;
  readonly parent: Int32Array;
  readonly end: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly flags: Uint8Array;
  /** The page as UTF-8. */
  readonly bytes: Buffer;
  /** True when the page had more nodes or depth than is kept. */
  readonly truncated: boolean;
  readonly #words: DataView;
  readonly #number = ++trees;

  constructor(bytes: Buffer, rows: TreeRows, truncated: boolean) {
    this.bytes = bytes;
    this.#words = wordsOf(bytes);
    this.count = rows.count;
    this.tag = rows.tag;
    this.parent = rows.parent;
    this.end = rows.end;
    this.from = rows.from;
    this.to = rows.to;
    this.flags = rows.flags;
    this.truncated = truncated;
  }

  /** The value of an element's attribute, references resolved; `null` when it has none. */
  attribute(node: number, name: string): string | null {
    const range = this.attributeRange(node, name);
    return range === null ? null : values.decode(this.bytes, range.from, range.to, true);
  }

  /** Where the value of an element's attribute stands in the bytes, as written. */
  attributeRange(node: number, name: string): Range | null {
    const list = this.attributes(node);
    const index = list.find(this.bytes, nameBytes(name));
    return index < 0 ? null : { from: list.valueFrom(index), to: list.valueTo(index) };
  }

  /** All attributes of an element, as positions. The list is shared: it holds until the next call. */
  attributes(node: number): AttributeList {
    if (listedNode === node && listedTree === this.#number) return attributes;
    if (this.from[node]! < this.to[node]!) attributes.read(this.bytes, this.#words, this.from[node]!, this.to[node]!);
    else attributes.release();
    listedNode = node;
    listedTree = this.#number;
    return attributes;
  }

  /** The string of a range of text, references resolved. */
  decode(from: number, to: number): string {
    return values.decode(this.bytes, from, to, false);
  }

  /** The string of a range of an attribute's value, references resolved. */
  decodeAttribute(from: number, to: number): string {
    return values.decode(this.bytes, from, to, true);
  }

  /** The bytes of a range of text, references resolved: `expanded.subarray(0, the returned length)`. */
  expand(from: number, to: number): number {
    return values.expand(this.bytes, from, to, false);
  }

  /** The bytes of the last {@link expand}. */
  get expanded(): Buffer {
    return values.expanded;
  }

  /** The bytes of a range as they are, for raw text. */
  raw(from: number, to: number): string {
    return this.bytes.toString('utf8', from, to);
  }

  /** An element's name in lower case, also of one without a number. */
  name(node: number): string {
    const { bytes } = this;
    const to = this.from[node]!;
    let from = to;
    while (from > 0 && bytes[from - 1] !== LESS_THAN && (CLASS[bytes[from - 1]!]! & ENDS_TAG_NAME) === 0) from--;
    let name = sliceLatin1(bytes, from, to);
    for (let k = from; k < to; k++) {
      if (LOWER[bytes[k]!] !== bytes[k]) {
        name = name.toLowerCase();
        break;
      }
    }
    return name;
  }

  /** The first child, or -1. */
  firstChild(node: number): number {
    return node + 1 < this.end[node]! ? node + 1 : -1;
  }

  /** The next sibling, or -1. */
  nextSibling(node: number): number {
    const next = this.end[node]!;
    return node > 0 && next < this.end[this.parent[node]!]! ? next : -1;
  }
}
