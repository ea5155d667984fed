// MathML as LaTeX, or as plain characters: fractions, roots, scripts, sums, matrices, fences, accents.
// Promise: one pass over the formula; elements that are not known are written as what they hold.
import type { PageTree } from '../../parse/tree/tree.js';
import { TEXT, elementNumber } from '../page/elements.js';
import { FUNCTIONS, LETTERS, OPERATORS, OVER, UNDER } from './mathml-symbols.js';

const ANNOTATION = elementNumber('annotation');
/** The tree itself is no deeper than this. */
const MAX_DEPTH = 200;
const MAX_CHARS = 20_000;

/** Characters that steer readers of MathML and show nothing: times and function application that are not drawn. */
const UNSEEN = /[\u2061-\u2064\u200b-\u200f\u2060\ufeff]/g;

type Form = 'latex' | 'plain';

/** The formula of a `math` element. */
export function mathText(tree: PageTree, node: number, form: Form): string {
  const writer = new MathWriter(tree, form);
  const text = writer.row(node, 0);
  return writer.isFull || text.length > MAX_CHARS ? '' : text.replace(/\s+/g, ' ').trim();
}

class MathWriter {
  readonly #tree: PageTree;
  readonly #isPlain: boolean;
  /** Of the text, and one per element: what is written of an empty one is looked at again by all around it. */
  #chars = 0;

  /** More than a formula has. */
  get isFull(): boolean {
    return this.#chars > MAX_CHARS;
  }

  constructor(tree: PageTree, form: Form) {
    this.#tree = tree;
    this.#isPlain = form === 'plain';
  }

  #children(node: number): number[] {
    const tree = this.#tree;
    const list: number[] = [];
    for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!)
      if (tree.tag[child] !== TEXT && tree.tag[child] !== ANNOTATION) list.push(child);
    return list;
  }

  /** All that an element holds, one after the other. */
  row(node: number, depth: number): string {
    return this.#join(this.#children(node).map((child) => this.#write(child, depth + 1)));
  }

  #join(parts: readonly string[]): string {
    let out = '';
    let last = '';
    for (const part of parts) {
      // A command and a script end where no letter follows.
      if (/(?:\\[a-z]+|[\^_][^\s(){}^_]+)$/i.test(last.slice(-40)) && /^[\p{L}\p{N}]/u.test(part)) out += ' ';
      out += part;
      if (part !== '') last = part;
    }
    return out;
  }

  /** In braces, unless it is one character. */
  #group(text: string): string {
    if (this.#isPlain) return text.length <= 1 || /^[\p{L}\p{N}.]+$/u.test(text) ? text : `(${text})`;
    return `{${text}}`;
  }

  #script(text: string): string {
    if (text.length === 1 || (this.#isPlain && /^[+-]?[\p{L}\p{N}.]+$/u.test(text))) return text;
    return this.#isPlain ? `(${text})` : `{${text}}`;
  }

  #base(text: string): string {
    const isOne =
      [...text].length <= 1 || /^\\[a-z]+$/i.test(text) || /^[\p{N}.]+$/u.test(text) || /^[([|].*[)\]|]$/.test(text);
    return isOne ? text : this.#isPlain && /^[\p{L}\p{N}]+$/u.test(text) ? text : this.#group(text);
  }

  #write(node: number, depth: number): string {
    if (depth > MAX_DEPTH || this.isFull) return '';
    this.#chars++;
    const tree = this.#tree;
    const name = tree.name(node).replace(/^[a-z]+:/, '');
    const kids = (): string[] => this.#children(node).map((child) => this.#write(child, depth + 1));
    switch (name) {
      case 'mi':
        return this.#identifier(this.#text(node));
      case 'mn':
      case 'mo':
        return this.#symbols(this.#text(node), name === 'mo');
      case 'mtext':
      case 'ms': {
        const text = this.#text(node);
        if (this.#isPlain) return text;
        return text.trim() === '' ? (text === '' ? '' : '\\ ') : `\\text{${text.replace(/[\\{}$%#&_^~]/g, '')}}`;
      }
      case 'mspace':
        return this.#isPlain ? ' ' : '\\ ';
      case 'mfrac':
      case 'bevelled': {
        const [above = '', below = ''] = kids();
        if (this.#isPlain) return `${this.#group(above)}/${this.#group(below)}`;
        return tree.attribute(node, 'linethickness') === '0'
          ? `\\binom{${above}}{${below}}`
          : `\\frac{${above}}{${below}}`;
      }
      case 'msqrt': {
        const inside = this.row(node, depth);
        return this.#isPlain ? `√${this.#group(inside)}` : `\\sqrt{${inside}}`;
      }
      case 'mroot': {
        const [inside = '', index = ''] = kids();
        return this.#isPlain ? `${index}√${this.#group(inside)}` : `\\sqrt[${index}]{${inside}}`;
      }
      case 'msup': {
        const [base = '', above = ''] = kids();
        if (/^'+$/.test(above)) return this.#base(base) + above;
        return `${this.#base(base)}^${this.#script(above)}`;
      }
      case 'msub': {
        const [base = '', below = ''] = kids();
        return `${this.#base(base)}_${this.#script(below)}`;
      }
      case 'msubsup': {
        const [base = '', below = '', above = ''] = kids();
        return `${this.#base(base)}_${this.#script(below)}^${this.#script(above)}`;
      }
      case 'munder':
      case 'mover':
      case 'munderover':
        return this.#limits(name, kids());
      case 'mmultiscripts':
        return this.#multiscripts(node, depth);
      case 'mtable':
        return this.#table(node, depth);
      case 'mfenced': {
        const open = tree.attribute(node, 'open') ?? '(';
        const close = tree.attribute(node, 'close') ?? ')';
        const between = (tree.attribute(node, 'separators') ?? ',').trim().slice(0, 1);
        const inside = kids().join(between);
        return this.#isPlain
          ? open + inside + close
          : `${this.#fence('left', open)}${inside}${this.#fence('right', close)}`;
      }
      case 'menclose': {
        const inside = this.row(node, depth);
        return this.#isPlain || !/box/.test(tree.attribute(node, 'notation') ?? '') ? inside : `\\boxed{${inside}}`;
      }
      case 'mphantom':
      case 'annotation-xml':
      case 'maligngroup':
      case 'malignmark':
      case 'none':
      case 'mprescripts':
        return '';
      case 'semantics': {
        // What follows the first child explains it again.
        const [first] = this.#children(node);
        return first === undefined ? '' : this.#write(first, depth + 1);
      }
      default:
        return this.row(node, depth);
    }
  }

  #fence(side: 'left' | 'right', mark: string): string {
    return mark === '' ? `\\${side}.` : `\\${side}${OPERATORS[mark] ?? mark}`;
  }

  #text(node: number): string {
    const tree = this.#tree;
    let text = '';
    for (let at = node + 1; at < tree.end[node]!; at++)
      if (tree.tag[at] === TEXT) text += tree.decode(tree.from[at]!, tree.to[at]!);
    this.#chars += text.length;
    return text
      .replace(UNSEEN, '')
      .replace(/[\t\n\f\r ]+/g, ' ')
      .trim();
  }

  #identifier(text: string): string {
    if (this.#isPlain) return text;
    if (FUNCTIONS.has(text)) return text === 'mod' ? '\\bmod' : `\\${text}`;
    const letters = [...text];
    return letters.length > 1 && /^[a-z]+$/i.test(text) ? `\\mathrm{${text}}` : this.#symbols(text, false);
  }

  #symbols(text: string, isOperator: boolean): string {
    if (this.#isPlain) return text;
    if (FUNCTIONS.has(text)) return `\\${text}`;
    return this.#join(
      [...text].map((char) => OPERATORS[char] ?? LETTERS.get(char) ?? (char === '\\' ? '\\backslash' : char)),
    ).replace(/^\\ $/, isOperator ? '\\ ' : ' ');
  }

  /** Sums and limits carry theirs as scripts; accents go over. */
  #limits(name: string, [base = '', first = '', second = '']: string[]): string {
    if (name === 'munderover') return `${this.#base(base)}_${this.#script(first)}^${this.#script(second)}`;
    const isOver = name === 'mover';
    if (/^\\(?:sum|prod|int|iint|oint|lim|liminf|limsup|max|min|sup|inf|bigcup|bigcap)$/.test(base) || this.#isPlain) {
      const accent = isOver ? OVER[first] : UNDER[first];
      if (this.#isPlain && accent !== undefined) return base;
      return `${this.#base(base)}${isOver ? '^' : '_'}${this.#script(first)}`;
    }
    const mark = first.replace(/^\\to$/, '→').replace(/^\\_$/, '_');
    const command = isOver ? OVER[mark] : UNDER[mark];
    if (command !== undefined) return `\\${command}{${base}}`;
    return isOver ? `\\overset{${first}}{${base}}` : `\\underset{${first}}{${base}}`;
  }

  #multiscripts(node: number, depth: number): string {
    const children = this.#children(node);
    const [base, ...rest] = children;
    if (base === undefined) return '';
    let before = '';
    let after = '';
    let isBefore = false;
    for (let k = 0; k < rest.length;) {
      if (this.#tree.name(rest[k]!) === 'mprescripts') {
        isBefore = true;
        k++;
        continue;
      }
      const below = this.#write(rest[k]!, depth + 1);
      const above = k + 1 < rest.length ? this.#write(rest[k + 1]!, depth + 1) : '';
      const scripts = `${below === '' ? '' : `_${this.#script(below)}`}${above === '' ? '' : `^${this.#script(above)}`}`;
      if (isBefore) before += scripts;
      else after += scripts;
      k += 2;
    }
    const body = `${this.#base(this.#write(base, depth + 1))}${after}`;
    return before === '' ? body : `${this.#isPlain ? '' : '{}'}${before}${body}`;
  }

  #table(node: number, depth: number): string {
    const rows = this.#children(node).map((row) => {
      const isRow = /^m(?:labeled)?tr$/.test(this.#tree.name(row));
      const cells = isRow ? this.#children(row) : [row];
      return cells.map((cell) => this.#write(cell, depth + 1));
    });
    if (this.#isPlain) return `[${rows.map((row) => row.join(', ')).join('; ')}]`;
    return `\\begin{matrix}${rows.map((row) => row.join(' & ')).join(' \\\\ ')}\\end{matrix}`;
  }
}
