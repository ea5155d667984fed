// Finds all pages whose simhash differs from a given one in at most 3 of 64 bits.
// Promise: a search looks into a constant number of places whatever the number of pages (up to 16 million), and a page
// takes at most 60 bytes.
//
// The 64 bits are cut into 5 blocks. Three differences leave at least 2 blocks untouched, so whoever is near shares both
// blocks of at least one of the 10 pairs: 10 tables, each found by 25 or 26 bits.
import type { Hash64 } from '../memory/page-row.js';
import { onesIn, type Simhash } from './simhash.js';

export const MAX_DISTANCE = 3;
/** Its number takes 24 of the 32 bits of a slot; the rest tells most strangers apart without a look at them. */
export const MAX_PAGES = 2 ** 24 - 1;

/** Where each block begins, and how many bits it has. */
const BLOCKS = [
  [0, 13],
  [13, 13],
  [26, 13],
  [39, 13],
  [52, 12],
] as const;
const PAIRS: readonly (readonly [number, number])[] = [0, 1, 2, 3, 4].flatMap((first) =>
  [0, 1, 2, 3, 4].filter((second) => second > first).map((second) => [first, second] as const),
);

/** A part of a table grows by itself, so that no insert waits for more than some thousand others to move. */
const PARTS = 1_024;
const FIRST_SLOTS = 8;
const MAX_LOAD = 0.92;
const GROWTH = 1.1;

const CHUNK = 65_536;
const FIRST_CHUNK = 256;

export interface NearIndex {
  readonly size: number;
  /** Bytes it occupies: a metric. */
  readonly bytes: number;
  /** Adds a page; `note` is whatever 32 bits the owner knows it by. False when it is full. */
  add(simhash: Hash64, note: number): boolean;
  /** The notes and hashes of all that are near; also those near to one of the given hash's weak variants. */
  find(simhash: Hash64 | Simhash): { readonly note: number; readonly simhash: Hash64; readonly distance: number }[];
}

interface Part {
  slots: Uint32Array;
  used: number;
}

export function createNearIndex(): NearIndex {
  const tables: (Part | undefined)[][] = PAIRS.map(() => new Array<Part | undefined>(PARTS));
  const chunks: Uint32Array[] = [];
  let size = 0;
  let slotBytes = 0;

  const hiOf = (page: number) => chunks[Math.floor(page / CHUNK)]![(page % CHUNK) * 3]!;
  const loOf = (page: number) => chunks[Math.floor(page / CHUNK)]![(page % CHUNK) * 3 + 1]!;
  const noteOf = (page: number) => chunks[Math.floor(page / CHUNK)]![(page % CHUNK) * 3 + 2]!;

  function keep(hi: number, lo: number, note: number): void {
    const [chunk, at] = [Math.floor(size / CHUNK), size % CHUNK];
    const has = chunks[chunk];
    if (!has || at * 3 >= has.length) {
      // The first chunk grows; the others are there at once.
      const grown = new Uint32Array(3 * (chunk > 0 ? CHUNK : Math.min(CHUNK, Math.max(FIRST_CHUNK, at * 2))));
      if (has) grown.set(has);
      chunks[chunk] = grown;
    }
    chunks[chunk]!.set([hi, lo, note], at * 3);
    size++;
  }

  function place(table: number, key: number, page: number): void {
    const mixed = mix(key, table);
    const at = mixed >>> 22;
    let part = tables[table]![at];
    if (!part) {
      part = tables[table]![at] = { slots: new Uint32Array(FIRST_SLOTS), used: 0 };
      slotBytes += 4 * FIRST_SLOTS;
    }
    // One slot stays empty at least: a search ends there.
    if (part.used + 1 > part.slots.length * MAX_LOAD) grow(table, part);
    put(part, mixed, page);
  }

  function put(part: Part, mixed: number, page: number): void {
    const { slots } = part;
    let at = slotOf(mixed, slots.length);
    while (slots[at] !== 0) at = at + 1 === slots.length ? 0 : at + 1;
    slots[at] = (((mixed & 0xff) << 24) | (page + 1)) >>> 0;
    part.used++;
  }

  function grow(table: number, part: Part): void {
    const before = part.slots;
    part.slots = new Uint32Array(Math.ceil(before.length * GROWTH) + 1);
    part.used = 0;
    slotBytes += 4 * (part.slots.length - before.length);
    for (const slot of before) {
      if (slot === 0) continue;
      const page = (slot & 0xffffff) - 1;
      put(part, mix(keyOf(table, hiOf(page), loOf(page)), table), page);
    }
  }

  function search(hi: number, lo: number, found: Map<number, number>): void {
    for (let table = 0; table < PAIRS.length; table++) {
      const mixed = mix(keyOf(table, hi, lo), table);
      const part = tables[table]![mixed >>> 22];
      if (!part) continue;
      const { slots } = part;
      for (let at = slotOf(mixed, slots.length); slots[at] !== 0; at = at + 1 === slots.length ? 0 : at + 1) {
        const slot = slots[at]!;
        if (slot >>> 24 !== (mixed & 0xff)) continue;
        const page = (slot & 0xffffff) - 1;
        const distance = onesIn(hi ^ hiOf(page)) + onesIn(lo ^ loOf(page));
        if (distance <= MAX_DISTANCE && !(found.get(page)! <= distance)) found.set(page, distance);
      }
    }
  }

  return {
    get size() {
      return size;
    },
    get bytes() {
      return slotBytes + chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    },
    add({ hi, lo }, note) {
      if (size >= MAX_PAGES) return false;
      keep(hi, lo, note);
      for (let table = 0; table < PAIRS.length; table++) place(table, keyOf(table, hi, lo), size - 1);
      return true;
    },
    find(simhash) {
      const found = new Map<number, number>();
      for (const { hi, lo } of variantsOf(simhash)) search(hi, lo, found);
      return [...found]
        .map(([page, distance]) => ({ note: noteOf(page), simhash: { hi: hiOf(page), lo: loOf(page) }, distance }))
        .sort((a, b) => a.distance - b.distance);
    },
  };
}

/** The hash with each combination of its weak bits turned; itself first. */
function variantsOf(simhash: Hash64 | Simhash): Hash64[] {
  let variants: Hash64[] = [{ hi: simhash.hi, lo: simhash.lo }];
  for (const bit of 'weakest' in simhash ? simhash.weakest : []) {
    variants = [...variants, ...variants.map(({ hi, lo }) => ({ hi: (hi ^ bit.hi) >>> 0, lo: (lo ^ bit.lo) >>> 0 }))];
  }
  return variants;
}

/** Both blocks of a pair, side by side. */
function keyOf(table: number, hi: number, lo: number): number {
  const [first, second] = PAIRS[table]!;
  return ((blockOf(first, hi, lo) << 13) | blockOf(second, hi, lo)) >>> 0;
}

function blockOf(block: number, hi: number, lo: number): number {
  const [from, bits] = BLOCKS[block]!;
  const mask = (1 << bits) - 1;
  if (from >= 32) return (hi >>> (from - 32)) & mask;
  if (from + bits <= 32) return (lo >>> from) & mask;
  return ((lo >>> from) | (hi << (32 - from))) & mask;
}

/** Murmur3's finish: part, slot and tag are taken from different bits. */
function mix(key: number, table: number): number {
  let mixed = (key + Math.imul(table + 1, 0x9e3779b9)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** From the bits between those of the part and of the tag, spread over the slots. */
function slotOf(mixed: number, slots: number): number {
  return Math.floor((((mixed >>> 6) & 0xffff) * slots) / 65_536);
}
