// Tables of data as rows of text.
// Promise: cells keep their column under spans; layout tables are left out; what is returned is bounded by the page.
import { elementNumber } from '../page/elements.js';
import { nodeText } from '../page/node-text.js';
import type { PageView } from '../page/page-view.js';
import { placesOf, readGrid } from '../page/table-grid.js';

const TABLE = elementNumber('table');

/** One table of a page. */
export interface PageTable {
  /** The text of `<caption>`; null without one. */
  readonly caption: string | null;
  /** The heading row, empty when the table has none. */
  readonly headers: readonly string[];
  /** The other rows, each as long as the table is wide; beyond the limit `tablePlaces`, as long as its own cells. */
  readonly rows: readonly (readonly string[])[];
}

/** The tables of data on a page, in order. */
export function readTables({ tree }: PageView): PageTable[] {
  const tables: PageTable[] = [];
  for (let node = 1; node < tree.count; node++) {
    if (tree.tag[node] !== TABLE) continue;
    const grid = readGrid(tree, node, null);
    if (grid === null) continue;
    const width = grid.rows.reduce((most, row) => Math.max(most, row.length), 0);
    const take = placesOf(tree, node);
    const cells = grid.rows.map((row) =>
      // One wide row makes every other one as wide, within a limit.
      Array.from({ length: take(width) ? width : row.length }, (_, column) => {
        const cell = row[column] ?? -1;
        return cell < 0 ? '' : nodeText(tree, cell);
      }),
    );
    const caption = grid.caption < 0 ? '' : nodeText(tree, grid.caption);
    const [headers = [], rows] = grid.headRows > 0 ? [cells[0], cells.slice(grid.headRows)] : [[], cells];
    tables.push({ caption: caption === '' ? null : caption, headers, rows });
    node = tree.end[node]! - 1;
  }
  return tables;
}
