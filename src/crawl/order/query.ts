// The words of a query, and how much a text is about them.
// Promise: linear in the text, which is read up to a limit; a query has at most 32 words.
import { limitReached, LIMITS } from '../../limits.js';
import { isUnspaced, tellingWords } from '../../telling-words.js';

export interface Query {
  readonly words: readonly string[];
  /** Which of the words a text contains, by their place in `words`, and how often. */
  count(text: string): Map<number, number>;
  /** The share of the words that a text contains, from 0 to 1. */
  share(text: string): number;
  /** How much a page is about the query, from 0 to 1: a frequent word counts more, up to a point. */
  relevance(title: string, text: string): number;
}

const MAX_WORDS = 32;
const TITLE_WEIGHT = 5;
/** At this many occurrences, a word counts half. */
const HALF = 3;

export function createQuery(text: string): Query {
  const all = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  const words = tellingWords(all).slice(0, MAX_WORDS);
  // The longest first: an alternative that is the beginning of another would hide it.
  const stems = words.map(stemOf).sort((one, other) => other.length - one.length);
  const indexOf = new Map(words.map((word, index) => [stemOf(word), index]));
  const pattern = new RegExp(stems.map(patternOf).join('|'), 'gu');

  function count(asGiven: string): Map<number, number> {
    const found = new Map<number, number>();
    const lower = startOf(asGiven).toLowerCase();
    for (const match of lower.matchAll(pattern)) {
      const index = indexOf.get(match.slice(1).find((group) => group !== undefined)!)!;
      found.set(index, (found.get(index) ?? 0) + 1);
    }
    return found;
  }

  return {
    words,
    count,
    share: (one) => count(one).size / words.length,
    relevance(title, body) {
      const inTitle = count(title);
      const inBody = count(body);
      let sum = 0;
      for (let index = 0; index < words.length; index++) {
        const often = (inBody.get(index) ?? 0) + TITLE_WEIGHT * (inTitle.get(index) ?? 0);
        sum += often / (often + HALF);
      }
      return sum / words.length;
    },
  };
}

/** As much of a page's text as is compared. */
export function startOf(text: string): string {
  if (text.length <= LIMITS.queryCharacters.max) return text;
  limitReached('queryCharacters');
  return text.slice(0, LIMITS.queryCharacters.max);
}

/** Without the mark of an English plural. */
function stemOf(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/** The word and its endings of up to three letters. */
function patternOf(stem: string): string {
  return isUnspaced(stem) ? `(${stem})` : `(?<![\\p{L}\\p{N}])(${stem})\\p{L}{0,3}(?![\\p{L}\\p{N}])`;
}
