// Tables over a page's blocks and nodes that its features are read from: groups, depths, siblings, the richest container.
// Promise: each is one or two passes over the page.
import type { Segments } from '../page/segment.js';
import { CONTAINER, LINK_WORDS, SENTENCES, STRIDE, WORDS } from '../page/segment.js';

/** Stands for "further" and "none" wherever steps are counted. */
export const NONE = 30;

export interface Group {
  blocks: number;
  words: number;
  link: number;
  first: number;
  last: number;
}

export function groupBy({ blocks, count }: Segments, column: number): Map<number, Group> {
  const groups = new Map<number, Group>();
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const key = blocks[at + column]!;
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { blocks: 1, words: blocks[at + WORDS]!, link: blocks[at + LINK_WORDS]!, first: b, last: b });
    } else {
      group.blocks++;
      group.words += blocks[at + WORDS]!;
      group.link += blocks[at + LINK_WORDS]!;
      group.last = b;
    }
  }
  return groups;
}

export function depths({ tree }: Segments): Int32Array {
  const depth = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; node++) depth[node] = depth[tree.parent[node]!]! + 1;
  return depth;
}

/** For each node: how many siblings with text it has, and how many of them look like it. */
export function siblingCounts({ tree, words, style }: Segments): { all: Int32Array; alike: Int32Array } {
  const all = new Int32Array(tree.count);
  const alike = new Int32Array(tree.count);
  const counts = new Map<number, number>();
  for (let node = 0; node < tree.count; node++) {
    if (tree.end[node] === node + 1 || words[node] === 0) continue;
    let total = 0;
    counts.clear();
    for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
      if (words[child] === 0) continue;
      total++;
      const look = Math.imul(style[child]!, 31) + tree.tag[child]!;
      counts.set(look, (counts.get(look) ?? 0) + 1);
    }
    for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
      if (words[child] === 0) continue;
      all[child] = total;
      alike[child] = counts.get(Math.imul(style[child]!, 31) + tree.tag[child]!)!;
    }
  }
  return { all, alike };
}

/** The element that gathers the most prose close above it, and the best one outside it. */
export function bestContainers({ tree, blocks, count }: Segments): [number, number] {
  const score = new Float32Array(tree.count);
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const n = blocks[at + WORDS]!;
    if (n < 6) continue;
    const link = blocks[at + LINK_WORDS]! / n;
    const value = Math.min(n, 120) * (1 - link) * (1 - link) * (blocks[at + SENTENCES]! > 0 ? 1 : 0.3);
    let share = 1;
    let node = tree.parent[blocks[at + CONTAINER]!]!;
    for (let step = 0; step < 5 && node > 0; step++, node = tree.parent[node]!) {
      score[node]! += value * share;
      share *= 0.7;
    }
  }
  let best = 0;
  for (let node = 1; node < tree.count; node++) if (score[node]! > score[best]!) best = node;
  let second = 0;
  for (let node = 1; node < tree.count; node++) {
    if (node >= best && node < tree.end[best]!) continue;
    if (node < best && tree.end[node]! >= tree.end[best]!) continue;
    if (score[node]! > score[second]!) second = node;
  }
  return [best, second];
}

/** By node: one more than the steps from `from` up to it, 0 for what does not hold `from`. */
export function chainFrom({ tree }: Segments, from: number): Uint8Array {
  const chain = new Uint8Array(tree.count);
  for (let at = from, steps = 1; at > 0 && steps <= NONE; at = tree.parent[at]!, steps++) chain[at] = steps;
  return chain;
}

/** How many steps up from `from` the element is that also holds `node`. */
export function rise({ tree }: Segments, from: number, node: number): number {
  let steps = 0;
  for (let at = from; at > 0 && steps < NONE; at = tree.parent[at]!, steps++) {
    if (node >= at && node < tree.end[at]!) return steps;
  }
  return NONE;
}

/** Blocks since (or until) the last (or next) one that is marked, 0 on a marked one, at most {@link NONE}. */
export function distances(marked: Uint8Array, backwards: boolean): Uint8Array {
  const out = new Uint8Array(marked.length);
  let since = NONE;
  for (let k = 0; k < marked.length; k++) {
    const index = backwards ? marked.length - 1 - k : k;
    since = marked[index] === 1 ? 0 : Math.min(NONE, since + 1);
    out[index] = since;
  }
  return out;
}
