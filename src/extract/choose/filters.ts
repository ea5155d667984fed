// Ways to choose blocks other than the learned one: pruning by density, and BM25 against a query.
// Promise: deterministic, linear in the page's words; an option out of range is refused before any page is read.
import type { Shape } from '../../option-checks.js';
import { aFilledString, aNumber, aWholeNumber, findProblems, oneOf, optionError } from '../../option-checks.js';
import { tellingWords } from '../../telling-words.js';
import type { PageView } from '../page/page-view.js';
import { BUTTON_WORDS, CONTAINER, HEADING, IS_HIDDEN, LINK_WORDS, SENTENCES, STRIDE, WORDS } from '../page/segment.js';
import { HINT_NAMES } from '../page/hints.js';

/** Keeps blocks whose density of text is high enough. */
export interface PruningFilter {
  /** Scores blocks by text, links and markup around them. */
  readonly kind: 'pruning';
  /** From 0 (everything) to 1 (nothing); 0.5 by default. */
  readonly threshold?: number | undefined;
  /** Blocks with fewer words are dropped. */
  readonly minWords?: number | undefined;
}

/** Keeps blocks that answer a query. */
export interface Bm25Filter {
  /** Ranks blocks by the words of `query`. */
  readonly kind: 'bm25';
  /** A question or keywords. Words such as "the" and "what" are left out. */
  readonly query: string;
  /** The share of the best block's score that a block needs, from 0 to 1; 0.3 by default. */
  readonly threshold?: number | undefined;
}

/** What may narrow down the main content. */
export type ContentFilter = PruningFilter | Bm25Filter;

const PRUNING_SHAPE: Shape = {
  kind: oneOf(['pruning', 'bm25']),
  threshold: aNumber({ from: 0 }),
  minWords: aWholeNumber({ from: 0 }),
};
const BM25_SHAPE: Shape = { kind: oneOf(['pruning', 'bm25']), query: aFilledString, threshold: aNumber({ from: 0 }) };

/** Throws OPTION_INVALID for a filter that cannot be. */
export function checkFilter(filter: ContentFilter): void {
  const problems = findProblems('contentFilter', filter, filter.kind === 'bm25' ? BM25_SHAPE : PRUNING_SHAPE);
  if (filter.kind === undefined) problems.push('contentFilter needs "kind"');
  if (filter.kind === 'bm25' && filter.query === undefined) problems.push('contentFilter "bm25" needs "query"');
  if (problems.length > 0) throw optionError(problems);
}

/** By block: 1 for what the filter keeps. */
export function applyFilter(view: PageView, filter: ContentFilter): Uint8Array {
  return filter.kind === 'bm25' ? bm25(view, filter.query, filter.threshold ?? 0.3) : prune(view, filter);
}

const FURNITURE =
  'navigation footer sidebar breadcrumb share related advert consent modal newsletter pager account locale'
    .split(' ')
    .map((name) => HINT_NAMES.indexOf(name));

function prune(view: PageView, { threshold = 0.5, minWords = 0 }: PruningFilter): Uint8Array {
  const { blocks, count, words, linkWords, hintLow, hintHigh, tree } = view.segments;
  const kept = new Uint8Array(count);
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const n = blocks[at + WORDS]!;
    const container = blocks[at + CONTAINER]!;
    const up = tree.parent[container]!;
    const own = 1 - blocks[at + LINK_WORDS]! / n;
    const around = words[up]! > 0 ? 1 - linkWords[up]! / words[up]! : own;
    const length = Math.min(1, Math.log2(1 + n) / 5);
    let score = 0.4 * own + 0.25 * around + 0.25 * length + (blocks[at + SENTENCES]! > 0 ? 0.1 : 0);
    if (blocks[at + HEADING]! > 0) score += 0.25;
    if (blocks[at + IS_HIDDEN] === 1 || blocks[at + BUTTON_WORDS]! * 2 > n) score -= 0.4;
    for (let node = container, steps = 0; node > 0 && steps < 12; node = tree.parent[node]!, steps++) {
      if (FURNITURE.some((hint) => ((hint < 32 ? hintLow[node]! >> hint : hintHigh[node]! >> (hint - 32)) & 1) === 1)) {
        score -= 0.35;
        break;
      }
    }
    if (score >= threshold && n >= minWords) kept[b] = 1;
  }
  return kept;
}

const K1 = 1.2;
const B = 0.75;
const MAX_TERMS = 64;

/** A word without its commonest English endings, so that `whales` answers `whale`. */
const stem = (word: string): string => (word.length > 4 ? word.replace(/(?:ings?|edly|ed|es|s|ly)$/, '') : word);
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
const termsOf = (text: string): string[] => wordsOf(text).map(stem);

function bm25(view: PageView, query: string, threshold: number): Uint8Array {
  const { count, blocks } = view.segments;
  const wanted = [...new Set(tellingWords(wordsOf(query)).map(stem))].slice(0, MAX_TERMS);
  const place = new Map(wanted.map((term, k) => [term, k]));
  const frequency = new Int32Array(count * wanted.length);
  const documents = new Int32Array(wanted.length);
  const lengths = new Int32Array(count);
  let total = 0;
  for (let b = 0; b < count; b++) {
    const terms = termsOf(view.blockText(b));
    lengths[b] = terms.length;
    total += terms.length;
    for (const term of terms) {
      const k = place.get(term);
      if (k !== undefined && ++frequency[b * wanted.length + k]! === 1) documents[k]!++;
    }
  }
  const mean = total / Math.max(1, count);
  const scores = new Float64Array(count);
  let best = 0;
  for (let b = 0; b < count; b++) {
    let score = 0;
    for (let k = 0; k < wanted.length; k++) {
      const tf = frequency[b * wanted.length + k]!;
      if (tf === 0) continue;
      const idf = Math.log(1 + (count - documents[k]! + 0.5) / (documents[k]! + 0.5));
      score += (idf * tf * (K1 + 1)) / (tf + K1 * (1 - B + (B * lengths[b]!) / mean));
    }
    scores[b] = score;
    best = Math.max(best, score);
  }
  const kept = new Uint8Array(count);
  let heading = -1;
  for (let b = 0; b < count; b++) {
    if (blocks[b * STRIDE + HEADING]! > 0) heading = b;
    if (scores[b] === 0 || scores[b]! < threshold * best) continue;
    kept[b] = 1;
    // An answer keeps the heading it stands under.
    if (heading >= 0) kept[heading] = 1;
  }
  return kept;
}
