// Finds tables whose cells are separated by rules, and puts words into their cells.
// Promise: rules that touch form one grid; a frame around text, an underline and a separator are no tables.
import { clustered, type Box, firstFrom, type Rule, type Word } from './geometry.js';

/** A cell of a grid, with the words in it. */
export interface GridCell extends Box {
  readonly row: number;
  readonly column: number;
  readonly rows: number;
  readonly columns: number;
  readonly words: Word[];
}

export interface Grid extends Box {
  readonly rowCount: number;
  readonly columnCount: number;
  readonly cells: readonly GridCell[];
  cellAt(x: number, y: number): GridCell | undefined;
}

/** Rules this close are one. */
const NEAR = 3.5;
const MAX_RULES = 20_000;
const MAX_LINES = 400;

interface Axis {
  readonly level: Rule[];
  readonly upright: Rule[];
}

/** Groups of rules that touch each other. */
export function ruleGroups(rules: readonly Rule[]): Axis[] {
  const all = joinedRules(rules.slice(0, MAX_RULES));
  const parent = all.map((_, at) => at);
  const find = (at: number): number => {
    let root = at;
    while (parent[root] !== root) root = parent[root]!;
    while (parent[at] !== root) [at, parent[at]] = [parent[at]!, root];
    return root;
  };
  // Swept from the top: only rules that are still open can touch the next one.
  const order = all.map((_, at) => at).sort((a, b) => all[a]!.y0 - all[b]!.y0);
  let open: number[] = [];
  for (const at of order) {
    const rule = all[at]!;
    open = open.filter((other) => all[other]!.y1 + NEAR >= rule.y0).slice(-2_000);
    for (const other of open) {
      const { x0, x1 } = all[other]!;
      if (x0 - NEAR <= rule.x1 && rule.x0 - NEAR <= x1) parent[find(at)] = find(other);
    }
    open.push(at);
  }
  const groups = new Map<number, Axis>();
  for (const [at, rule] of all.entries()) {
    const root = find(at);
    if (!groups.has(root)) groups.set(root, { level: [], upright: [] });
    const group = groups.get(root)!;
    if (rule.x1 - rule.x0 >= rule.y1 - rule.y0) group.level.push(rule);
    else group.upright.push(rule);
  }
  return [...groups.values()];
}

/** Pieces of one rule, drawn cell by cell, as one. */
function joinedRules(rules: readonly Rule[]): Rule[] {
  const level = rules.filter(({ x0, y0, x1, y1 }) => x1 - x0 >= y1 - y0);
  const upright = rules.filter(({ x0, y0, x1, y1 }) => x1 - x0 < y1 - y0);
  const join = (list: Rule[], along: 'x' | 'y', across: 'x' | 'y'): Rule[] => {
    const middle = (rule: Rule) => (rule[`${across}0`] + rule[`${across}1`]) / 2;
    list.sort((a, b) => Math.round(middle(a)) - Math.round(middle(b)) || a[`${along}0`] - b[`${along}0`]);
    const joined: Rule[] = [];
    for (const rule of list) {
      const last = joined.at(-1);
      const isNext =
        last && Math.abs(middle(last) - middle(rule)) < 1.5 && rule[`${along}0`] - last[`${along}1`] <= NEAR;
      if (!isNext) joined.push(rule);
      else {
        joined[joined.length - 1] = {
          x0: Math.min(last.x0, rule.x0),
          y0: Math.min(last.y0, rule.y0),
          x1: Math.max(last.x1, rule.x1),
          y1: Math.max(last.y1, rule.y1),
        };
      }
    }
    return joined;
  };
  return [...join(level, 'x', 'y'), ...join(upright, 'y', 'x')];
}

/** The grid that a group of rules forms; undefined when it forms none with more than one cell. */
export function gridOf({ level, upright }: Axis): Grid | undefined {
  const ys = clustered(
    level.map(({ y0, y1 }) => (y0 + y1) / 2),
    NEAR,
  );
  const xs = clustered(
    upright.map(({ x0, x1 }) => (x0 + x1) / 2),
    NEAR,
  );
  if (ys.length < 2 || xs.length < 2 || ys.length > MAX_LINES || xs.length > MAX_LINES) return undefined;
  const rowCount = ys.length - 1;
  const columnCount = xs.length - 1;
  if (rowCount * columnCount < 2) return undefined;
  const isWall = wallsOf(upright, xs, ys, 'x');
  const isFloor = wallsOf(level, ys, xs, 'y');
  const owner = new Int32Array(rowCount * columnCount).fill(-1);
  const cells: GridCell[] = [];
  for (let row = 0; row < rowCount; row++) {
    for (let column = 0; column < columnCount; column++) {
      if (owner[row * columnCount + column] !== -1) continue;
      let columns = 1;
      while (column + columns < columnCount && !isWall(column + columns, row)) columns++;
      let rows = 1;
      while (row + rows < rowCount && !isFloor(row + rows, column)) rows++;
      for (let y = row; y < row + rows; y++)
        for (let x = column; x < column + columns; x++) owner[y * columnCount + x] = cells.length;
      const box = { x0: xs[column]!, y0: ys[row]!, x1: xs[column + columns]!, y1: ys[row + rows]! };
      cells.push({ ...box, row, column, rows, columns, words: [] });
    }
  }
  if (cells.length < 2) return undefined;
  return {
    x0: xs[0]!,
    y0: ys[0]!,
    x1: xs.at(-1)!,
    y1: ys.at(-1)!,
    rowCount,
    columnCount,
    cells,
    cellAt(x, y) {
      const column = lastNotAfter(xs, x);
      const row = lastNotAfter(ys, y);
      if (column < 0 || row < 0 || column >= columnCount || row >= rowCount) return undefined;
      return cells[owner[row * columnCount + column]!];
    },
  };
}

/** Whether a rule stands at a line of the grid, beside a row or column. */
function wallsOf(
  rules: readonly Rule[],
  lines: readonly number[],
  across: readonly number[],
  axis: 'x' | 'y',
): (line: number, at: number) => boolean {
  const other = axis === 'x' ? 'y' : 'x';
  const standing = new Set<number>();
  for (const rule of rules) {
    const middle = (rule[`${axis}0`] + rule[`${axis}1`]) / 2;
    const line = nearest(lines, middle);
    for (let at = Math.max(0, lastNotAfter(across, rule[`${other}0`])); at + 1 < across.length; at++) {
      const center = (across[at]! + across[at + 1]!) / 2;
      if (center > rule[`${other}1`]) break;
      if (rule[`${other}0`] <= center) standing.add(line * across.length + at);
    }
  }
  return (line, at) => standing.has(line * across.length + at);
}

const same = (value: number) => value;

function lastNotAfter(values: readonly number[], value: number): number {
  const at = firstFrom(values, same, value);
  return values[at] === value ? at : at - 1;
}

function nearest(values: readonly number[], value: number): number {
  const above = Math.min(firstFrom(values, same, value), values.length - 1);
  const below = Math.max(0, above - 1);
  return value - values[below]! <= Math.abs(values[above]! - value) ? below : above;
}

/** Puts words into the cells of a grid; gives those that stand in it. */
export function fillGrid(grid: Grid, words: readonly Word[]): Word[] {
  const inside: Word[] = [];
  for (const word of words) {
    const x = (word.x0 + word.x1) / 2;
    const y = word.y - 0.3 * word.size;
    const cell = grid.cellAt(x, y);
    if (!cell) continue;
    cell.words.push(word);
    inside.push(word);
  }
  return inside;
}
