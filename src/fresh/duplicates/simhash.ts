// The simhash of a page's main content: 64 bits that differ in few places when the words differ in few places.
// Promise: linear in the text, and the same text gives the same bits on every machine.
import type { Hash64 } from '../memory/page-row.js';

/** Longer texts are told apart well by their beginning. */
const MAX_WORDS = 20_000;
const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts without spaces: each character, and the next, is a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** A simhash, and the bits on which the words hardly agreed: those that a small change flips first. */
export interface Simhash extends Hash64 {
  readonly weakest: readonly Hash64[];
}

/** A search tries all of their combinations: 32 lookups (docs/decisions/030-fresh.md). */
const WEAK_BITS = 5;
/** Words that are this short are in every page of a language. */
const SHORT_WORD = 4;
const SHORT_WEIGHT = 0.5;

/**
 * The simhash of a text. Every distinct word votes on each bit, those that occur often with more weight: one word in
 * fifty may change, and hardly a bit does.
 */
export function simhashOf(text: string): Simhash {
  const counts = new Map<string, number>();
  let seen = 0;
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    if (UNSPACED.test(word)) {
      for (let at = 0; at < word.length; at++) count(counts, word.slice(at, at + 2));
      seen += word.length;
    } else {
      count(counts, word);
      seen++;
    }
    if (seen >= MAX_WORDS) break;
  }
  const votes = new Float64Array(64);
  for (const [word, times] of counts) vote(votes, word, weightOf(word, times));
  return { hi: bitsOf(votes, 0), lo: bitsOf(votes, 32), weakest: weakestOf(votes) };
}

/**
 * Measured on 1,285 real pages. A word that occurs once is worth little, so its change costs little; but the few that
 * occur most must not decide alone, since all pages of a language have those.
 */
function weightOf(word: string, times: number): number {
  return (times - 0.7) ** 0.75 * (word.length < SHORT_WORD ? SHORT_WEIGHT : 1);
}

function weakestOf(votes: Float64Array): Hash64[] {
  const bits = [...votes.keys()].sort((a, b) => Math.abs(votes[a]!) - Math.abs(votes[b]!)).slice(0, WEAK_BITS);
  return bits.map((bit) => (bit < 32 ? { hi: (1 << bit) >>> 0, lo: 0 } : { hi: 0, lo: (1 << (bit - 32)) >>> 0 }));
}

function count(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

function vote(votes: Float64Array, word: string, weight: number): void {
  const hi = mixed(word, 0x9e3779b9);
  const lo = mixed(word, 0x85ebca6b);
  for (let bit = 0; bit < 32; bit++) {
    votes[bit]! += (hi >>> bit) & 1 ? weight : -weight;
    votes[32 + bit]! += (lo >>> bit) & 1 ? weight : -weight;
  }
}

function bitsOf(votes: Float64Array, from: number): number {
  let bits = 0;
  for (let bit = 0; bit < 32; bit++) if (votes[from + bit]! > 0) bits |= 1 << bit;
  return bits >>> 0;
}

/** FNV-1a over the UTF-16 units, then the finish of murmur3. */
function mixed(word: string, seed: number): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** In how many bits two hashes differ. */
export function distanceOf(a: Hash64, b: Hash64): number {
  return onesIn(a.hi ^ b.hi) + onesIn(a.lo ^ b.lo);
}

export function onesIn(bits: number): number {
  let left = bits - ((bits >>> 1) & 0x55555555);
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
