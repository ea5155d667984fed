// What the spans of highlighted code stand for: a line without a line break in the text, or a line that is not shown.
// Promise: asked only within `pre`; lines that the text breaks by itself stay as they are.
import type { PageTree } from '../parse/tree.js';
import { elementNumber } from './elements.js';

const SPAN = elementNumber('span');
/** `line`, `cm-line`, `token-line`. */
const LINE_CLASS = /(?:^|[\s-])line(?:\s|$)/;
/** mdBook keeps the lines that make an example complete in the page and hides them. */
const HIDDEN_CLASS = 'boring';

export type CodeSpan = 'line' | 'hidden' | null;

/** What an element within code stands for. */
export function codeSpan(tree: PageTree, node: number): CodeSpan {
  if (tree.tag[node] !== SPAN || tree.from[node]! >= tree.to[node]!) return null;
  const name = tree.attribute(node, 'class');
  if (name === null || name.length > 100) return null;
  if (name === HIDDEN_CLASS) return 'hidden';
  return LINE_CLASS.test(name) ? 'line' : null;
}
