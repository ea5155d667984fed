// Tables of contents of the page itself, by name and by what they are made of: links into the page.
// Promise: an element with other text is none; the page's own headings stay.
import { elementSet } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { CONTAINER, INNER_LINKS, LINKS, STRIDE } from '../page/segment.js';
import { createNameMatcher, markElements } from './name-matcher.js';

const isNamed = createNameMatcher(
  'toc toctree tableofcontents onthispage localtoc',
  ['table page', 'of toc contents'],
  ['contents', 'topic list'],
);
const OUTERMOST = elementSet('html body main article');
const MIN_SHARE = 0.6;

/** By node: 1 within a table of contents; null where the page has none. */
export function contentsNodes(segments: Segments): Uint8Array | null {
  const { tree, words, linkWords, blocks, count } = segments;
  const found = markElements(
    tree,
    (node) =>
      isNamed(segments, node) &&
      OUTERMOST[tree.tag[node]!] === 0 &&
      words[node]! > 0 &&
      linkWords[node]! >= MIN_SHARE * words[node]!,
  );
  if (found === null) return null;
  // Links to other pages are content of a book's contents page.
  let links = 0;
  let inner = 0;
  for (let at = 0; at < count * STRIDE; at += STRIDE) {
    if (found[blocks[at + CONTAINER]!] === 0) continue;
    links += blocks[at + LINKS]!;
    inner += blocks[at + INNER_LINKS]!;
  }
  return inner * 2 > links ? found : null;
}
