// A page, or the chosen part of it, as CommonMark with GFM tables.
// Promise: deterministic, linear in the page; text, headings, lists, tables, code and link targets survive a round trip.
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT, elementNumber, elementSet } from '../page/elements.js';
import { codeLanguage, preformattedText } from './code.js';
import type { LinkStyle } from './inline.js';
import { InlineText, codeSpan, destination, escapeText, inlineLinks } from './inline.js';
import { MarkdownWriter } from './markdown-writer.js';
import { headingAddresses } from './self-links.js';
import {
  classOf,
  EQUATION,
  escapePipes,
  HEADING_LEVEL,
  headingLine,
  isBracketed,
  isDefining,
  nextHeadings,
  numberOf,
  startOf,
} from './shapes.js';
import { emoticonOf, imageSource } from '../page/media.js';
import type { PageUrls } from '../page/page-urls.js';
import { taskOf } from './tasks.js';
import type { Formula, Formulas, MathStyle } from '../math/formulas.js';
import { formulasOf, writeFormula } from '../math/formulas.js';
import { scriptMarks } from '../math/scripts.js';
import { IS_BLOCK, isUnseen } from '../page/segment.js';
import { textOf } from '../shown/shown-text.js';
import { readGrid } from '../page/table-grid.js';

const tag = elementNumber;
const A = tag('a');
const BLOCKQUOTE = tag('blockquote');
const BR = tag('br');
const CITE = tag('cite');
const DD = tag('dd');
const DL = tag('dl');
const DT = tag('dt');
const HR = tag('hr');
const IMG = tag('img');
const LI = tag('li');
const OL = tag('ol');
const Q = tag('q');
const RT = tag('rt');
const TABLE = tag('table');
const LIST = elementSet('ul ol menu dir');
const STRONG = elementSet('b strong');
const ITALIC = elementSet('em i cite dfn var');
const STRUCK = elementSet('del s strike');
const CODE = elementSet('code kbd samp tt');
const PREFORMATTED = elementSet('pre listing xmp plaintext');

export interface MarkdownOptions {
  readonly urls: PageUrls;
  /** Nodes to leave out, by row; `null` keeps everything that is shown. */
  readonly dropped: Uint8Array | null;
  readonly linkStyle?: LinkStyle;
  readonly images?: boolean;
  readonly links?: boolean;
  /** How formulas are written. Default `dollar`. */
  readonly math?: MathStyle;
  /** Elements that begin with a rule where they are not the first: the posts of a thread. */
  readonly parts?: readonly number[];
}

/** Renders the subtree of `root`. */
export function renderMarkdown(tree: PageTree, root: number, options: MarkdownOptions): string {
  const renderer = new Renderer(tree, options);
  renderer.children(root);
  renderer.flush();
  return renderer.writer.toString();
}

class Renderer {
  readonly writer: MarkdownWriter;
  readonly #tree: PageTree;
  readonly #options: MarkdownOptions;
  readonly #formulas: Formulas;
  #inline: InlineText;
  /** Greater than zero where everything is one line: headings and table cells. */
  #oneLine = 0;
  /** The marker of the list that ended last, when nothing came after it. */
  #lastList = '';
  /** The heading or term being written, or -1, and the pictures in it, which follow it. */
  #titleNode = -1;
  #pictures: string[] = [];
  #ownAddresses: ReadonlySet<string> | null = null;
  /** Greater than zero within a sub- or superscript. */
  #scripts = 0;
  readonly #parts: ReadonlySet<number>;
  /** By node: the next heading after it that is shown; made when a page has a list. */
  #nextHeading: Int32Array | null = null;
  /** The class of the list that ended last, where it had one item. */
  #lastSingle = '';

  constructor(tree: PageTree, options: MarkdownOptions) {
    this.#tree = tree;
    this.#options = options;
    this.#formulas = formulasOf(tree);
    this.#parts = new Set(options.parts?.slice(1));
    this.writer = new MarkdownWriter(tree.bytes.length);
    this.#inline = new InlineText(
      options.linkStyle ?? inlineLinks,
      this.#formulas.size > 0 && (options.math ?? 'dollar') === 'dollar',
    );
  }

  children(node: number): void {
    const { end } = this.#tree;
    for (let child = node + 1; child < end[node]!; child = end[child]!) this.#node(child);
  }

  /** Ends the paragraph being gathered. */
  flush(): void {
    if (this.#inline.isEmpty) return void this.#inline.take();
    this.#write(this.#inline.take());
  }

  #write(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const last = lines.length - 1;
    this.writer.block(lines.map((line, k) => (k < last ? `${line}\\` : line)));
    this.#lastList = '';
  }

  #node(node: number): void {
    const tree = this.#tree;
    const kind = tree.tag[node]!;
    if (tree.flags[node] === 1) this.#inline.space();
    if (this.#options.dropped !== null && this.#options.dropped[node] === 1) return;
    const formula = this.#formulas.size === 0 ? undefined : this.#formulas.get(node);
    if (formula !== undefined) return this.#formula(formula);
    if (kind === TEXT || kind === RAW) return this.#inline.text(textOf(tree, node));
    if (kind === RT) return;
    if (isUnseen(tree, node)) return;
    if (this.#oneLine > 0) return this.#inOneLine(node, kind);
    if (this.#parts.has(node)) this.#startPart();
    if (IS_BLOCK[kind] === 1) return this.#block(node, kind);
    this.#inlineElement(node, kind);
  }

  #startPart(): void {
    this.flush();
    if (this.writer.isEmpty) return;
    this.writer.loose();
    this.#write(['---']);
  }

  #block(node: number, kind: number): void {
    this.flush();
    if (HEADING_LEVEL[kind]! > 0) return this.#heading(node, HEADING_LEVEL[kind]!);
    if (LIST[kind] === 1) return this.#list(node, kind);
    if (PREFORMATTED[kind] === 1) return this.#preformatted(node);
    switch (kind) {
      case HR:
        return this.#write(['---']);
      case BLOCKQUOTE:
        this.writer.open('> ', '> ');
        this.children(node);
        this.flush();
        this.writer.close();
        this.#lastList = '';
        return;
      case TABLE:
        return this.#table(node);
      case DL:
        return this.#definitions(node);
      default:
        this.children(node);
        this.flush();
    }
  }

  #inlineElement(node: number, kind: number): void {
    const inline = this.#inline;
    if (kind === BR) {
      // A line break after a line break ends the paragraph.
      if (inline.endsWithBreak) this.flush();
      else inline.lineBreak();
      return;
    }
    if (kind === IMG) return this.#image(node);
    if (kind === A) return this.#link(node);
    if (CODE[kind] === 1) return this.#code(node);
    if (kind === 0) inline.space();
    const script = scriptMarks(this.#tree, node, inline.tail);
    if (script !== null) inline.mark(script[0]);
    if (script !== null) this.#scripts++;
    // Emphasis in a script is how it is set, not what it says; a citation in brackets is no title of a work.
    const marker =
      this.#scripts > 0 || (kind === CITE && isBracketed(this.#tree, node))
        ? null
        : STRONG[kind] === 1
          ? '**'
          : ITALIC[kind] === 1
            ? '*'
            : STRUCK[kind] === 1
              ? '~~'
              : null;
    const opened = marker === null ? null : inline.openEmphasis(marker);
    if (kind === Q) inline.text('“');
    this.children(node);
    if (kind === Q) inline.text('”');
    inline.close(opened);
    if (script !== null) {
      this.#scripts--;
      inline.mark(script[1]);
    }
    if (kind === 0) inline.space();
  }

  /** Where everything is one line, blocks are kept apart by a space. */
  #inOneLine(node: number, kind: number): void {
    if (kind === BR || IS_BLOCK[kind] === 1) this.#inline.space();
    if (kind === BR || kind === HR) return;
    if (IS_BLOCK[kind] === 0) return this.#inlineElement(node, kind);
    if (PREFORMATTED[kind] === 1)
      this.#inline.markup(codeSpan(preformattedText(this.#tree, node, this.#options.dropped).trim()));
    else this.children(node);
    this.#inline.space();
  }

  #image(node: number): void {
    const emoticon = emoticonOf(this.#tree, node);
    if (emoticon !== null) return this.#inline.text(emoticon);
    if (this.#options.images === false) return;
    const source = imageSource(this.#tree, node, this.#options.urls);
    if (source === null) return;
    const alt = (this.#tree.attribute(node, 'alt') ?? '').replace(/\s+/g, ' ').trim();
    const picture = `![${escapeText(alt)}](${destination(source)})`;
    if (this.#titleNode >= 0) this.#pictures.push(picture);
    else this.#inline.markup(picture);
  }

  /** The address of a link; `null` where none is wanted, or where a heading links to itself. */
  #address(node: number): string | null {
    const { urls, links } = this.#options;
    const url = links === false ? null : urls.read(node, 'href');
    if (url === null || this.#titleNode < 0 || !url.includes('#')) return url;
    this.#ownAddresses ??= headingAddresses(this.#tree, this.#titleNode, urls);
    return this.#ownAddresses.has(url) ? null : url;
  }

  #link(node: number): void {
    const url = this.#address(node);
    const opened = url === null ? null : this.#inline.openLink(url);
    this.children(node);
    this.#inline.close(opened);
  }

  #code(node: number): void {
    const tree = this.#tree;
    // Code that holds links or blocks is not a span: its parts are written one by one.
    for (let at = node + 1; at < tree.end[node]!; at++) {
      const kind = tree.tag[at]!;
      if (kind === A || kind === IMG || IS_BLOCK[kind] === 1) {
        const text = this.#spanLinks(node, kind);
        if (text) return;
        return this.children(node);
      }
    }
    const text = preformattedText(tree, node, this.#options.dropped).replace(/[\t\n\f\r \u00a0]+/g, ' ');
    if (text.startsWith(' ')) this.#inline.space();
    this.#inline.markup(codeSpan(text.trim()));
    if (text.endsWith(' ')) this.#inline.space();
  }

  /** `<code><a>…</a></code>`: the link goes outside. False when the code holds more than links and text. */
  #spanLinks(node: number, found: number): boolean {
    if (found !== A) return false;
    const tree = this.#tree;
    for (let at = node + 1; at < tree.end[node]!; at++)
      if (IS_BLOCK[tree.tag[at]!] === 1 || tree.tag[at] === IMG) return false;
    for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
      if (tree.flags[child] === 1) this.#inline.space();
      const text = preformattedText(tree, child, this.#options.dropped).replace(/[\t\n\f\r \u00a0]+/g, ' ');
      const url = tree.tag[child] === A ? this.#address(child) : null;
      if (text.startsWith(' ')) this.#inline.space();
      const opened = url === null || text.trim() === '' ? null : this.#inline.openLink(url);
      this.#inline.markup(codeSpan(text.trim()));
      this.#inline.close(opened);
      if (text.endsWith(' ')) this.#inline.space();
    }
    return true;
  }

  #formula(formula: Formula): void {
    const { math = 'dollar' } = this.#options;
    if (formula.tex === '') return;
    if (formula.display && this.#oneLine === 0) {
      this.flush();
      if (math === 'code') return this.#fenced(formula.tex, 'math');
      return this.#write([math === 'text' ? escapeText(formula.plain) : writeFormula(formula, math)]);
    }
    if (math === 'text') this.#inline.text(formula.plain);
    else this.#inline.markup(math === 'code' ? `$${codeSpan(formula.tex)}$` : writeFormula(formula, math));
  }

  #heading(node: number, level: number): void {
    const [text, pictures] = this.#title(node);
    if (text !== '') this.#write([headingLine(text, level, classOf(this.#tree, node))]);
    this.#write(pictures);
  }

  /** What titles something, and the pictures in it on a line of their own. */
  #title(node: number): [text: string, pictures: readonly string[]] {
    this.#titleNode = node;
    const text = this.#line(node);
    this.#titleNode = -1;
    this.#ownAddresses = null;
    const pictures = this.#pictures;
    this.#pictures = [];
    return [text, pictures.length > 0 ? [pictures.join(' ')] : []];
  }

  /** All of an element on one line. */
  #line(node: number): string {
    this.#oneLine++;
    this.children(node);
    this.#oneLine--;
    return this.#inline.take().join(' ');
  }

  #preformatted(node: number): void {
    const text = preformattedText(this.#tree, node, this.#options.dropped).replace(/^\n/, '').trimEnd();
    if (text.trim() !== '') this.#fenced(text, codeLanguage(this.#tree, node));
  }

  #fenced(text: string, language: string): void {
    let longest = 2;
    for (const run of text.match(/`{3,}/g) ?? []) longest = Math.max(longest, run.length);
    const fence = '`'.repeat(longest + 1);
    this.writer.block([fence + language, ...text.split('\n'), fence]);
    this.#lastList = '';
  }

  #list(node: number, kind: number): void {
    const tree = this.#tree;
    const ordered = kind === OL;
    const headed = this.#isHeaded(node);
    let number = ordered ? startOf(tree, node) : 0;
    const style = classOf(tree, node);
    // Notion writes a list for each item.
    const goesOn = style !== '' && style === this.#lastSingle && this.#lastList !== '';
    if (goesOn) this.writer.tight();
    const [usual, other] = ordered ? ['.', ')'] : ['-', '*'];
    const bullet = (this.#lastList === usual) === goesOn ? usual! : other!;
    let written = 0;
    for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
      const isText = tree.tag[child] === TEXT;
      if (isText || (this.#options.dropped !== null && this.#options.dropped[child] === 1)) {
        if (isText) this.#stray(child, bullet);
        continue;
      }
      if (isUnseen(tree, child)) continue;
      if (headed || this.#parts.has(child)) {
        // A thread or a page written as a list: its items are parts of the page.
        if (this.#parts.has(child)) this.#startPart();
        this.#block(child, LI);
        continue;
      }
      if (ordered && tree.tag[child] === LI) number = numberOf(tree, child) ?? number;
      const marker = ordered ? `${number}${bullet} ` : `${bullet} `;
      if (this.#item(marker, () => this.#itemContent(child))) {
        written++;
        number++;
        this.writer.tight();
      }
    }
    if (written > 0) {
      this.writer.loose();
      this.#lastList = bullet;
      this.#lastSingle = written === 1 ? style : '';
    }
  }

  /** Whether every item of a list that is shown has a heading: such lists arrange a page. */
  #isHeaded(list: number): boolean {
    const { tag, end } = this.#tree;
    const next = (this.#nextHeading ??= nextHeadings(this.#tree, this.#options.dropped));
    let items = 0;
    for (let child = list + 1; child < end[list]!; child = end[child]!) {
      if (tag[child] !== LI || end[child] === child + 1 || this.#options.dropped?.[child] === 1) continue;
      if (next[child]! >= end[child]!) return false;
      items++;
    }
    return items > 0;
  }

  #itemContent(child: number): void {
    if (this.#tree.tag[child] === LI) this.#listItem(child);
    else this.#node(child);
  }

  /** Text directly in a list is an item of its own. */
  #stray(node: number, bullet: string): void {
    if (this.#options.dropped !== null && this.#options.dropped[node] === 1) return;
    const marker = bullet === '.' || bullet === ')' ? `1${bullet} ` : `${bullet} `;
    if (this.#item(marker, () => this.#node(node))) this.writer.tight();
  }

  #item(marker: string, content: () => void): boolean {
    this.flush();
    this.writer.open(marker, ' '.repeat(marker.length));
    const before = this.#lastList;
    this.#lastList = '';
    content();
    this.flush();
    const written = this.writer.close();
    this.#lastList = written ? '' : before;
    return written;
  }

  /** An item's text is followed directly by a list in it. */
  #listItem(node: number): void {
    const tree = this.#tree;
    const task = taskOf(tree, node);
    if (task !== null) {
      this.#inline.markup(task ? '[x]' : '[ ]');
      this.#inline.space();
    }
    for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
      const kind = tree.tag[child]!;
      if (LIST[kind] === 1 && !this.#inline.isEmpty) {
        this.flush();
        // A number other than 1 cannot follow a paragraph without a blank line.
        if (kind !== OL || startOf(tree, child) === 1) this.writer.tight();
      }
      this.#node(child);
    }
    this.flush();
  }

  /** Terms with their definitions nested below, as CommonMark has no such list of its own. Without terms it only indents. */
  #definitions(node: number): void {
    const tree = this.#tree;
    if (!isDefining(tree, node, this.#options.dropped)) {
      this.children(node);
      return this.flush();
    }
    const bullet = this.#lastList === '-' ? '*' : '-';
    let written = false;
    let inTerm = false;
    const endTerm = (): void => {
      this.flush();
      if (inTerm) this.writer.close();
      inTerm = false;
    };
    const visit = (parent: number): void => {
      for (let child = parent + 1; child < tree.end[parent]!; child = tree.end[child]!) {
        const kind = tree.tag[child]!;
        if (this.#options.dropped !== null && this.#options.dropped[child] === 1) continue;
        if (kind === DT) {
          endTerm();
          this.writer.open(`${bullet} `, '  ');
          inTerm = true;
          if (this.#definitionTerm(child)) written = true;
          this.writer.tight();
        } else if (kind === DD) {
          this.writer.open(`${bullet} `, '  ');
          this.#lastList = '';
          this.children(child);
          this.flush();
          if (this.writer.close()) written = true;
          this.writer.tight();
        } else if (HEADING_LEVEL[kind]! > 0) {
          // It stands between two lists.
          endTerm();
          this.writer.loose();
          this.#node(child);
          this.#lastList = '';
        } else if (IS_BLOCK[kind] === 1 && !isUnseen(tree, child)) visit(child);
        else this.#node(child);
      }
    };
    visit(node);
    endTerm();
    if (written) {
      this.writer.loose();
      this.#lastList = bullet;
    }
  }

  #definitionTerm(node: number): boolean {
    const opened = this.#inline.openEmphasis('**');
    const [text, pictures] = this.#title(node);
    this.#inline.close(opened);
    this.#inline.take();
    this.#write(text === '' ? [] : [text]);
    this.#write(pictures);
    return text !== '' || pictures.length > 0;
  }

  #table(node: number): void {
    const grid = EQUATION.test(classOf(this.#tree, node)) ? null : readGrid(this.#tree, node, this.#options.dropped);
    if (grid === null) {
      this.children(node);
      return this.flush();
    }
    if (grid.caption >= 0) this.#write([this.#line(grid.caption)].filter((line) => line !== ''));
    const cells = grid.rows.map((row) => row.map((cell) => (cell < 0 ? '' : this.#cell(cell))));
    const rows = cells.filter((row) => row.some((cell) => cell !== ''));
    if (rows.length === 0) return;
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
    // Only the first row says how many columns there are: readers fill up the others.
    const head = [...rows[0]!, ...new Array<string>(width - rows[0]!.length).fill('')];
    const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
    this.writer.block([line(head), `|${' --- |'.repeat(width)}`, ...rows.slice(1).map(line)]);
    this.#lastList = '';
  }

  #cell(node: number): string {
    return escapePipes(this.#line(node));
  }
}
