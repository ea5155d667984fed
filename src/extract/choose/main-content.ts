// Finds the main content of a page: kinds, first look, names, second look, choice.
// Promise: synchronous, any tree, no site-specific rules; everything learned is in the .bin files of model/.
import { chooseContent } from './choose-content.js';
import type { PageKind } from '../model/context-features.js';
import { CONTEXT_COUNT, PAGE_KINDS, contextFeatures } from '../model/context-features.js';
import { FEATURE_COUNT, blockFeatures } from '../model/features.js';
import type { PageHead } from '../facts/metadata.js';
import type { Trees } from '../model/trees.js';
import { evaluate, toKeys, unpackModels } from '../model/trees.js';
import type { NameWeights } from '../model/names.js';
import { nameLogits, unpackNames } from '../model/names.js';
import { readSignals } from '../model/page-signals.js';
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
}

interface Models {
  readonly kinds: readonly Trees[];
  readonly first: Trees;
  readonly second: Trees;
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

/** Chooses the blocks of a page that are its main content. */
export function findMainContent(segments: Segments, head: PageHead, url: string | null): MainContent {
  const { count } = segments;
  const kinds = kindProbabilities(readSignals(segments, head, url));
  const kind = PAGE_KINDS[kinds.indexOf(Math.max(...kinds))]!;
  if (count === 0) return { kind, chosen: new Uint8Array(0), probabilities: new Float32Array(0), confidence: 0 };
  const { first, second, names } = loadModels();
  const columns = tableFor((CONTEXT_COUNT + FEATURE_COUNT) * count);
  const features = columns.subarray(CONTEXT_COUNT * count);
  blockFeatures(segments, head, features);
  const look = evaluate(first, toKeys(features), count);
  const said = nameLogits(segments, kinds, names);
  toKeys(contextFeatures(segments, look, said, kinds, columns.subarray(0, CONTEXT_COUNT * count)));
  const keys = new Int32Array(columns.buffer, columns.byteOffset, columns.length);
  const { chosen, expected, probabilities } = chooseContent(segments, kinds, evaluate(second, keys, count));
  return { kind, chosen, probabilities, confidence: expected };
}
