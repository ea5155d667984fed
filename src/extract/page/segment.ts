// Cuts a page into blocks, the runs of inline text between block elements, and sums up what each element holds.
// Promise: every visible text node is in exactly one block, blocks are in document order, one pass over the tree.
import { sliceLatin1 } from '../../base/bytes.js';
import type { PageTree } from '../../parse/tree/tree.js';
import { codeSpan } from './code-lines.js';
import { RAW, TEXT, elementNumber, elementSet } from './elements.js';
import { CAN_SHOW_AGAIN } from '../shown/css-look.js';
import { formulasOf } from '../math/formulas.js';
import type { HiddenReader } from '../shown/hidden.js';
import { CLOSED, HIDDEN_REASONS, createHiddenReader } from '../shown/hidden.js';
import { forgetWords, hintsFound, readHints, wordsOfPage, wordsSoFar } from './hints.js';
import { controlNodes } from '../shown/controls.js';
import { isAnchor, isMark } from '../shown/marks.js';
import { TextStats } from './text-stats.js';

/** The columns of {@link Segments.blocks}. */
export const CONTAINER = 0;
export const FIRST_NODE = 1;
export const LAST_NODE = 2;
export const WORDS = 3;
export const CHARS = 4;
export const LINK_WORDS = 5;
export const LINKS = 6;
export const BOLD_WORDS = 7;
export const DIGITS = 8;
export const CAPITALS = 9;
export const COMMAS = 10;
export const SENTENCES = 11;
export const CURRENCY = 12;
export const SEPARATORS = 13;
export const COPYRIGHT = 14;
export const HASH = 15;
export const FIRST_BYTE = 16;
export const LAST_BYTE = 17;
export const IMAGES = 18;
export const BREAKS = 19;
export const BUTTON_WORDS = 20;
export const IS_HIDDEN = 21;
/** Of the heading the block stands in, or 0. */
export const HEADING = 22;
export const SIGNATURE = 23;
/** Bits of the furniture words it has. */
export const PHRASES = 24;
/** Links within the page. */
export const INNER_LINKS = 25;
export const STRIDE = 26;

export const IS_BLOCK = elementSet(
  'address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption figure ' +
    'footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav noscript ol optgroup option p plaintext pre ' +
    'search section summary table tbody td tfoot th thead tr ul xmp',
);
/** Nothing in these is read by a person on the page. */
export const IS_UNSEEN = elementSet(
  'script style svg head title iframe textarea select canvas audio video noembed noframes input object applet embed',
);
const A = elementNumber('a');
const BR = elementNumber('br');
const BUTTON = elementNumber('button');
const IMG = elementNumber('img');
const PRE = elementNumber('pre');
const RT = elementNumber('rt');
const TEMPLATE = elementNumber('template');
const STRONG = elementSet('b strong');
const HEADING_LEVEL = new Uint8Array(256);
for (let level = 1; level <= 6; level++) HEADING_LEVEL[elementNumber(`h${level}`)] = level;

/** A page cut into blocks. */
export interface Segments {
  readonly tree: PageTree;
  readonly count: number;
  /** {@link STRIDE} numbers a block. */
  readonly blocks: Int32Array;
  /** By node: bits of what its names say, and a hash of its class. */
  readonly hintLow: Int32Array;
  readonly hintHigh: Int32Array;
  readonly style: Int32Array;
  /** By node: why a reader cannot see it, as a number of {@link HIDDEN_REASONS}; at the outermost element, and at each text. */
  readonly hidden: Uint8Array;
  /** The elements that search engines shall not quote. */
  readonly noSnippet: ReadonlySet<number>;
  /** By node, over its subtree. */
  readonly words: Int32Array;
  readonly linkWords: Int32Array;
  readonly blockCount: Int32Array;
  /** Words in blocks that read like prose. */
  readonly proseWords: Int32Array;
  /** Hashes of the words in elements' names; those of an element from `nameStart[node]` to `nameStart[node + 1]`. */
  readonly names: Int32Array;
  readonly nameStart: Int32Array;
}

/** In {@link Segments.hidden}: a mark of software, which is seen and no text. */
const MARK = CLOSED + 1;
/** As {@link MARK}, a control: part of the whole page, not of its content. */
export const CONTROL = MARK + 1;

const stats = new TextStats();

/** True for `<template>` that a browser renders in place. */
export function isUnseen(tree: PageTree, node: number): boolean {
  const tag = tree.tag[node]!;
  if (tag === TEMPLATE) return tree.attributeRange(node, 'shadowrootmode') === null;
  return IS_UNSEEN[tag] === 1;
}

/** Cuts a page; with `keepsHidden` what readers cannot see is text like any other. */
export function segment(tree: PageTree, keepsHidden = false): Segments {
  const { count, tag, end, parent } = tree;
  const hintLow = new Int32Array(count);
  const hintHigh = new Int32Array(count);
  const style = new Int32Array(count);
  const hiddenNodes = new Uint8Array(count);
  // By element: as hiddenNodes, for all within as well.
  const unseen = new Uint8Array(count);
  const reader: HiddenReader | null = keepsHidden ? null : createHiddenReader(tree);
  const formulas = formulasOf(tree);
  const words = new Int32Array(count);
  const linkWords = new Int32Array(count);
  const blockCount = new Int32Array(count);
  const proseWords = new Int32Array(count);
  const nameStart = new Int32Array(count + 1);
  const noSnippet = new Set<number>();
  const labels = new Set<number>();
  forgetWords();
  let blocks = new Int32Array(STRIDE * 256);
  let made = 0;

  // The open elements: their rows, and what was true outside them.
  const stack: number[] = [];
  let linkEnd = 0;
  let boldEnd = 0;
  let buttonEnd = 0;
  let markedEnd = 0;
  let preEnd = 0;
  let headingEnd = 0;
  let heading = 0;
  // The block being gathered.
  let first = -1;
  let last = -1;
  let inLinks = 0;
  let links = 0;
  let innerLinks = 0;
  let bold = 0;
  let inButtons = 0;
  let images = 0;
  let breaks = 0;
  stats.reset();
  nextReference = -1;

  const flush = (): void => {
    if (first >= 0 && stats.chars > 0) {
      stats.breakWord();
      const at = made * STRIDE;
      if (at + STRIDE > blocks.length) {
        const larger = new Int32Array(blocks.length * 2);
        larger.set(blocks);
        blocks = larger;
      }
      let container = parent[first]!;
      while (container > 0 && (IS_BLOCK[tag[container]!] === 0 || end[container]! <= last))
        container = parent[container]!;
      blocks[at + CONTAINER] = container;
      blocks[at + FIRST_NODE] = first;
      blocks[at + LAST_NODE] = last;
      blocks[at + WORDS] = stats.words;
      blocks[at + CHARS] = stats.chars;
      blocks[at + LINK_WORDS] = Math.min(inLinks, stats.words);
      blocks[at + LINKS] = links;
      blocks[at + BOLD_WORDS] = bold;
      blocks[at + DIGITS] = stats.digits;
      blocks[at + CAPITALS] = stats.capitals;
      blocks[at + COMMAS] = stats.commas;
      blocks[at + SENTENCES] = stats.sentences;
      blocks[at + CURRENCY] = stats.currency;
      blocks[at + SEPARATORS] = stats.separators;
      blocks[at + COPYRIGHT] = stats.copyright;
      blocks[at + HASH] = stats.hash;
      blocks[at + FIRST_BYTE] = stats.first;
      blocks[at + LAST_BYTE] = stats.last;
      blocks[at + IMAGES] = images;
      blocks[at + BREAKS] = breaks;
      blocks[at + BUTTON_WORDS] = inButtons;
      blocks[at + IS_HIDDEN] = first < markedEnd ? 1 : 0;
      blocks[at + HEADING] = first < headingEnd ? heading : 0;
      blocks[at + SIGNATURE] = signature(tree, style, container);
      blocks[at + PHRASES] = stats.phrases;
      blocks[at + INNER_LINKS] = innerLinks;
      words[container]! += stats.words;
      linkWords[container]! += blocks[at + LINK_WORDS]!;
      blockCount[container]!++;
      if (stats.words >= 10 && inLinks * 3 < stats.words && (stats.sentences > 0 || stats.words >= 25)) {
        proseWords[container]! += stats.words;
      }
      made++;
    }
    first = -1;
    inLinks = links = innerLinks = bold = inButtons = images = breaks = 0;
    stats.reset();
  };

  let node = 1;
  while (node < count) {
    while (stack.length > 0 && node >= end[stack[stack.length - 1]!]!) {
      const closed = stack.pop()!;
      if (IS_BLOCK[tag[closed]!] === 1) flush();
    }
    const kind = tag[node]!;
    const formula = formulas.size === 0 ? undefined : formulas.get(node);
    if (kind === TEXT || kind === RAW || formula !== undefined) {
      const reason = unseen[parent[node]!]!;
      if (reason !== 0 && reason !== CLOSED) {
        hiddenNodes[node] = reason;
        // Amid a text that is shown; other hidden texts are blocks of their own.
        if (!isInHiddenBlock(tree, unseen, node)) {
          node = end[node]!;
          continue;
        }
      }
      const before = stats.words;
      if (tree.flags[node] === 1) stats.breakWord();
      if (formula === undefined) addText(tree, node);
      else if (formula.plain !== '') addFormula(formula.plain);
      else {
        node = end[node]!;
        continue;
      }
      const added = stats.words - before;
      if (node < linkEnd) inLinks += added;
      if (node < boldEnd) bold += added;
      if (node < buttonEnd) inButtons += added;
      if (first < 0) first = node;
      last = node;
      node = formula === undefined ? node + 1 : end[node]!;
      continue;
    }
    const span = node < preEnd ? codeSpan(tree, node) : null;
    if (kind === RT || span === 'hidden' || isUnseen(tree, node)) {
      node = end[node]!;
      continue;
    }
    if (IS_BLOCK[kind] === 1) flush();
    readHints(tree, node);
    if (
      (hintsFound.mark >= 0 && isMark(tree, node, hintsFound.mark)) ||
      (kind === A && isAnchor(tree, node, node < headingEnd))
    ) {
      hiddenNodes[node] = MARK;
      node = end[node]!;
      continue;
    }
    const around = unseen[parent[node]!]!;
    const hidden = reader === null ? 0 : reader.read(node, around);
    nameStart[node + 1] = wordsSoFar();
    if (hidden !== 0) {
      unseen[node] = hidden;
      // The texts of what is closed count; what can show again is marked text by text.
      const isWhole = hidden !== around && !CAN_SHOW_AGAIN.has(HIDDEN_REASONS[hidden]!);
      if (hidden !== CLOSED && (isWhole || kind === IMG)) hiddenNodes[node] = hidden;
    }
    hintLow[node] = hintsFound.low;
    hintHigh[node] = hintsFound.high;
    style[node] = hintsFound.style;
    if (reader !== null && (hintsFound.hiddenBy !== 0 || isStyledAway(tree)))
      markedEnd = Math.max(markedEnd, end[node]!);
    if (hintsFound.noSnippet) noSnippet.add(node);
    if (hintsFound.label) labels.add(node);
    if (kind === A) {
      linkEnd = Math.max(linkEnd, end[node]!);
      links++;
      const href = tree.attributeRange(node, 'href');
      if (href !== null && tree.bytes[href.from] === 0x23 && href.from < href.to) innerLinks++;
    } else if (kind === BR) {
      stats.breakWord();
      breaks++;
    } else if (kind === IMG) images++;
    else if (kind === BUTTON) buttonEnd = Math.max(buttonEnd, end[node]!);
    else if (STRONG[kind] === 1) boldEnd = Math.max(boldEnd, end[node]!);
    else if (HEADING_LEVEL[kind]! > 0) {
      heading = HEADING_LEVEL[kind]!;
      headingEnd = end[node]!;
    } else if (kind === 0) stats.breakWord();
    else if (kind === PRE) preEnd = Math.max(preEnd, end[node]!);
    else if (span === 'line') stats.breakWord();
    if (end[node]! > node + 1) stack.push(node);
    node++;
  }
  flush();
  // Texts and what is not shown have no names.
  for (let k = 1; k <= count; k++) nameStart[k] = Math.max(nameStart[k]!, nameStart[k - 1]!);
  for (let k = count - 1; k > 0; k--) {
    const up = parent[k]!;
    words[up]! += words[k]!;
    linkWords[up]! += linkWords[k]!;
    blockCount[up]! += blockCount[k]!;
    proseWords[up]! += proseWords[k]!;
  }
  showIfAll(blocks, made, hiddenNodes, words[0]!);
  leaveControls(tree, controlNodes(tree, words, hiddenNodes, labels), blocks.subarray(0, made * STRIDE), hiddenNodes);
  return {
    tree,
    count: made,
    blocks,
    hintLow,
    hintHigh,
    style,
    hidden: hiddenNodes,
    noSnippet,
    words,
    linkWords,
    blockCount,
    proseWords,
    names: wordsOfPage(),
    nameStart,
  };
}

/** Marks controls; a block that begins with one begins after it. */
function leaveControls(tree: PageTree, controls: readonly number[], blocks: Int32Array, hidden: Uint8Array): void {
  if (controls.length === 0) return;
  for (const control of controls) for (let node = control; node < tree.end[control]!; node++) hidden[node] ||= CONTROL;
  for (let at = 0; at < blocks.length; at += STRIDE) {
    let node = blocks[at + FIRST_NODE]!;
    if (hidden[node] !== CONTROL) continue;
    const last = blocks[at + LAST_NODE]!;
    while (node <= last && (hidden[node] !== 0 || (tree.tag[node] !== TEXT && tree.tag[node] !== RAW))) node++;
    if (node <= last) blocks[at + FIRST_NODE] = node;
  }
}

/** Fewer words may well be all hidden. */
const MIN_SHOWN_LATER = 300;
/** A page that hides most of its text shows it by a script. */
const SHOWN_LATER = 0.6;

function showIfAll(blocks: Int32Array, count: number, hidden: Uint8Array, words: number): void {
  let unseen = 0;
  for (let at = 0; at < count * STRIDE; at += STRIDE)
    if (hidden[blocks[at + FIRST_NODE]!] !== 0) unseen += blocks[at + WORDS]!;
  if (unseen < MIN_SHOWN_LATER || unseen < SHOWN_LATER * words) return;
  hidden.fill(0);
}

/**
 * Whether the element that was read last says of itself that it is not shown. The models were trained with this alone; what
 * is really hidden is in {@link Segments.hidden}.
 */
function isStyledAway(tree: PageTree): boolean {
  const { styleFrom, styleTo } = hintsFound;
  if (styleFrom >= styleTo) return false;
  return /display\s*:\s*none|visibility\s*:\s*hidden/i.test(
    sliceLatin1(tree.bytes, styleFrom, Math.min(styleTo, styleFrom + 200)),
  );
}

/** Whether the innermost block around a hidden text is hidden too. */
function isInHiddenBlock({ tag, parent }: PageTree, unseen: Uint8Array, node: number): boolean {
  let up = parent[node]!;
  while (up > 0 && IS_BLOCK[tag[up]!] === 0) up = parent[up]!;
  return unseen[up] !== 0;
}

function addFormula(text: string): void {
  const bytes = Buffer.from(text);
  stats.add(bytes, 0, bytes.length);
}

/** Where the next `&` stands: searched for once, as texts come in the order of the bytes. */
let nextReference = -1;

function addText(tree: PageTree, node: number): void {
  const from = tree.from[node]!;
  const to = tree.to[node]!;
  if (nextReference < from) {
    const at = tree.bytes.indexOf(0x26, from);
    nextReference = at < 0 ? tree.bytes.length : at;
  }
  if (nextReference < to) {
    const length = tree.expand(from, to);
    stats.add(tree.expanded, 0, length);
  } else stats.add(tree.bytes, from, to);
}

/** Of the element and two above it: blocks of repeated structures share it. */
function signature(tree: PageTree, style: Int32Array, container: number): number {
  let hash = 7;
  let node = container;
  for (let level = 0; level < 3 && node > 0; level++, node = tree.parent[node]!) {
    hash = (Math.imul(hash, 31) + tree.tag[node]!) | 0;
    hash = (Math.imul(hash, 31) + style[node]!) | 0;
  }
  return hash;
}
