// The different values of a column chunk, and for each entry which one it is.
// Promise: whoever adds asks `isFull` between rows, so it holds one row more than its limit.

/** A dictionary larger than this is full. */
const MAX_CHARACTERS = 1024 * 1024;
/** Values that hardly repeat are found out after so many. */
const TRIAL = 1_024;

export class ColumnDictionary {
  readonly values: (string | number)[] = [];
  readonly #places = new Map<string | number, number>();
  #entries = new Uint32Array(TRIAL);
  #count = 0;
  #characters = 0;

  add(value: string | number): void {
    // A map takes both zeros for one key.
    const key = Object.is(value, -0) ? '-0' : value;
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.values.length;
      this.#places.set(key, place);
      this.values.push(value);
      this.#characters += typeof value === 'string' ? value.length : 8;
    }
    if (this.#count === this.#entries.length) {
      const larger = new Uint32Array(this.#count * 2);
      larger.set(this.#entries);
      this.#entries = larger;
    }
    this.#entries[this.#count++] = place;
  }

  /** The place in `values` of each value since the last `clearEntries`. */
  entries(): Uint32Array {
    return this.#entries.subarray(0, this.#count);
  }

  clearEntries(): void {
    this.#count = 0;
  }

  /** Whether values come back often enough to be worth a dictionary. */
  get isWorth(): boolean {
    return this.values.length > 0 && this.values.length * 2 <= this.#count;
  }

  get isFull(): boolean {
    return this.#characters > MAX_CHARACTERS || (this.values.length >= TRIAL && !this.isWorth);
  }
}
