// Tables of data as GFM tables, each cell on one line.
// Promise: a table that arranges a page is written as what its cells hold.
import { readGrid } from '../page/table-grid.js';
import type { BlockRenderer } from './block-renderer.js';
import { EQUATION, classOf, escapePipes } from './shapes.js';

/** Writes a table. */
export function writeTable(to: BlockRenderer, node: number): void {
  const grid = EQUATION.test(classOf(to.tree, node)) ? null : readGrid(to.tree, node, to.dropped);
  if (grid === null) {
    to.children(node);
    return to.flush();
  }
  if (grid.caption >= 0) to.write([to.caption(grid.caption)].filter((line) => line !== ''));
  const cells = grid.rows.map((row) => row.map((cell) => (cell < 0 ? '' : escapePipes(to.line(cell)))));
  const rows = cells.filter((row) => row.some((cell) => cell !== ''));
  if (rows.length === 0) return;
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  // Only the first row says how many columns there are: readers fill up the others.
  const head = [...rows[0]!, ...new Array<string>(width - rows[0]!.length).fill('')];
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  to.writer.block([line(head), `|${' --- |'.repeat(width)}`, ...rows.slice(1).map(line)]);
  to.lastList.marker = '';
}
