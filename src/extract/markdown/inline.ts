// Inline markdown: gathers the words, emphasis, links and code of one paragraph and writes them as CommonMark.
// Promise: a CommonMark reader gets back the same text; what would not survive is written without its emphasis.

const WORDS = 0;
const MARKUP = 1;
const SPACE = 2;
const BREAK = 3;
const OPEN = 4;
const CLOSE = 5;
const OPEN_LINK = 6;
const CLOSE_LINK = 7;

/** Emphasis by its markers. */
export type Emphasis = '*' | '**' | '~~';

export interface Token {
  readonly kind: number;
  readonly value: string;
}

const SPECIAL = /[\\`*_[\]<>&~]/;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const BLANK = /\s/u;

/** Text escaped so that every character stands for itself anywhere on a line. */
export function escapeText(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text
    .replace(/[\\`*[\]~]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/<(?=[a-z/!?])/gi, '\\<')
    .replace(/&(?=#|[a-z][a-z0-9]*;)/gi, '\\&');
}

/** A line that would start a heading, list, quote or rule begins with an escape instead. */
export function escapeLineStart(line: string): string {
  const first = line.charCodeAt(0);
  // Letters, the commonest start, are never special.
  if (first > 0x40 && first !== 0x5f && first !== 0x7e) return line;
  if (/^(?:#{1,6}(?:\s|$)|>|[-+](?:\s|$)|-[\s-]*$|=+\s*$|:-)/.test(line)) return `\\${line}`;
  return line.replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2');
}

/** A link's destination, as CommonMark writes it. */
export function destination(url: string): string {
  const safe = url
    .replace(/[\u0000-\u001f<>\\]/g, (char) => encodeURIComponent(char))
    .replace(/&(?=#|[a-z][a-z0-9]*;)/gi, '\\&');
  return /[\s()]/.test(safe) || safe === '' ? `<${safe}>` : safe;
}

/** Code between as many backticks as it needs. */
export function codeSpan(code: string): string {
  const text = onOneLine(code);
  if (text.trim() === '') return text === '' ? '' : ' ';
  let longest = 0;
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  const padded = /^`|`$/.test(text) || (/^ .* $/s.test(text) && text.trim() !== '') ? ` ${text} ` : text;
  return fence + padded + fence;
}

/** White space around line breaks becomes one space, in one pass. */
function onOneLine(code: string): string {
  if (!code.includes('\n')) return code;
  const lines = code.split('\n');
  const last = lines.length - 1;
  const inner = lines.map((line, k) => (k === 0 ? line.trimEnd() : k === last ? line.trimStart() : line.trim()));
  return inner.filter((line, k) => line !== '' || k === 0 || k === last).join(' ');
}

/** How links are written: with their address, or with a number. */
export type LinkStyle = (url: string) => string;

export const inlineLinks: LinkStyle = (url) => `(${destination(url)})`;

/** One paragraph in the making. */
export class InlineText {
  #tokens: Token[] = [];
  #spacePending = false;
  readonly #linkStyle: LinkStyle;
  readonly #dollars: boolean;
  /** Emphasis and links open now, outermost first: a block boundary closes and reopens them. */
  readonly #open: Token[] = [];

  /** `dollars`: they begin formulas, and are escaped where they do not. */
  constructor(linkStyle: LinkStyle, dollars = false) {
    this.#linkStyle = linkStyle;
    this.#dollars = dollars;
  }

  /** The last character before what comes next: empty at the start, a blank after one. */
  get tail(): string {
    if (this.#spacePending) return ' ';
    for (let k = this.#tokens.length - 1; k >= 0; k--) {
      const { kind, value } = this.#tokens[k]!;
      if (kind === WORDS || kind === MARKUP) return value.slice(-1);
      if (kind === SPACE || kind === BREAK) return ' ';
    }
    return '';
  }

  get isEmpty(): boolean {
    return !this.#tokens.some(({ kind }) => kind === WORDS || kind === MARKUP);
  }

  /** Adds text as a page has it; white space collapses. */
  text(value: string): void {
    if (value === '') return;
    const collapsed = value.replace(/[\t\n\f\r \u00a0]+/g, ' ');
    if (collapsed.charCodeAt(0) === 0x20) this.#spacePending = true;
    const words = collapsed.trim();
    if (words === '') return;
    this.#place({ kind: WORDS, value: words });
    if (collapsed.charCodeAt(collapsed.length - 1) === 0x20) this.#spacePending = true;
  }

  /** Adds markdown that is already written: code, images, formulas. */
  markup(value: string): void {
    if (value !== '') this.#place({ kind: MARKUP, value });
  }

  /** Adds the sign of a sub- or superscript, which is part of the word before it. */
  mark(value: string): void {
    if (value === '') return;
    if (value === '[' || value === ']') return this.markup(`\\${value}`);
    this.#tokens.push({ kind: MARKUP, value });
  }

  space(): void {
    this.#spacePending = true;
  }

  /** Adds a line break; two in a row are reported by {@link endsWithBreak}. */
  lineBreak(): void {
    this.#spacePending = false;
    if (!this.isEmpty) this.#tokens.push({ kind: BREAK, value: '' });
  }

  get endsWithBreak(): boolean {
    return this.#tokens.at(-1)?.kind === BREAK;
  }

  /** Opens an emphasis; `null` when it is open already. */
  openEmphasis(marker: Emphasis): Token | null {
    if (this.#open.some(({ kind, value }) => kind === OPEN && value === marker)) return null;
    const token = { kind: OPEN, value: marker };
    const last = this.#tokens.at(-1);
    if (last?.kind !== CLOSE || last.value !== marker || this.#spacePending) return this.#push(token);
    // Directly after the same emphasis: the two are one.
    this.#tokens.pop();
    this.#open.push(token);
    return token;
  }

  /** Opens a link; one that is open ends here, as links do not nest. */
  openLink(url: string): Token {
    const outer = this.#open.find(({ kind }) => kind === OPEN_LINK);
    if (outer !== undefined) this.close(outer);
    return this.#push({ kind: OPEN_LINK, value: url });
  }

  #push(token: Token): Token {
    this.#tokens.push(token);
    this.#open.push(token);
    return token;
  }

  /** Ends what was opened, unless it has ended already. */
  close(opened: Token | null): void {
    const at = opened === null ? -1 : this.#open.indexOf(opened);
    if (at < 0) return;
    // What was opened inside ends too, and is taken up again after it.
    const inner = this.#open.splice(at).slice(1);
    for (let k = inner.length - 1; k >= 0; k--) this.#end(inner[k]!);
    this.#end(opened!);
    for (const token of inner) this.#push(token);
  }

  #end({ kind, value }: Token): void {
    // It ends before line breaks; markers around nothing else vanish.
    let at = this.#tokens.length - 1;
    while (this.#tokens[at]?.kind === BREAK) at--;
    if (this.#tokens[at]?.kind === kind && this.#tokens[at]?.value === value) this.#tokens.splice(at, 1);
    else this.#tokens.splice(at + 1, 0, { kind: kind === OPEN ? CLOSE : CLOSE_LINK, value });
  }

  #place(token: Token): void {
    if (this.#spacePending) {
      this.#spacePending = false;
      // The space goes outside the markers just opened.
      let at = this.#tokens.length;
      while (at > 0 && (this.#tokens[at - 1]!.kind === OPEN || this.#tokens[at - 1]!.kind === OPEN_LINK)) at--;
      const before = this.#tokens[at - 1]?.kind;
      if (at > 0 && before !== BREAK && before !== SPACE) this.#tokens.splice(at, 0, { kind: SPACE, value: '' });
    }
    this.#tokens.push(token);
  }

  /** The paragraph's lines; what is open stays open for the next one. Within a line of its own nothing starts a list. */
  take(isWithinLine = false): string[] {
    for (let k = this.#open.length - 1; k >= 0; k--) this.#end(this.#open[k]!);
    const tokens = trimBreaks(this.#tokens);
    this.#tokens = [...this.#open];
    this.#spacePending = false;
    if (!tokens.some(({ kind }) => kind === WORDS || kind === MARKUP)) return [];
    const lines = write(tokens, this.#linkStyle, this.#dollars);
    return isWithinLine ? lines : lines.map(escapeLineStart);
  }
}

function trimBreaks(tokens: Token[]): Token[] {
  let end = tokens.length;
  for (let k = tokens.length - 1; k >= 0; k--) {
    const { kind } = tokens[k]!;
    if (kind === WORDS || kind === MARKUP) break;
    if (kind === BREAK || kind === SPACE) {
      tokens.splice(k, 1);
      end--;
    }
  }
  return tokens.slice(0, end);
}

/** The first character a reader sees at or after `from`. */
function charAfter(tokens: readonly Token[], from: number): string {
  for (let k = from; k < tokens.length; k++) {
    const { kind, value } = tokens[k]!;
    if (kind === WORDS || kind === MARKUP) return String.fromCodePoint(value.codePointAt(0)!);
    if (kind === SPACE || kind === BREAK) return ' ';
    if (kind === OPEN_LINK) return '[';
    if (kind === CLOSE_LINK) return ']';
  }
  return ' ';
}

function charBefore(tokens: readonly Token[], from: number): string {
  for (let k = from; k >= 0; k--) {
    const { kind, value } = tokens[k]!;
    if (kind === WORDS || kind === MARKUP) return lastChar(value);
    if (kind === SPACE || kind === BREAK) return ' ';
    if (kind === OPEN_LINK) return '[';
    if (kind === CLOSE_LINK) return ')';
  }
  return ' ';
}

function lastChar(value: string): string {
  const code = value.charCodeAt(value.length - 1);
  return code >= 0xdc00 && code <= 0xdfff ? value.slice(-2) : value.slice(-1);
}

const isLoose = (char: string): boolean => BLANK.test(char) || PUNCTUATION.test(char);

/** Marks the emphasis that a CommonMark reader would not see as such: those markers are left out. */
function unsafeMarkers(tokens: readonly Token[]): Uint8Array {
  const drop = new Uint8Array(tokens.length);
  const opened: number[] = [];
  for (let k = 0; k < tokens.length; k++) {
    const { kind, value } = tokens[k]!;
    if (kind === OPEN) opened.push(k);
    if (kind !== CLOSE) continue;
    const start = opened.pop()!;
    const outer = charBefore(tokens, start - 1);
    const first = charAfter(tokens, start + 1);
    const last = charBefore(tokens, k - 1);
    const after = charAfter(tokens, k + 1);
    const opens = !BLANK.test(first) && (!PUNCTUATION.test(first) || isLoose(outer));
    const closes = !BLANK.test(last) && (!PUNCTUATION.test(last) || isLoose(after));
    // Markers side by side run into one; a marker character beside a marker does too.
    const beside = [start - 1, start + 1, k - 1, k + 1].some((other) => {
      const next = tokens[other];
      return (
        next !== undefined &&
        (next.kind === OPEN || next.kind === CLOSE) &&
        drop[other] === 0 &&
        other !== start &&
        other !== k
      );
    });
    const touches = [outer, first, last, after].some((char) => char === value[0]);
    const crosses = tokens.slice(start, k).some((token) => token.kind === BREAK);
    if (!opens || !closes || beside || touches || crosses) drop[start] = drop[k] = 1;
  }
  return drop;
}

function write(tokens: readonly Token[], linkStyle: LinkStyle, dollars: boolean): string[] {
  const drop = unsafeMarkers(tokens);
  const lines: string[] = [];
  let line = '';
  for (let k = 0; k < tokens.length; k++) {
    const { kind, value } = tokens[k]!;
    switch (kind) {
      case WORDS: {
        const escaped = dollars ? escapeText(value).replace(/\$/g, '\\$') : escapeText(value);
        const bang =
          value.endsWith('!') && (tokens[k + 1]?.kind === OPEN_LINK || tokens[k + 1]?.value.startsWith('!['));
        line += bang ? `${escaped.slice(0, -1)}\\!` : escaped;
        break;
      }
      case MARKUP:
        line += value;
        break;
      case SPACE:
        line += ' ';
        break;
      case BREAK:
        lines.push(line.trim());
        line = '';
        break;
      case OPEN:
      case CLOSE:
        if (drop[k] === 0) line += value;
        break;
      case OPEN_LINK:
        line += '[';
        break;
      default:
        line += `]${linkStyle(value)}`;
    }
  }
  lines.push(line.trim());
  return lines.filter((text) => text !== '');
}
