// What a page itself sets aside as not its content: its footer, what search engines shall not quote, frames of embedded posts.
// Promise: only by marks made for that; a page that sets aside nearly all of itself is taken as if it had none.
import { elementNumber } from './elements.js';
import { logistic } from './model.js';
import type { Segments } from './segment.js';
import { CONTAINER, STRIDE, WORDS } from './segment.js';
import { createWordTable } from './word-table.js';

const FOOTER = elementNumber('footer');
/** Names that search engines and Instagram's embeds define. */
const MARKS = createWordTable(['nocontent instagrammedia']);
/** The same in two words: `robots-nocontent`, `instagram-media`. */
const PAIRS = createWordTable(['instagram', 'media']);
const SET_ASIDE = -8;
/** The share of a page's likely content that may be set aside. */
const MAX_SHARE = 0.5;

/** Lowers the logits of what the page sets aside. */
export function leaveSetAside(segments: Segments, logits: Float32Array): void {
  const { tree, blocks, count, names, nameStart, noSnippet } = segments;
  let aside: Uint8Array | null = null;
  for (let node = 1; node < tree.count; node++) {
    const isMarked =
      tree.tag[node] === FOOTER || isNamed(names, nameStart[node]!, nameStart[node + 1]!) || noSnippet.has(node);
    if (!isMarked) continue;
    aside ??= new Uint8Array(tree.count);
    aside.fill(1, node, tree.end[node]);
    node = tree.end[node]! - 1;
  }
  if (aside === null) return;
  const likely = logistic(logits);
  let total = 0;
  let set = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const words = likely[b]! * blocks[at + WORDS]!;
    total += words;
    if (aside[blocks[at + CONTAINER]!] === 1) set += words;
  }
  if (set > MAX_SHARE * total) return;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE)
    if (aside[blocks[at + CONTAINER]!] === 1) logits[b]! += SET_ASIDE;
}

function isNamed(names: Int32Array, from: number, to: number): boolean {
  for (let k = from; k < to; k++) {
    if (MARKS.find(names[k]!) >= 0) return true;
    if (k + 1 < to && PAIRS.find(names[k]!) === 0 && PAIRS.find(names[k + 1]!) === 1) return true;
  }
  return false;
}
