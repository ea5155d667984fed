// Where a block stands to the main text of a page, as the second look sees that text, and to pictures near it.
// Promise: linear in the page.
import { elementSet } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { CONTAINER, FIRST_NODE, LAST_NODE, STRIDE, WORDS } from '../page/segment.js';

export const SHAPE_NAMES: readonly string[] = [
  'below the text',
  'below the best',
  'outside by',
  'inside by',
  'branch sure',
  'branch words',
  'picture in it',
  'picture before',
  'picture after',
];
const PICTURE = elementSet('img picture video iframe figure');
/** The main text is in the smallest element that has this share of the sure words. */
const MAIN_SHARE = 0.6;
const MAX_LEVELS = 12;
const FAR_BELOW = 15;

/** What {@link shapeColumns} needs of the page: the words of sure blocks by node, summed up, and in all. */
export interface SureWords {
  readonly byNode: Int32Array;
  readonly isSure: Uint8Array;
  readonly total: number;
}

/** Writes the columns of {@link SHAPE_NAMES} into `out`, from its start. */
export function shapeColumns(segments: Segments, second: Float32Array, sure: SureWords, out: Float32Array): void {
  const { tree, blocks, count, words } = segments;
  const { byNode, isSure, total } = sure;
  let sum = 0;
  let best = -FAR_BELOW;
  for (let b = 0; b < count; b++) {
    if (isSure[b] !== 1) continue;
    sum += second[b]! * blocks[b * STRIDE + WORDS]!;
    best = Math.max(best, second[b]!);
  }
  const mean = total === 0 ? 0 : sum / total;
  const main = mainElement(segments, byNode, total);
  // By node: pictures before it in the page.
  const pictures = new Int32Array(tree.count + 1);
  for (let node = 0; node < tree.count; node++) pictures[node + 1] = pictures[node]! + PICTURE[tree.tag[node]!]!;
  let before = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const container = blocks[at + CONTAINER]!;
    const first = blocks[at + FIRST_NODE]!;
    const next = b + 1 < count ? blocks[at + STRIDE + FIRST_NODE]! : tree.count;
    const { up, down, branch } = wayFrom(segments, container, main);
    let alone = container;
    for (let level = 0; level < MAX_LEVELS && words[tree.parent[alone]!] === words[container]; level++)
      alone = tree.parent[alone]!;
    const values = [
      Math.max(-FAR_BELOW, second[b]! - mean),
      Math.max(-FAR_BELOW, second[b]! - best),
      up,
      down,
      byNode[branch]! / Math.max(1, words[branch]!),
      words[branch]! / Math.max(1, words[0]!),
      pictures[tree.end[alone]!]! > pictures[alone]! ? 1 : 0,
      pictures[first]! > pictures[before]! ? 1 : 0,
      pictures[next]! > pictures[blocks[at + LAST_NODE]!]! ? 1 : 0,
    ];
    for (let column = 0; column < values.length; column++) out[column * count + b] = values[column]!;
    before = blocks[at + LAST_NODE]!;
  }
}

/** The smallest element with most of the sure words. */
function mainElement({ tree }: Segments, byNode: Int32Array, total: number): number {
  let main = 0;
  if (total === 0) return main;
  // Children follow their parents: the last one that has enough is the innermost of the only chain there is.
  for (let node = 1; node < tree.count; node++)
    if (byNode[node]! >= MAIN_SHARE * total && tree.parent[node] === main) main = node;
  return main;
}

/** Steps from the main element up to what both stand in and down to the block, and the part of that which has the block. */
function wayFrom(
  { tree }: Segments,
  container: number,
  main: number,
): { readonly up: number; readonly down: number; readonly branch: number } {
  let branch = container;
  let down = 0;
  let node = container;
  for (; node > 0 && down < MAX_LEVELS && !(node <= main && main < tree.end[node]!); node = tree.parent[node]!) {
    branch = node;
    down++;
  }
  let up = 0;
  for (let at = main; at > node && up < MAX_LEVELS; at = tree.parent[at]!) up++;
  return { up, down, branch };
}
