// Groups the lines of a column into drafts of blocks: a paragraph, an item of a list, a heading, a listing, a table.
// Promise: every line belongs to exactly one draft, in the order of the page.
import type { Line } from './geometry.js';
import type { Laid, LaidTable } from './layout.js';
import { markerOf } from './lines.js';

export type Draft = { readonly page: number; readonly isFirst: boolean } & (
  | { readonly kind: 'text'; readonly lines: Line[]; readonly marker: Marker | undefined }
  | { readonly kind: 'table'; readonly rows: LaidTable['rows'] }
);

export interface Marker {
  readonly isOrdered: boolean;
  readonly value: number;
  /** Where the marker stands, or the text of an item whose marker is a drawing. */
  readonly x: number;
  /** Where the text stands. */
  readonly textX: number;
  /** Words of the marker, at the start of the first line. */
  readonly words: number;
}

/** The usual distance of lines, by the size of their text. */
export type Pitches = (size: number) => number;

export function pitchesOf(columns: readonly (readonly Laid[])[]): Pitches {
  const found = new Map<number, number[]>();
  for (const column of columns) {
    for (let at = 1; at < column.length; at++) {
      const [above, below] = [column[at - 1]!, column[at]!];
      if (above.kind !== 'line' || below.kind !== 'line' || Math.abs(above.size - below.size) > 0.3) continue;
      const pitch = below.y - above.y;
      if (pitch < 0.8 * below.size || pitch > 2.6 * below.size) continue;
      const key = Math.round(below.size * 2);
      const list = found.get(key) ?? [];
      if (list.length < 5_000) list.push(pitch);
      found.set(key, list);
    }
  }
  const usual = new Map<number, number>();
  for (const [key, list] of found) {
    // The closest distance that is common: those between paragraphs are wider.
    const sorted = list.sort((a, b) => a - b);
    usual.set(key, sorted[Math.floor(sorted.length * 0.35)]!);
  }
  return (size) => usual.get(Math.round(size * 2)) ?? size * 1.25;
}

/** The number of the last item, which the next column may go on from. */
export interface Counting {
  last: number;
}

export function draftsOf(column: readonly Laid[], page: number, pitches: Pitches, counting: Counting): Draft[] {
  const drafts: Draft[] = [];
  const lines = column.filter((laid) => laid.kind === 'line');
  const edges = edgesOf(lines);
  let open: Extract<Draft, { kind: 'text' }> | undefined;
  for (const [at, laid] of column.entries()) {
    if (laid.kind === 'table') {
      drafts.push({ kind: 'table', rows: laid.rows, page, isFirst: drafts.length === 0 });
      open = undefined;
      continue;
    }
    const next = column[at + 1];
    const marker = markerAt(laid, counting.last);
    if (marker?.isOrdered) counting.last = marker.value;
    const following = next?.kind === 'line' ? next : undefined;
    if (open && !marker && joins(open, laid, following, pitches, edges)) open.lines.push(laid);
    else {
      open = { kind: 'text', lines: [laid], marker, page, isFirst: drafts.length === 0 };
      drafts.push(open);
    }
  }
  return drafts;
}

/** An item's marker at the start of a line; a number counts only as the first of a list or the next of it. */
function markerAt(line: Line, lastOrdered: number): Marker | undefined {
  const [first, second] = line.words;
  if (line.hasDot) return { isOrdered: false, value: 0, x: line.x0, textX: line.x0, words: 0 };
  if (!first || !second) return undefined;
  const found = markerOf(first.text);
  if (found === undefined || !second.hasSpace) return undefined;
  const place = { x: first.x0, textX: second.x0, words: 1 };
  if (found === 'bullet') return { isOrdered: false, value: 0, ...place };
  return found === 1 || found === lastOrdered + 1 ? { isOrdered: true, value: found, ...place } : undefined;
}

/** Where the lines that begin at one place end. */
function edgesOf(lines: readonly Line[]): (line: Line) => number {
  const rights = new Map<number, number>();
  const key = (x: number) => Math.round(x / 3);
  for (const { x0, x1 } of lines) rights.set(key(x0), Math.max(rights.get(key(x0)) ?? 0, x1));
  return ({ x0 }) => Math.max(...[-1, 0, 1].map((step) => rights.get(key(x0) + step) ?? 0));
}

function joins(
  draft: Extract<Draft, { kind: 'text' }>,
  line: Line,
  next: Line | undefined,
  pitches: Pitches,
  edges: (line: Line) => number,
): boolean {
  const last = draft.lines.at(-1)!;
  const { size } = last;
  if (Math.abs(size - line.size) > 0.08 * Math.max(size, line.size)) return false;
  const pitch = line.y - last.y;
  if (pitch < 0.5 * size || pitch > 1.22 * Math.max(pitches(size), size)) return false;
  if (isBoldLine(last) !== isBoldLine(line) && last.words.length + line.words.length > 3 && isBoldLine(last))
    return false;
  const em = line.size;
  if (draft.marker) {
    // The text of an item goes on below its text.
    if (line.x0 < draft.marker.textX - 0.6 * em && line.x0 < draft.marker.x + 0.6 * em) return false;
  } else {
    const first = draft.lines[0]!;
    const isOutdented = line.x0 < last.x0 - 0.8 * em && !(draft.lines.length === 1 && line.x0 < first.x0);
    if (isOutdented && draft.lines.length > 1) return false;
    const isIndented = line.x0 > last.x0 + 0.8 * em && line.x0 < last.x0 + 5 * em;
    const returns = next === undefined || next.x0 < line.x0 - 0.8 * em;
    if (isIndented && returns && (endsSentence(last) || isShort(last, line, edges))) return false;
  }
  if (isCentred(last, line)) return true;
  return !isShort(last, line, edges) || isMonoLine(last);
}

/** Whether the next line's first word had found room: then the line was ended on purpose. */
function isShort(line: Line, next: Line, edges: (line: Line) => number): boolean {
  const first = next.words[0]!;
  const needed = 0.35 * line.size + (first.x1 - first.x0);
  return line.x1 + needed < edges(line) - 1.2 * line.size;
}

function isCentred(a: Line, b: Line): boolean {
  const middles = Math.abs((a.x0 + a.x1) / 2 - (b.x0 + b.x1) / 2);
  return middles < 2 && Math.abs(a.x0 - b.x0) > 4;
}

function endsSentence({ words }: Line): boolean {
  return /[.!?:;\u3002"\u201d)\]]$/.test(words.at(-1)!.text);
}

export function isBoldLine({ words }: Line): boolean {
  return words.every(({ font }) => font.isBold);
}

export function isMonoLine({ words }: Line): boolean {
  return words.every(({ font }) => font.isMono);
}

/** The size that most of the text has. */
export function bodySizeOf(lines: readonly Line[]): number {
  const characters = new Map<number, number>();
  for (const { words } of lines) {
    for (const { size, text } of words) {
      const key = Math.round(size * 2);
      characters.set(key, (characters.get(key) ?? 0) + text.length);
    }
  }
  let best = { key: 20, count: -1 };
  for (const [key, count] of characters) if (count > best.count) best = { key, count };
  return best.key / 2;
}
