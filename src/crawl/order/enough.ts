// Enough is enough: tells when the pages of a crawl stop adding to what its query asks for.
// Promise: memory is bounded; a crawl that found nothing about its query never has enough.
import { limitReached, LIMITS } from '../../limits.js';
import type { EnoughOptions } from './options.js';
import { type Query, startOf } from './query.js';

export interface Enough {
  /** Counts a page. True once new pages add nothing. */
  see(title: string, text: string): boolean;
  /** What the decision rests on. */
  readonly figures: { readonly pages: number; readonly relevant: number; readonly coverage: number };
}

/** From this score, a page is about the query; below, it only mentions a word. */
const RELEVANT = 0.3;
const LEAST_RELEVANT_PAGES = 3;
const PASSAGE_END = /[\n.!?。！？]+/;
const MAX_PASSAGE_CHARACTERS = 1_000;

export function createEnough(query: Query, { window, gain, coverage }: Required<EnoughOptions>): Enough {
  /** Words that stand near the query's, as hashes. */
  const known = new Set<number>();
  const found = new Set<number>();
  const gains: number[] = [];
  let pages = 0;
  let relevant = 0;

  /** The share of a page's text about the query that is new. */
  function gainOf(title: string, text: string): number {
    if (query.relevance(title, text) < RELEVANT) return 0;
    relevant++;
    let said = 0;
    let fresh = 0;
    for (const passage of `${title}\n${startOf(text)}`.split(PASSAGE_END)) {
      const near = passage.slice(0, MAX_PASSAGE_CHARACTERS).toLowerCase();
      const here = query.count(near);
      if (here.size === 0) continue;
      for (const index of here.keys()) found.add(index);
      for (const word of near.match(/[\p{L}\p{N}]+/gu) ?? []) {
        said++;
        const hash = hashOf(word);
        if (known.has(hash)) continue;
        fresh++;
        if (known.size < LIMITS.answerWords.max) known.add(hash);
        else limitReached('answerWords');
      }
    }
    return said === 0 ? 0 : fresh / said;
  }

  return {
    see(title, text) {
      pages++;
      gains.push(gainOf(title, text));
      if (gains.length > window) gains.shift();
      if (gains.length < window || relevant < LEAST_RELEVANT_PAGES) return false;
      if (found.size / query.words.length < coverage) return false;
      return gains.reduce((sum, one) => sum + one, 0) / window < gain;
    },
    get figures() {
      return { pages, relevant, coverage: found.size / query.words.length };
    },
  };
}

/** FNV-1a: it only has to tell words apart. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
