// Lines of code that highlighters put into elements of their own, without a line break between them in the text.
// Promise: asked only within `pre`; lines that the text breaks by itself stay as they are.
import type { PageTree } from '../parse/tree.js';
import { elementNumber } from './elements.js';

const SPAN = elementNumber('span');
/** `line`, `cm-line`, `token-line`. */
const LINE_CLASS = /(?:^|[\s-])line(?:\s|$)/;

/** True for a `span` that stands for a line of its own. */
export function beginsLine(tree: PageTree, node: number): boolean {
  return tree.tag[node] === SPAN && LINE_CLASS.test((tree.attribute(node, 'class') ?? '').slice(0, 100));
}
