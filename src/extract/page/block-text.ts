// The plain text of a block: its words as a reader sees them, white space collapsed, line breaks of `pre` and `br` kept.
// Promise: words of different elements never run together where the page shows them apart.
import type { PageTree } from '../../parse/tree/tree.js';
import { codeSpan, shownCode } from './code-lines.js';
import { RAW, TEXT, elementNumber } from './elements.js';
import { isUnseen } from './segment.js';

const BR = elementNumber('br');
const RT = elementNumber('rt');
const PRE = elementNumber('pre');

/** The text of the nodes `first` to `last`, which lie in one block. */
export function blockText(tree: PageTree, first: number, last: number): string {
  const preformatted = isPreformatted(tree, first);
  let text = '';
  let lines = '';
  for (let node = first; node <= last; node++) {
    const tag = tree.tag[node]!;
    if (tree.flags[node] === 1) text += ' ';
    if (tag === TEXT) text += tree.decode(tree.from[node]!, tree.to[node]!);
    else if (tag === RAW) text += tree.raw(tree.from[node]!, tree.to[node]!);
    else if (tag === BR) {
      if (preformatted) text += '\n';
      else {
        lines = addLine(lines, text);
        text = '';
      }
    } else if (tag === 0) text += ' ';
    else if (tag === RT || isUnseen(tree, node)) node = tree.end[node]! - 1;
    else if (preformatted) {
      const span = codeSpan(tree, node);
      if (span === 'hidden') node = tree.end[node]! - 1;
      else if (span === 'line' && text !== '' && !text.endsWith('\n')) text += '\n';
    }
  }
  if (preformatted) return shownCode(tree, tree.parent[first]!, text).trimEnd().replace(/^\n+/, '');
  return addLine(lines, text);
}

function addLine(lines: string, text: string): string {
  const line = text.replace(/[\t\n\f\r \u00a0]+/g, ' ').trim();
  if (line === '') return lines;
  return lines === '' ? line : `${lines}\n${line}`;
}

function isPreformatted(tree: PageTree, node: number): boolean {
  for (let at = tree.parent[node]!, steps = 0; at > 0 && steps < 8; at = tree.parent[at]!, steps++) {
    if (tree.tag[at] === PRE) return true;
  }
  return false;
}
