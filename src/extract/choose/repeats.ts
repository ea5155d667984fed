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
/** Shown again on wider ones. */
const WIDE = /(?:^|\s)(?:md|lg|xl|2xl):(?:!?(?:block|flex|inline|grid|table|contents))/;
const MAX_NAMES = 400;

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

/** Leaves out a part that only narrow screens show, where wide ones show all of its texts elsewhere. */
function leaveNarrow({ tree, blocks, count }: Segments, chosen: Uint8Array): void {
  const wide = new Set<number>();
  // By part: the blocks of it that are chosen.
  const parts = new Map<number, number[]>();
  const known = new Map<number, number>();
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    if (chosen[b] === 0 || blocks[at + WORDS]! === 0) continue;
    const part = narrowPart(tree, blocks[at + CONTAINER]!, known);
    if (part === 0) wide.add(blocks[at + HASH]!);
    else parts.set(part, [...(parts.get(part) ?? []), b]);
  }
  for (const part of parts.values())
    if (part.every((b) => wide.has(blocks[b * STRIDE + HASH]!))) for (const b of part) chosen[b] = 0;
}

/** The outermost element around a node that only narrow screens show, or 0; `known` remembers it by element. */
function narrowPart(tree: Segments['tree'], node: number, known: Map<number, number>): number {
  const passed: number[] = [];
  let part = 0;
  for (let up = node; up > 0; up = tree.parent[up]!) {
    const found = known.get(up);
    if (found !== undefined) {
      part = found === 0 ? part : found;
      break;
    }
    passed.push(up);
    if (hasLongTag(tree, up)) continue;
    const names = (tree.attribute(up, 'class') ?? '').slice(0, MAX_NAMES);
    if (NARROW.test(names) && !WIDE.test(names)) part = up;
  }
  // Elements between the outermost such part and the text are within it; those around it are not.
  for (const up of passed) known.set(up, up >= part ? part : 0);
  return part;
}

/** Whether a node stands in code or in a table. */
function isKept({ tag, parent }: Segments['tree'], node: number): boolean {
  for (let up = node; up > 0; up = parent[up]!) if (KEPT[tag[up]!] === 1) return true;
  return false;
}
