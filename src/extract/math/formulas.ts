// Formulas of a page, each found once however the page shows it: MathML, KaTeX, MathJax 2 and 3, images with their TeX
// as text, `math/tex` scripts.
// Promise: TeX is passed on as written; the picture of a formula for browsers without MathML is not a second one.
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT, elementNumber } from '../page/elements.js';
import { mathText } from './mathml.js';

const ANNOTATION = elementNumber('annotation');
const IMG = elementNumber('img');
const MATH = elementNumber('math');
const SCRIPT = elementNumber('script');
const SPAN = elementNumber('span');
const DIV = elementNumber('div');
const OTHER = 0;
/** Longer texts are not formulas. */
const MAX_TEX = 20_000;
const MAX_NAMES = 300;
/** Before its spaces are joined. */
const MAX_WRITTEN = 4 * MAX_TEX;
/** A drawing says within so many nodes what it draws. */
const MAX_DRAWN = 5_000;

/** How formulas are written: `$…$`, `` $`…`$ `` (GitHub's form that survives any markdown reader), or as plain text. */
export type MathStyle = 'dollar' | 'code' | 'text';

export interface Formula {
  /** LaTeX. */
  readonly tex: string;
  /** As plain characters: `(a+b)/2`. */
  readonly plain: string;
  /** True for a formula on lines of its own. */
  readonly display: boolean;
}

/** By node: the formulas, at the outermost element of each. */
export type Formulas = ReadonlyMap<number, Formula>;

/**
 * Parts of the names of {@link CLASS} and of MathJax's elements: a page without any is not read for them. They begin with
 * rare letters where they can, as a search stops at each.
 */
const SIGNS = ['katex', 'Jax', 'jx-', 'math-'];
const CLASS =
  /(?:^|\s)(katex|katex-display|mwe-math-element|MathJax|MathJax_Display|MathJax_Preview|MathJax_SVG|MathJax_CHTML|mjx-chtml|math-inline|math-display)(?:\s|$)/;
const IMAGE_CLASS = /(?:^|\s)(?:mwe-math-fallback-\S+|tex|latex|math|ee_img|eq_math)(?:\s|$)/i;

const known = new WeakMap<PageTree, Formulas>();

/** The formulas of a page. Pages without any cost a search for the signs of drawn ones and a look at each tag. */
export function formulasOf(tree: PageTree): Formulas {
  let found = known.get(tree);
  if (found === undefined) known.set(tree, (found = readFormulas(tree)));
  return found;
}

function readFormulas(tree: PageTree): Formulas {
  const hasDrawings = SIGNS.some((sign) => tree.bytes.includes(sign));
  const found = new Map<number, Formula>();
  // Drawings may nest around what is not a formula: it is tried once.
  const unreadable = new Set<number>();
  let previewOf = -1;
  for (let node = 1; node < tree.count;) {
    const formula = formulaOf(tree, node, hasDrawings, unreadable);
    if (formula === null) {
      // What is within an empty one is empty too.
      node = tree.tag[node] === MATH ? tree.end[node]! : node + 1;
      continue;
    }
    // MathJax 2 leaves a script after what it drew: the script is what was written.
    if (
      tree.tag[node] === SCRIPT &&
      previewOf >= 0 &&
      tree.parent[previewOf] === tree.parent[node] &&
      formula !== EMPTY
    )
      found.set(previewOf, EMPTY);
    previewOf = tree.tag[node] === SCRIPT ? -1 : isDrawing(tree, node) ? node : formula === EMPTY ? previewOf : -1;
    found.set(node, formula);
    node = tree.end[node]!;
  }
  return found;
}

/** What is drawn and has no text of its own. */
const EMPTY: Formula = { tex: '', plain: '', display: false };

const namesOf = (tree: PageTree, node: number): string => (tree.attribute(node, 'class') ?? '').slice(0, MAX_NAMES);
const isDrawing = (tree: PageTree, node: number): boolean =>
  tree.tag[node] !== MATH && /(?:^|\s)MathJax/.test(namesOf(tree, node));

function formulaOf(tree: PageTree, node: number, hasDrawings: boolean, unreadable: Set<number>): Formula | null {
  switch (tree.tag[node]!) {
    case MATH:
    case SCRIPT:
    case IMG:
      return fromElement(tree, node, false, unreadable);
    case SPAN:
    case DIV: {
      if (!hasDrawings || tree.from[node]! >= tree.to[node]!) return null;
      const name = CLASS.exec(namesOf(tree, node))?.[1];
      return name === undefined ? null : fromDrawing(tree, node, name, unreadable);
    }
    case OTHER:
      return hasDrawings && tree.name(node) === 'mjx-container'
        ? fromDrawing(tree, node, 'mjx-container', unreadable)
        : null;
    default:
      return null;
  }
}

/** The formula of an element that says by itself what it is; where there is none, this is found out once. */
function fromElement(tree: PageTree, node: number, isDisplay: boolean, unreadable: Set<number>): Formula | null {
  if (unreadable.has(node)) return null;
  const kind = tree.tag[node];
  const formula =
    kind === MATH ? fromMath(tree, node) : kind === SCRIPT ? fromScript(tree, node) : fromImage(tree, node);
  if (formula === null) unreadable.add(node);
  return formula === null || !isDisplay ? formula : { ...formula, display: true };
}

function fromScript(tree: PageTree, node: number): Formula | null {
  const type = tree.attribute(node, 'type') ?? '';
  if (!/^\s*math\/(?:tex|latex)/i.test(type) || tree.end[node]! <= node + 1) return null;
  if (tree.to[node + 1]! - tree.from[node + 1]! > MAX_WRITTEN) return null;
  return ofTex(tree.raw(tree.from[node + 1]!, tree.to[node + 1]!), /mode\s*=\s*display/i.test(type));
}

/** What KaTeX, MathJax and MediaWiki draw: the MathML or image in it says what it is. */
function fromDrawing(tree: PageTree, node: number, name: string, unreadable: Set<number>): Formula | null {
  if (name === 'MathJax_Preview') return EMPTY;
  const isDisplay = /display/i.test(name) || (name === 'mjx-container' && tree.attribute(node, 'display') === 'true');
  const end = Math.min(tree.end[node]!, node + MAX_DRAWN);
  for (let at = node + 1; at < end; at++) {
    const kind = tree.tag[at];
    if (kind === MATH) return fromElement(tree, at, isDisplay || isBlockMath(tree, node), unreadable);
    if (kind !== SCRIPT && kind !== IMG) continue;
    const formula = fromElement(tree, at, isDisplay, unreadable);
    if (formula !== null) return formula;
  }
  const mathml = tree.attribute(node, 'data-mathml');
  if (mathml !== null) {
    const tex = /<annotation[^>]{0,100}tex[^>]{0,100}>([^<]{1,20000})</.exec(mathml.slice(0, MAX_TEX * 2))?.[1];
    if (tex !== undefined) return ofTex(unescape(tex), isDisplay);
  }
  // GitHub and MkDocs write the TeX itself between `\(` and `\)` for a script to draw.
  if (name === 'math-inline' || name === 'math-display') {
    let text = '';
    for (let at = node + 1; at < tree.end[node]! && text.length < MAX_TEX; at++)
      if (tree.tag[at] === TEXT) text += tree.decode(tree.from[at]!, tree.to[at]!);
    const bare = withoutDelimiters(text.trim());
    return bare === text.trim() ? null : ofTex(bare, isDisplay);
  }
  return name.startsWith('MathJax') ? EMPTY : null;
}

const unescape = (text: string): string => text.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');

function isBlockMath(tree: PageTree, node: number): boolean {
  return tree.tag[node] === DIV && /display/i.test(namesOf(tree, node));
}

function fromImage(tree: PageTree, node: number): Formula | null {
  const names = namesOf(tree, node);
  if (!IMAGE_CLASS.test(names)) return null;
  const range = tree.attributeRange(node, 'alt');
  if (range === null || range.to - range.from > MAX_WRITTEN) return null;
  const alt = tree.attribute(node, 'alt') ?? '';
  // `math` and `tex` are also names of pictures of other things.
  if (!/[\\^_{}=+<>]|^\s*\S{1,3}\s*$/.test(alt) || alt.length > MAX_TEX) return null;
  return ofTex(alt, /fallback-image-display/.test(names));
}

function fromMath(tree: PageTree, node: number): Formula | null {
  const display = tree.attribute(node, 'display') === 'block' || tree.attribute(node, 'mode') === 'display';
  const annotated = annotation(tree, node) ?? tree.attribute(node, 'alttext')?.trim() ?? '';
  const latex = annotated === '' || annotated.length > MAX_TEX ? mathText(tree, node, 'latex') : annotated;
  const formula = ofTex(latex, display);
  if (formula === null) return null;
  const plain = mathText(tree, node, 'plain');
  return plain === '' ? formula : { ...formula, plain };
}

function annotation(tree: PageTree, node: number): string | null {
  for (let at = node + 1; at < tree.end[node]!; at++) {
    if (tree.tag[at] !== ANNOTATION || !/tex/i.test(tree.attribute(at, 'encoding') ?? '')) continue;
    let tex = '';
    for (let k = at + 1; k < tree.end[at]! && tex.length < MAX_TEX; k++)
      if (tree.tag[k] === TEXT || tree.tag[k] === RAW) tex += tree.decode(tree.from[k]!, tree.to[k]!);
    if (tex.trim() !== '') return tex.trim();
  }
  return null;
}

/** MediaWiki wraps each formula in `{\displaystyle …}`, which says nothing. */
function ofTex(written: string, display: boolean): Formula | null {
  if (written.length > MAX_WRITTEN) return null;
  let tex = withoutDelimiters(written.replace(/\s+/g, ' ').trim());
  const wrapped = /^\{\\(?:display|text)style\s?(.*)\}$/s.exec(tex);
  if (wrapped !== null && isBalanced(wrapped[1]!)) tex = wrapped[1]!.trim();
  tex = tex.replace(/^\\displaystyle\s/, '').replace(/^%\s/, '');
  return tex === '' || tex.length > MAX_TEX ? null : { tex, plain: tex, display };
}

function isBalanced(tex: string): boolean {
  let depth = 0;
  for (let k = 0; k < tex.length; k++) {
    const char = tex[k];
    if (char === '\\') k++;
    else if (char === '{') depth++;
    else if (char === '}' && --depth < 0) return false;
  }
  return depth === 0;
}

function withoutDelimiters(tex: string): string {
  for (const [open, close] of [
    ['$$', '$$'],
    ['\\[', '\\]'],
    ['\\(', '\\)'],
    ['$', '$'],
  ] as const) {
    if (tex.length > open.length + close.length && tex.startsWith(open) && tex.endsWith(close))
      return tex.slice(open.length, -close.length).trim();
  }
  return tex;
}

/** A formula as text or markdown, in one line. */
export function writeFormula({ tex, plain, display }: Formula, style: MathStyle): string {
  if (tex === '') return '';
  switch (style) {
    case 'dollar':
      return display ? `$$${tex}$$` : `$${tex}$`;
    case 'code':
      return `$\`${tex}\`$`;
    case 'text':
      return plain;
    default:
      return style satisfies never;
  }
}
