// Pages of PDF files as a stranger might draw them: the text of a hostile input, laid out to be slow to read.
// Each form asks much of another step: lines, rules, columns, tables, scattered words, links are the interpreter's.
import type { Box, PageDrawing, Word } from '../../src/documents/pdf/geometry.js';
import { LIMITS } from '../../src/limits.js';
import type { SourcePage } from '../../src/documents/pdf/source.js';

const FONT = { isBold: false, isItalic: false, isMono: false };
const BOLD = { ...FONT, isBold: true };

type Place = (at: number, count: number) => { x: number; y: number; size?: number };

function drawn(text: string, place: Place, rules: (count: number) => Box[] = () => []): PageDrawing {
  // The interpreter gives no more of a page.
  const pieces = (text.match(/[^]{1,4}/g) ?? []).slice(0, LIMITS.documentPageItems.max);
  const words = pieces.map((piece, at): Word => {
    const { x, y, size = 10 } = place(at, pieces.length);
    const font = at % 7 === 0 ? BOLD : FONT;
    return { text: piece, x0: x, x1: x + 0.5 * size * piece.length, y, size, font, hasSpace: true, order: at };
  });
  return { width: 600, height: 800, words, rules: rules(pieces.length), dots: [] };
}

/** Scattered, and the same every time. */
const scattered = (at: number, below: number) => (Math.imul(at + 1, 2_654_435_761) >>> 0) % below;
const level = (x0: number, x1: number, y: number): Box => ({ x0, x1, y0: y, y1: y });
const upright = (x: number, y0: number, y1: number): Box => ({ x0: x, x1: x, y0, y1 });
const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));

export const DRAWINGS: Readonly<Record<string, (text: string) => PageDrawing>> = {
  prose: (text) => drawn(text, (at) => ({ x: 50 + 30 * (at % 16), y: 40 + 12 * Math.floor(at / 16) })),
  'one line': (text) => drawn(text, (at) => ({ x: 50 + 22 * at, y: 400 })),
  'one column': (text) => drawn(text, (at) => ({ x: 50, y: 40 + 12 * at })),
  'many columns': (text) => drawn(text, (at) => ({ x: 60 * (at % 40), y: 20 + 13 * Math.floor(at / 40) })),
  'scattered words': (text) => drawn(text, (at) => ({ x: scattered(at, 590), y: scattered(at * 7, 790) })),
  'scattered far': (text) => drawn(text, (at) => ({ x: scattered(at, 19_000), y: scattered(at * 3, 9_000) })),
  'words of every size': (text) =>
    drawn(text, (at) => ({ x: 50 + 40 * (at % 9), y: 20 + 7 * Math.floor(at / 9), size: 4 + scattered(at, 90) })),
  'a ruled table': (text) =>
    drawn(
      text,
      (at) => ({ x: 55 + 50 * (at % 10), y: 52 + 14 * Math.floor(at / 10) }),
      (count) => [
        ...list(Math.ceil(count / 10) + 1, (row) => level(50, 550, 42 + 14 * row)),
        ...list(11, (column) => upright(50 + 50 * column, 42, 42 + 14 * Math.ceil(count / 10))),
      ],
    ),
  'rules below rows': (text) =>
    drawn(
      text,
      (at) => ({ x: 55 + 90 * (at % 6), y: 52 + 14 * Math.floor(at / 6) }),
      (count) => list(Math.ceil(count / 6), (row) => level(50, 590, 56 + 14 * row)),
    ),
  'pairs of rules': (text) =>
    drawn(
      text,
      (at) => ({ x: 55 + 90 * (at % 6), y: 52 + 14 * Math.floor(at / 6) }),
      (count) =>
        list(count, (at) => level(50 - 5 * (at >> 1), 560 + 5 * (at >> 1), at % 2 === 0 ? 10 : 20 + 3 * count)),
    ),
  'many grids': (text) =>
    drawn(
      text,
      (at) => ({ x: 52 + 25 * (at % 2), y: 50 + 30 * Math.floor(at / 2) }),
      (count) =>
        list(Math.floor(count / 4), (at) => at).flatMap((at) => {
          const y = 38 + 60 * at;
          return [
            level(50, 100, y),
            level(50, 100, y + 15),
            upright(50, y, y + 15),
            upright(75, y, y + 15),
            upright(100, y, y + 15),
          ];
        }),
    ),
  'crossing rules': (text) =>
    drawn(
      text,
      (at) => ({ x: 30 * (at % 20), y: 12 * Math.floor(at / 20) }),
      (count) => list(count, (at) => (at % 2 ? level(0, 600, 2 * at) : upright((7 * at) % 600, 0, 2 * count))),
    ),
  'numbers at the foot': (text) => drawn(text, (at) => ({ x: 40 * at, y: 780 })),
};

/** Names of operations, as pdf.js numbers them: in any order. */
const NAMES =
  'save restore transform paintFormXObjectBegin paintFormXObjectEnd beginText setTextMatrix moveText setLeadingMoveText ' +
  'nextLine setLeading setFont setCharSpacing setWordSpacing setHScale setTextRise showText constructPath stroke endPath ' +
  'closeStroke beginMarkedContent beginMarkedContentProps endMarkedContent';
const NAME_LIST = NAMES.split(' ');
export const OPERATIONS: Readonly<Record<string, number>> = Object.fromEntries(NAME_LIST.map((name, at) => [name, at]));

/** Numbers as a file may have them; some are as large as a number can be. */
function numberAt(at: number): number {
  const kind = scattered(at, 40);
  if (kind === 0) return 1e17 + scattered(at * 3, 1e6);
  if (kind === 1) return -1e300;
  return kind === 2 ? Infinity : scattered(at * 5, 900) - 50;
}

/** A page whose operations the text chooses, mostly glyphs; every link of it may lie anywhere. */
export function operationsOf(text: string): SourcePage {
  const operations: number[] = [];
  const values: unknown[][] = [];
  const add = (name: string, ...given: unknown[]): void => {
    operations.push(OPERATIONS[name]!);
    values.push(given);
  };
  const matrix = (at: number) => [1, 0, 0, 1, numberAt(at), numberAt(at + 1)];
  // One list per glyph, however often it is shown: to make them took most of the time, and it is no part of reading.
  const shown = new Map<string, unknown[]>();
  const show = (unicode: string, gap: number | null): void => {
    const key = `${unicode}${gap}`;
    const given = shown.get(key) ?? [[{ unicode, width: 500, isSpace: unicode === ' ' }, gap]];
    shown.set(key, given);
    operations.push(OPERATIONS.showText!);
    values.push(given);
  };
  add('setFont', 'f', 10);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code % 5 === 0) {
      const name = NAME_LIST[(code + at) % NAME_LIST.length]!;
      if (name === 'constructPath') {
        const path = list(8, (n) => [n % 2, numberAt(at + n), numberAt(at + 2 * n)]).flat();
        add(name, OPERATIONS[at % 2 ? 'stroke' : 'endPath'], [path]);
      } else if (name === 'transform') add(name, ...matrix(at));
      else if (name === 'setFont') add(name, `f${code}`, 8 + (at % 5));
      else if (name === 'setTextMatrix' || name === 'paintFormXObjectBegin') add(name, matrix(at));
      else if (name.startsWith('beginMarked')) add(name, at % 9 === 0 ? 'Artifact' : 'P');
      else if (name !== 'showText') add(name, numberAt(at), numberAt(at + 3));
    }
    show(text[at]!, at % 11 === 0 ? -300 : null);
  }
  const links = list(Math.min(text.length, 10_000), (at) => ({
    box: [numberAt(at), numberAt(at + 1), numberAt(at + 2), numberAt(at + 3)],
    href: 'https://example.com/',
  }));
  return { width: 600, height: 800, toPage: [1, 0, 0, -1, 0, 800], operations, values, links, font: () => undefined };
}
