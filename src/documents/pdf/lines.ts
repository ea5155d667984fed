// Joins the words of a page to lines, as far as they stand together: a wide gap ends a line, since a column may begin there.
// Promise: sorts once and joins in passes over neighbours; raised and lowered words belong to their line.
import type { Box, Line, Word } from './geometry.js';
import { RIGHT_TO_LEFT } from './interpret.js';

/** A wider gap, in sizes of the text, is not one between words. */
const WIDEST_GAP = 0.95;
/** Where a blank was written, lines of a narrow column are stretched to this. */
const WIDEST_BLANK = 6;
/** Between pieces that were drawn at different times: two columns may stand as close as this. */
const WIDEST_ACROSS = 0.6;

export function linesOf(words: readonly Word[], dots: readonly Box[]): Line[] {
  const pieces = joinedInOrder(words);
  const dotsAt = byHeight(dots);
  return joinedAcross(pieces).map((piece) => lineOf(piece, dotsAt));
}

const STEP = 8;

/** Dots by the height at which they stand, so that a line looks only at its own. */
function byHeight(dots: readonly Box[]): ReadonlyMap<number, readonly Box[]> {
  const rows = new Map<number, Box[]>();
  for (const dot of dots) {
    const key = Math.floor(dot.y0 / STEP);
    const row = rows.get(key);
    if (!row) rows.set(key, [dot]);
    else if (row.length < 100) row.push(dot);
  }
  return rows;
}

/** Between the mark of a list item and its text. */
const WIDEST_MARKER = 4.5;

const BULLET = /^[\u2022\u25e6\u25aa\u25ab\u2023\u2219\u00b7\u25cf\u25cb\u25a0\u25a1\u2043*\u2013\u2014-]$/;
const NUMBER = /^\(?(?:(\d{1,3})|([a-z])|([ivx]{1,5}))[.)]$/i;

/** What marks a list item: a bullet, or the number that it has. */
export function markerOf(text: string): 'bullet' | number | undefined {
  if (BULLET.test(text)) return 'bullet';
  const [, digits, letter, roman] = NUMBER.exec(text) ?? [];
  if (digits !== undefined) return Number(digits);
  if (letter !== undefined) return letter.toLowerCase().charCodeAt(0) - 96;
  return roman === undefined ? undefined : ROMAN.indexOf(roman.toLowerCase()) + 1 || undefined;
}

const ROMAN = 'i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx'.split(' ');

function isMarker(words: readonly Word[]): boolean {
  return words.length === 1 && markerOf(words[0]!.text) !== undefined;
}

interface Piece {
  words: Word[];
  x0: number;
  x1: number;
  y: number;
  size: number;
}

/** Words that follow each other in the drawing and in the line. */
function joinedInOrder(words: readonly Word[]): Piece[] {
  const pieces: Piece[] = [];
  let piece: Piece | undefined;
  for (const word of words) {
    const widest = word.hasBlank ? WIDEST_BLANK : WIDEST_GAP;
    if (piece && isBeside(piece, word, widest) && word.x0 - piece.x1 > -0.3 * piece.size) add(piece, word);
    else pieces.push((piece = { words: [word], x0: word.x0, x1: word.x1, y: word.y, size: word.size }));
  }
  return pieces;
}

function add(piece: Piece, word: Word): void {
  piece.words.push(word);
  piece.x0 = Math.min(piece.x0, word.x0);
  piece.x1 = Math.max(piece.x1, word.x1);
  // The line is where its largest words are.
  if (word.size > piece.size + 0.1) {
    piece.size = word.size;
    piece.y = word.y;
  }
}

function isBeside(
  piece: { x1: number; y: number; size: number },
  next: { x0: number; y: number; size: number },
  widest: number,
): boolean {
  const size = Math.max(piece.size, next.size);
  const gap = next.x0 - piece.x1;
  if (gap > widest * size || gap < -size * 2) return false;
  const isSmaller = Math.min(piece.size, next.size) < 0.85 * size;
  return Math.abs(piece.y - next.y) <= (isSmaller ? 0.6 : 0.25) * size;
}

/** Pieces of one line that were drawn at different times. */
function joinedAcross(pieces: readonly Piece[]): Piece[] {
  const sorted = [...pieces].sort((a, b) => a.y - b.y || a.x0 - b.x0);
  const rows: Piece[][] = [];
  for (const piece of sorted) {
    const row = rows.at(-1);
    const first = row?.[0];
    if (first && Math.abs(first.y - piece.y) <= 0.35 * Math.max(first.size, piece.size)) row!.push(piece);
    else rows.push([piece]);
  }
  return rows.flatMap((row) => {
    row.sort((a, b) => a.x0 - b.x0);
    const joined: Piece[] = [];
    for (const piece of row) {
      const last = joined.at(-1);
      const gap = last ? piece.x0 - last.x1 : 0;
      const isNext =
        last && (isBeside(last, piece, WIDEST_ACROSS) || (isMarker(last.words) && gap < WIDEST_MARKER * piece.size));
      if (isNext && gap > -0.3 * last.size) for (const word of piece.words) add(last, word);
      else joined.push({ ...piece, words: [...piece.words] });
    }
    return joined;
  });
}

function lineOf({ words, x0, x1, y, size }: Piece, dotsAt: ReadonlyMap<number, readonly Box[]>): Line {
  const isBefore = (dot: Box) =>
    dot.x1 <= x0 && x0 - dot.x1 < size * 2 && dot.y1 < y + 0.1 * size && dot.y0 > y - 0.95 * size;
  let hasDot = false;
  const lowest = Math.floor(y / STEP);
  for (let key = Math.floor((y - size) / STEP); key <= lowest && key > lowest - 20 && !hasDot; key++) {
    hasDot = dotsAt.get(key)?.some(isBefore) ?? false;
  }
  const isRightToLeft = words.filter(({ text }) => RIGHT_TO_LEFT.test(text)).length * 2 > words.length;
  words.sort((a, b) => (isRightToLeft ? b.x1 - a.x1 : a.x0 - b.x0));
  const order = words.reduce((least, word) => Math.min(least, word.order), Infinity);
  return { words, x0, x1, y0: y - 0.8 * size, y1: y + 0.25 * size, y, size, order, hasDot };
}

/** The text of words in a row. */
export function textOf(words: readonly Word[]): string {
  let text = '';
  for (const [at, word] of words.entries()) text += `${at > 0 && word.hasSpace ? ' ' : ''}${word.text}`;
  return text;
}
