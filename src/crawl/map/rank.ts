// Ranks links by a query: BM25 over the words of their URL, title and the text that links to them.
// Promise: linear in the words; links without any word of the query are left out.
import { percentDecoded } from '../../request/percent-decoded.js';

export interface RankedLink {
  readonly url: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
}

const K1 = 1.2;
const B = 0.75;
const MAX_WORDS = 200;

export function ranked<Link extends RankedLink>(
  links: readonly Link[],
  query: string,
  anchors: ReadonlyMap<string, string>,
): Link[] {
  const wanted = [...new Set(wordsOf(query))];
  if (wanted.length === 0) return [...links];
  const documents = links.map((link) => {
    const words = wordsOf(
      [decoded(link.url), link.title, link.title, link.description, anchors.get(link.url)].join(' '),
    );
    return { link, words: words.slice(0, MAX_WORDS) };
  });
  const averageLength = documents.reduce((sum, { words }) => sum + words.length, 0) / Math.max(1, documents.length);
  const rarity = new Map(
    wanted.map((word) => {
      const having = documents.filter(({ words }) => words.some((one) => one.startsWith(word))).length;
      return [word, Math.log(1 + (documents.length - having + 0.5) / (having + 0.5))];
    }),
  );
  const scored = documents.map(({ link, words }) => {
    const norm = K1 * (1 - B + (B * words.length) / Math.max(1, averageLength));
    const score = wanted.reduce((sum, word) => {
      const count = words.reduce((found, one) => found + (one === word ? 1 : one.startsWith(word) ? 0.7 : 0), 0);
      return sum + (rarity.get(word)! * count * (K1 + 1)) / (count + norm);
    }, 0);
    return { link, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ link }) => link);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function decoded(url: string): string {
  return percentDecoded(url.replace(/^https?:\/\//, ''));
}
