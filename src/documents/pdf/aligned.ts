// Finds tables without upright rules: rows of short pieces that stand below each other in columns.
// Promise: prose in columns is none, and neither is a single line with a gap.
import { least, type Line, median, most } from './geometry.js';

/** Rows of cells, each the lines in it, from top to bottom. */
export interface AlignedTable {
  readonly rows: readonly (readonly (readonly Line[])[])[];
  /** The lines that it consists of. */
  readonly lines: readonly Line[];
}

interface Row {
  readonly y: number;
  readonly lines: Line[];
}

const MAX_COLUMNS = 60;

/** The tables among lines of one column of a page. */
export function alignedTables(lines: readonly Line[]): AlignedTable[] {
  const rows = rowsOf(lines);
  const tables: AlignedTable[] = [];
  for (let from = 0; from < rows.length;) {
    if (rows[from]!.lines.length < 2) {
      from++;
      continue;
    }
    let to = from + 1;
    // Rows of a table follow closely; one with a single piece may continue a cell.
    while (to < rows.length && isClose(rows[to - 1]!, rows[to]!) && continues(rows, from, to)) to++;
    while (to > from && rows[to - 1]!.lines.length < 2 && !isInColumns(rows.slice(from, to - 1), rows[to - 1]!)) to--;
    const table = tableOf(rows.slice(from, to));
    if (table) tables.push(table);
    from = Math.max(to, from + 1);
  }
  return tables;
}

/** As a table whatever its rows look like: its place is known. */
export function tableWithin(lines: readonly Line[]): AlignedTable | undefined {
  return tableOf(rowsOf(lines), true);
}

function rowsOf(lines: readonly Line[]): Row[] {
  const rows: Row[] = [];
  for (const line of [...lines].sort((a, b) => a.y - b.y || a.x0 - b.x0)) {
    const last = rows.at(-1);
    if (last && line.y - last.y < 0.3 * line.size) last.lines.push(line);
    else rows.push({ y: line.y, lines: [line] });
  }
  for (const row of rows) row.lines.sort((a, b) => a.x0 - b.x0);
  return rows;
}

function isClose(above: Row, below: Row): boolean {
  const size = Math.max(
    most(below.lines, (line) => line.size),
    most(above.lines, (line) => line.size),
  );
  return below.y - above.y < 3.2 * size;
}

function continues(rows: readonly Row[], from: number, to: number): boolean {
  const row = rows[to]!;
  if (row.lines.length >= 2) return true;
  // Two rows of one piece each are text again, unless both continue a cell.
  return isInColumns(rows.slice(Math.max(from, to - 3), to), row);
}

/** Whether the pieces of a row stand below pieces of the rows above it, and none is wider than those. */
function isInColumns(above: readonly Row[], row: Row): boolean {
  const upper = above.flatMap(({ lines }) => (lines.length >= 2 ? lines : []));
  const left = least(upper, ({ x0 }) => x0);
  const right = most(upper, ({ x1 }) => x1);
  return row.lines.every((line) => {
    const isBelow = upper.some((other) => Math.abs(other.x0 - line.x0) < 3 || Math.abs(other.x1 - line.x1) < 3);
    return isBelow && (line.x1 - line.x0 < 0.6 * (right - left) || upper.length === 0) && line.x0 > left + 3;
  });
}

function tableOf(rows: readonly Row[], isKnown = false): AlignedTable | undefined {
  const full = rows.filter(({ lines }) => lines.length >= 2);
  if (full.length < 2) return undefined;
  const columns = columnsOf(full.flatMap(({ lines }) => lines));
  if (columns.length < 2 || columns.length > MAX_COLUMNS) return undefined;
  // Most rows fill most columns; prose in columns has long pieces.
  const pieces = full.reduce((sum, { lines }) => sum + lines.length, 0);
  if (!isKnown) {
    if (full.length < 3 && columns.length < 3) return undefined;
    if (pieces < 0.6 * full.length * columns.length) return undefined;
    const words = median(full.flatMap(({ lines }) => lines.map((line) => line.words.length)));
    if (words > 8) return undefined;
  }
  const grouped = groupedRows(rows, columns.length);
  const table = grouped.map((group) => {
    const cells: Line[][] = columns.map(() => []);
    for (const line of group.flatMap(({ lines }) => lines)) cells[columnAt(columns, line)]!.push(line);
    for (const cell of cells) cell.sort((a, b) => a.y - b.y || a.x0 - b.x0);
    return cells;
  });
  if (table.length < 2) return undefined;
  return { rows: table, lines: rows.flatMap(({ lines }) => lines) };
}

interface Column {
  x0: number;
  x1: number;
}

/** Pieces that overlap from above are one column. */
function columnsOf(lines: readonly Line[]): Column[] {
  const columns: Column[] = [];
  for (const { x0, x1 } of [...lines].sort((a, b) => a.x0 - b.x0)) {
    const last = columns.at(-1);
    if (last && x0 < last.x1 - 0.5) last.x1 = Math.max(last.x1, x1);
    else columns.push({ x0, x1 });
  }
  return columns;
}

function columnAt(columns: readonly Column[], line: Line): number {
  const middle = (line.x0 + line.x1) / 2;
  let best = 0;
  const distance = ({ x0, x1 }: Column) => Math.max(x0 - middle, middle - x1, 0);
  for (let at = 1; at < columns.length; at++) if (distance(columns[at]!) < distance(columns[best]!)) best = at;
  return best;
}

/** Lines of text that are one row of the table: closer to each other than rows are. */
function groupedRows(rows: readonly Row[], columns: number): Row[][] {
  const pitches = rows.slice(1).map((row, at) => row.y - rows[at]!.y);
  const size = median(rows.flatMap(({ lines }) => lines.map((line) => line.size)));
  const isFull = ({ lines }: Row) => lines.length >= Math.max(2, 0.6 * columns);
  const tight = pitches.flatMap((pitch, at) => (pitch < 1.45 * size ? [at] : []));
  // Full rows that stand as close as lines do are rows all the same.
  const full = tight.filter((at) => isFull(rows[at]!) && isFull(rows[at + 1]!)).length;
  const isLoose = tight.length < pitches.length && full <= 0.3 * tight.length;
  const groups: Row[][] = [];
  for (const [at, row] of rows.entries()) {
    const isNew = at === 0 || (isLoose ? pitches[at - 1]! >= 1.45 * size : row.lines.length >= 2 || columns === 1);
    if (isNew) groups.push([row]);
    else groups.at(-1)!.push(row);
  }
  return groups;
}
