// Follows SVG and MathML inside a page: which elements are open there, and where HTML takes over again.
// Promise: says for every tag whether HTML's rules apply to it, in amortised constant time and without a tree.
import type { AttributeList } from './attributes.js';
import { LOWER, ascii, equalsIgnoringCase } from '../../base/bytes.js';
import { tagNumber, tagSet } from './tags.js';

const SVG = tagNumber('svg');
const MATH = tagNumber('math');
const FONT = tagNumber('font');
const ANNOTATION_XML = tagNumber('annotation-xml');

/** Start tags that leave foreign content (HTML standard, "the rules for parsing tokens in foreign content"). */
const BREAKS_OUT = tagSet(
  'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta ' +
    'nobr ol p pre ruby s small span strong strike sub sup table tt u ul var',
);
const SVG_HOSTS_HTML = tagSet('foreignobject desc title');
const MATH_HOSTS_HTML = tagSet('mi mo mn ms mtext');
const STAYS_MATH = tagSet('mglyph malignmark');
/** Elements of SVG whose text no reader sees. */
const MUTED = tagSet('title desc metadata style script');

const COLOR = ascii('color');
const FACE = ascii('face');
const SIZE = ascii('size');
const ENCODING = ascii('encoding');
const TEXT_HTML = ascii('text/html');
const XHTML = ascii('application/xhtml+xml');

/** The kinds of open element this stack tells apart. */
const FOREIGN = 0;
const HOSTS_HTML = 1;
const HOSTS_MATH_TEXT = 2;

interface OpenElement {
  readonly tag: number;
  /** Stands for the lower-case name; a collision costs a wrongly closed SVG element and nothing else. */
  readonly nameHash: number;
  readonly root: number;
  readonly kind: typeof FOREIGN | typeof HOSTS_HTML | typeof HOSTS_MATH_TEXT;
}

/** How many elements of each name are open since the last host of HTML: keeps every end tag's cost constant. */
type OpenNames = Map<number, number>;

/** The open SVG and MathML elements; HTML elements inside `foreignObject` and its like are not kept. */
export class ForeignContent {
  readonly #open: OpenElement[] = [];
  /** One map per host of HTML that is open, and one for the outermost elements. */
  readonly #names: OpenNames[] = [new Map()];
  #muted = 0;
  /** True while the innermost element is SVG or MathML and no host of HTML. */
  inside = false;

  /** How many elements are open. */
  get depth(): number {
    return this.#open.length;
  }

  /** True inside `svg title`, `svg style` and the like. */
  get isMuted(): boolean {
    return this.#muted > 0;
  }

  /** Takes a start tag. True when it belongs to SVG or MathML; false when HTML's rules apply. */
  startTag(bytes: Buffer, tag: number, nameFrom: number, nameTo: number, attributes: AttributeList): boolean {
    const top = this.#open.at(-1);
    if (top === undefined || top.kind === HOSTS_HTML || (top.kind === HOSTS_MATH_TEXT && STAYS_MATH[tag] !== 1)) {
      if (tag !== SVG && tag !== MATH) return false;
      if (!attributes.selfClosing) {
        this.#push({ tag, nameHash: hashName(bytes, nameFrom, nameTo), root: tag, kind: FOREIGN });
      }
      return true;
    }
    if (BREAKS_OUT[tag] === 1 || (tag === FONT && hasFontAttribute(bytes, attributes))) {
      this.leave();
      return false;
    }
    if (!attributes.selfClosing) {
      const root = tag === SVG && top.tag === ANNOTATION_XML ? SVG : top.root;
      const kind = root === SVG ? svgKind(tag) : mathKind(bytes, tag, attributes);
      this.#push({ tag, nameHash: hashName(bytes, nameFrom, nameTo), root, kind });
    }
    return true;
  }

  /** Takes an end tag. True when it closed an SVG or MathML element. */
  endTag(bytes: Buffer, nameFrom: number, nameTo: number): boolean {
    const top = this.#open.at(-1);
    if (top === undefined) return false;
    // A host of HTML is a wall: what is outside it can be closed only while the host itself is innermost.
    const names = this.#names.at(top.kind === FOREIGN ? -1 : -2)!;
    const nameHash = hashName(bytes, nameFrom, nameTo);
    if (!names.has(nameHash)) return false;
    let k = this.#open.length - 1;
    while (this.#open[k]!.nameHash !== nameHash) k--;
    this.truncate(k);
    return true;
  }

  /** Closes what is open up to the innermost host of HTML. */
  leave(): void {
    let k = this.#open.length;
    while (k > 0 && this.#open[k - 1]!.kind === FOREIGN) k--;
    this.truncate(k);
  }

  /** Closes everything deeper than `depth`. */
  truncate(depth: number): void {
    while (this.#open.length > depth) {
      const { tag, nameHash, kind } = this.#open.pop()!;
      if (MUTED[tag] === 1) this.#muted--;
      if (kind !== FOREIGN) this.#names.pop();
      const names = this.#names.at(-1)!;
      const left = names.get(nameHash)! - 1;
      if (left === 0) names.delete(nameHash);
      else names.set(nameHash, left);
    }
    this.inside = this.#open.length > 0 && this.#open.at(-1)!.kind === FOREIGN;
  }

  #push(element: OpenElement): void {
    this.#open.push(element);
    const names = this.#names.at(-1)!;
    names.set(element.nameHash, (names.get(element.nameHash) ?? 0) + 1);
    if (element.kind !== FOREIGN) this.#names.push(new Map());
    if (MUTED[element.tag] === 1) this.#muted++;
    this.inside = element.kind === FOREIGN;
  }
}

function svgKind(tag: number): OpenElement['kind'] {
  return SVG_HOSTS_HTML[tag] === 1 ? HOSTS_HTML : FOREIGN;
}

function mathKind(bytes: Buffer, tag: number, attributes: AttributeList): OpenElement['kind'] {
  if (MATH_HOSTS_HTML[tag] === 1) return HOSTS_MATH_TEXT;
  if (tag !== ANNOTATION_XML) return FOREIGN;
  const encoding = attributes.find(bytes, ENCODING);
  if (encoding < 0) return FOREIGN;
  const from = attributes.valueFrom(encoding);
  const to = attributes.valueTo(encoding);
  return equalsIgnoringCase(bytes, from, to, TEXT_HTML) || equalsIgnoringCase(bytes, from, to, XHTML)
    ? HOSTS_HTML
    : FOREIGN;
}

function hasFontAttribute(bytes: Buffer, attributes: AttributeList): boolean {
  return attributes.find(bytes, COLOR) >= 0 || attributes.find(bytes, FACE) >= 0 || attributes.find(bytes, SIZE) >= 0;
}

function hashName(bytes: Buffer, from: number, to: number): number {
  let hash = 1;
  for (let k = from; k < to; k++) hash = (Math.imul(hash, 33) + LOWER[bytes[k]!]!) | 0;
  return hash;
}
