// Text that a page repeats, for several screen widths or in a second place.
// Promise: it is kept once; code, tables and repeats within one element (a refrain) are unchanged.
import { elementSet } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { CHARS, CONTAINER, HASH, STRIDE, WORDS } from '../page/segment.js';

/** Words in a row, in one block or several, that are not a coincidence; 10 to 30 score alike on the given pages. */
const MIN_WORDS = 20;
const KEPT = elementSet('pre table');

/** Leaves out, of the chosen blocks, those that repeat chosen ones further up. */
export function leaveRepeats({ tree, blocks, count }: Segments, chosen: Uint8Array): void {
  const order: number[] = [];
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) if (chosen[b] === 1 && blocks[at + WORDS]! > 0) order.push(at);
  const isSame = (one: number, other: number): boolean =>
    blocks[one + HASH] === blocks[other + HASH] &&
    blocks[one + WORDS] === blocks[other + WORDS] &&
    blocks[one + CHARS] === blocks[other + CHARS];
  const parentOf = (at: number): number => tree.parent[blocks[at + CONTAINER]!]!;
  const firsts = new Map<number, number>();
  for (let k = 0, length = 1; k < order.length; k += length) {
    const at = order[k]!;
    const first = firsts.get(blocks[at + HASH]!);
    length = 1;
    if (first === undefined) {
      firsts.set(blocks[at + HASH]!, k);
      continue;
    }
    let words = 0;
    let run = 0;
    while (k + run < order.length && first + run < k && isSame(order[first + run]!, order[k + run]!)) {
      words += blocks[order[k + run]! + WORDS]!;
      run++;
    }
    length = Math.max(1, run);
    if (words < MIN_WORDS || parentOf(at) === parentOf(order[first]!) || isKept(tree, blocks[at + CONTAINER]!))
      continue;
    for (let n = 0; n < run; n++) chosen[order[k + n]! / STRIDE] = 0;
  }
}

/** Whether a node stands in code or in a table. */
function isKept({ tag, parent }: Segments['tree'], node: number): boolean {
  for (let up = node; up > 0; up = parent[up]!) if (KEPT[tag[up]!] === 1) return true;
  return false;
}
