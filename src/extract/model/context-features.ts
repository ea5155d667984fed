// The second look: what the first probabilities of a block's neighbours, containers and look-alikes say about it.
// Promise: linear in the page but for sorting and binary searches; a block's own probability is one feature among them.
import { chooseBlocks } from '../choose/best-set.js';
import { logistic } from './trees.js';
import { CONTAINER, FIRST_NODE, HEADING, SIGNATURE, STRIDE, WORDS } from '../page/segment.js';
import type { Segments } from '../page/segment.js';

const OFFSETS = [-3, -2, -1, 1, 2, 3];
const LEVELS = 5;
const WINDOWS = [3, 8, 20];

export const PAGE_KINDS = ['article', 'collection', 'documentation', 'forum', 'listing', 'product', 'service'] as const;
/** What kind of page the extractor took it for. */
export type PageKind = (typeof PAGE_KINDS)[number];

const LEVEL_FIELDS = ['mean', 'chosen', 'size'];
export const CONTEXT_NAMES: readonly string[] = [
  'first',
  'first rank',
  'chosen',
  ...OFFSETS.map((offset) => `first at ${offset}`),
  ...WINDOWS.map((size) => `window ${size}`),
  ...Array.from({ length: LEVELS }, (_, k) => LEVEL_FIELDS.map((field) => `up ${k + 1} ${field}`)).flat(),
  'alike mean',
  'alike chosen',
  'section mean',
  'section before',
  'section after',
  'heading first',
  'before',
  'after',
  'since chosen',
  'until chosen',
  'page mean',
  'page chosen',
  'page sure',
  ...PAGE_KINDS.map((kind) => `kind ${kind}`),
  'first look',
  'names',
];
export const CONTEXT_COUNT = CONTEXT_NAMES.length;

/**
 * The features of all blocks, a column after the other, every place written. `look` and `names` are logits by block, of the
 * first look and of the names around the block; the context is that of their mean.
 */
export function contextFeatures(
  segments: Segments,
  look: Float32Array,
  names: Float32Array,
  kinds: Float32Array,
  out: Float32Array = new Float32Array(CONTEXT_COUNT * segments.count),
): Float32Array {
  const { blocks, count, tree, words } = segments;
  const first = logistic(look.map((logit, b) => (logit + names[b]!) / 2));
  const sizes = new Int32Array(count);
  for (let b = 0; b < count; b++) sizes[b] = blocks[b * STRIDE + WORDS]!;
  const { chosen } = chooseBlocks(first, sizes);
  const wordsUpTo = new Float64Array(count + 1);
  const massUpTo = new Float64Array(count + 1);
  const chosenUpTo = new Float64Array(count + 1);
  const starts = new Int32Array(count);
  let sure = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const n = blocks[at + WORDS]!;
    wordsUpTo[b + 1] = wordsUpTo[b]! + n;
    massUpTo[b + 1] = massUpTo[b]! + n * first[b]!;
    chosenUpTo[b + 1] = chosenUpTo[b]! + (chosen[b] === 1 ? n : 0);
    starts[b] = blocks[at + FIRST_NODE]!;
    if (first[b]! > 0.9) sure += n;
  }
  const total = Math.max(1, wordsUpTo[count]!);
  const mean = (from: number, to: number): number => {
    const n = wordsUpTo[to]! - wordsUpTo[from]!;
    return n > 0 ? (massUpTo[to]! - massUpTo[from]!) / n : 0;
  };
  const chosenShare = (from: number, to: number): number => {
    const n = wordsUpTo[to]! - wordsUpTo[from]!;
    return n > 0 ? (chosenUpTo[to]! - chosenUpTo[from]!) / n : 0;
  };
  const groups = new Map<number, { words: number; mass: number; chosen: number }>();
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const n = blocks[at + WORDS]!;
    let group = groups.get(blocks[at + SIGNATURE]!);
    if (group === undefined) groups.set(blocks[at + SIGNATURE]!, (group = { words: 0, mass: 0, chosen: 0 }));
    group.words += n;
    group.mass += n * first[b]!;
    if (chosen[b] === 1) group.chosen += n;
  }
  const sections = sectionsOf(segments);
  const ranks = ranksOf(first);
  const since = gaps(chosen, false);
  const until = gaps(chosen, true);

  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    let f = b;
    const put = (value: number): void => {
      out[f] = value;
      f += count;
    };
    put(first[b]!);
    put(ranks[b]!);
    put(chosen[b]!);
    for (const offset of OFFSETS) put(b + offset < 0 || b + offset >= count ? -1 : first[b + offset]!);
    for (const size of WINDOWS) put(mean(Math.max(0, b - size), Math.min(count, b + size + 1)));
    let level = 0;
    let below = blocks[at + WORDS]!;
    let node = blocks[at + CONTAINER]!;
    for (let steps = 0; node > 0 && level < LEVELS && steps < 60; node = tree.parent[node]!, steps++) {
      if (words[node]! <= below) continue;
      below = words[node]!;
      const from = lowerBound(starts, node);
      const to = lowerBound(starts, tree.end[node]!);
      put(mean(from, to));
      put(chosenShare(from, to));
      put((wordsUpTo[to]! - wordsUpTo[from]!) / total);
      level++;
    }
    for (; level < LEVELS; level++) {
      put(-1);
      put(-1);
      put(-1);
    }
    const group = groups.get(blocks[at + SIGNATURE]!)!;
    put(group.mass / Math.max(1, group.words));
    put(group.chosen / Math.max(1, group.words));
    const section = sections.of[b]!;
    put(mean(sections.starts[section]!, sections.starts[section + 1]!));
    put(section === 0 ? -1 : mean(sections.starts[section - 1]!, sections.starts[section]!));
    put(
      section + 2 >= sections.starts.length ? -1 : mean(sections.starts[section + 1]!, sections.starts[section + 2]!),
    );
    put(first[sections.starts[section]!]!);
    put(mean(0, b));
    put(mean(b + 1, count));
    put(since[b]!);
    put(until[b]!);
    put(massUpTo[count]! / total);
    put(chosenUpTo[count]! / total);
    put(sure / total);
    for (let k = 0; k < PAGE_KINDS.length; k++) put(kinds[k]!);
    put(look[b]!);
    put(names[b]!);
  }
  return out;
}

/** The first index whose value is not below `value`. */
function lowerBound(sorted: Int32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Sections run from a heading to the next. */
function sectionsOf({ blocks, count }: Segments): { starts: number[]; of: Int32Array } {
  const starts = [0];
  const of = new Int32Array(count);
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    if (b > 0 && blocks[at + HEADING]! > 0) starts.push(b);
    of[b] = starts.length - 1;
  }
  starts.push(count);
  return { starts, of };
}

/** Of each block: the share of blocks with a lower probability. */
function ranksOf(first: Float32Array): Float32Array {
  const sorted = first.slice().sort();
  return first.map((value) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low / Math.max(1, sorted.length);
  });
}

function gaps(chosen: Uint8Array, backwards: boolean): Float32Array {
  const out = new Float32Array(chosen.length);
  let gap = 30;
  for (let k = 0; k < chosen.length; k++) {
    const index = backwards ? chosen.length - 1 - k : k;
    out[index] = gap;
    gap = chosen[index] === 1 ? 1 : Math.min(30, gap + 1);
  }
  return out;
}
