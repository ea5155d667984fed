// The blocks that readers make of a document, and how they are written: headings, paragraphs, lists, tables, code.
// Promise: lists nest as their levels say; text of one look that stands together is written together.
import { LIMITS } from '../../limits.js';
import { escapeText, type HtmlWriter, linkStart } from './html.js';

/** Text of one look. */
export interface Span {
  readonly text: string;
  readonly bold?: boolean | undefined;
  readonly italic?: boolean | undefined;
  readonly struck?: boolean | undefined;
  readonly script?: 'sup' | 'sub' | undefined;
  readonly href?: string | undefined;
}

export interface Cell {
  readonly html: string;
  readonly isHeader?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

export type Block = { readonly page?: number | undefined } & (
  | { readonly kind: 'heading'; readonly level: number; readonly html: string }
  | { readonly kind: 'paragraph'; readonly html: string }
  | { readonly kind: 'item'; readonly level: number; readonly isOrdered: boolean; readonly html: string }
  | { readonly kind: 'table'; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: 'code'; readonly text: string }
);

/** One by one: as arguments of `push`, some hundred thousand are more than the stack holds. */
export function addAll<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one);
}

const LINE_BREAK = '\n';

/** Spans as HTML; a line feed is a line break. */
export function inlineHtml(spans: readonly Span[]): string {
  let html = '';
  for (let at = 0; at < spans.length;) {
    const span = spans[at]!;
    let text = '';
    while (at < spans.length && isAlike(spans[at]!, span)) text += spans[at++]!.text;
    html += spanHtml({ ...span, text });
  }
  return html;
}

function isAlike(a: Span, b: Span): boolean {
  return (
    !a.bold === !b.bold &&
    !a.italic === !b.italic &&
    !a.struck === !b.struck &&
    a.script === b.script &&
    a.href === b.href
  );
}

function spanHtml({ text, bold, italic, struck, script, href }: Span): string {
  const inner = escapeText(text).split(LINE_BREAK).join('<br>');
  // Blanks have no look.
  if (text.trim() === '') return inner;
  const link = linkStart(href);
  const names = [bold && 'strong', italic && 'em', struck && 'del', script].filter((name) => typeof name === 'string');
  const marked = names.reduceRight((html, name) => `<${name}>${html}</${name}>`, inner);
  return link === undefined ? marked : `${link}${marked}</a>`;
}

/** Deeper lists are written at this level. */
const MAX_LIST_LEVEL = 8;

export function writeBlocks(blocks: readonly Block[], out: HtmlWriter): void {
  // The lists that are open, outermost first.
  const lists: string[] = [];
  const closeTo = (depth: number): void => {
    while (lists.length > depth) out.tag(`</li></${lists.pop()!}>`);
  };
  for (const block of blocks) {
    if (block.kind !== 'item') {
      closeTo(0);
      writeBlock(block, out);
      continue;
    }
    const depth = Math.min(block.level, MAX_LIST_LEVEL) + 1;
    const name = block.isOrdered ? 'ol' : 'ul';
    closeTo(depth);
    if (lists.length === depth && lists[depth - 1] !== name) closeTo(depth - 1);
    if (lists.length === depth) out.tag('</li>');
    while (lists.length < depth) {
      // A level that was left out has an item without words.
      out.tag(`<${name}>${lists.length < depth - 1 ? '<li>' : ''}`);
      lists.push(name);
    }
    out.tag(`<li${pageMark(block.page)}>${block.html}`);
  }
  closeTo(0);
}

function writeBlock(block: Exclude<Block, { kind: 'item' }>, out: HtmlWriter): void {
  const mark = pageMark(block.page);
  switch (block.kind) {
    case 'heading': {
      const level = Math.min(Math.max(block.level, 1), 6);
      return void (isBlank(block.html) || out.tag(`<h${level}${mark}>${block.html}</h${level}>`));
    }
    case 'paragraph':
      return void (isBlank(block.html) || out.tag(`<p${mark}>${block.html}</p>`));
    case 'code':
      return void out.tag(`<pre${mark}><code>`).text(block.text).tag('</code></pre>');
    case 'table':
      return writeTable(block.rows, mark, out);
    default:
      return block satisfies never;
  }
}

function isBlank(html: string): boolean {
  return html.split('<br>').every((part) => part.trim() === '');
}

function writeTable(rows: readonly (readonly Cell[])[], mark: string, out: HtmlWriter): void {
  if (rows.length === 0) return;
  out.tag(`<table${mark}>`);
  for (const row of rows) {
    out.tag('<tr>');
    for (const { html, isHeader, columns = 1, rows: span = 1 } of row) {
      const name = isHeader ? 'th' : 'td';
      const spans = `${spanAttribute('colspan', columns)}${spanAttribute('rowspan', span)}`;
      out.tag(`<${name}${spans}>${html}</${name}>`);
    }
    out.tag('</tr>');
  }
  out.tag('</table>');
}

function spanAttribute(name: string, count: number): string {
  return count > 1 ? ` ${name}="${Math.min(count, LIMITS.cellSpan.max)}"` : '';
}

function pageMark(page: number | undefined): string {
  return page === undefined ? '' : ` data-page="${page}"`;
}
