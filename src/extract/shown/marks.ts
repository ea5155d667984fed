// Marks that software adds to a text, which are not part of it: `[edit]`, `#` after a heading, line numbers, links that
// skip a part of the page, and the bubbles that open over a word of it.
// Promise: by names of such software, or by what stands there; a mark that holds other text is text.
import type { PageTree } from '../../parse/tree/tree.js';
import { TEXT, elementNumber, elementSet } from '../page/elements.js';
import { createWordTable } from '../page/word-table.js';

/** Words of class names: of MediaWiki, of documentation tools, of what colours code. */
const EDIT = 'editsection headerlink';
const NUMBERS = 'lineno linenos linenumber linenumbers gutter blobnum';
const BUBBLES = 'tooltip tooltiptext popover hovercard rollover';
const SKIPS = 'jump jumplink skip skiplink skipnav skipto';
/** Parts of the names of labels beside a text or for screen readers; controls.ts reads the whole names. */
const LABELS = 'visually visuallyhidden sr reader invisible rightside hide hidden none';
const words = createWordTable([EDIT, NUMBERS, BUBBLES, SKIPS, LABELS]);
/** What {@link markWord} says of such a label. */
export const LABEL_WORD = 4;
const A = elementNumber('a');
const HASH = 0x23;
const BUBBLE = /(?:tooltip|popover|hovercard|rollover)[a-z_-]{0,30}(?:block|text|content|body|inner|card|box|bubble)/i;
const SPAN = elementNumber('span');
const MAX_NAMES = 400;
/** Elements within a line of text. */
const PHRASE = elementSet('span a abbr dfn b i em strong mark button sup');
const NUMBER_ELEMENTS = elementSet('span td a div code');
const MAX_NODES = 60;
const ANCHOR =
  /^(?:#+|¶|§|🔗|⚓|permalink|link|anchor|copy link|direct link to .{0,200}|link to this (?:heading|section|definition)|(?:(?:back|return|go) )?(?:to )?(?:the )?top|[↑⇧⬆▲])?$/iu;

/** What a word of a class name says: 0 for an edit mark, 1 for line numbers, 2 for a bubble, 3 for a link that skips, {@link LABEL_WORD}, -1 for none of these. */
export function markWord(hash: number): number {
  return words.find(hash);
}

/** Whether an element that {@link markWord} knows is a mark. */
export function isMark(tree: PageTree, node: number, word: number): boolean {
  if (word === 0) return true;
  if (word === 2) return isBubble(tree, node);
  if (word === 3) return tree.tag[node] === A && isInner(tree, node);
  return NUMBER_ELEMENTS[tree.tag[node]!] === 1 && /^[\s\d]*$/.test(firstText(tree, node));
}

/** Whether a link leads to a place of its own page. */
function isInner(tree: PageTree, node: number): boolean {
  const href = tree.attributeRange(node, 'href');
  return href !== null && tree.bytes[href.from] === HASH;
}

/** What opens over a word when a reader points at it stands amid the text, after that word. */
function isBubble(tree: PageTree, node: number): boolean {
  const around = tree.parent[node]!;
  if (tree.tag[node] !== SPAN || node === around + 1 || PHRASE[tree.tag[around]!] !== 1) return false;
  const role = tree.attribute(node, 'role')?.slice(0, MAX_NAMES);
  return role === 'tooltip' || BUBBLE.test((tree.attribute(node, 'class') ?? '').slice(0, MAX_NAMES));
}

/** Signs of a link to the place where it stands, as UTF-8 no longer than this. */
const SIGN = /^[#¶§🔗]$/u;
const SIGN_BYTES = 4;

/** Whether a link only leads to where it stands: a sign, or in a heading an empty one too. */
export function isAnchor(tree: PageTree, node: number, inHeading: boolean): boolean {
  if (!inHeading) {
    const text = node + 1;
    if (tree.end[node]! !== node + 2 || tree.tag[text] !== TEXT || tree.to[text]! - tree.from[text]! > SIGN_BYTES)
      return false;
    const href = tree.attributeRange(node, 'href');
    return href !== null && tree.bytes[href.from] === HASH && SIGN.test(tree.raw(tree.from[text]!, tree.to[text]!));
  }
  const href = tree.attributeRange(node, 'href');
  if (href === null || tree.end[node]! - node > 8) return false;
  const isOfPage =
    tree.bytes[href.from] === HASH || tree.raw(href.from, Math.min(href.to, href.from + 300)).includes('#');
  return isOfPage && ANCHOR.test(firstText(tree, node).trim());
}

function firstText(tree: PageTree, node: number): string {
  let text = '';
  const end = Math.min(tree.end[node]!, node + MAX_NODES);
  for (let at = node + 1; at < end; at++)
    if (tree.tag[at] === TEXT) text += tree.decode(tree.from[at]!, Math.min(tree.to[at]!, tree.from[at]! + 300));
  return text;
}
