// A page, or the chosen part of it, as CommonMark with GFM tables.
// Promise: deterministic, linear in the page; text, headings, lists, tables, code and link targets survive a round trip.
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT, elementNumber, elementSet } from '../page/elements.js';
import type { BlockRenderer, LastList } from './block-renderer.js';
import { codeLanguage, preformattedText } from './code.js';
import { writeDefinitions } from './definition-lists.js';
import type { LinkStyle } from './inline.js';
import { InlineText, codeSpan, destination, escapeLineStart, escapeText, inlineLinks } from './inline.js';
import { LIST, writeList } from './lists.js';
import { MarkdownWriter } from './markdown-writer.js';
import { headingAddresses } from './self-links.js';
import { HEADING_LEVEL, classOf, headingLine, isBracketed } from './shapes.js';
import { writeTable } from './tables.js';
import { emoticonOf, imageSource } from '../page/media.js';
import type { PageUrls } from '../page/page-urls.js';
import type { Formula, Formulas, MathStyle } from '../math/formulas.js';
import { formulasOf, writeFormula } from '../math/formulas.js';
import { scriptMarks } from '../math/scripts.js';
import { IS_BLOCK, isUnseen } from '../page/segment.js';
import { textOf } from '../shown/shown-text.js';

const tag = elementNumber;
const A = tag('a');
const BLOCKQUOTE = tag('blockquote');
const BR = tag('br');
const CITE = tag('cite');
const DL = tag('dl');
const FIGCAPTION = tag('figcaption');
const HR = tag('hr');
const IMG = tag('img');
const LABEL = tag('label');
const LI = tag('li');
const Q = tag('q');
const RT = tag('rt');
const TABLE = tag('table');
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

class Renderer implements BlockRenderer {
  readonly writer: MarkdownWriter;
  readonly tree: PageTree;
  readonly dropped: Uint8Array | null;
  readonly parts: ReadonlySet<number>;
  readonly inline: InlineText;
  readonly lastList: LastList = { marker: '', singleClass: '' };
  readonly #options: MarkdownOptions;
  readonly #formulas: Formulas;
  /** Greater than zero where everything is one line: headings and table cells. */
  #oneLine = 0;
  /** The heading or term being written, or -1, and the pictures in it, which follow it. */
  #titleNode = -1;
  /** That, or the caption being written: links to where it stands are none. */
  #ownNode = -1;
  #pictures: string[] = [];
  #ownAddresses: ReadonlySet<string> | null = null;
  /** Greater than zero within a sub- or superscript. */
  #scripts = 0;

  constructor(tree: PageTree, options: MarkdownOptions) {
    this.tree = tree;
    this.dropped = options.dropped;
    this.#options = options;
    this.#formulas = formulasOf(tree);
    this.parts = new Set(options.parts?.slice(1));
    this.writer = new MarkdownWriter(tree.bytes.length);
    this.inline = new InlineText(
      options.linkStyle ?? inlineLinks,
      this.#formulas.size > 0 && (options.math ?? 'dollar') === 'dollar',
    );
  }

  children(node: number): void {
    const { end } = this.tree;
    for (let child = node + 1; child < end[node]!; child = end[child]!) this.node(child);
  }

  /** Ends the paragraph being gathered. */
  flush(): void {
    if (this.inline.isEmpty) return void this.inline.take();
    this.write(this.inline.take());
  }

  write(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const last = lines.length - 1;
    this.writer.block(lines.map((line, k) => (k < last ? `${line}\\` : line)));
    this.lastList.marker = '';
  }

  node(node: number): void {
    const tree = this.tree;
    const kind = tree.tag[node]!;
    if (tree.flags[node] === 1) this.inline.space();
    if (this.dropped?.[node] === 1) return;
    const formula = this.#formulas.size === 0 ? undefined : this.#formulas.get(node);
    if (formula !== undefined) return this.#formula(formula);
    if (kind === TEXT || kind === RAW) return this.inline.text(textOf(tree, node));
    if (kind === RT) return;
    if (isUnseen(tree, node)) return;
    if (this.#oneLine > 0) return this.#inOneLine(node, kind);
    if (this.parts.has(node)) this.#startPart();
    if (IS_BLOCK[kind] === 1) return this.#block(node, kind);
    this.#inlineElement(node, kind);
  }

  #startPart(): void {
    this.flush();
    if (this.writer.isEmpty) return;
    this.writer.loose();
    this.write(['---']);
  }

  part(node: number): void {
    if (this.parts.has(node)) this.#startPart();
    this.#block(node, LI);
  }

  #block(node: number, kind: number): void {
    this.flush();
    if (HEADING_LEVEL[kind]! > 0) return this.#heading(node, HEADING_LEVEL[kind]!);
    if (LIST[kind] === 1) return writeList(this, node);
    if (PREFORMATTED[kind] === 1) return this.#preformatted(node);
    switch (kind) {
      case HR:
        return this.write(['---']);
      case BLOCKQUOTE:
        this.writer.open('> ', '> ');
        this.children(node);
        this.flush();
        this.writer.close();
        this.lastList.marker = '';
        return;
      case FIGCAPTION:
        return this.#ofOwn(node, () => {
          this.children(node);
          this.flush();
        });
      case TABLE:
        return writeTable(this, node);
      case DL:
        return writeDefinitions(this, node);
      default:
        this.children(node);
        this.flush();
    }
  }

  #inlineElement(node: number, kind: number): void {
    const inline = this.inline;
    if (kind === BR) {
      // A line break after a line break ends the paragraph.
      if (inline.endsWithBreak) this.flush();
      else inline.lineBreak();
      return;
    }
    if (kind === IMG) return this.#image(node);
    if (kind === A) return this.#link(node);
    if (CODE[kind] === 1) return this.#code(node);
    if (kind === 0 || kind === LABEL) inline.space();
    const script = scriptMarks(this.tree, node, inline.tail);
    if (script !== null) inline.mark(script[0]);
    if (script !== null) this.#scripts++;
    // Emphasis in a script is how it is set, not what it says; a citation in brackets is no title of a work.
    const marker =
      this.#scripts > 0 || (kind === CITE && isBracketed(this.tree, node))
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
    if (kind === 0 || kind === LABEL) inline.space();
  }

  /** Where everything is one line, blocks are kept apart by a space. */
  #inOneLine(node: number, kind: number): void {
    if (kind === BR || IS_BLOCK[kind] === 1) this.inline.space();
    if (kind === BR || kind === HR) return;
    if (IS_BLOCK[kind] === 0) return this.#inlineElement(node, kind);
    if (PREFORMATTED[kind] === 1) this.inline.markup(codeSpan(preformattedText(this.tree, node, this.dropped).trim()));
    else this.children(node);
    this.inline.space();
  }

  #image(node: number): void {
    const emoticon = emoticonOf(this.tree, node);
    if (emoticon !== null) return this.inline.text(emoticon);
    if (this.#options.images === false) return;
    const source = imageSource(this.tree, node, this.#options.urls);
    if (source === null) return;
    const alt = (this.tree.attribute(node, 'alt') ?? '').replace(/\s+/g, ' ').trim();
    const picture = `![${escapeText(alt)}](${destination(source)})`;
    if (this.#titleNode >= 0) this.#pictures.push(picture);
    else this.inline.markup(picture);
  }

  /** The address of a link; `null` where none is wanted, or where a heading or a caption links to itself. */
  #address(node: number): string | null {
    const { urls, links } = this.#options;
    const url = links === false ? null : urls.read(node, 'href');
    if (url === null || this.#ownNode < 0 || !url.includes('#')) return url;
    this.#ownAddresses ??= headingAddresses(this.tree, this.#ownNode, urls);
    return this.#ownAddresses.has(url) ? null : url;
  }

  #link(node: number): void {
    const url = this.#address(node);
    const opened = url === null ? null : this.inline.openLink(url);
    this.children(node);
    this.inline.close(opened);
  }

  #code(node: number): void {
    const tree = this.tree;
    // Code that holds links or blocks is not a span: its parts are written one by one.
    for (let at = node + 1; at < tree.end[node]!; at++) {
      const kind = tree.tag[at]!;
      if (kind === A || kind === IMG || IS_BLOCK[kind] === 1) {
        const text = this.#spanLinks(node, kind);
        if (text) return;
        return this.children(node);
      }
    }
    const text = preformattedText(tree, node, this.dropped).replace(/[\t\n\f\r \u00a0]+/g, ' ');
    if (text.startsWith(' ')) this.inline.space();
    this.inline.markup(codeSpan(text.trim()));
    if (text.endsWith(' ')) this.inline.space();
  }

  /** `<code><a>…</a></code>`: the link goes outside. False when the code holds more than links and text. */
  #spanLinks(node: number, found: number): boolean {
    if (found !== A) return false;
    const tree = this.tree;
    for (let at = node + 1; at < tree.end[node]!; at++)
      if (IS_BLOCK[tree.tag[at]!] === 1 || tree.tag[at] === IMG) return false;
    for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
      if (tree.flags[child] === 1) this.inline.space();
      const text = preformattedText(tree, child, this.dropped).replace(/[\t\n\f\r \u00a0]+/g, ' ');
      const url = tree.tag[child] === A ? this.#address(child) : null;
      if (text.startsWith(' ')) this.inline.space();
      const opened = url === null || text.trim() === '' ? null : this.inline.openLink(url);
      this.inline.markup(codeSpan(text.trim()));
      this.inline.close(opened);
      if (text.endsWith(' ')) this.inline.space();
    }
    return true;
  }

  #formula(formula: Formula): void {
    const { math = 'dollar' } = this.#options;
    if (formula.tex === '') return;
    if (formula.display && this.#oneLine === 0) {
      this.flush();
      if (math === 'code') return this.#fenced(formula.tex, 'math');
      return this.write([math === 'text' ? escapeText(formula.plain) : writeFormula(formula, math)]);
    }
    if (math === 'text') this.inline.text(formula.plain);
    else this.inline.markup(math === 'code' ? `$${codeSpan(formula.tex)}$` : writeFormula(formula, math));
  }

  #heading(node: number, level: number): void {
    const [text, pictures] = this.title(node);
    if (text !== '') this.write([headingLine(text, level, classOf(this.tree, node))]);
    this.write(pictures);
  }

  /** What titles something, and the pictures in it on a line of their own. */
  title(node: number): [text: string, pictures: readonly string[]] {
    this.#titleNode = node;
    const text = this.#ofOwn(node, () => this.line(node));
    this.#titleNode = -1;
    const pictures = this.#pictures;
    this.#pictures = [];
    return [text, pictures.length > 0 ? [pictures.join(' ')] : []];
  }

  caption(node: number): string {
    return escapeLineStart(this.#ofOwn(node, () => this.line(node)));
  }

  /** Writes what names the place where it stands. */
  #ofOwn<T>(node: number, write: () => T): T {
    const [outer, addresses] = [this.#ownNode, this.#ownAddresses];
    this.#ownNode = node;
    this.#ownAddresses = null;
    const written = write();
    this.#ownNode = outer;
    this.#ownAddresses = addresses;
    return written;
  }

  /** All of an element on one line. */
  line(node: number): string {
    this.#oneLine++;
    this.children(node);
    this.#oneLine--;
    return this.inline.take(true).join(' ');
  }

  #preformatted(node: number): void {
    const text = preformattedText(this.tree, node, this.dropped).replace(/^\n/, '').trimEnd();
    if (text.trim() !== '') this.#fenced(text, codeLanguage(this.tree, node));
  }

  #fenced(text: string, language: string): void {
    let longest = 2;
    for (const run of text.match(/`{3,}/g) ?? []) longest = Math.max(longest, run.length);
    const fence = '`'.repeat(longest + 1);
    this.writer.block([fence + language, ...text.split('\n'), fence]);
    this.lastList.marker = '';
  }
}
