// The cells of a table by row and column, and whether the table holds data.
// Promise: spans are bounded, nested tables are not entered, layout tables are recognised.
import { limitReached, LIMITS } from '../../limits.js';
import type { PageTree } from '../../parse/tree/tree.js';
import { elementNumber, elementSet } from './elements.js';

const TABLE = elementNumber('table');
const TR = elementNumber('tr');
const CAPTION = elementNumber('caption');
const THEAD = elementNumber('thead');
const TH = elementNumber('th');
const CELL = elementSet('td th');
/** Blocks that no pipe table can hold. */
const NOT_IN_DATA = elementSet('table pre h1 h2 h3 h4 h5 h6 blockquote hr');
/** The standard allows more; no reader wants a row of a million empty cells. */
const MAX_SPAN = LIMITS.cellSpan.max;
const MAX_COLUMNS = LIMITS.tableColumns.max;
/** Spans make places that no text of the page pays for: so many per element of the table, and some for small tables. */
const PLACES_PER_ELEMENT = LIMITS.tablePlaces.max;
const LEAST_PLACES = 2_000;

/** Counts the places of a table down; false once there are too many for what the table holds. */
export function placesOf(tree: PageTree, table: number): (count: number) => boolean {
  let room = LEAST_PLACES + PLACES_PER_ELEMENT * (tree.end[table]! - table);
  return (count) => {
    if (room > 0 && (room -= count) <= 0) limitReached('tablePlaces');
    return room > 0;
  };
}

export interface Grid {
  /** The caption's row in the tree, or -1. */
  readonly caption: number;
  /** Cells by row: rows of the tree, -1 where a span leaves a place empty. */
  readonly rows: readonly (readonly number[])[];
  /** How many rows at the top are headings. */
  readonly headRows: number;
}

/** The grid of a table of data; `null` for one that only arranges the page. */
export function readGrid(tree: PageTree, table: number, dropped: Uint8Array | null): Grid | null {
  const end = tree.end[table]!;
  const rows: number[][] = [];
  let caption = -1;
  let headRows = 0;
  let headEnd = 0;
  let carried: { column: number; left: number }[] = [];
  const take = placesOf(tree, table);
  let maySpan = true;
  for (let at = table + 1; at < end; at++) {
    const kind = tree.tag[at]!;
    if (dropped !== null && dropped[at] === 1) {
      at = tree.end[at]! - 1;
      continue;
    }
    if (NOT_IN_DATA[kind] === 1) return null;
    if (kind === TABLE) {
      at = tree.end[at]! - 1;
    } else if (kind === CAPTION) {
      caption = at;
      at = tree.end[at]! - 1;
    } else if (kind === THEAD) headEnd = tree.end[at]!;
    else if (kind === TR) {
      const row: number[] = [];
      const next: typeof carried = [];
      const occupied = new Set(carried.map(({ column }) => column));
      for (const span of carried) if (span.left > 1) next.push({ column: span.column, left: span.left - 1 });
      let onlyHeads = true;
      for (let cell = at + 1; cell < tree.end[at]!; cell = tree.end[cell]!) {
        if (CELL[tree.tag[cell]!] !== 1 || (dropped !== null && dropped[cell] === 1)) continue;
        while (occupied.has(row.length) && row.length < MAX_COLUMNS) row.push(-1);
        const across = maySpan ? spanOf(tree, cell, 'colspan') : 1;
        const down = maySpan ? spanOf(tree, cell, 'rowspan') : 1;
        for (let k = 0; k < across && row.length < MAX_COLUMNS; k++) {
          if (down > 1) next.push({ column: row.length, left: down - 1 });
          row.push(k === 0 ? cell : -1);
        }
        if (tree.tag[cell] !== TH) onlyHeads = false;
      }
      if (row.some((cell) => cell >= 0)) {
        if (rows.length === headRows && (at < headEnd || onlyHeads)) headRows++;
        rows.push(row);
      }
      if (next.length > MAX_COLUMNS) limitReached('tableColumns');
      maySpan = take(row.length);
      carried = maySpan ? next.slice(0, MAX_COLUMNS) : [];
    }
  }
  if (!rows.some((row) => row.length > 1)) return null;
  if (/^(?:presentation|none)$/i.test(tree.attribute(table, 'role') ?? '')) return null;
  return { caption, rows, headRows };
}

function spanOf(tree: PageTree, cell: number, attribute: string): number {
  const range = tree.attributeRange(cell, attribute);
  if (range === null) return 1;
  const span = Number.parseInt(tree.raw(range.from, range.to), 10);
  if (span > MAX_SPAN) limitReached('cellSpan');
  return span > 1 ? Math.min(span, MAX_SPAN) : 1;
}
