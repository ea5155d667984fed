// The models of the extractor and how they are trained on each other's output without seeing their own answers.
// Kinds of pages from page signals; first look at blocks; names around blocks; second look with the context of both.
import { binColumns, fit, generator, predict, shared } from './boost.mjs';
import { labelBlocks } from './labels.mjs';
import { createJiti } from 'jiti';

const jiti = createJiti(import.meta.url);
const { CONTEXT_NAMES, PAGE_KINDS, contextFeatures } = await jiti.import('../../src/extract/model/context-features.ts');

export const SETTINGS = {
  kind: { trees: 60, depth: 3, rate: 0.12, groupShare: 0.8, rowShare: 0.8, columnShare: 0.3, l2: 2 },
  first: { trees: 200, depth: 6, rate: 0.07, groupShare: 0.7, rowShare: 0.1, columnShare: 0.18, l2: 4 },
  second: { trees: 320, depth: 5, rate: 0.045, groupShare: 0.7, rowShare: 0.1, columnShare: 0.2, l2: 6 },
};

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

export function rowsOf(dataset, isWanted) {
  const rows = [];
  for (const part of dataset.parts) {
    if (isWanted(part)) for (let b = 0; b < part.count; b++) rows.push(part.first + b);
  }
  return rows;
}

/** One model a kind, each telling it from all others. */
export function fitKinds({ parts }, isWanted, seed) {
  const columns = parts[0].signals.length;
  const table = Array.from({ length: columns }, (_, f) => Float32Array.from(parts, ({ signals }) => signals[f]));
  const rows = parts.map((_, k) => k).filter((k) => isWanted(parts[k]));
  const data = binColumns(table, rows, generator(seed));
  const group = Int32Array.from(parts, (_, k) => k);
  const weight = new Float32Array(parts.length).fill(1);
  return PAGE_KINDS.map((kind, k) =>
    fit({
      data,
      rows,
      target: Float32Array.from(parts, (part) => (part.kind === kind ? 1 : 0)),
      weight,
      group,
      settings: SETTINGS.kind,
      seed: seed * 31 + k,
    }),
  );
}

/** Probabilities of the kinds of one page. */
export function kindsOf(models, signals) {
  const columns = Array.from(signals, (value) => [value]);
  const scores = models.map((model) => Math.exp(predict(model, columns, [0], new Float32Array(1))[0]));
  const odds = scores.map((score) => score / (1 + score));
  const total = odds.reduce((sum, value) => sum + value, 0);
  return Float32Array.from(odds, (value) => value / total);
}

/** The context columns of every page, from the logits of both looks by row and kinds by page. */
export function contextColumns({ parts, target }, logits, names, kinds) {
  const columns = CONTEXT_NAMES.map(() => shared(Float32Array, target.length));
  for (const part of parts) {
    const own = (list) => list.subarray(part.first, part.first + part.count);
    const context = contextFeatures(part.segments, own(logits), own(names), kinds[part.index]);
    for (let f = 0; f < columns.length; f++)
      columns[f].set(context.subarray(f * part.count, (f + 1) * part.count), part.first);
  }
  return columns;
}

/** Labels anew, where a page shows a text twice, by what the first look says. */
export function clearedTarget({ parts, target }, logits) {
  const out = shared(Float32Array, target.length);
  for (const part of parts) {
    const looks = Float32Array.from(logits.subarray(part.first, part.first + part.count), sigmoid);
    out.set(labelBlocks(part.words, part.wanted, looks), part.first);
  }
  return out;
}

/**
 * Reviewed texts are sometimes cut short: what follows the last reviewed word and still looks like content teaches little.
 * Weights for training only; scores always count every word.
 */
export function cleanedWeights({ parts, weight, target }, logits) {
  const out = shared(Float32Array, weight.length);
  out.set(weight);
  for (const part of parts) {
    let last = -1;
    for (let b = 0; b < part.count; b++) if (target[part.first + b] > 0.5) last = b;
    for (let b = last + 1; b < part.count; b++) {
      if (sigmoid(logits[part.first + b]) > 0.7) out[part.first + b] *= 0.25;
    }
  }
  return out;
}
