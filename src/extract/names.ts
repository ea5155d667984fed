// What the names around a block say of it: each word of a class, id or role above it has a learned weight for each kind of page.
// Promise: one pass over the page's names; words that were not learned say nothing.
import { inflateSync } from 'node:zlib';
import { PAGE_KINDS } from './context-features.js';
import type { Segments } from './segment.js';
import { FIRST_NODE, STRIDE } from './segment.js';

/** A word weighs differently in the two elements next to a block, in the three above these, and further up. */
export const BANDS = 3;
const NEAR = 2;
const MIDDLE = 3;
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
  const known = new Map<number, number>();
  const page = new PageWeights(kinds);
  for (let node = 1; node < tree.count; node++) {
    let a = 0;
    let b = 0;
    let c = 0;
    for (let k = nameStart[node]!; k < nameStart[node + 1]!; k++) {
      let at = known.get(names[k]!);
      if (at === undefined) {
        const row = rows.get(names[k]!);
        at = row === undefined ? -1 : page.add(weights, row);
        known.set(names[k]!, at);
      }
      if (at < 0) continue;
      a += page.values[at]!;
      b += page.values[at + 1]!;
      c += page.values[at + 2]!;
    }
    near[node] = a;
    middle[node] = b;
    far[node] = far[tree.parent[node]!]! + c;
  }
  const base = page.mix(model.base, 0);
  const out = new Float32Array(count);
  for (let b = 0; b < count; b++) {
    let sum = base;
    let node = tree.parent[blocks[b * STRIDE + FIRST_NODE]!]!;
    for (let step = 0; step < NEAR + MIDDLE && node > 0; step++, node = tree.parent[node]!)
      sum += step < NEAR ? near[node]! : middle[node]!;
    out[b] = sum + far[node]!;
  }
  return out;
}

/** The weights of one page's words: those for every page and those for its kinds, as probable as they are. */
class PageWeights {
  values = new Float32Array(256 * BANDS);
  #used = 0;
  readonly #kinds: Float32Array;

  constructor(kinds: Float32Array) {
    this.#kinds = kinds;
  }

  mix(weights: Float32Array, from: number): number {
    let sum = weights[from]!;
    for (let k = 0; k < this.#kinds.length; k++) sum += this.#kinds[k]! * weights[from + 1 + k]!;
    return sum;
  }

  /** Where the three weights of a row now stand. */
  add(weights: Float32Array, row: number): number {
    const at = this.#used;
    if (at + BANDS > this.values.length) {
      const larger = new Float32Array(this.values.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    for (let band = 0; band < BANDS; band++)
      this.values[at + band] = this.mix(weights, (row * BANDS + band) * NAME_COLUMNS);
    this.#used += BANDS;
    return at;
  }
}

/** Longer than any weights that were trained. */
const MAX_UNPACKED = 1 << 22;

/**
 * Unpacks weights packed by scripts/train-extract.mjs, deflated, little-endian: words (uint32), unit of a weight (float32),
 * base by column (float32), hashes of the words (int32), weights by word, band and column (int8 in units).
 */
export function unpackNames(packed: string): NameWeights {
  const bytes = inflateSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_UNPACKED });
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
