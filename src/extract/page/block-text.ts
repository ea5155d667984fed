// The plain text of a block: its words as a reader sees them, white space collapsed, line breaks of `pre` and `br` kept.
// Promise: words of different elements never run together where the page shows them apart; linear in the block.
import type { PageTree } from '../../parse/tree/tree.js';
import { codeSpan, shownCode } from './code-lines.js';
import { RAW, TEXT, elementNumber } from './elements.js';
import type { MathStyle } from '../math/formulas.js';
import { formulasOf, writeFormula } from '../math/formulas.js';
import { scriptMarks } from '../math/scripts.js';
import type { Segments } from './segment.js';
import { isUnseen } from './segment.js';
import { textOf } from '../shown/shown-text.js';

const BR = elementNumber('br');
/** Labels of tabs stand side by side without a space. */
const LABEL = elementNumber('label');
const RT = elementNumber('rt');
const PRE = elementNumber('pre');
const SUB = elementNumber('sub');
const SUP = elementNumber('sup');

/** The text of the nodes `first` to `last`, which lie in one block, without what is hidden in it. */
export function blockText(
  { tree, hidden }: Pick<Segments, 'tree' | 'hidden'>,
  first: number,
  last: number,
  math: MathStyle = 'dollar',
): string {
  const formulas = formulasOf(tree);
  const preformatted = isPreformatted(tree, first);
  const isHidden = hidden[first] !== 0;
  let text = '';
  let lines = '';
  // The last character so far: asking a string that is being joined for it would copy all of it.
  let tail = '';
  const add = (part: string): void => {
    if (part === '') return;
    text += part;
    tail = part[part.length - 1]!;
  };
  // Scripts that are open: where they end, and what stands after them.
  const scripts: { readonly end: number; readonly after: string }[] = [];
  for (let node = first; node <= last; node++) {
    const tag = tree.tag[node]!;
    while (scripts.length > 0 && node >= scripts.at(-1)!.end) add(scripts.pop()!.after);
    if (tree.flags[node] === 1) add(' ');
    const formula = formulas.size === 0 ? undefined : formulas.get(node);
    if (hidden[node] !== 0 && !isHidden) node = tree.end[node]! - 1;
    else if (formula !== undefined) {
      add(writeFormula(formula, math));
      node = tree.end[node]! - 1;
    } else if (tag === TEXT || tag === RAW) add(textOf(tree, node));
    else if (tag === BR) {
      if (preformatted) add('\n');
      else {
        lines = addLine(lines, text);
        text = tail = '';
      }
    } else if (tag === 0 || tag === LABEL) add(' ');
    else if (tag === RT || isUnseen(tree, node)) node = tree.end[node]! - 1;
    else if (preformatted) {
      const span = codeSpan(tree, node);
      if (span === 'hidden') node = tree.end[node]! - 1;
      else if (span === 'line' && tail !== '' && tail !== '\n') add('\n');
    } else if (tag === SUP || tag === SUB) {
      const marks = scriptMarks(tree, node, tail);
      if (marks === null) continue;
      add(marks[0]);
      scripts.push({ end: tree.end[node]!, after: marks[1] });
    }
  }
  while (scripts.length > 0) add(scripts.pop()!.after);
  if (preformatted) return shownCode(tree, tree.parent[first]!, text).trimEnd().replace(/^\n+/, '');
  return addLine(lines, text);
}

/** Most texts have none. */
const LOOSE_SPACE = /[\t\n\f\r\u00a0]|  /;

function addLine(lines: string, text: string): string {
  const line = (LOOSE_SPACE.test(text) ? text.replace(/[\t\n\f\r \u00a0]+/g, ' ') : text).trim();
  if (line === '') return lines;
  return lines === '' ? line : `${lines}\n${line}`;
}

function isPreformatted(tree: PageTree, node: number): boolean {
  for (let at = tree.parent[node]!, steps = 0; at > 0 && steps < 8; at = tree.parent[at]!, steps++) {
    if (tree.tag[at] === PRE) return true;
  }
  return false;
}
