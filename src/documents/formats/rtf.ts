// Reads RTF: one pass over its words, groups and escaped bytes.
// Promise: linear; groups nest as deep as a file likes without a stack of ours, beyond a depth they share one state.
import { LIMITS } from '../../limits.js';
import type { DocumentParts } from '../model.js';
import { type Block, type Cell, inlineHtml, type Span, writeBlocks } from '../parts/blocks.js';
import { writtenHtml } from '../parts/html.js';
import { RtfText } from './rtf-text.js';

/** What a group inherits and gives back at its end. */
interface State {
  bold: boolean;
  italic: boolean;
  script: 'sup' | 'sub' | undefined;
  /** Nothing of this group is text. */
  isSkipped: boolean;
  /** Where text goes that is not the document's. */
  into: 'instruction' | 'style' | 'mark' | 'title' | 'author' | 'fonts' | undefined;
  href: string | undefined;
  /** Characters to skip after one of Unicode. */
  skipAfter: number;
  font: number;
}

const SKIPPED = new Set(
  (
    'colortbl pict object header headerl headerr headerf footer footerl footerr footerf ftnsep ftnsepc xe tc rxe ' +
    'themedata colorschememapping datastore latentstyles listtable listoverridetable rsidtbl generator filetbl revtbl ' +
    'pgptbl xmlnstbl wgrffmtfilter bkmkstart bkmkend operator company comment doccomm keywords subject category hlinkbase ' +
    'private nonshppict template mmathPr atnid atnauthor annotation pgdsctbl'
  ).split(' '),
);

export function readRtf(bytes: Uint8Array): DocumentParts {
  const reader = new Reader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'));
  reader.read();
  return { facts: reader.facts, body: writtenHtml((out) => writeBlocks(reader.blocks, out)) };
}

class Reader {
  readonly blocks: Block[] = [];
  readonly facts: { title: string | null; author: string | null; createdAt: string | null } = {
    title: null,
    author: null,
    createdAt: null,
  };
  readonly #source: string;
  readonly #text = new RtfText();
  readonly #stack: State[] = [];
  /** Groups beyond the limit of depth. */
  #uncounted = 0;
  #state: State = {
    bold: false,
    italic: false,
    script: undefined,
    isSkipped: false,
    into: undefined,
    href: undefined,
    skipAfter: 1,
    font: 0,
  };
  #spans: Span[] = [];
  #cells: Cell[] = [];
  #rows: Cell[][] = [];
  #isInTable = false;
  #outline: number | undefined;
  #style: number | undefined;
  readonly #headings = new Map<number, number>();
  #styleNumber: number | undefined;
  #level = 0;
  /** The words of the destination that is being read. */
  #collected = '';
  #mark: string | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  read(): void {
    const source = this.#source;
    for (let at = 0; at < source.length;) {
      const character = source[at]!;
      if (character === '\\') at = this.#control(at + 1);
      else if (character === '{') {
        this.#open();
        at++;
      } else if (character === '}') {
        this.#close();
        at++;
      } else if (character === '\r' || character === '\n') at++;
      else {
        let end = at + 1;
        while (end < source.length && !'\\{}\r\n'.includes(source[end]!)) end++;
        this.#add(this.#text.plain(source.slice(at, end)));
        at = end;
      }
    }
    this.#endParagraph();
    this.#endTable();
  }

  #open(): void {
    this.#flush();
    if (this.#stack.length >= LIMITS.documentDepth.max) this.#uncounted++;
    else this.#stack.push({ ...this.#state });
  }

  #close(): void {
    this.#flush();
    const { into } = this.#state;
    if (this.#uncounted > 0) {
      this.#uncounted--;
      return;
    }
    const outer = this.#stack.pop();
    if (!outer) return;
    if (into !== undefined && outer.into !== into) this.#endDestination(into);
    this.#state = outer;
    this.#text.useFont(outer.font);
  }

  #endDestination(into: NonNullable<State['into']>): void {
    const words = this.#collected.trim();
    this.#collected = '';
    if (into === 'instruction') this.#fieldHref = /^HYPERLINK\s+"([^"]+)"/.exec(words)?.[1];
    else if (into === 'mark') this.#mark = words;
    else if (into === 'title') this.facts.title = words || null;
    else if (into === 'author') this.facts.author = words || null;
  }

  #fieldHref: string | undefined;

  /** A word, a symbol or a byte after a backslash; gives where reading goes on. */
  #control(at: number): number {
    const source = this.#source;
    const first = source[at];
    if (first === undefined) return at;
    if (!/[a-z]/i.test(first)) return this.#symbol(first, at + 1);
    let end = at + 1;
    while (end < source.length && end - at < 32 && /[a-z]/i.test(source[end]!)) end++;
    const word = source.slice(at, end);
    let digits = end;
    if (source[digits] === '-') digits++;
    while (digits < source.length && digits - end < 11 && source[digits]! >= '0' && source[digits]! <= '9') digits++;
    const value = digits > end ? parseInt(source.slice(end, digits), 10) : undefined;
    const next = source[digits] === ' ' ? digits + 1 : digits;
    if (word === 'bin') return next + Math.max(0, Math.min(value ?? 0, source.length));
    if (word === 'u' && value !== undefined) return this.#unicode(value, next);
    this.#flush();
    this.#word(word, value);
    return next;
  }

  #symbol(symbol: string, next: number): number {
    if (symbol === "'") {
      const code = parseInt(this.#source.slice(next, next + 2), 16);
      if (!Number.isNaN(code)) this.#add(this.#text.byte(code));
      return next + 2;
    }
    if (symbol === '*') {
      // A destination that who does not know it skips; those of fields and lists are known.
      const known = /^\\(?:fldinst|listtext|pntext|pn)\b/.test(this.#source.slice(next, next + 20));
      if (!known) this.#state.isSkipped = true;
    } else if (symbol === '~') this.#add(this.#text.plain('\u00a0'));
    else if (symbol === '_') this.#add(this.#text.plain('\u2011'));
    else if ('\\{}'.includes(symbol)) this.#add(this.#text.plain(symbol));
    else if (symbol === '\n' || symbol === '\r') this.#endParagraph();
    return next;
  }

  /** A character of Unicode, and after it one for those who do not know it, to be skipped. */
  #unicode(value: number, next: number): number {
    this.#add(this.#text.plain(String.fromCharCode(value < 0 ? value + 65_536 : value)));
    let at = next;
    for (let left = this.#state.skipAfter; left > 0 && at < this.#source.length; left--) {
      const character = this.#source[at];
      if (character === '{' || character === '}') break;
      if (character !== '\\') at++;
      else if (this.#source[at + 1] === "'") at += 4;
      else break;
    }
    return at;
  }

  #word(word: string, value: number | undefined): void {
    const state = this.#state;
    if (SKIPPED.has(word)) {
      state.isSkipped = true;
      return;
    }
    const on = value !== 0;
    switch (word) {
      case 'par':
      case 'sect':
        return this.#endParagraph();
      case 'pard':
        this.#isInTable = false;
        this.#outline = this.#style = undefined;
        this.#level = 0;
        return;
      case 'plain':
        state.bold = state.italic = false;
        state.script = undefined;
        return;
      case 'b':
        return void (state.bold = on);
      case 'i':
        return void (state.italic = on);
      case 'super':
        return void (state.script = on ? 'sup' : undefined);
      case 'sub':
        return void (state.script = on ? 'sub' : undefined);
      case 'nosupersub':
        return void (state.script = undefined);
      case 'v':
        return void (state.isSkipped = on);
      case 'line':
        return this.#add('\n');
      case 'tab':
        return this.#add('\t');
      case 'emdash':
        return this.#add('\u2014');
      case 'endash':
        return this.#add('\u2013');
      case 'lquote':
        return this.#add('\u2018');
      case 'rquote':
        return this.#add('\u2019');
      case 'ldblquote':
        return this.#add('\u201c');
      case 'rdblquote':
        return this.#add('\u201d');
      case 'bullet':
        return this.#add('\u2022');
      case 'uc':
        return void (state.skipAfter = Math.max(0, Math.min(value ?? 1, 100)));
      case 'ansicpg':
        return this.#text.setPage(value ?? 1252);
      case 'f':
        state.font = value ?? 0;
        return this.#text.useFont(state.font);
      case 'fcharset':
        return this.#text.setFontCharset(value ?? 0);
      case 'fonttbl':
        return void (state.into = 'fonts');
      case 'stylesheet':
        return void (state.into = 'style');
      case 's':
        if (state.into === 'style') this.#styleNumber = value;
        else this.#style = value;
        return;
      case 'outlinelevel':
        if (state.into === 'style') this.#headings.set(this.#styleNumber ?? 0, value ?? 0);
        else this.#outline = value;
        return;
      case 'ilvl':
        return void (this.#level = Math.max(0, Math.min(value ?? 0, 8)));
      case 'listtext':
      case 'pntext':
        state.into = 'mark';
        return;
      case 'fldinst':
        state.into = 'instruction';
        return;
      case 'fldrslt':
        return void (state.href = this.#fieldHref);
      case 'info':
        return;
      case 'title':
      case 'author':
        return void (state.into = word);
      case 'creatim':
      case 'revtim':
      case 'printim':
      case 'buptim':
        return void (state.isSkipped = true);
      case 'intbl':
        return void (this.#isInTable = true);
      case 'cell':
        return this.#endCell();
      case 'row':
        return this.#endRow();
    }
  }

  #flush(): void {
    this.#add(this.#text.flush());
  }

  #add(text: string): void {
    const { isSkipped, into, bold, italic, script, href } = this.#state;
    if (text === '' || isSkipped) return;
    if (into === undefined) this.#spans.push({ text, bold, italic, script, href });
    else if (into !== 'fonts' && into !== 'style' && this.#collected.length < 10_000) this.#collected += text;
  }

  #endParagraph(): void {
    this.#flush();
    if (this.#isInTable) {
      if (this.#spans.length > 0) this.#spans.push({ text: '\n' });
      return;
    }
    this.#endTable();
    const spans = this.#spans;
    this.#spans = [];
    const outline = this.#outline ?? (this.#style === undefined ? undefined : this.#headings.get(this.#style));
    const mark = this.#mark;
    this.#mark = undefined;
    if (outline !== undefined && outline >= 0 && outline < 9) {
      const html = inlineHtml(spans.map((span) => ({ ...span, bold: false }))).trim();
      return void this.blocks.push({ kind: 'heading', level: outline + 1, html });
    }
    const html = inlineHtml(spans).trim();
    if (mark !== undefined && html !== '') {
      const isOrdered = /^[([]?[\dA-Za-z]{1,6}[.)\]]/.test(mark);
      this.blocks.push({ kind: 'item', level: this.#level, isOrdered, html });
    } else if (html !== '') this.blocks.push({ kind: 'paragraph', html });
  }

  #endCell(): void {
    this.#flush();
    while (this.#spans.at(-1)?.text.trim() === '') this.#spans.pop();
    const html = inlineHtml(this.#spans).trim();
    if (this.#cells.length < LIMITS.tableColumns.max) this.#cells.push({ html, isHeader: this.#rows.length === 0 });
    this.#spans = [];
    this.#mark = undefined;
  }

  #endRow(): void {
    if (this.#cells.length > 0) this.#rows.push(this.#cells);
    this.#cells = [];
  }

  #endTable(): void {
    if (this.#rows.length > 0) this.blocks.push({ kind: 'table', rows: this.#rows });
    this.#rows = [];
  }
}
