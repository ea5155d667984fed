// What is known of each block of a page, as numbers: its text, its place in the tree, its neighbours, its repetition.
// Promise: linear in the page; every feature is defined on any page; no site, language or keyword of one page is named.
import type { PageHead } from '../facts/metadata.js';
import { elementNumber, elementSet } from '../page/elements.js';
import { NONE, bestContainers, chainFrom, depths, distances, groupBy, rise, siblingCounts } from './feature-tables.js';
import { HINT_COUNT, HINT_NAMES } from '../page/hints.js';
import type { Segments } from '../page/segment.js';
import {
  BOLD_WORDS,
  BREAKS,
  BUTTON_WORDS,
  CAPITALS,
  CHARS,
  COMMAS,
  CONTAINER,
  COPYRIGHT,
  CURRENCY,
  DIGITS,
  FIRST_BYTE,
  FIRST_NODE,
  HASH,
  HEADING,
  IMAGES,
  INNER_LINKS,
  IS_HIDDEN,
  LAST_BYTE,
  LINKS,
  LINK_WORDS,
  PHRASES,
  SENTENCES,
  SEPARATORS,
  SIGNATURE,
  STRIDE,
  WORDS,
} from '../page/segment.js';
import { PHRASE_COUNT, PHRASE_NAMES } from '../page/phrases.js';
import { TextStats } from '../page/text-stats.js';

const CONTAINER_KINDS = [
  'p',
  'li',
  'td th',
  'dt',
  'dd',
  'div',
  'pre',
  'figcaption',
  'button',
  'blockquote',
  'summary',
  'section article main',
  'label legend',
];
const CONTAINER_SETS = CONTAINER_KINDS.map(elementSet);
const ANCESTORS =
  'nav header footer aside main article section form table ul ol li figure blockquote dialog details p pre dl noscript a button h1 fieldset td tr menu'.split(
    ' ',
  );
const ANCESTOR_OF = new Int8Array(256).fill(-1);
ANCESTORS.forEach((name, index) => (ANCESTOR_OF[elementNumber(name)] = index));
const LEVELS = 4;
const NEIGHBOURS = [-2, -1, 1, 2];
/** No page nests its content deeper than this; the walk up from a block ends here. */
const MAX_STEPS = 60;

const names: string[] = [];
const define = (name: string): number => names.push(name) - 1;
const defineAll = (list: readonly string[]): number => {
  const first = names.length;
  for (const name of list) define(name);
  return first;
};

const LOCAL = defineAll(
  (
    'words chars link links word-length digits capitals commas sentences sentence-rate currency separators copyright bold images ' +
    'breaks button hidden heading ends-sentence ends-colon starts-upper starts-digit starts-lower inner-links'
  ).split(' '),
);
const PHRASE = defineAll(PHRASE_NAMES.map((name) => `says ${name}`));
const HEADING_PHRASE = defineAll(PHRASE_NAMES.map((name) => `under ${name}`));
const KIND = defineAll(CONTAINER_KINDS.map((kind) => `in ${kind}`));
const UP = defineAll(ANCESTORS.map((name) => `up ${name}`));
const HINT = defineAll(HINT_NAMES.map((name) => `hint ${name}`));
const DEPTH = define('depth');
const LEVEL_FIELDS = ['words', 'link', 'share', 'blocks', 'mean', 'prose', 'siblings', 'alike', 'place'];
const LEVEL = defineAll(
  Array.from({ length: LEVELS }, (_, k) => LEVEL_FIELDS.map((field) => `level ${k + 1} ${field}`)).flat(),
);
const BEST = defineAll(['best in', 'best steps', 'best share', 'best link', 'second steps']);
const PLACE = defineAll(
  'at-block at-word since-h1 has-h1 since-prose until-prose prose-before prose-after window-words window-link from-end before-first-prose after-last-prose since-heading heading-level'.split(
    ' ',
  ),
);
const NEIGHBOUR_FIELDS = ['words', 'link', 'heading', 'same', 'rise'];
const NEIGHBOUR = defineAll(
  NEIGHBOURS.map((offset) => NEIGHBOUR_FIELDS.map((field) => `at ${offset} ${field}`)).flat(),
);
const REPEAT = defineAll([
  'alike blocks',
  'alike words',
  'alike mean',
  'alike link',
  'same text',
  'is title',
  'alike spread',
]);
const PAGE = defineAll(['page words', 'page blocks', 'page link', 'page prose']);

export const FEATURE_NAMES: readonly string[] = names;
export const FEATURE_COUNT = names.length;

/** Most counts are small: their logarithms are looked up. */
const LOGARITHMS = Float64Array.from({ length: 4096 }, (_, value) => Math.log2(1 + value));
const log = (value: number): number =>
  value < 4096 && value === (value | 0) && value >= 0 ? LOGARITHMS[value]! : Math.log2(1 + value);
const stats = new TextStats();

function hashOf(text: string): number {
  const bytes = Buffer.from(text, 'utf8');
  stats.reset();
  stats.add(bytes, 0, bytes.length);
  return stats.hash;
}

/** Hashes of what the page calls itself: its title, whole and up to each separator, and the title it shares. */
function titleHashes(head: PageHead): Set<number> {
  const hashes = new Set<number>();
  for (const title of [head.title, head.meta.get('og:title') ?? '', head.meta.get('twitter:title') ?? '']) {
    if (title === '') continue;
    hashes.add(hashOf(title));
    for (const part of title.slice(0, 500).split(/\s[|\-–—·:»]\s|:\s/)) if (part.length > 3) hashes.add(hashOf(part));
  }
  return hashes;
}

/** The features of all blocks, a column after the other: `[feature * count + block]`. Every place of `out` is written. */
export function blockFeatures(
  segments: Segments,
  head: PageHead,
  out: Float32Array = new Float32Array(FEATURE_COUNT * segments.count),
): Float32Array {
  const { blocks, count, tree, words, linkWords, blockCount, proseWords } = segments;
  const set = (feature: number, block: number, value: number): void => {
    out[feature * count + block] = value;
  };
  const pageWords = Math.max(1, words[0]!);
  const titles = titleHashes(head);
  const depth = depths(segments);
  const alike = groupBy(segments, SIGNATURE);
  const twins = groupBy(segments, HASH);
  const siblings = siblingCounts(segments);
  const [best, second] = bestContainers(segments);
  const bestChain = chainFrom(segments, best);
  const secondChain = chainFrom(segments, second);

  const isProse = new Uint8Array(count);
  const proseBefore = new Int32Array(count + 1);
  const wordsBefore = new Int32Array(count + 1);
  const linkBefore = new Int32Array(count + 1);
  let h1 = -1;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const n = blocks[at + WORDS]!;
    const link = blocks[at + LINK_WORDS]!;
    if (n >= 10 && link * 3 < n && (blocks[at + SENTENCES]! > 0 || n >= 25)) isProse[b] = 1;
    proseBefore[b + 1] = proseBefore[b]! + (isProse[b] === 1 ? n : 0);
    wordsBefore[b + 1] = wordsBefore[b]! + n;
    linkBefore[b + 1] = linkBefore[b]! + link;
    if (h1 < 0 && blocks[at + HEADING] === 1) h1 = b;
  }
  const sinceProse = distances(isProse, false);
  const untilProse = distances(isProse, true);
  const distance = new Uint8Array(HINT_COUNT);
  const up = new Uint8Array(ANCESTORS.length);
  let lastHeading = -1;
  let headingLevel = 0;
  let headingSays = 0;

  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const n = blocks[at + WORDS]!;
    const chars = blocks[at + CHARS]!;
    const container = blocks[at + CONTAINER]!;
    const lastByte = blocks[at + LAST_BYTE]!;
    const firstByte = blocks[at + FIRST_BYTE]!;
    // Its text.
    set(LOCAL, b, log(n));
    set(LOCAL + 1, b, log(chars));
    set(LOCAL + 2, b, blocks[at + LINK_WORDS]! / n);
    set(LOCAL + 3, b, blocks[at + LINKS]!);
    set(LOCAL + 4, b, chars / n);
    set(LOCAL + 5, b, blocks[at + DIGITS]! / chars);
    set(LOCAL + 6, b, blocks[at + CAPITALS]! / n);
    set(LOCAL + 7, b, blocks[at + COMMAS]! / n);
    set(LOCAL + 8, b, blocks[at + SENTENCES]!);
    set(LOCAL + 9, b, blocks[at + SENTENCES]! / n);
    set(LOCAL + 10, b, blocks[at + CURRENCY]!);
    set(LOCAL + 11, b, blocks[at + SEPARATORS]!);
    set(LOCAL + 12, b, blocks[at + COPYRIGHT]!);
    set(LOCAL + 13, b, blocks[at + BOLD_WORDS]! / n);
    set(LOCAL + 14, b, blocks[at + IMAGES]!);
    set(LOCAL + 15, b, blocks[at + BREAKS]!);
    set(LOCAL + 16, b, blocks[at + BUTTON_WORDS]! / n);
    set(LOCAL + 17, b, blocks[at + IS_HIDDEN]!);
    set(LOCAL + 18, b, blocks[at + HEADING]!);
    set(LOCAL + 19, b, lastByte === 0x2e || lastByte === 0x21 || lastByte === 0x3f ? 1 : 0);
    set(LOCAL + 20, b, lastByte === 0x3a ? 1 : 0);
    set(LOCAL + 21, b, firstByte >= 0x41 && firstByte <= 0x5a ? 1 : 0);
    set(LOCAL + 22, b, firstByte >= 0x30 && firstByte <= 0x39 ? 1 : 0);
    set(LOCAL + 23, b, firstByte >= 0x61 && firstByte <= 0x7a ? 1 : 0);
    set(LOCAL + 24, b, blocks[at + INNER_LINKS]! / Math.max(1, blocks[at + LINKS]!));
    const says = blocks[at + PHRASES]!;
    // In a long text such a word means nothing.
    const rate = n <= 4 ? 3 : n <= 15 ? 2 : 1;
    for (let k = 0; k < PHRASE_COUNT; k++) {
      set(PHRASE + k, b, (says >> k) & 1 ? rate : 0);
      set(HEADING_PHRASE + k, b, (headingSays >> k) & 1 ? Math.max(1, 12 - (b - lastHeading)) : 0);
    }
    for (let k = 0; k < CONTAINER_SETS.length; k++) set(KIND + k, b, CONTAINER_SETS[k]![tree.tag[container]!]!);

    // Its place in the tree: how many steps up each element and each hint is.
    distance.fill(NONE);
    up.fill(NONE);
    let level = 0;
    let lowerWords = n;
    let toBest = NONE;
    let toSecond = NONE;
    let steps = 0;
    for (
      let node = tree.parent[blocks[at + FIRST_NODE]!]!;
      node > 0 && steps < MAX_STEPS;
      node = tree.parent[node]!, steps++
    ) {
      const step = Math.min(steps, NONE - 1);
      for (let low = segments.hintLow[node]!; low !== 0; low &= low - 1) {
        const category = 31 - Math.clz32(low & -low);
        if (distance[category] === NONE) distance[category] = step;
      }
      for (let high = segments.hintHigh[node]!; high !== 0; high &= high - 1) {
        const category = 63 - Math.clz32(high & -high);
        if (distance[category] === NONE) distance[category] = step;
      }
      const kind = ANCESTOR_OF[tree.tag[node]!]!;
      if (kind >= 0 && up[kind] === NONE) up[kind] = step;
      if (toBest === NONE && bestChain[node] !== 0) toBest = bestChain[node]! - 1;
      if (toSecond === NONE && secondChain[node] !== 0) toSecond = secondChain[node]! - 1;
      if (level < LEVELS && words[node]! > lowerWords) {
        const field = LEVEL + level * LEVEL_FIELDS.length;
        const total = words[node]!;
        set(field, b, log(total));
        set(field + 1, b, linkWords[node]! / total);
        set(field + 2, b, total / pageWords);
        set(field + 3, b, log(blockCount[node]!));
        set(field + 4, b, total / blockCount[node]!);
        set(field + 5, b, proseWords[node]! / total);
        set(field + 6, b, log(siblings.all[node]!));
        set(field + 7, b, log(siblings.alike[node]!));
        set(field + 8, b, (blocks[at + FIRST_NODE]! - node) / (tree.end[node]! - node));
        lowerWords = total;
        level++;
      }
    }
    for (; level < LEVELS; level++) {
      const field = LEVEL + level * LEVEL_FIELDS.length;
      for (let k = 0; k < LEVEL_FIELDS.length; k++) set(field + k, b, -1);
    }
    for (let k = 0; k < ANCESTORS.length; k++) set(UP + k, b, up[k]!);
    for (let k = 0; k < HINT_COUNT; k++) set(HINT + k, b, distance[k]!);
    set(DEPTH, b, depth[container]!);
    // Its relation to the container with the most prose.
    set(BEST, b, toBest === 0 ? 1 : 0);
    set(BEST + 1, b, toBest);
    set(BEST + 2, b, words[best]! / pageWords);
    set(BEST + 3, b, linkWords[best]! / Math.max(1, words[best]!));
    set(BEST + 4, b, toSecond);

    // Its place in the text.
    set(PLACE, b, b / count);
    set(PLACE + 1, b, wordsBefore[b]! / pageWords);
    set(PLACE + 2, b, h1 < 0 ? 0 : Math.sign(b - h1) * log(Math.abs(b - h1)));
    set(PLACE + 3, b, h1 < 0 ? 0 : 1);
    set(PLACE + 4, b, sinceProse[b]!);
    set(PLACE + 5, b, untilProse[b]!);
    set(PLACE + 6, b, proseBefore[b]! / Math.max(1, proseBefore[count]!));
    set(PLACE + 7, b, log(proseBefore[count]! - proseBefore[b]!));
    const from = Math.max(0, b - 5);
    const to = Math.min(count, b + 6);
    const around = wordsBefore[to]! - wordsBefore[from]!;
    set(PLACE + 8, b, log(around / (to - from)));
    set(PLACE + 9, b, (linkBefore[to]! - linkBefore[from]!) / Math.max(1, around));
    set(PLACE + 10, b, log(count - b));
    set(PLACE + 11, b, proseBefore[b + 1] === 0 ? 1 : 0);
    set(PLACE + 12, b, proseBefore[b] === proseBefore[count] ? 1 : 0);
    set(PLACE + 13, b, lastHeading < 0 ? NONE : Math.min(NONE, b - lastHeading));
    set(PLACE + 14, b, headingLevel);
    if (blocks[at + HEADING]! > 0) {
      lastHeading = b;
      headingLevel = blocks[at + HEADING]!;
      headingSays = n <= 12 ? says : 0;
    }
    for (let k = 0; k < NEIGHBOURS.length; k++) {
      const other = b + NEIGHBOURS[k]!;
      const field = NEIGHBOUR + k * NEIGHBOUR_FIELDS.length;
      if (other < 0 || other >= count) {
        for (let f = 0; f < NEIGHBOUR_FIELDS.length; f++) set(field + f, b, -1);
        continue;
      }
      const there = other * STRIDE;
      set(field, b, log(blocks[there + WORDS]!));
      set(field + 1, b, blocks[there + LINK_WORDS]! / blocks[there + WORDS]!);
      set(field + 2, b, blocks[there + HEADING]!);
      set(field + 3, b, blocks[there + SIGNATURE] === blocks[at + SIGNATURE] ? 1 : 0);
      set(field + 4, b, rise(segments, container, blocks[there + FIRST_NODE]!));
    }
    // Its repetition.
    const group = alike.get(blocks[at + SIGNATURE]!)!;
    set(REPEAT, b, log(group.blocks));
    set(REPEAT + 1, b, group.words / pageWords);
    set(REPEAT + 2, b, group.words / group.blocks);
    set(REPEAT + 3, b, group.link / Math.max(1, group.words));
    set(REPEAT + 4, b, log(twins.get(blocks[at + HASH]!)!.blocks));
    set(REPEAT + 5, b, titles.has(blocks[at + HASH]!) ? 1 : 0);
    set(REPEAT + 6, b, (group.last - group.first) / count);
    set(PAGE, b, log(pageWords));
    set(PAGE + 1, b, log(count));
    set(PAGE + 2, b, linkWords[0]! / pageWords);
    set(PAGE + 3, b, proseWords[0]! / pageWords);
  }
  return out;
}
