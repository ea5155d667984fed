// Evaluates the trained trees: packed numbers in, one logit per block out.
// Promise: the same weights give the same answer everywhere; nothing is decoded until the first page.

/** Questions a tree has room for; those of shallower trees are filled up with ones whose answer is no. */
const QUESTIONS = 6;

/** Symmetric trees: each asks its questions of a row and has an answer for every combination. */
export interface Trees {
  readonly base: number;
  readonly count: number;
  readonly depth: number;
  /** {@link QUESTIONS} a tree. */
  readonly features: Uint16Array;
  /** As {@link toKeys} makes them. */
  readonly thresholds: Int32Array;
  readonly leaves: Float32Array;
}

/**
 * Turns floats into integers of the same order, in place. Their difference never overflows, so that its sign answers
 * `value > threshold` without a branch: measured four times as fast as comparing floats.
 */
export function toKeys(values: Float32Array): Int32Array {
  const keys = new Int32Array(values.buffer, values.byteOffset, values.length);
  for (let k = 0; k < keys.length; k++) {
    const bits = keys[k]!;
    keys[k] = (bits ^ ((bits >> 31) & 0x7fffffff)) >> 1;
  }
  return keys;
}

/** The trees' answers, summed up, for each of `count` rows; `keys[feature * count + row]`. */
export function evaluate(trees: Trees, keys: Int32Array, count: number): Float32Array {
  const { depth, features, thresholds, leaves } = trees;
  const out = new Float32Array(count).fill(trees.base);
  for (let tree = 0; tree < trees.count; tree++) {
    const q = tree * QUESTIONS;
    const answers = tree << depth;
    let at0 = features[q]! * count;
    let at1 = features[q + 1]! * count;
    let at2 = features[q + 2]! * count;
    let at3 = features[q + 3]! * count;
    let at4 = features[q + 4]! * count;
    let at5 = features[q + 5]! * count;
    const t0 = thresholds[q]!;
    const t1 = thresholds[q + 1]!;
    const t2 = thresholds[q + 2]!;
    const t3 = thresholds[q + 3]!;
    const t4 = thresholds[q + 4]!;
    const t5 = thresholds[q + 5]!;
    for (let row = 0; row < count; row++) {
      const leaf =
        ((t0 - keys[at0++]!) >>> 31) |
        (((t1 - keys[at1++]!) >>> 31) << 1) |
        (((t2 - keys[at2++]!) >>> 31) << 2) |
        (((t3 - keys[at3++]!) >>> 31) << 3) |
        (((t4 - keys[at4++]!) >>> 31) << 4) |
        (((t5 - keys[at5++]!) >>> 31) << 5);
      out[row]! += leaves[answers + leaf]!;
    }
  }
  return out;
}

/** Questions that {@link evaluateRows} asks. */
const FEW_QUESTIONS = 4;

/** As {@link evaluate} of some rows only, by trees of at most four questions; the others are 0. */
export function evaluateRows(trees: Trees, keys: Int32Array, count: number, rows: Int32Array): Float32Array {
  const { depth, features, thresholds, leaves } = trees;
  if (depth > FEW_QUESTIONS) throw new RangeError('these trees ask more questions');
  const out = new Float32Array(count);
  for (const row of rows) out[row] = trees.base;
  for (let tree = 0; tree < trees.count; tree++) {
    const q = tree * QUESTIONS;
    const answers = tree << depth;
    const at0 = features[q]! * count;
    const at1 = features[q + 1]! * count;
    const at2 = features[q + 2]! * count;
    const at3 = features[q + 3]! * count;
    const t0 = thresholds[q]!;
    const t1 = thresholds[q + 1]!;
    const t2 = thresholds[q + 2]!;
    const t3 = thresholds[q + 3]!;
    for (let k = 0; k < rows.length; k++) {
      const row = rows[k]!;
      const leaf =
        ((t0 - keys[at0 + row]!) >>> 31) |
        (((t1 - keys[at1 + row]!) >>> 31) << 1) |
        (((t2 - keys[at2 + row]!) >>> 31) << 2) |
        (((t3 - keys[at3 + row]!) >>> 31) << 3);
      out[row]! += leaves[answers + leaf]!;
    }
  }
  return out;
}

export function logistic(logits: Float32Array): Float32Array {
  return logits.map((logit) => 1 / (1 + Math.exp(-logit)));
}

/**
 * Unpacks models packed by scripts/train.mjs, little-endian, one after the other: base and leaf unit (float32),
 * trees and depth (uint16), questions (feature uint16, threshold float32), leaves (int16 in leaf units).
 */
export function unpackModels(bytes: Buffer): Trees[] {
  const models: Trees[] = [];
  let at = 0;
  while (at < bytes.length) {
    const base = bytes.readFloatLE(at);
    const unit = bytes.readFloatLE(at + 4);
    const count = bytes.readUInt16LE(at + 8);
    const depth = bytes.readUInt16LE(at + 10);
    at += 12;
    const features = new Uint16Array(count * QUESTIONS);
    // No key is greater than infinity's.
    const given = new Float32Array(count * QUESTIONS).fill(Number.POSITIVE_INFINITY);
    for (let tree = 0; tree < count; tree++) {
      for (let level = 0; level < depth; level++, at += 6) {
        features[tree * QUESTIONS + level] = bytes.readUInt16LE(at);
        given[tree * QUESTIONS + level] = bytes.readFloatLE(at + 2);
      }
    }
    const thresholds = toKeys(given);
    const leaves = new Float32Array(count << depth);
    for (let k = 0; k < leaves.length; k++, at += 2) leaves[k] = bytes.readInt16LE(at) * unit;
    models.push({ base, count, depth, features, thresholds, leaves });
  }
  return models;
}
