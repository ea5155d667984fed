// The layout of a page: its tables and lines, in reading order.
// Promise: what is looked at grows as the page does: words and lines are found by their height.
import { alignedTables, tableWithin } from './aligned.js';
import {
  type Between,
  type Box,
  findBetween,
  firstFrom,
  least,
  type Line,
  most,
  type PageDrawing,
  type Word,
} from './geometry.js';
import { linesOf } from './lines.js';
import { columnsOf, type Item } from './order.js';
import { fillGrid, type Grid, gridOf, ruleGroups } from './ruled.js';

/** A cell: its lines, and how far it reaches. */
export interface LaidCell {
  readonly lines: readonly Line[];
  readonly columns: number;
  readonly rows: number;
}

export interface LaidTable extends Box {
  readonly kind: 'table';
  readonly rows: readonly (readonly LaidCell[])[];
}

export type Laid = LaidTable | ({ readonly kind: 'line' } & Line);

export interface PageLines {
  readonly height: number;
  readonly lines: readonly Line[];
  readonly tables: readonly (LaidTable & { readonly order: number })[];
}

/** The ruled tables of a page, and the lines outside of them. */
export function readPageLines({ words, rules, dots, height }: PageDrawing): PageLines {
  const tables: (LaidTable & { order: number })[] = [];
  const inTables = new Set<Word>();
  const between = findBetween(words, ({ y }) => y);
  const tallest = most(words, ({ size }) => size);
  const groups = ruleGroups(rules);
  for (const group of groups) {
    const grid = gridOf(group);
    if (!grid) continue;
    const near = between(grid.y0, grid.y1 + tallest).filter((word) => !inTables.has(word));
    const inside = fillGrid(grid, near);
    const filled = grid.cells.filter((cell) => cell.words.length > 0).length;
    // One filled cell is a frame.
    if (filled < 2) continue;
    for (const word of inside) inTables.add(word);
    tables.push(tableOfGrid(grid));
  }
  const lines = linesOf(inTables.size === 0 ? words : words.filter((word) => !inTables.has(word)), dots);
  const left = openTables(
    groups.map(({ level }) => level),
    lines,
    tables,
  );
  return { height, lines: left, tables };
}

function tableOfGrid(grid: Grid): LaidTable & { order: number } {
  const rows: LaidCell[][] = Array.from({ length: grid.rowCount }, () => []);
  let order = Infinity;
  for (const { row, rows: down, columns, words } of grid.cells) {
    // They were found by height; lines are joined in the order of the drawing.
    words.sort((a, b) => a.order - b.order);
    rows[row]!.push({ lines: linesOf(words, []), columns, rows: down });
    order = Math.min(
      order,
      least(words, (word) => word.order),
    );
  }
  const { x0, y0, x1, y1 } = grid;
  return { kind: 'table', x0, y0, x1, y1, rows: rows.filter((row) => row.length > 0), order };
}

/** Tables between level rules alone: at least three of the same width, or of which the first and last are. */
function openTables(
  groups: readonly (readonly Box[])[],
  lines: readonly Line[],
  tables: (LaidTable & { order: number })[],
): Line[] {
  const used = new Set<Line>();
  const between = findBetween(lines, ({ y }) => y);
  const tallest = most(lines, ({ size }) => size);
  const find: Between<Line> = (top, bottom) => between(top, bottom + 0.1 * tallest).filter((line) => !used.has(line));
  const level = groups.flat().sort((a, b) => a.y0 - b.y0);
  const sets = new Map<string, Box[]>();
  for (const rule of level) {
    if (rule.x1 - rule.x0 < 40) continue;
    const key = `${Math.round(rule.x0 / 4)} ${Math.round(rule.x1 / 4)}`;
    const set = sets.get(key);
    if (set) set.push(rule);
    else sets.set(key, [rule]);
  }
  for (const set of sets.values()) {
    for (let from = 0; from < set.length;) {
      // Rules far apart belong to different tables.
      let to = from + 1;
      while (to < set.length && hasRowsOnly(set[to - 1]!, set[to]!, find)) to++;
      const table = to - from >= 2 ? tableBetween(set.slice(from, to), find) : undefined;
      if (table) {
        tables.push(table.laid);
        for (const line of table.used) used.add(line);
      }
      from = to;
    }
  }
  return used.size === 0 ? [...lines] : lines.filter((line) => !used.has(line));
}

function isWithin(line: Line, above: Box, below: Box): boolean {
  return line.y > above.y0 && line.y < below.y1 + 0.1 * line.size && line.x0 > above.x0 - 6 && line.x1 < above.x1 + 6;
}

/** Between two rules of a table stand rows: at least one with several pieces. */
function hasRowsOnly(above: Box, below: Box, find: Between<Line>): boolean {
  const inside = find(above.y0, below.y1).filter((line) => isWithin(line, above, below));
  const ys = new Set(inside.map(({ y }) => Math.round(y / 2)));
  return inside.length > ys.size;
}

function tableBetween(ruled: readonly Box[], find: Between<Line>) {
  const rules = [...rowsAbove(ruled[0]!, find), ...ruled];
  const first = rules[0]!;
  const last = rules.at(-1)!;
  const inside = find(first.y0, last.y1).filter((line) => isWithin(line, first, last));
  const rows = rowsBetween(rules, inside) ?? tableWithin(inside)?.rows;
  if (!rows) return undefined;
  const laid = {
    kind: 'table' as const,
    ...boxAround(inside),
    rows: rows.map((row) => row.map((cell) => ({ lines: cell, columns: 1, rows: 1 }))),
    order: least(inside, ({ order }) => order),
  };
  return { laid, used: inside };
}

/** Points. */
const LARGEST_HEADER = 40;

/** A row above the first rule belongs to the table, too, where it has several pieces: its header has a rule only below. */
function rowsAbove(first: Box, find: Between<Line>): Box[] {
  const above = find(first.y0 - 2.2 * LARGEST_HEADER, first.y0 + 1).filter(
    (line) =>
      line.y < first.y0 + 1 && line.y > first.y0 - 2.2 * line.size && line.x0 > first.x0 - 6 && line.x1 < first.x1 + 6,
  );
  const y = most(above, (line) => line.y);
  const row = above.filter((line) => line.y > y - 0.3 * line.size);
  if (row.length < 2) return [];
  const top = least(row, ({ y0 }) => y0) - 1;
  return [{ ...first, y0: top, y1: top }];
}

/** Where each row has rules above and below it, they divide the rows. */
function rowsBetween(rules: readonly Box[], inside: readonly Line[]): (readonly Line[])[][] | undefined {
  const whole = tableWithin(inside);
  if (!whole || rules.length - 1 < 3) return undefined;
  const columns = whole.rows[0]!.length;
  const rows: Line[][][] = rules.slice(1).map(() => Array.from({ length: columns }, () => []));
  for (const row of whole.rows) {
    for (const [column, cell] of row.entries()) {
      for (const line of cell) {
        const at = firstFrom(rules, ({ y0 }) => y0, line.y - 0.3 * line.size + 1e-9) - 1;
        rows[Math.max(0, Math.min(at, rows.length - 1))]![column]!.push(line);
      }
    }
  }
  // One row for several lines of single pieces: the rules divide groups of rows.
  const isDense = rows.every((row) => row.every((cell) => cell.length <= 1) || row.some((cell) => cell.length <= 1));
  return isDense ? rows.filter((row) => row.some((cell) => cell.length > 0)) : undefined;
}

function boxAround(lines: readonly Line[]): Box {
  return {
    x0: least(lines, ({ x0 }) => x0),
    y0: least(lines, ({ y0 }) => y0),
    x1: most(lines, ({ x1 }) => x1),
    y1: most(lines, ({ y1 }) => y1),
  };
}

/** Everything on a page in reading order, column by column. */
export function layOut(page: PageLines, lines: readonly Line[]): Laid[][] {
  const items: (Item & { laid: Laid })[] = [];
  const add = ({ x0, y0, x1, y1 }: Box, order: number, size: number, isTable: boolean, laid: Laid): void =>
    void items.push({ x0, y0, x1, y1, order, size, isTable, laid });
  for (const table of page.tables) add(table, table.order, 10, true, table);
  for (const line of lines) add(line, line.order, line.size, false, laidLine(line));
  return columnsOf(items).map((column) => withAligned(column.map(({ laid }) => laid)));
}

/** Property by property: of hundreds of thousands of lines a spread is slower to make, and to read. */
function laidLine({ x0, y0, x1, y1, words, y, size, order, hasDot }: Line): Laid {
  return { kind: 'line', x0, y0, x1, y1, words, y, size, order, hasDot };
}

/** A column whose rows of pieces are tables. */
function withAligned(column: readonly Laid[]): Laid[] {
  const lines = column.filter((laid) => laid.kind === 'line');
  const tables = alignedTables(lines);
  if (tables.length === 0) return [...column];
  const owners = new Map<Line, LaidTable>();
  for (const table of tables) {
    const rows = table.rows.map((row) => row.map((cell) => ({ lines: cell, columns: 1, rows: 1 })));
    const laid: LaidTable = { kind: 'table', ...boxAround(table.lines), rows };
    for (const line of table.lines) owners.set(line, laid);
  }
  const written = new Set<LaidTable>();
  return column.flatMap((laid): Laid[] => {
    const table = laid.kind === 'line' ? owners.get(laid) : undefined;
    if (!table) return [laid];
    if (written.has(table)) return [];
    written.add(table);
    return [table];
  });
}
