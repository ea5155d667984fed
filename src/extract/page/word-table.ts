// Words grouped into categories, looked up by a hash of their letters while bytes are read.
// Promise: no string is made to look a word up; at most 64 categories, so that what was found fits two numbers.

export const WORD_SEED = -2128831035;

/** Adds one lower-case letter to a word's hash. */
export function mixLetter(hash: number, byte: number): number {
  return (Math.imul(hash, 16777619) ^ byte) | 0;
}

/** Category numbers by word. */
export interface WordTable {
  /** The category of the word with this hash, or -1. */
  find(hash: number): number;
}

/** Builds a table from lists of words; a word in two lists counts for the first. */
export function createWordTable(lists: readonly string[]): WordTable {
  let slots = 64;
  const total = lists.reduce((sum, list) => sum + list.split(' ').length, 0);
  while (slots < total * 4) slots *= 2;
  const mask = slots - 1;
  const hashes = new Int32Array(slots);
  const categories = new Int8Array(slots).fill(-1);
  const slotOf = (hash: number): number => (hash ^ (hash >>> 15)) & mask;
  lists.forEach((list, category) => {
    for (const word of list.split(' ')) {
      let hash = WORD_SEED;
      for (let k = 0; k < word.length; k++) hash = mixLetter(hash, word.charCodeAt(k));
      let slot = slotOf(hash);
      while (categories[slot] !== -1 && hashes[slot] !== hash) slot = (slot + 1) & mask;
      if (categories[slot] !== -1) continue;
      hashes[slot] = hash;
      categories[slot] = category;
    }
  });
  return {
    find(hash) {
      for (let slot = slotOf(hash); ; slot = (slot + 1) & mask) {
        const category = categories[slot]!;
        if (category === -1 || hashes[slot] === hash) return category;
      }
    },
  };
}
