// Turns drafts into the blocks of the document: headings by size and weight, lists by their marks, paragraphs over pages.
// Promise: the words come out in the order of the drafts; a hyphen at a line's end goes only where a word was divided.
import type { Block, Cell, Span } from '../parts/blocks.js';
import { inlineHtml } from '../parts/blocks.js';
import { type Draft, isBoldLine, isMonoLine } from './drafts.js';
import { least, type Line, type Word } from './geometry.js';
import { textOf } from './lines.js';

type TextDraft = Extract<Draft, { kind: 'text' }>;

export interface DocumentLook {
  readonly bodySize: number;
  /** Whether hyphens at the ends of lines were put there to divide words. */
  readonly dividesWords: boolean;
  /** The words of the document that have hyphens, or would without one. */
  readonly vocabulary: ReadonlySet<string>;
}

export function blocksOf(drafts: readonly Draft[], look: DocumentLook): Block[] {
  const joined = joinedDrafts(drafts, look);
  const headings = new Map<TextDraft, number>();
  const sizes = new Set<number>();
  for (const draft of joined) {
    if (draft.kind !== 'text' || !isHeading(draft, look)) continue;
    headings.set(draft, rankOf(draft));
    sizes.add(rankOf(draft));
  }
  const ranks = new Map([...sizes].sort((a, b) => b - a).map((size, at) => [size, at]));
  const blocks: Block[] = [];
  const depths: number[] = [];
  for (const draft of joined) {
    const { page } = draft;
    if (draft.kind === 'table') {
      blocks.push({ kind: 'table', page, rows: cellsOf(draft, look) });
      continue;
    }
    const rank = headings.get(draft);
    if (draft.marker && rank === undefined) {
      blocks.push({
        kind: 'item',
        page,
        level: levelOf(draft.marker.x, depths),
        isOrdered: draft.marker.isOrdered,
        html: inlineHtml(spansOf(draft.lines, look, draft.marker.words)),
      });
      continue;
    }
    depths.length = 0;
    if (rank !== undefined) {
      const level = Math.min(ranks.get(rank)! + 1, 6);
      const plain = spansOf(draft.lines, look).map((span) => ({ ...span, bold: false }));
      blocks.push({ kind: 'heading', page, level, html: inlineHtml(plain) });
    } else if (draft.lines.every(isMonoLine)) pushCode(blocks, draft);
    else blocks.push({ kind: 'paragraph', page, html: inlineHtml(spansOf(draft.lines, look)) });
  }
  return blocks;
}

/** Larger text first; bold text before plain of the same size. */
function rankOf({ lines }: TextDraft): number {
  return Math.round(lines[0]!.size * 2) + (isBoldLine(lines[0]!) ? 0.5 : 0);
}

function isHeading({ lines, marker }: TextDraft, { bodySize }: DocumentLook): boolean {
  const { size } = lines[0]!;
  const words = lines.reduce((sum, line) => sum + line.words.length, 0);
  const text = textOf(lines.at(-1)!.words);
  if (lines.length > 4 || words > 40 || !/\p{L}/u.test(text)) return false;
  if (marker && !marker.isOrdered) return false;
  const isBold = lines.every(isBoldLine);
  if (size >= 1.3 * bodySize) return true;
  if (!isBold || lines.every(isMonoLine)) return false;
  if (size >= 1.08 * bodySize) return true;
  // As large as the text, or smaller: a line of its own that is no sentence.
  return !marker && size > 0.6 * bodySize && lines.length <= 2 && words <= 14 && !/[.,;:!?]$/.test(text);
}

/** The level of an item: by how far its marker stands in. */
function levelOf(x: number, depths: number[]): number {
  while (depths.length > 0 && x < depths.at(-1)! - 3) depths.pop();
  if (depths.length === 0 || x > depths.at(-1)! + 3) depths.push(x);
  return depths.length - 1;
}

/** Paragraphs and tables that go on in the next column or on the next page. */
function joinedDrafts(drafts: readonly Draft[], { bodySize }: DocumentLook): Draft[] {
  const joined: (TextDraft | (Omit<TableDraft, 'rows'> & { readonly rows: LaidRow[] }))[] = [];
  for (const draft of drafts) {
    const last = joined.at(-1);
    if (last && draft.isFirst && last.kind === 'text' && draft.kind === 'text' && goesOn(last, draft, bodySize)) {
      for (const line of draft.lines) last.lines.push(line);
    } else if (last?.kind === 'table' && draft.kind === 'table' && draft.isFirst && hasSameColumns(last, draft)) {
      const repeats = rowText(last.rows[0]!) === rowText(draft.rows[0]!);
      for (const row of draft.rows.slice(repeats ? 1 : 0)) last.rows.push(row);
    } else
      joined.push(draft.kind === 'text' ? { ...draft, lines: [...draft.lines] } : { ...draft, rows: [...draft.rows] });
  }
  return joined;
}

function goesOn(last: TextDraft, next: TextDraft, bodySize: number): boolean {
  const [end, start] = [last.lines.at(-1)!, next.lines[0]!];
  if (next.marker || Math.abs(end.size - start.size) > 0.5 || end.size > 1.25 * bodySize) return false;
  if (isBoldLine(end) !== isBoldLine(start) || isMonoLine(end) !== isMonoLine(start)) return false;
  const text = end.words.at(-1)!.text;
  return (
    !/[.!?:\u3002]["'\u201d\u2019)]?$/.test(text) && /^["'\u201c(]?[\p{Ll}\p{N}\p{Lo}]/u.test(start.words[0]!.text)
  );
}

type TableDraft = Extract<Draft, { kind: 'table' }>;
type LaidRow = TableDraft['rows'][number];

function hasSameColumns(a: TableDraft, b: TableDraft): boolean {
  const width = (row: TableDraft['rows'][number]) => row.reduce((sum, { columns }) => sum + columns, 0);
  return width(a.rows[0]!) === width(b.rows[0]!);
}

function rowText(row: TableDraft['rows'][number]): string {
  return row.map(({ lines }) => lines.map((line) => textOf(line.words)).join(' ')).join('\t');
}

function cellsOf({ rows }: TableDraft, look: DocumentLook): Cell[][] {
  return rows.map((row, at) =>
    row.map(({ lines, columns, rows: down }) => {
      const spans = spansOf(lines, look);
      const isHeader = at === 0;
      return {
        html: inlineHtml(isHeader ? spans.map((span) => ({ ...span, bold: false })) : spans),
        isHeader,
        columns,
        rows: down,
      };
    }),
  );
}

/** Listings keep their lines and indents. */
function pushCode(blocks: Block[], { lines, page }: TextDraft): void {
  const left = least(lines, ({ x0 }) => x0);
  const text = lines
    .map((line) => {
      const { words, x0 } = line;
      const width =
        words.reduce((sum, word) => sum + word.x1 - word.x0, 0) /
        words.reduce((sum, word) => sum + word.text.length, 0);
      return `${' '.repeat(Math.min(80, Math.max(0, Math.round((x0 - left) / width))))}${textOf(words)}`;
    })
    .join('\n');
  const last = blocks.at(-1);
  if (last?.kind === 'code' && last.page === page)
    blocks[blocks.length - 1] = { ...last, text: `${last.text}\n${text}` };
  else blocks.push({ kind: 'code', page, text });
}

/** The words of lines as spans, without the first `skipped` ones. */
function spansOf(lines: readonly Line[], look: DocumentLook, skipped = 0): Span[] {
  const spans: Span[] = [];
  let last: Word | undefined;
  for (const [at, line] of lines.entries()) {
    for (const [n, word] of line.words.entries()) {
      if (at === 0 && n < skipped) continue;
      const span = spanOf(word, line);
      const isNewLine = n === 0 && last !== undefined;
      if (isNewLine && isDivided(last!, word, look)) {
        const previous = spans.at(-1)!;
        const isKept = keepsHyphen(last!.text, word.text, look);
        spans[spans.length - 1] = { ...previous, text: isKept ? previous.text : previous.text.slice(0, -1) };
      } else if (last !== undefined && (isNewLine || word.hasSpace)) {
        const previous = spans.at(-1)!;
        const isLink = previous.href !== undefined && previous.href === span.href;
        spans.push({
          text: isBetweenIdeographs(last, word) ? '' : ' ',
          ...(isLink && { href: span.href }),
          ...commonLook(previous, span),
        });
      }
      spans.push(span);
      last = word;
    }
  }
  return spans.filter(({ text }) => text !== '');
}

/** A blank between words of one look has that look. */
function commonLook(a: Span, b: Span): Partial<Span> {
  return { ...(a.bold && b.bold && { bold: true }), ...(a.italic && b.italic && { italic: true }) };
}

function spanOf({ text, font, href, size, y }: Word, line: Line): Span {
  const isSmall = size < 0.85 * line.size;
  const rise = line.y - y;
  const script = isSmall && rise > 0.15 * line.size ? 'sup' : isSmall && rise < -0.05 * line.size ? 'sub' : undefined;
  return { text, bold: font.isBold, italic: font.isItalic, href, script };
}

/** Chinese and Japanese have no blanks at the ends of lines. */
function isBetweenIdeographs(a: Word, b: Word): boolean {
  const ideograph = /[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]/;
  return ideograph.test(a.text.at(-1)!) && ideograph.test(b.text[0]!);
}

function isDivided(last: Word, next: Word, { dividesWords }: DocumentLook): boolean {
  if (last.text.endsWith('\u2010') && /^\p{Ll}/u.test(next.text)) return true;
  if (!/\p{L}-$/u.test(last.text)) return false;
  // A hyphen that was typed stands at the end of a line too: then no blank follows it.
  return dividesWords ? /^\p{L}/u.test(next.text) : /^[\p{L}\p{N}]/u.test(next.text);
}

function keepsHyphen(first: string, second: string, { dividesWords, vocabulary }: DocumentLook): boolean {
  if (first.endsWith('\u2010')) return false;
  if (!dividesWords || /^\p{Lu}/u.test(second)) return true;
  const [a, b] = [wordAtEnd(first.slice(0, -1)), wordAtStart(second)];
  if (vocabulary.has(`${a}${b}`)) return false;
  return vocabulary.has(`${a}-${b}`);
}

export function wordAtEnd(text: string): string {
  return text
    .slice(-60)
    .split(/[^\p{L}\p{N}'\u2019-]/u)
    .at(-1)!
    .toLowerCase();
}

export function wordAtStart(text: string): string {
  return /^[\p{L}\p{N}'\u2019-]*/u.exec(text.slice(0, 60))![0].toLowerCase();
}
