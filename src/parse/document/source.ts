// What the nodes of a document read from on demand: the page's bytes, kept as long as a node is, or released.
// Promise: strings never hold on to the page; the first of equal attributes wins; any name is safe as a key.
import { isAscii } from 'node:buffer';
import { AttributeList } from '../tokens/attributes.js';
import { BANG, DASH, GREATER_THAN, LOWER, SLASH, ascii, sliceLatin1, sliceUtf8 } from '../../base/bytes.js';
import { isSpelled, startsIgnoringCase } from '../../base/bytes.js';
import { ReferenceReader } from '../tokens/entities.js';
import { ValueDecoder } from '../tokens/values.js';
import { wordsOf } from '../words.js';

// Reading is synchronous and never re-enters itself, so all pages share these.
const attributes = new AttributeList();
const values = new ValueDecoder(new ReferenceReader());
const NAME_SLOTS = 1_024;
/** Attribute names met before, by a hash of their bytes. */
const namesBySlot = new Array<string>(NAME_SLOTS).fill('');
const DOCTYPE = ascii('!doctype');
/** From this many bytes on a native check pays for its call. */
const LONG_TEXT = 128;

export class DocumentSource {
  readonly #read: () => Buffer;
  #bytes: Buffer | undefined;
  #words: DataView | undefined;

  /** `read` gives the page in UTF-8: asked once, and again after {@link letGo}. */
  constructor(read: () => Buffer) {
    this.#read = read;
  }

  get bytes(): Buffer {
    return (this.#bytes ??= this.#read());
  }

  /** The bytes may be reused from now on; nodes that need them get the page read again. */
  letGo(): void {
    this.#bytes = undefined;
    this.#words = undefined;
  }

  /** The attributes of the start tag whose name ends at `at`. */
  attributes(at: number): Record<string, string> {
    const found: Record<string, string> = {};
    if (at < 0) return found;
    const { bytes } = this;
    attributes.read(bytes, (this.#words ??= wordsOf(bytes)), at, bytes.length);
    for (let k = 0; k < attributes.count; k++) {
      const name = attributeName(bytes, attributes.nameFrom(k), attributes.nameTo(k));
      if (Object.hasOwn(found, name)) continue;
      const value = values.decode(bytes, attributes.valueFrom(k), attributes.valueTo(k), true);
      if (name === '__proto__') define(found, name, value);
      else found[name] = value;
    }
    attributes.release();
    return found;
  }

  /** Text with its references resolved. */
  text(from: number, to: number): string {
    return values.decode(this.bytes, from, to, false);
  }

  /** Text as it stands, line ends aside. */
  rawText(from: number, to: number): string {
    const { bytes } = this;
    const slice = to - from >= LONG_TEXT && isAscii(bytes.subarray(from, to)) ? sliceLatin1 : sliceUtf8;
    const text = slice(bytes, from, to);
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  }

  /** The content of a comment that ends, together with its end, at `to`. */
  comment(from: number, to: number): string {
    return this.rawText(from, commentContentEnd(this.bytes, from, to));
  }

  /** Whether what stands after a `<` is a doctype. */
  isDoctype(from: number, to: number): boolean {
    return startsIgnoringCase(this.bytes, from, to, DOCTYPE);
  }

  /** The content of a bogus comment that begins after its `<`. */
  bogusComment(from: number, to: number): string {
    const first = this.bytes[from];
    return this.rawText(first === BANG || first === SLASH ? from + 1 : from, to);
  }
}

function define(object: object, name: string, value: string): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Where the content of a comment ends: before `-->`, `--!>`, or what the end of the input left of them. */
export function commentContentEnd(bytes: Buffer, from: number, to: number): number {
  const isClosed = to > from && bytes[to - 1] === GREATER_THAN;
  let end = isClosed ? to - 1 : to;
  if (end - 3 >= from && bytes[end - 1] === BANG && bytes[end - 2] === DASH && bytes[end - 3] === DASH) return end - 3;
  let dashes = 0;
  for (; dashes < 2 && end > from && bytes[end - 1] === DASH; dashes++) end--;
  // A `>` that closes nothing belongs to a comment that the end of the input cut off.
  return isClosed && dashes < 2 && end > from ? to : end;
}

/** A lower-case attribute name; a name met before is the same string, which objects find their keys by. */
function attributeName(bytes: Buffer, from: number, to: number): string {
  let hash = to - from;
  for (let k = from; k < to; k++) hash = (Math.imul(hash, 31) + LOWER[bytes[k]!]!) | 0;
  const slot = (hash ^ (hash >>> 14)) & (NAME_SLOTS - 1);
  const known = namesBySlot[slot]!;
  if (isSpelled(bytes, from, to, known)) return known;
  const name = sliceUtf8(bytes, from, to).toLowerCase();
  // Long names are rare: kept, they would only fill memory.
  if (name.length <= 64) namesBySlot[slot] = name;
  return name;
}
