// Chance for the synthetic web: every roll is a hash of the seed and of what is being decided.
// The same seed gives the same web on every machine; nothing here has hidden state.

/** Mixes four integers into one of 32 bits; each output bit depends on every input bit. */
export function hash32(seed: number, a: number, b: number, salt: number): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(a + 0x165667b1, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d) ^ Math.imul(b + 0x27d4eb2f, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 13), 0x297a2d39) ^ Math.imul(salt + 0x3c6ef372, 0x85ebca77);
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A 32-bit hash of a string (FNV-1a), to roll per URL. */
export function hashText(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** The hash as a share in [0, 1). */
export const share = (hash: number): number => hash / 4294967296;

/** An endless stream of 32-bit integers from one start value (the "mulberry" mixer). */
export function createRolls(start: number): () => number {
  let state = start | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/** What each roll decides; a distinct salt keeps decisions independent of one another. */
export const SALT = {
  path: 1,
  privatePage: 2,
  fate: 3,
  recovering: 4,
  links: 5,
  text: 6,
  size: 7,
  latency: 8,
  slowHost: 9,
  brokenHost: 10,
  faultKind: 11,
  trapHost: 12,
  etag: 13,
  redirect: 14,
  trap: 15,
  date: 16,
  changeRate: 17,
  changeTimes: 18,
  nearCopy: 19,
  topic: 20,
  mirror: 21,
} as const;
