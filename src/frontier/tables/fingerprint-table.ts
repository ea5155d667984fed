// The owner's seen set in memory: 64-bit fingerprint → 32-bit number, open addressing in typed arrays.
// 12 bytes per slot, at most 70 % full; fingerprints are uniform already, so their low half is the hash.

export interface FingerprintTable {
  readonly size: number;
  /** Bytes the table occupies: a metric. */
  readonly bytes: number;
  /** The number stored for the fingerprint, or −1. */
  get(hi: number, lo: number): number;
  /** Stores a fingerprint that is not in the table. */
  add(hi: number, lo: number, value: number): void;
}

const FULL = 0.7;
const BYTES_PER_SLOT = 12;

export function createFingerprintTable(expected = 1_024): FingerprintTable {
  let capacity = 1_024;
  while (capacity * FULL < expected) capacity *= 2;
  let mask = capacity - 1;
  // Interleaved hi, lo, value + 1: one cache line per probe. A value of 0 marks a free slot.
  let slots = new Uint32Array(capacity * 3);
  let size = 0;

  function grow(): void {
    const old = slots;
    capacity *= 2;
    mask = capacity - 1;
    slots = new Uint32Array(capacity * 3);
    for (let at = 0; at < old.length; at += 3) {
      if (old[at + 2] !== 0) place(old[at]!, old[at + 1]!, old[at + 2]!);
    }
  }

  function place(hi: number, lo: number, stored: number): void {
    let slot = lo & mask;
    while (slots[slot * 3 + 2] !== 0) slot = (slot + 1) & mask;
    slots[slot * 3] = hi;
    slots[slot * 3 + 1] = lo;
    slots[slot * 3 + 2] = stored;
  }

  return {
    get size() {
      return size;
    },
    get bytes() {
      return capacity * BYTES_PER_SLOT;
    },
    get(hi, lo) {
      let slot = lo & mask;
      for (;;) {
        const at = slot * 3;
        const stored = slots[at + 2]!;
        if (stored === 0) return -1;
        if (slots[at + 1] === lo && slots[at] === hi) return stored - 1;
        slot = (slot + 1) & mask;
      }
    },
    add(hi, lo, value) {
      if (size + 1 > capacity * FULL) grow();
      place(hi, lo, value + 1);
      size++;
    },
  };
}
