// A page, or the chosen part of it, as CommonMark with GFM tables.
// Promise: deterministic, linear in the page; text, headings, lists, tables, code and link targets survive a round trip.
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT, elementNumber, elementSet } from '../page/elements.js';
import { codeLanguage, preformattedText } from './code.js';
import type { LinkStyle } from './inline.js';
import { InlineText, codeSpan, destination, escapeText, inlineLinks, pictureIn } from './inline.js';
import { MarkdownWriter } from './markdown-writer.js';
import { imageSource } from '../page/media.js';
import type { PageUrls } from '../page/page-urls.js';
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
const HEADING_LEVEL = new Uint8Array(256);
for (let level = 1; level <= 6; level++) HEADING_LEVEL[tag(`h${level}`)] = level;
const PREFORMATTED = elementSet('pre listing xmp plaintext');
const HASH = 35;
const BACKSLASH = 92;

export interface MarkdownOptions {
  readonly urls: PageUrls;
  /** Nodes to leave out, by row; `null` keeps everything that is shown. */
  readonly dropped: Uint8Array | null;
  readonly linkStyle?: LinkStyle;
  readonly images?: boolean;
  readonly links?: boolean;
  /** How formulas are written. Default `dollar`. */
  readonly math?: MathStyle;
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

  constructor(tree: PageTree, options: MarkdownOptions) {
    this.#tree = tree;
    this.#options = options;
    this.#formulas = formulasOf(tree);
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
    if (IS_BLOCK[kind] === 1) return this.#block(node, kind);
    this.#inlineElement(node, kind);
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
    const marker = STRONG[kind] === 1 ? '**' : ITALIC[kind] === 1 ? '*' : STRUCK[kind] === 1 ? '~~' : null;
    const opened = marker === null ? null : inline.openEmphasis(marker);
    if (kind === Q) inline.text('“');
    this.children(node);
    if (kind === Q) inline.text('”');
    inline.close(opened);
    if (script !== null) inline.mark(script[1]);
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
    if (this.#options.images === false) return;
    const source = imageSource(this.#tree, node, this.#options.urls);
    if (source === null) return;
    const alt = (this.#tree.attribute(node, 'alt') ?? '').replace(/\s+/g, ' ').trim();
    this.#inline.markup(`![${escapeText(alt)}](${destination(source)})`);
  }

  #link(node: number): void {
    const url = this.#options.links === false ? null : this.#options.urls.read(node, 'href');
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
      const url =
        tree.tag[child] === A && this.#options.links !== false ? this.#options.urls.read(child, 'href') : null;
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
    const text = this.#line(node);
    if (text !== '') this.#write([pictureIn(text) ?? `${'#'.repeat(level)} ${escapeLastHashes(text)}`]);
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
    let number = ordered ? startOf(tree, node) : 0;
    const bullet = ordered ? (this.#lastList === '.' ? ')' : '.') : this.#lastList === '-' ? '*' : '-';
    let written = false;
    for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
      const isText = tree.tag[child] === TEXT;
      if (isText || (this.#options.dropped !== null && this.#options.dropped[child] === 1)) {
        if (isText) this.#stray(child, bullet);
        continue;
      }
      if (isUnseen(tree, child)) continue;
      if (ordered && tree.tag[child] === LI) number = numberOf(tree, child) ?? number;
      const marker = ordered ? `${number}${bullet} ` : `${bullet} `;
      if (this.#item(marker, () => this.#itemContent(child))) {
        written = true;
        number++;
        this.writer.tight();
      }
    }
    if (written) {
      this.writer.loose();
      this.#lastList = bullet;
    }
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

  /** Terms with their definitions nested below, as CommonMark has no such list of its own. */
  #definitions(node: number): void {
    const tree = this.#tree;
    const bullet = this.#lastList === '-' ? '*' : '-';
    let written = false;
    let inTerm = false;
    const visit = (parent: number): void => {
      for (let child = parent + 1; child < tree.end[parent]!; child = tree.end[child]!) {
        const kind = tree.tag[child]!;
        if (this.#options.dropped !== null && this.#options.dropped[child] === 1) continue;
        if (kind === DT) {
          if (inTerm) this.writer.close();
          this.writer.open(`${bullet} `, '  ');
          inTerm = true;
          const text = this.#definitionTerm(child);
          if (text) written = true;
          this.writer.tight();
        } else if (kind === DD) {
          this.writer.open(`${bullet} `, '  ');
          this.#lastList = '';
          this.children(child);
          this.flush();
          if (this.writer.close()) written = true;
          this.writer.tight();
        } else if (IS_BLOCK[kind] === 1 && !isUnseen(tree, child)) visit(child);
        else this.#node(child);
      }
    };
    visit(node);
    this.flush();
    if (inTerm) this.writer.close();
    if (written) {
      this.writer.loose();
      this.#lastList = bullet;
    }
  }

  #definitionTerm(node: number): boolean {
    const opened = this.#inline.openEmphasis('**');
    const text = this.#line(node);
    this.#inline.close(opened);
    this.#inline.take();
    this.#write(text === '' ? [] : [text]);
    return text !== '';
  }

  #table(node: number): void {
    const grid = readGrid(this.#tree, node, this.#options.dropped);
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

/** Hashes at the end of a heading would be taken for its end. */
function escapeLastHashes(text: string): string {
  let from = text.length;
  while (from > 0 && text.charCodeAt(from - 1) === HASH) from--;
  // The first of them is escaped already.
  if (from < text.length && text.charCodeAt(from - 1) === BACKSLASH) from++;
  return from < text.length ? `${text.slice(0, from)}\\${text.slice(from)}` : text;
}

/** A pipe in a cell is escaped unless it already is. */
function escapePipes(text: string): string {
  let out = '';
  let copied = 0;
  for (let at = text.indexOf('|'); at >= 0; at = text.indexOf('|', at + 1)) {
    let slashes = 0;
    while (at - slashes > copied && text.charCodeAt(at - slashes - 1) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) out += `${text.slice(copied, at)}\\|`;
    else out += text.slice(copied, at + 1);
    copied = at + 1;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

function startOf(tree: PageTree, list: number): number {
  const start = Number.parseInt(tree.attribute(list, 'start') ?? '1', 10);
  return start >= 0 && start <= 999_999_999 ? start : 1;
}

function numberOf(tree: PageTree, item: number): number | null {
  const value = Number.parseInt(tree.attribute(item, 'value') ?? '', 10);
  return value >= 0 && value <= 999_999_999 ? value : null;
}
