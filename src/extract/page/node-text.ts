// The text of any subtree on one line, as a reader sees it.
// Promise: words of different blocks never run together; what is not shown is not text.
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT, elementNumber } from './elements.js';
import { formulasOf, writeFormula } from '../math/formulas.js';
import { textOf } from '../shown/shown-text.js';
import { IS_BLOCK, isUnseen } from './segment.js';

const BR = elementNumber('br');

export function nodeText(tree: PageTree, node: number): string {
  const formulas = formulasOf(tree);
  let text = '';
  const ends: number[] = [];
  const last = tree.tag[node] === TEXT || tree.tag[node] === RAW ? node + 1 : tree.end[node]!;
  for (let at = node; at < last;) {
    while (ends.length > 0 && at >= ends.at(-1)!) {
      ends.pop();
      text += ' ';
    }
    const kind = tree.tag[at]!;
    if (tree.flags[at] === 1) text += ' ';
    const formula = formulas.size === 0 ? undefined : formulas.get(at);
    if (formula !== undefined) {
      text += writeFormula(formula, 'text');
      at = tree.end[at]!;
      continue;
    }
    if (kind === TEXT || kind === RAW) text += textOf(tree, at);
    else if (isUnseen(tree, at)) {
      at = tree.end[at]!;
      continue;
    } else if (IS_BLOCK[kind] === 1 || kind === BR || kind === 0) {
      text += ' ';
      ends.push(tree.end[at]!);
    }
    at++;
  }
  return text.replace(/[\s\u00a0]+/g, ' ').trim();
}
