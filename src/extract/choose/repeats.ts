// Text that a page repeats, for several screen widths or in a second place.
// Promise: it is kept once; code, tables and repeats within one element (a refrain) are unchanged. Short repeats are left out
// only of a part that its class names show on narrow screens alone.
import { elementSet, hasLongTag } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { CHARS, CONTAINER, HASH, STRIDE, WORDS } from '../page/segment.js';

/** Words in a row, in one block or several, that are not a coincidence; 10 to 30 score alike on the given pages. */
const MIN_WORDS = 20;
const KEPT = elementSet('pre table');
/** Utility classes of Tailwind, Bootstrap and Foundation for what wide screens hide. */
const NARROW =
  /(?:^|\s)(?:(?:sm|md|lg):(?:!?hidden)|d-(?:sm|md|lg)-none|hidden-(?:md|lg|sm-up|md-up)|visible-(?:xs|sm)(?:-block)?|show-for-small-only|hide-for-(?:medium|large)|(?:mobile|small)-only|(?:only|show)-(?:on-)?mobile|hide-(?:on-)?desktop)(?:\s|$)/;
const MAX_NAMES = 400;
/** Elements around a text that may say so. */
const STEPS = 12;
/** Of one text; more are a list. */
const MAX_SAME = 4;

/** Leaves out, of the chosen blocks, those that repeat chosen ones further up. */
export function leaveRepeats(segments: Segments, chosen: Uint8Array): void {
  leaveNarrow(segments, chosen);
  const { tree, blocks, count } = segments;
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

/** Leaves out what only narrow screens show, where wide ones show the same elsewhere. */
function leaveNarrow({ tree, blocks, count }: Segments, chosen: Uint8Array): void {
  // By text: the blocks that have it.
  const same = new Map<number, number[]>();
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    if (chosen[b] === 0 || blocks[at + WORDS]! === 0) continue;
    const others = same.get(blocks[at + HASH]!);
    if (others === undefined) same.set(blocks[at + HASH]!, [b]);
    else if (others.length < MAX_SAME) others.push(b);
  }
  for (const group of same.values()) {
    if (group.length === 1) continue;
    const narrow = group.filter((b) => isNarrow(tree, blocks[b * STRIDE + CONTAINER]!));
    if (narrow.length < group.length) for (const b of narrow) chosen[b] = 0;
  }
}

function isNarrow(tree: Segments['tree'], node: number): boolean {
  for (let up = node, steps = 0; up > 0 && steps < STEPS; up = tree.parent[up]!, steps++)
    if (!hasLongTag(tree, up) && NARROW.test((tree.attribute(up, 'class') ?? '').slice(0, MAX_NAMES))) return true;
  return false;
}

/** Whether a node stands in code or in a table. */
function isKept({ tag, parent }: Segments['tree'], node: number): boolean {
  for (let up = node; up > 0; up = parent[up]!) if (KEPT[tag[up]!] === 1) return true;
  return false;
}
