// A page of one article that the models take for a listing, because of the teasers around it.
// Promise: only by the page's own elements: one <article>, which has the page's only <h1> and prose of its own.
import { elementNumber } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { CONTAINER, LINK_WORDS, STRIDE, WORDS } from '../page/segment.js';
import { markElements } from './name-matcher.js';

const ARTICLE = elementNumber('article');
const H1 = elementNumber('h1');
const SET_ASIDE = -8;
/** Words outside links that make an article more than one item of a list. */
const MIN_PROSE = 100;
/** A list has more of its words in links. */
const MAX_LINK_SHARE = 0.3;

/** Lowers the logits of all that stands outside the page's one article; `listing` is how sure the page is a listing. */
export function leaveAroundArticle(segments: Segments, listing: number, logits: Float32Array): void {
  if (listing < 0.5) return;
  const { tree, blocks, count } = segments;
  if (!isOnly(tree.tag, ARTICLE) || !isOnly(tree.tag, H1)) return;
  const inside = markElements(tree, (node) => tree.tag[node] === ARTICLE);
  if (inside?.[tree.tag.indexOf(H1)] !== 1) return;
  let words = 0;
  let linkWords = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    if (inside[blocks[at + CONTAINER]!] !== 1) continue;
    words += blocks[at + WORDS]!;
    linkWords += blocks[at + LINK_WORDS]!;
  }
  if (words - linkWords < MIN_PROSE || linkWords > MAX_LINK_SHARE * words) return;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE)
    if (inside[blocks[at + CONTAINER]!] !== 1) logits[b]! += SET_ASIDE;
}

/** Whether one element, and only one, has this tag. */
function isOnly(tags: Segments['tree']['tag'], tag: number): boolean {
  const at = tags.indexOf(tag);
  return at >= 0 && tags.indexOf(tag, at + 1) < 0;
}
