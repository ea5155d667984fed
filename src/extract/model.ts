// Evaluates the trained trees: packed numbers in, one logit a block out.
// Promise: the same weights give the same answer everywhere; nothing is decoded until the first page.

/** Symmetric trees: each asks `depth` questions of a row and has an answer for every combination. */
export interface Trees {
  readonly base: number;
  readonly count: number;
  readonly depth: number;
  readonly features: Uint16Array;
  readonly thresholds: Float32Array;
  readonly leaves: Float32Array;
}

/** Adds the trees' answers to each of `count` rows; `columns[feature * count + row]`. */
export function evaluate(trees: Trees, columns: Float32Array, count: number): Float32Array {
  const { depth, features, thresholds, leaves } = trees;
  const out = new Float32Array(count).fill(trees.base);
  const leaf = new Uint8Array(count);
  for (let tree = 0; tree < trees.count; tree++) {
    leaf.fill(0);
    for (let level = 0; level < depth; level++) {
      const question = tree * depth + level;
      const from = features[question]! * count;
      const threshold = thresholds[question]!;
      const bit = 1 << level;
      for (let row = 0; row < count; row++) if (columns[from + row]! > threshold) leaf[row]! |= bit;
    }
    const answers = tree << depth;
    for (let row = 0; row < count; row++) out[row]! += leaves[answers + leaf[row]!]!;
  }
  return out;
}

export function logistic(logits: Float32Array): Float32Array {
  return logits.map((logit) => 1 / (1 + Math.exp(-logit)));
}

/**
 * Unpacks models packed by scripts/train-extract.mjs, little-endian, one after the other: base and leaf unit (float32),
 * trees and depth (uint16), questions (feature uint16, threshold float32), leaves (int16 in leaf units).
 */
export function unpackModels(packed: string): Trees[] {
  const bytes = Buffer.from(packed, 'base64');
  const models: Trees[] = [];
  let at = 0;
  while (at < bytes.length) {
    const base = bytes.readFloatLE(at);
    const unit = bytes.readFloatLE(at + 4);
    const count = bytes.readUInt16LE(at + 8);
    const depth = bytes.readUInt16LE(at + 10);
    at += 12;
    const features = new Uint16Array(count * depth);
    const thresholds = new Float32Array(count * depth);
    for (let k = 0; k < count * depth; k++, at += 6) {
      features[k] = bytes.readUInt16LE(at);
      thresholds[k] = bytes.readFloatLE(at + 2);
    }
    const leaves = new Float32Array(count << depth);
    for (let k = 0; k < leaves.length; k++, at += 2) leaves[k] = bytes.readInt16LE(at) * unit;
    models.push({ base, count, depth, features, thresholds, leaves });
  }
  return models;
}
