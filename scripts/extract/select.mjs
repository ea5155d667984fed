// Chooses blocks so that the expected F1 is highest, and scores the choice. Mirrors src/extract/choose/best-set.ts.
import { compare } from './truth.mjs';
import { createJiti } from 'jiti';

const { chooseContent } = await createJiti(import.meta.url).import('../../src/extract/choose/choose-content.ts');

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** Probabilities → which blocks to take. */
export function choose(probabilities, words) {
  const order = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]);
  let expected = 0;
  for (let b = 0; b < words.length; b++) expected += probabilities[b] * words[b];
  let gained = 0;
  let taken = 0;
  let best = 0;
  let cut = 0;
  order.forEach((b, k) => {
    gained += probabilities[b] * words[b];
    taken += words[b];
    const f1 = (2 * gained) / (taken + expected);
    if (f1 >= best) [best, cut] = [f1, k + 1];
  });
  const chosen = new Uint8Array(words.length);
  for (let k = 0; k < cut; k++) chosen[order[k]] = 1;
  return chosen;
}

/** F1 of each part for logits by row; with the probabilities of the parts' kinds, of what the extractor would give. */
export function scoreParts(parts, logits, kinds = null) {
  return parts.map((part) => {
    if (part.standIn !== null) return compare(part.standIn, part.wanted);
    if (kinds !== null) {
      const own = Float32Array.from(logits.subarray(part.first, part.first + part.count));
      const { chosen } = chooseContent(part.segments, kinds[part.index], own);
      return compare(
        part.words.flatMap((list, b) => (chosen[b] ? list : [])),
        part.wanted,
      );
    }
    const p = Array.from({ length: part.count }, (_, b) => sigmoid(logits[part.first + b]));
    const chosen = choose(
      p,
      part.words.map((list) => list.length),
    );
    return compare(
      part.words.flatMap((list, b) => (chosen[b] ? list : [])),
      part.wanted,
    );
  });
}

export function summary(parts, scores) {
  const kinds = new Map();
  parts.forEach(({ kind }, k) => kinds.set(kind, [...(kinds.get(kind) ?? []), scores[k]]));
  const mean = (list, field) => list.reduce((sum, s) => sum + s[field], 0) / list.length;
  const line = (list) =>
    `F1 ${mean(list, 'f1').toFixed(4)}  P ${mean(list, 'precision').toFixed(3)}  R ${mean(list, 'recall').toFixed(3)}  (${list.length})`;
  const lines = [...kinds].sort().map(([kind, list]) => `${kind.padEnd(14)} ${line(list)}`);
  return [...lines, `${'all'.padEnd(14)} ${line(scores)}`].join('\n');
}
