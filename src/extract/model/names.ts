// What the names around a block say of it: each word of a class, id or role above it has a learned weight for each kind of page.
// Promise: one pass over the page's names; words that were not learned say nothing.
import { inflateSync } from 'node:zlib';
import { PAGE_KINDS } from './context-features.js';
import type { Segments } from '../page/segment.js';
import { FIRST_NODE, STRIDE } from '../page/segment.js';

/** A word weighs differently in the elements next to a block, in those above these, and further up. */
export const BANDS = 3;
export const NEAR_STEPS = 2;
export const MIDDLE_STEPS = 3;
/** For every page, then for each kind of page. */
export const NAME_COLUMNS = 1 + PAGE_KINDS.length;

export interface NameWeights {
  readonly base: Float32Array;
  /** Rows of {@link weights} by the hash of a word. */
  readonly rows: ReadonlyMap<number, number>;
  /** `[(row * BANDS + band) * NAME_COLUMNS + column]` */
  readonly weights: Float32Array;
}

/** A logit for each block, from the names of the elements around it and the probabilities of the page's kinds. */
export function nameLogits(segments: Segments, kinds: Float32Array, model: NameWeights): Float32Array {
  const { tree, blocks, count, names, nameStart } = segments;
  const { rows, weights } = model;
  const near = new Float32Array(tree.count);
  const middle = new Float32Array(tree.count);
  // Of the element and all above it.
  const far = new Float32Array(tree.count);
  // Of the words that stand on this page, by row.
  const values = new Float32Array(rows.size * BANDS);
  const isMixed = new Uint8Array(rows.size);
  for (let node = 1; node < tree.count; node++) {
    let a = 0;
    let b = 0;
    let c = 0;
    for (let k = nameStart[node]!; k < nameStart[node + 1]!; k++) {
      const row = rows.get(names[k]!);
      if (row === undefined) continue;
      const at = row * BANDS;
      if (isMixed[row] === 0) {
        isMixed[row] = 1;
        for (let band = 0; band < BANDS; band++) values[at + band] = mix(weights, at + band, kinds);
      }
      a += values[at]!;
      b += values[at + 1]!;
      c += values[at + 2]!;
    }
    near[node] = a;
    middle[node] = b;
    far[node] = far[tree.parent[node]!]! + c;
  }
  const base = mix(model.base, 0, kinds);
  const out = new Float32Array(count);
  for (let b = 0; b < count; b++) {
    let sum = base;
    let node = tree.parent[blocks[b * STRIDE + FIRST_NODE]!]!;
    for (let step = 0; step < NEAR_STEPS + MIDDLE_STEPS && node > 0; step++, node = tree.parent[node]!)
      sum += step < NEAR_STEPS ? near[node]! : middle[node]!;
    out[b] = sum + far[node]!;
  }
  return out;
}

/** The weight for every page and those for its kinds, as probable as they are. */
function mix(weights: Float32Array, row: number, kinds: Float32Array): number {
  const from = row * NAME_COLUMNS;
  let sum = weights[from]!;
  for (let k = 0; k < kinds.length; k++) sum += kinds[k]! * weights[from + 1 + k]!;
  return sum;
}

/** Longer than any weights that were trained. */
const MAX_UNPACKED = 1 << 22;

/**
 * Unpacks weights packed by scripts/train.mjs, deflated, little-endian: words (uint32), unit of a weight (float32),
 * base by column (float32), hashes of the words (int32), weights by word, band and column (int8 in units).
 */
export function unpackNames(packed: Buffer): NameWeights {
  const bytes = inflateSync(packed, { maxOutputLength: MAX_UNPACKED });
  const count = bytes.readUInt32LE(0);
  const unit = bytes.readFloatLE(4);
  const base = Float32Array.from({ length: NAME_COLUMNS }, (_, k) => bytes.readFloatLE(8 + k * 4));
  const hashes = 8 + NAME_COLUMNS * 4;
  const rows = new Map<number, number>();
  for (let row = 0; row < count; row++) rows.set(bytes.readInt32LE(hashes + row * 4), row);
  const from = hashes + count * 4;
  const weights = new Float32Array(count * BANDS * NAME_COLUMNS);
  for (let k = 0; k < weights.length; k++) weights[k] = bytes.readInt8(from + k) * unit;
  return { base, rows, weights };
}
