// Leaves out what stands on page after page and belongs to none: running headers, footers and page numbers.
// Promise: only lines at the top and bottom of pages are left out, and of one page only its number.
import type { Line } from './geometry.js';
import { textOf } from './lines.js';

export interface FurnishedPage {
  readonly height: number;
  readonly lines: readonly Line[];
}

/** The part of a page at its top and bottom where such lines stand; LaTeX leaves the most room below. */
const MARGIN = 0.2;
const PAGE_NUMBER =
  /^(?:page |seite |p\. ?)?[-\u2013\u2014[(]?\s?(\d{1,4}|[ivxl]{1,6})\s?[-\u2013\u2014\])]?(?: ?(?:of|\/|von) ?\d{1,4})?$/i;

/** The lines of each page without its furniture. */
export function withoutFurniture(pages: readonly FurnishedPage[]): Line[][] {
  const counts = new Map<string, number>();
  const edges = pages.map(({ lines, height }) => edgeLines(lines, height));
  for (const lines of edges) {
    for (const key of new Set([...lines].map(([, key]) => key))) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  // Left and right pages may differ.
  const often = Math.max(2, Math.ceil(pages.length * 0.4));
  return pages.map(({ lines }, at) => {
    const isLast = pages.length === 1 ? lastOf(lines) : () => false;
    return lines.filter((line) => {
      const key = edges[at]!.get(line);
      if (key === undefined) return true;
      if (counts.get(key)! >= often) return false;
      return !(isLast(line) && PAGE_NUMBER.test(textOf(line.words)));
    });
  });
}

/** The lines at the top and bottom of a page, at most two of each, with what they say but for numbers. */
function edgeLines(lines: readonly Line[], height: number): Map<Line, string> {
  const edges = new Map<Line, string>();
  const sorted = [...lines].sort((a, b) => a.y - b.y);
  const note = (list: readonly Line[], place: string): void => {
    let rows = 0;
    let y = NaN;
    for (const line of list) {
      if (!(Math.abs(line.y - y) < 2)) rows++;
      y = line.y;
      if (rows > 2) break;
      const text = textOf(line.words);
      if (text.length < 200) edges.set(line, `${place} ${text.replace(/\d+/g, '#').replace(/^[ivxl]{1,6}$/i, '#')}`);
    }
  };
  note(
    sorted.filter(({ y }) => y < height * MARGIN),
    'top',
  );
  note(sorted.filter(({ y }) => y > height * (1 - MARGIN)).reverse(), 'bottom');
  return edges;
}

/** Whether a line stands clearly below all others. */
function lastOf(lines: readonly Line[]): (line: Line) => boolean {
  const [lowest, next] = lines.reduce(([a, b], { y }) => (y > a ? [y, a] : [a, Math.max(b, y)]) as [number, number], [
    -Infinity,
    -Infinity,
  ] as [number, number]);
  return ({ y, size }) => y === lowest && next < y - 2 * size;
}
