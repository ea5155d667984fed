// Headings that title a menu: "Contents" above the parts of a guide, "Navigation".
// Promise: only within `nav`; a heading stays where an entry of its menu is content as well.
import { elementNumber } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { CONTAINER, HEADING, STRIDE } from '../page/segment.js';

const NAV = elementNumber('nav');
/** Elements between a menu and its heading. */
const LEVELS = 4;

/** The menu that a node closely stands in; 0 where it stands in none. */
function menuAround({ tag, parent }: Segments['tree'], node: number): number {
  for (let at = node, level = 0; at > 0 && level < LEVELS; at = parent[at]!, level++) if (tag[at] === NAV) return at;
  return 0;
}

/** Whether a heading titles a menu. */
export function titlesMenu({ tree, blocks }: Segments, block: number): boolean {
  return menuAround(tree, blocks[block * STRIDE + CONTAINER]!) > 0;
}

/** Leaves out the titles of menus that are left out. */
export function leaveMenuTitles({ tree, blocks, count }: Segments, chosen: Uint8Array): void {
  if (tree.tag.indexOf(NAV) < 0) return;
  for (let b = 0; b < count; b++) {
    if (chosen[b] === 0 || blocks[b * STRIDE + HEADING] === 0) continue;
    const menu = menuAround(tree, blocks[b * STRIDE + CONTAINER]!);
    if (menu === 0) continue;
    const end = tree.end[menu]!;
    let next = b + 1;
    while (next < count && blocks[next * STRIDE + CONTAINER]! < end && chosen[next] === 0) next++;
    const isLast = next === count || blocks[next * STRIDE + CONTAINER]! >= end;
    if (isLast && next > b + 1) chosen[b] = 0;
  }
}
