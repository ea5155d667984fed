// Turns the second look's scores into the blocks returned as content.
// Promise: the extractor and the scoring script share it, so that scores describe the shipped code.
import { weighArticleParts } from './article-parts.js';
import { isBare } from './bare-page.js';
import { keepCaptions, leaveCodeButtons } from './beside-code.js';
import type { Choice } from './best-set.js';
import { chooseBlocks } from './best-set.js';
import { keepChapterTitle, keepLead, leaveLastHeadings } from './edges.js';
import { commentNodes, holdsPosts, leaveComments } from '../posts/comments.js';
import { consentNodes } from './consent.js';
import { contentsNodes } from './contents.js';
import { PAGE_KINDS } from '../model/context-features.js';
import { elementNumber, elementSet } from '../page/elements.js';
import { leaveFailures } from './failures.js';
import { formulasOf } from '../math/formulas.js';
import { CALLS, NOTICES, lineMarks } from './line-marks.js';
import { logistic } from '../model/trees.js';
import { keepOpeners } from '../shown/openers.js';
import { leaveSlideNumbers } from '../shown/slide-numbers.js';
import { leaveMenuTitles, titlesMenu } from './menu-titles.js';
import { createNameMatcher } from './name-matcher.js';
import { leaveAroundArticle } from './one-article.js';
import { NEVER, weighPosts } from '../posts/posts.js';
import { leaveRelated } from './related.js';
import { leaveRepeats } from './repeats.js';
import type { Segments } from '../page/segment.js';
import { leaveSetAside } from './set-aside.js';
import {
  CONTAINER,
  FIRST_NODE,
  HEADING,
  INNER_LINKS,
  LINKS,
  LINK_WORDS,
  SIGNATURE,
  STRIDE,
  WORDS,
} from '../page/segment.js';

const ARTICLE = PAGE_KINDS.indexOf('article');
const DOCUMENTATION = PAGE_KINDS.indexOf('documentation');
const LISTING = PAGE_KINDS.indexOf('listing');
const COLLECTION = PAGE_KINDS.indexOf('collection');
const FORUM = PAGE_KINDS.indexOf('forum');
/** From here on a page counts as a forum's for {@link weighPosts}; 0.02 to 0.6 score alike on the given pages. */
const FORUM_FROM = 0.05;
/** From this share, comments are the page's content, whatever their name. */
const FORUM_SURE = 0.5;
/** In logits: of unseen collections the models keep too little; 0.5 and 1 gain, 1.5 and 2 lose (decision 043). */
const COLLECTION_GAIN = 1;
const DD = elementNumber('dd');
const DT = elementNumber('dt');
const PRE = elementNumber('pre');
const TABLE = elementNumber('table');
const TD = elementNumber('td');
const TH = elementNumber('th');
/** Half a table or half a listing is of no use, and neither are labels without their values. */
const WHOLE = elementSet('pre table');
const isNamedInfobox = createNameMatcher('', ['portable', 'infobox']);
/** A larger table arranges the page. */
const MAX_WHOLE_WORDS = 400;
/** Below this a cell is not part of its table: a layout table, a signature in it. */
const OUT_OF_QUESTION = -4;
/** Below this a rule has spoken: code in a signature, a heading in a footer. */
const RULED_OUT = -8;
/** Code with kept text this many blocks before and after it belongs to that text; 3, 8 and 15 were tried. */
const AROUND_CODE = 8;

export interface ContentChoice extends Choice {
  /** By block. */
  readonly probabilities: Float32Array;
  /** The elements of the posts of a thread; empty elsewhere. */
  readonly posts: readonly number[];
}

/** Chooses the blocks of a page; `kinds` are the probabilities of its kinds, `logits` the second look's, changed in place. */
export function chooseContent(segments: Segments, kinds: Float32Array, logits: Float32Array): ContentChoice {
  const { blocks, count } = segments;
  const gain = COLLECTION_GAIN * kinds[COLLECTION]!;
  for (let b = 0; b < count; b++) logits[b]! += gain;
  const consent = consentNodes(segments);
  if (consent !== null)
    for (let b = 0; b < count; b++) if (consent[blocks[b * STRIDE + CONTAINER]!] === 1) logits[b] = NEVER;
  for (let b = 0; b < count; b++) if (segments.hidden[blocks[b * STRIDE + FIRST_NODE]!] !== 0) logits[b] = NEVER;
  const contents = contentsNodes(segments);
  if (contents !== null)
    for (let b = 0; b < count; b++) if (contents[blocks[b * STRIDE + CONTAINER]!] === 1) logits[b] = NEVER;
  leaveSetAside(segments, logits);
  leaveFailures(segments, kinds[DOCUMENTATION]! + kinds[ARTICLE]!, logits);
  const comments = commentNodes(segments);
  const isForum = kinds[FORUM]! >= FORUM_FROM || (comments !== null && holdsPosts(segments, comments));
  const posts = isForum ? weighPosts(segments, logits) : null;
  if (comments !== null && posts === null && kinds[FORUM]! < FORUM_SURE) leaveComments(segments, comments, logits);
  if (kinds[LISTING]! + kinds[COLLECTION]! + kinds[DOCUMENTATION]! < 0.5) leaveRelated(segments, logits);
  leaveAroundArticle(segments, kinds[LISTING]!, logits);
  weighArticleParts(segments, kinds[ARTICLE]!, logits);
  const probabilities = logistic(logits);
  const sizes = new Int32Array(count);
  for (let b = 0; b < count; b++) sizes[b] = blocks[b * STRIDE + WORDS]!;
  const { chosen, expected } = chooseBlocks(probabilities, sizes);
  if (isBare(segments)) {
    for (let b = 0; b < count; b++) chosen[b] = logits[b]! <= NEVER ? 0 : 1;
  } else {
    keepWhole(segments, sizes, logits, chosen);
    leaveBareHeads(segments, chosen);
    if (posts === null && kinds[DOCUMENTATION]! + kinds[LISTING]! >= 0.5) keepDefinitions(segments, logits, chosen);
    keepCode(segments, logits, chosen);
    const isManual = posts === null && kinds[DOCUMENTATION] === Math.max(...kinds);
    keepHeadings(segments, logits, chosen, isManual, kinds[ARTICLE]! >= 0.5);
    if (posts === null && kinds[LISTING]! + kinds[COLLECTION]! >= 0.5) keepCardTitles(segments, logits, chosen);
    keepChapterTitle(segments, chosen);
    if (isManual) keepLead(segments, logits, chosen);
    keepOpeners(segments, logits, chosen);
    leaveSlideNumbers(segments, chosen);
    if (posts === null) leaveLastHeadings(segments, chosen);
    keepFormulas(segments, chosen);
    keepCaptions(segments, chosen);
    leaveMenuTitles(segments, chosen);
    leaveCodeButtons(segments, chosen);
    // Manuals say the same for each system on purpose.
    if (kinds[DOCUMENTATION]! < 0.5) leaveRepeats(segments, chosen);
  }
  return { chosen, expected, probabilities, posts: posts ?? [] };
}

/** Tables, code and boxes of facts are taken whole where most of them is chosen; the last two are left whole where it is not. */
function keepWhole(segments: Segments, sizes: Int32Array, logits: Float32Array, chosen: Uint8Array): void {
  const { tree, blocks, count, words } = segments;
  const isInfobox = (node: number): boolean => isNamedInfobox(segments, node);
  // By node: the innermost table, listing or box that it stands in.
  const whole = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; node++)
    whole[node] = WHOLE[tree.tag[node]!] === 1 || isInfobox(node) ? node : whole[tree.parent[node]!]!;
  const taken = new Int32Array(tree.count);
  const total = new Int32Array(tree.count);
  for (let b = 0; b < count; b++) {
    const node = whole[blocks[b * STRIDE + CONTAINER]!]!;
    total[node]! += sizes[b]!;
    if (chosen[b] === 1) taken[node]! += sizes[b]!;
  }
  for (let b = 0; b < count; b++) {
    const node = whole[blocks[b * STRIDE + CONTAINER]!]!;
    if (node === 0 || words[node]! > MAX_WHOLE_WORDS) continue;
    if (taken[node]! * 2 > total[node]!) chosen[b] = logits[b]! > OUT_OF_QUESTION ? 1 : chosen[b]!;
    else if (tree.tag[node] === PRE || isInfobox(node)) chosen[b] = 0;
  }
}

/** Leaves the head of a table out of which no row is taken. */
function leaveBareHeads({ tree, blocks, count, words }: Segments, chosen: Uint8Array): void {
  if (tree.tag.indexOf(TABLE) < 0) return;
  // By node: the innermost table around it, and the innermost cell.
  const table = new Int32Array(tree.count);
  const cell = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const kind = tree.tag[node]!;
    table[node] = kind === TABLE ? node : table[tree.parent[node]!]!;
    cell[node] = kind === TABLE ? 0 : kind === TD || kind === TH ? node : cell[tree.parent[node]!]!;
  }
  // By table: 1 where it has cells of data, 2 where one of them is chosen.
  const data = new Uint8Array(tree.count);
  for (let b = 0; b < count; b++) {
    const at = blocks[b * STRIDE + CONTAINER]!;
    if (tree.tag[cell[at]!] === TD) data[table[at]!] = Math.max(data[table[at]!]!, 1 + chosen[b]!);
  }
  for (let b = 0; b < count; b++) {
    const at = blocks[b * STRIDE + CONTAINER]!;
    if (tree.tag[cell[at]!] === TH && data[table[at]!] === 1 && words[table[at]!]! <= MAX_WHOLE_WORDS) chosen[b] = 0;
  }
}

/** Takes what a chosen term of a manual or a list means, and the term of what is chosen. */
function keepDefinitions({ tree, blocks, count, words }: Segments, logits: Float32Array, chosen: Uint8Array): void {
  if (tree.tag.indexOf(DT) < 0) return;
  // By node: the innermost `dt` or `dd` around it.
  const part = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; node++)
    part[node] = tree.tag[node] === DT || tree.tag[node] === DD ? node : part[tree.parent[node]!]!;
  const isPossible = (b: number): boolean => logits[b]! > OUT_OF_QUESTION;
  let isWanted = false;
  let term = -1;
  for (let b = 0; b < count; b++) {
    const at = part[blocks[b * STRIDE + CONTAINER]!]!;
    if (tree.tag[at] === DT) {
      isWanted = chosen[b] === 1;
      term = b;
    } else if (tree.tag[at] !== DD) {
      isWanted = false;
      term = -1;
    } else if (isWanted && words[at]! <= MAX_WHOLE_WORDS && isPossible(b)) chosen[b] = 1;
    else if (chosen[b] === 1 && term >= 0 && isPossible(term)) chosen[term] = 1;
  }
}

/** Blocks from a heading to the kept text after it: another heading, a line that leads to the main article. */
const AFTER_HEADING = 3;
/** Elements around a heading that may separate it from its text, and more of them from the text before it. */
const TO_TEXT = 3;
const TO_TEXT_BEFORE = 2;

/** How many elements up from a node the first one stands that holds the other as well. */
function stepsAround({ parent, end }: Segments['tree'], node: number, other: number): number {
  let steps = 0;
  let up = node;
  while (steps <= TO_TEXT + TO_TEXT_BEFORE && up > 0 && (other < up || other >= end[up]!)) {
    up = parent[up]!;
    steps++;
  }
  return steps;
}

/** Takes a heading between texts that are kept, in the same element; manuals nest it deeper. A text without its headings is half a text. */
function keepHeadings(
  segments: Segments,
  logits: Float32Array,
  chosen: Uint8Array,
  isManual: boolean,
  isArticle: boolean,
): void {
  const { tree, blocks, count } = segments;
  const containerOf = (b: number): number => blocks[b * STRIDE + CONTAINER]!;
  // By block: the last one before it that is kept.
  const before = new Int32Array(count);
  for (let b = 0, last = -1; b < count; b++) {
    before[b] = last;
    if (chosen[b] === 1) last = b;
  }
  const parentOf = (b: number): number => tree.parent[containerOf(b)]!;
  // By element: its first child that is kept.
  const first = new Map<number, number>();
  for (let b = 0; b < count; b++) if (chosen[b] === 1 && !first.has(parentOf(b))) first.set(parentOf(b), b);
  const isAmidSiblings = (b: number, next: number): boolean => {
    const isAmid = (parent: number): boolean => parentOf(next) === parent && (first.get(parent) ?? count) < b;
    return isAmid(parentOf(b)) || isAmid(tree.parent[parentOf(b)]!);
  };
  // From the end, so that a heading may follow a heading.
  for (let b = count - 2, next = count; b > 0; b--) {
    if (chosen[b + 1] === 1) next = b + 1;
    if (chosen[b] === 1 || blocks[b * STRIDE + HEADING]! < 2 || logits[b]! <= RULED_OUT) continue;
    if (next - b > AFTER_HEADING || before[b]! < 0) continue;
    if ((isArticle && leadsAway(segments, b)) || titlesMenu(segments, b)) continue;
    const toNext = stepsAround(tree, containerOf(b), containerOf(next));
    const toBefore = stepsAround(tree, containerOf(b), containerOf(before[b]!));
    if (isManual ? toNext <= TO_TEXT && toBefore <= toNext + TO_TEXT_BEFORE : isAmidSiblings(b, next)) chosen[b] = 1;
  }
}

/** Whether a heading amid an article is the title of another page, or a notice. */
function leadsAway(segments: Segments, block: number): boolean {
  const { blocks } = segments;
  const at = block * STRIDE;
  const isLink = blocks[at + LINK_WORDS]! >= blocks[at + WORDS]! && blocks[at + LINKS]! > blocks[at + INNER_LINKS]!;
  return isLink || (lineMarks(segments, block) & (NOTICES | CALLS)) !== 0;
}

/** The share of look-alikes that makes a heading the title of a card. */
const MIN_ALIKE = 0.3;
const AFTER_TITLE = 2;

/** Takes the title of a card whose text is kept, where titles that look alike are. */
function keepCardTitles({ tree, blocks, count }: Segments, logits: Float32Array, chosen: Uint8Array): void {
  // By look: how many headings there are, and how many of them are chosen.
  const all = new Map<number, number>();
  const taken = new Map<number, number>();
  const lookOf = (b: number): number => blocks[b * STRIDE + SIGNATURE]!;
  const isTitle = (b: number): boolean => blocks[b * STRIDE + HEADING]! > 1;
  for (let b = 0; b < count; b++) {
    if (!isTitle(b)) continue;
    all.set(lookOf(b), (all.get(lookOf(b)) ?? 0) + 1);
    if (chosen[b] === 1) taken.set(lookOf(b), (taken.get(lookOf(b)) ?? 0) + 1);
  }
  const containerOf = (b: number): number => blocks[b * STRIDE + CONTAINER]!;
  for (let b = count - 2, next = count; b >= 0; b--) {
    if (chosen[b + 1] === 1) next = b + 1;
    if (chosen[b] === 1 || !isTitle(b) || logits[b]! <= RULED_OUT || next - b > AFTER_TITLE) continue;
    if ((taken.get(lookOf(b)) ?? 0) < MIN_ALIKE * all.get(lookOf(b))!) continue;
    if (!isTitle(next) && stepsAround(tree, containerOf(b), containerOf(next)) <= TO_TEXT) chosen[b] = 1;
  }
}

/** Keeps formulas on their own lines that are surrounded by kept text. */
function keepFormulas({ tree, blocks, count, hidden }: Segments, chosen: Uint8Array): void {
  const formulas = formulasOf(tree);
  if (formulas.size === 0) return;
  const isNear = (from: number, to: number): boolean => {
    for (let b = Math.max(0, from); b < Math.min(count, to); b++) if (chosen[b] === 1) return true;
    return false;
  };
  for (let b = 0; b < count; b++) {
    const first = blocks[b * STRIDE + FIRST_NODE]!;
    if (chosen[b] === 1 || hidden[first] !== 0 || !formulas.has(first)) continue;
    if (isNear(b - AROUND_CODE, b) && isNear(b + 1, b + 1 + AROUND_CODE)) chosen[b] = 1;
  }
}

/** Keeps code surrounded by kept text: a manual without its listings is useless. */
function keepCode({ tree, blocks, count, hidden }: Segments, logits: Float32Array, chosen: Uint8Array): void {
  const inCode = new Uint8Array(tree.count);
  let any = false;
  for (let node = 1; node < tree.count; node++) {
    if (tree.tag[node] === PRE || inCode[tree.parent[node]!] === 1) inCode[node] = 1;
    any ||= tree.tag[node] === PRE;
  }
  if (!any) return;
  const isCode = (b: number): boolean => inCode[blocks[b * STRIDE + CONTAINER]!] === 1;
  // By block: the next one that is kept text.
  const next = new Int32Array(count);
  for (let b = count - 1, at = count + AROUND_CODE; b >= 0; b--) {
    next[b] = at;
    if (chosen[b] === 1 && !isCode(b)) at = b;
  }
  for (let b = 0, last = -1 - AROUND_CODE; b < count; b++) {
    const code = isCode(b);
    if (!code && chosen[b] === 1) last = b;
    if (
      code &&
      b - last <= AROUND_CODE &&
      next[b]! - b <= AROUND_CODE &&
      logits[b]! > RULED_OUT &&
      hidden[blocks[b * STRIDE + FIRST_NODE]!] === 0
    )
      chosen[b] = 1;
  }
}
