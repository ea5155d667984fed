// What a page itself marks as not content: its footer, `data-nosnippet`, frames of embedded posts, notes to browsers
// without scripts.
// Promise: only by marks made for that; if they cover nearly the whole page, they are ignored.
import { TEXT, elementNumber } from '../page/elements.js';
import { logistic } from '../model/trees.js';
import { createNameMatcher, markElements } from './name-matcher.js';
import type { Segments } from '../page/segment.js';
import { CONTAINER, FIRST_NODE, LAST_NODE, STRIDE, WORDS } from '../page/segment.js';

const FOOTER = elementNumber('footer');
const NOSCRIPT = elementNumber('noscript');
const MAX_NOTE = 2_000;
const MAX_NOTE_NODES = 100;
const isMarked = createNameMatcher(
  // A name that search engines define; MediaWiki's notes to those who write or read the page, and the lines below its text.
  // Then WordPress's buttons to share a post, and its list of other posts.
  'nocontent ambox ombox catlinks printfooter sharedaddy relatedposts',
  ['notice', 'metadata'],
  ['metadata', 'notice'],
  // Instagram's embeds.
  ['instagram', 'media'],
  // The line above MediaWiki's text.
  ['site', 'sub'],
  // What Webflow shows once a form was sent.
  ['form', 'fail done'],
  // MediaWiki's list of the same page in other languages.
  ['pt', 'languages'],
  // The day of the last change below the text of MkDocs, and the repository above it.
  ['md', 'source'],
  // How Magento sorts the products of a list.
  ['sorter', 'action label options'],
  ['toolbar', 'sorter'],
  // The name of the language above code: the code has it too.
  ['language', 'name label'],
);
const SET_ASIDE = -8;
/** The share of a page's likely content that may be set aside. */
const MAX_SHARE = 0.5;

/** Lowers the logits of what the page sets aside. */
export function leaveSetAside(segments: Segments, logits: Float32Array): void {
  const { tree, blocks, count, noSnippet } = segments;
  const hasNoSnippet = noSnippet.size > 0;
  const aside = markElements(
    tree,
    (node) => tree.tag[node] === FOOTER || (hasNoSnippet && noSnippet.has(node)) || isMarked(segments, node),
  );
  leaveNotes(segments, logits);
  if (aside === null) return;
  const likely = logistic(logits);
  // An inline element may be set aside too, where it is all of its block.
  const isAside = (at: number): boolean =>
    aside[blocks[at + CONTAINER]!] === 1 ||
    (aside[blocks[at + FIRST_NODE]!] === 1 && aside[blocks[at + LAST_NODE]!] === 1);
  let total = 0;
  let set = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const words = likely[b]! * blocks[at + WORDS]!;
    total += words;
    if (isAside(at)) set += words;
  }
  if (set > MAX_SHARE * total) return;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) if (isAside(at)) logits[b]! += SET_ASIDE;
}

/** Lowers the logits of notes to browsers without scripts, unless there is nothing else. */
function leaveNotes({ tree, blocks, count }: Segments, logits: Float32Array): void {
  const notes = markElements(tree, (node) => tree.tag[node] === NOSCRIPT && asksForScript(tree, node));
  if (notes === null) return;
  const isNote = (b: number): boolean => notes[blocks[b * STRIDE + CONTAINER]!] === 1;
  let others = 0;
  for (let b = 0; b < count; b++) if (!isNote(b)) others += blocks[b * STRIDE + WORDS]!;
  if (others === 0) return;
  for (let b = 0; b < count; b++) if (isNote(b)) logits[b]! += SET_ASIDE;
}

/** "Please enable JavaScript": a note to the browser, where other `noscript` elements hold the page's text. */
export function asksForScript(tree: Segments['tree'], node: number): boolean {
  let text = '';
  const end = Math.min(tree.end[node]!, node + MAX_NOTE_NODES);
  for (let at = node + 1; at < end && text.length < MAX_NOTE; at++)
    if (tree.tag[at] === TEXT) text += tree.decode(tree.from[at]!, tree.to[at]!);
  return text.length < MAX_NOTE && /javascript/i.test(text);
}
