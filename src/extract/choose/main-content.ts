// Finds the main content of a page: kinds, first look, names, second look, third look, choice.
// Promise: synchronous, any tree, no site-specific rules; everything learned is in the .bin files of model/.
import { chooseContent } from './choose-content.js';
import type { PageKind } from '../model/context-features.js';
import { CONTEXT_COUNT, PAGE_KINDS, contextFeatures } from '../model/context-features.js';
import { FEATURE_COUNT, blockFeatures } from '../model/features.js';
import type { PageHead } from '../facts/metadata.js';
import type { Trees } from '../model/trees.js';
import { evaluate, evaluateRows, toKeys, unpackModels } from '../model/trees.js';
import type { NameWeights } from '../model/names.js';
import { nameLogits, unpackNames } from '../model/names.js';
import { readSignals } from '../model/page-signals.js';
import { ASK_FROM, THIRD_COUNT, thirdFeatures } from '../model/third-features.js';
import type { Segments } from '../page/segment.js';
import { readWeights } from '../model/weights.js';

export interface MainContent {
  readonly kind: PageKind;
  /** By block: 1 for content. */
  readonly chosen: Uint8Array;
  /** By block. */
  readonly probabilities: Float32Array;
  /** The F1 that this choice is expected to reach, from 0 to 1. */
  readonly confidence: number;
  /** The elements of the posts of a thread, in order; empty elsewhere. */
  readonly posts: readonly number[];
}

interface Models {
  readonly kinds: readonly Trees[];
  readonly first: Trees;
  readonly second: Trees;
  readonly third: Trees;
  readonly names: NameWeights;
}

let models: Models | undefined;

function loadModels(): Models {
  if (models === undefined) {
    const all = unpackModels(readWeights('weights'));
    const kinds = PAGE_KINDS.length;
    models = {
      kinds: all.slice(0, kinds),
      first: all[kinds]!,
      second: all[kinds + 1]!,
      third: unpackModels(readWeights('third-weights'))[0]!,
      names: unpackNames(readWeights('name-weights')),
    };
  }
  return models;
}

/** Probabilities of the kinds, in the order of {@link PAGE_KINDS}. */
export function kindProbabilities(signals: Float32Array): Float32Array {
  const keys = toKeys(signals.slice());
  const odds = loadModels().kinds.map((trees) => 1 / (1 + Math.exp(-evaluate(trees, keys, 1)[0]!)));
  const total = odds.reduce((sum, value) => sum + value, 0);
  return Float32Array.from(odds, (value) => value / total);
}

/** Most pages fit; finding main content never re-enters itself, so they share it. */
const KEPT_NUMBERS = 1 << 19;
let table: Float32Array | undefined;

function tableFor(numbers: number): Float32Array {
  if (numbers > KEPT_NUMBERS) return new Float32Array(numbers);
  return (table ??= new Float32Array(KEPT_NUMBERS)).subarray(0, numbers);
}

/** What two looks say of a page, and the table for the third; it holds until the next page. */
export interface TwoLooks {
  readonly kinds: Float32Array;
  /** Logits by block. */
  readonly second: Float32Array;
  /** `[column * count + block]`: of the context, of the blocks, of the third look. */
  readonly table: Float32Array;
  readonly width: number;
}

const TWO_LOOKS = CONTEXT_COUNT + FEATURE_COUNT;
const WIDTH = TWO_LOOKS + THIRD_COUNT;
const ARTICLE = PAGE_KINDS.indexOf('article');
/** Up to the first probability of an article the third look is spared, from the second on it alone counts (decision 043). */
const ARTICLE_FROM = 0.5;
const ARTICLE_SURE = 0.9;

/** As {@link findMainContent} up to the second look; the script that trains the third reads it. */
export function lookTwice(segments: Segments, head: PageHead, url: string | null): TwoLooks {
  const { count } = segments;
  const kinds = kindProbabilities(readSignals(segments, head, url));
  const { first, second, names } = loadModels();
  const columns = new Float32Array(WIDTH * count);
  const features = columns.subarray(CONTEXT_COUNT * count, TWO_LOOKS * count);
  blockFeatures(segments, head, features);
  const look = evaluate(first, toKeys(features.slice()), count);
  contextFeatures(
    segments,
    look,
    nameLogits(segments, kinds, names),
    kinds,
    columns.subarray(0, CONTEXT_COUNT * count),
  );
  const said = evaluate(second, toKeys(columns.slice(0, TWO_LOOKS * count)), count);
  thirdFeatures(segments, said, columns.subarray(TWO_LOOKS * count));
  return { kinds, second: said, table: columns, width: WIDTH };
}

/** How much each mode moves the logits before the choice (bench/EXTRACTION.md shows the curve). */
export const FAVOR: Readonly<Record<Favor, number>> = { precision: -1.5, balanced: 0, recall: 1.5 };

/** Which errors a caller minds less. */
export type Favor = 'precision' | 'balanced' | 'recall';

/** Chooses the blocks of a page that are its main content. */
export function findMainContent(
  segments: Segments,
  head: PageHead,
  url: string | null,
  favor: Favor = 'balanced',
): MainContent {
  const { count } = segments;
  const kinds = kindProbabilities(readSignals(segments, head, url));
  const kind = PAGE_KINDS[kinds.indexOf(Math.max(...kinds))]!;
  if (count === 0)
    return { kind, chosen: new Uint8Array(0), probabilities: new Float32Array(0), confidence: 0, posts: [] };
  const { first, second, third, names } = loadModels();
  const columns = tableFor(WIDTH * count);
  const features = columns.subarray(CONTEXT_COUNT * count, TWO_LOOKS * count);
  blockFeatures(segments, head, features);
  const look = evaluate(first, toKeys(features), count);
  const said = nameLogits(segments, kinds, names);
  toKeys(contextFeatures(segments, look, said, kinds, columns.subarray(0, CONTEXT_COUNT * count)));
  const keys = new Int32Array(columns.buffer, columns.byteOffset, columns.length);
  const logits = evaluate(second, keys, count);
  if (kinds[ARTICLE]! > ARTICLE_FROM) {
    toKeys(thirdFeatures(segments, logits, columns.subarray(TWO_LOOKS * count)));
    lookAgain(logits, evaluateRows(third, keys, count, askedRows(logits)), kinds);
  }
  const shift = FAVOR[favor];
  if (shift !== 0) for (let b = 0; b < count; b++) logits[b]! += shift;
  const { chosen, expected, probabilities, posts } = chooseContent(segments, kinds, logits);
  return { kind, chosen, probabilities, confidence: expected, posts };
}

/** The content of a page that has nothing else. */
export function wholeContent({ count }: Segments): MainContent {
  const chosen = new Uint8Array(count).fill(1);
  return { kind: 'article', chosen, probabilities: new Float32Array(count).fill(1), confidence: 1, posts: [] };
}

/** The blocks that the third look is asked of. */
function askedRows(logits: Float32Array): Int32Array {
  const rows = new Int32Array(logits.length);
  let count = 0;
  for (let b = 0; b < logits.length; b++) if (logits[b]! > ASK_FROM) rows[count++] = b;
  return rows.subarray(0, count);
}

/** The third look was trained on articles: it counts as far as the page is one. */
export function lookAgain(logits: Float32Array, third: Float32Array, kinds: Float32Array): void {
  const share = Math.min(1, Math.max(0, (kinds[ARTICLE]! - ARTICLE_FROM) / (ARTICLE_SURE - ARTICLE_FROM)));
  for (let b = 0; b < logits.length; b++)
    if (logits[b]! > ASK_FROM) logits[b] = (1 - share) * logits[b]! + share * third[b]!;
}
