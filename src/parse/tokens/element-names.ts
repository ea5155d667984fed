// Element names as small numbers: those of tags.ts, a few more that rules know, and all others that a page uses.
// Promise: equal names (in any case) have equal numbers; a name met just before makes no string; constant time a name,
// whatever names a page chooses, and a page that chooses very many leaves nothing behind.
import { LOWER, isSpelled, sliceUtf8 } from '../../base/bytes.js';
import { EXTRA_NAMES, FIRST_EXTRA } from '../document/rules.js';
import { tagName } from './tags.js';

/** Real sites use a few hundred custom names; beyond this all but the fixed ones are forgotten before the next page. */
const KEPT_NAMES = 2_048;
const SLOTS = 1_024;

export class ElementNames {
  /** Names by number. */
  #names: string[] = [];
  #numbers = new Map<string, number>();
  /** The number last found for a hash of bytes: spares the string, not the comparison. */
  readonly #slots = new Uint32Array(SLOTS);

  constructor() {
    this.#reset();
  }

  /** How many numbers there are. */
  get count(): number {
    return this.#names.length;
  }

  nameOf(number: number): string {
    return this.#names[number]!;
  }

  /** To be called between pages. */
  tidy(): void {
    if (this.#names.length > KEPT_NAMES) this.#reset();
  }

  /** The number of the name in `bytes[from, to)`, which is none of tags.ts. */
  numberOf(bytes: Buffer, from: number, to: number): number {
    let hash = 0;
    for (let k = from; k < to; k++) hash = (Math.imul(hash, 33) + LOWER[bytes[k]!]!) | 0;
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const known = this.#slots[slot]!;
    if (isSpelled(bytes, from, to, this.#names[known]!)) return known;
    return (this.#slots[slot] = this.#look(sliceUtf8(bytes, from, to).toLowerCase()));
  }

  #look(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#names.push(name) - 1;
    this.#numbers.set(name, number);
    return number;
  }

  #reset(): void {
    this.#names = Array.from({ length: FIRST_EXTRA }, (_, tag) => tagName(tag) ?? '');
    this.#numbers = new Map();
    this.#slots.fill(0);
    EXTRA_NAMES.forEach((name) => this.#look(name));
  }
}
